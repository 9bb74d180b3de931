//! `terca list`: the runs so far, one line each.

use terca_engine::run::{files, past_runs};
use terca_engine::suite::discover;
use terca_report::Painted;
use terca_report::{RunRow, runs_table};

use crate::args::Common;
use crate::cli_error::Outcome;
use crate::{past, screen};

pub(super) fn list(common: &Common) -> Outcome {
    let dir = discover::canonical(&common.dir)?;
    let names = past_runs::names(&dir)?;
    note_strangers(&past_runs::strangers(&dir)?);
    if names.is_empty() {
        screen::err(&format!(
            "no runs yet in {}; `terca` runs the suite",
            files::runs_dir(&dir)
        ));
        return Ok(0);
    }
    let rows: Vec<RunRow> = names
        .into_iter()
        .map(|name| past::row(&dir, name))
        .collect();
    screen::out_painted(&Painted::by_view(runs_table(
        &rows,
        &jiff::tz::TimeZone::system(),
        screen::max_width(),
        screen::out_palette(common.color),
    )));
    Ok(0)
}

/// Names what is among the runs and is none, so that nobody wonders why it is not in the list.
fn note_strangers(names: &[String]) {
    const SHOWN: usize = 5;
    if names.is_empty() {
        return;
    }
    let shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    screen::err(&format!(
        "note: not runs, and left out: {}{more}",
        shown.join(", ")
    ));
}
