//! `terca list`: the runs so far, one line each.

use clap::Args;
use serde_json::json;
use terca_engine::run::{files, past_runs};
use terca_engine::suite::discover;
use terca_report::{RunRow, runs_table};

use crate::args::{Common, TableFormat};
use crate::cli_error::Outcome;
use crate::run::output;
use crate::screen;
use crate::suite::past;
use terca_core::text::prose;

#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// The output format
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    format: TableFormat,
}

/// The version of the document for programs; it grows when a key changes its meaning or goes away.
const LISTED_VERSION: u32 = 1;

pub(super) fn list(args: &ListArgs, common: &Common) -> Outcome {
    let dir = discover::canonical(&common.dir)?;
    let folders = past_runs::folders(&dir)?;
    let names = folders.runs;
    note_strangers(&folders.others);
    if names.is_empty() && args.format == TableFormat::Table {
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
    let listed = json!({ "version": LISTED_VERSION, "runs": rows });
    output::table_or_json(args.format, common, &listed, |_| {
        let zone = jiff::tz::TimeZone::system();
        runs_table(&rows, &zone, screen::max_width())
    })?;
    Ok(0)
}

/// Names what is among the runs and is none, so that nobody wonders why it is not in the list.
fn note_strangers(names: &[String]) {
    const SHOWN: usize = 5;
    if names.is_empty() {
        return;
    }
    let more = if names.len() > SHOWN { ", …" } else { "" };
    screen::err(&format!(
        "note: not runs, and left out: {}{more}",
        prose::joined(names.iter().take(SHOWN).map(String::as_str), ", ")
    ));
}
