//! Finds the library around a directory of this machine.

use camino::Utf8Path;
use terca_core::new_suite::scaffold::library::{self, Library};

use crate::suite::discover::{Extent, Machine};

/// Returns the library in a directory or around it. The directory need not exist yet.
pub fn around(dir: &Utf8Path) -> Option<Library> {
    let machine = Machine {
        extent: Extent::Whole,
        variable: &|_| None,
    };
    let start = dir.ancestors().find(|dir| dir.is_dir())?;
    library::find(start, &machine)
}
