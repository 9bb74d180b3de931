//! Runs as the commands that look back at them are given them, and their answers in JSON.

use terca_engine::discover;
use terca_engine::runs::{self, PastRun, RunsError};

use super::{MISUSE, TROUBLE};
use crate::args::Common;
use crate::screen;

/// A run by its name, its number or the path of its folder, or the latest; or the exit status when the reason why
/// not has been said.
pub(super) fn open(name: Option<&str>, common: &Common) -> Result<PastRun, u8> {
    let dir = discover::canonical(&common.dir).map_err(|error| refused(&error.to_string(), MISUSE))?;
    let found = match name {
        Some(name) => runs::find_anywhere(&dir, name),
        None => runs::find(&dir, None),
    };
    found.and_then(|dir| runs::read(&dir)).map_err(|error| told(&error))
}

fn told(error: &RunsError) -> u8 {
    let is_misuse = matches!(error, RunsError::None(_) | RunsError::Unknown { .. });
    refused(&error.to_string(), if is_misuse { MISUSE } else { TROUBLE })
}

pub(super) fn refused(text: &str, status: u8) -> u8 {
    screen::complain(text);
    status
}

/// A document for programs, to standard output.
pub(super) fn say_json(document: &impl serde::Serialize) -> Result<(), u8> {
    let text = serde_json::to_string_pretty(document);
    text.map(|text| screen::say(&text)).map_err(|error| refused(&error.to_string(), TROUBLE))
}
