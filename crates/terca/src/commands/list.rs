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
