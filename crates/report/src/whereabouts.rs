//! Where whoever reads this is: from there paths are shortest, and commands can be typed as they stand.

use camino::Utf8Path;

use crate::layout::Room;

#[derive(Debug, Clone, Copy)]
pub struct Whereabouts<'a> {
    /// The run's folder.
    pub run_dir: &'a Utf8Path,
    /// How Terca is called for this suite: `terca`, or `terca -C elsewhere`.
    pub terca: &'a str,
    /// How wide the screen is; a file has no end.
    pub room: Room,
}
