//! When to use colour. In a file of its own: arguments are complained of on the screen, which has to know this.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}
