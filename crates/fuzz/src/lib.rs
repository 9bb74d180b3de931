#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a target that finds something says so by a panic"
)]
//! Fuzz targets: functions that take any bytes and panic when something does not hold that always must.
//!
//! They are plain functions, so that any fuzzer can drive them. The test suite passes the corpus and a bounded number of
//! seeded mutations of it through each (`tests/corpus.rs`).

mod decoders;
mod foreign_run;
mod journal;
mod masking;
mod outputs;
mod run_file;
mod trees;
mod yaml;

/// A target's name, which is also that of its corpus, and what it does with some bytes.
pub type Target = (&'static str, fn(&[u8]));

pub static TARGETS: [Target; 8] = [
    ("yaml", yaml::target),
    ("decoders", decoders::target),
    ("journal", journal::target),
    ("mask", masking::target),
    ("outputs", outputs::target),
    ("trees", trees::target),
    ("run_file", run_file::target),
    ("foreign_run", foreign_run::target),
];
