//! The reader's place: paths are shortest from there, and commands can be typed as they are printed.

use camino::Utf8Path;

/// The reader's place and screen.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The run's folder.
    pub run_dir: &'a Utf8Path,
    /// The command that starts Terca for this suite: `terca`, or `terca -C elsewhere`.
    pub terca: &'a str,
    /// The width of the screen.
    pub max_width: usize,
}
