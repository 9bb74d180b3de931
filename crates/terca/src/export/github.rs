//! On GitHub Actions a run adds itself to the job's summary, and what did not pass to the annotations.

use std::fs::OpenOptions;
use std::io::{self, Write};

use terca_core::analysis::results::Results;
use terca_report::{github, markdown};

use crate::args::Format;
use crate::screen;

/// The most that GitHub takes from one step.
const LARGEST_SUMMARY: usize = 1024 * 1024;
/// Less is not worth it.
const SMALLEST_SUMMARY: usize = 4 * 1024;

/// Adds a run to the job. Does nothing outside of GitHub Actions.
pub(super) fn add(results: &Results, format: Format) -> io::Result<()> {
    if std::env::var("GITHUB_ACTIONS").as_deref() != Ok("true") {
        return Ok(());
    }
    let annotations = github::annotations(results);
    match format {
        _ if annotations.is_empty() => {}
        // Standard output is for one JSON event per line; GitHub reads both streams.
        Format::Json => screen::command(&annotations, &mut io::stderr()),
        _ => screen::command(&annotations, &mut io::stdout()),
    }
    let Some(file) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty()) else {
        return Ok(());
    };
    let named = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("the job's summary cannot be written: {error}"),
        )
    };
    let mut summary = OpenOptions::new()
        .append(true)
        .create(true)
        .open(file)
        .map_err(named)?;
    // The output of earlier commands of the step counts too.
    let written = summary.metadata().map_err(named)?.len() as usize;
    let room = LARGEST_SUMMARY.saturating_sub(written);
    if room < SMALLEST_SUMMARY {
        screen::err("note: the job's summary is full; nothing was added to it");
        return Ok(());
    }
    let apart = if written > 0 { "\n" } else { "" };
    summary
        .write_all(format!("{apart}{}", markdown(results, room - 1)).as_bytes())
        .map_err(named)
}
