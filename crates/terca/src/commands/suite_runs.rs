//! Runs as the commands that look back at them are given them, and their answers in JSON.

use terca_core::text::explain::Code;
use terca_engine::run::past_runs;
use terca_engine::run::past_runs::PastRun;
use terca_engine::suite::discover;

use super::refusal::Refusal;
use crate::args::Common;
use crate::screen;

/// A run by its name, its number or the path of its folder, or the latest.
pub(super) fn open(name: Option<&str>, common: &Common) -> Result<PastRun, Refusal> {
    let dir = discover::canonical(&common.dir)?;
    let found = match name {
        Some(name) => past_runs::find_anywhere(&dir, name)?,
        None => past_runs::find(&dir, None)?,
    };
    Ok(past_runs::read(&found)?)
}

/// A document for programs, to standard output.
pub(super) fn say_json(document: &impl serde::Serialize) -> Result<(), Refusal> {
    let text = serde_json::to_string_pretty(document);
    text.map(|text| screen::say_json(&text))
        .map_err(|error| Refusal::trouble(Code::Internal, error))
}
