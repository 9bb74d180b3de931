//! The least that a program can do: what starting Terca is measured against.

fn main() {}
