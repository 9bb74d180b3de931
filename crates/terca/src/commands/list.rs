//! `terca list`: the runs so far, one line each.

use terca_engine::run::{clean, past_runs, store};
use terca_engine::suite::discover;
use terca_report::{Palette, RunRow, runs_table};

use super::refusal::Outcome;
use crate::args::Common;
use crate::screen;

pub(super) fn list(common: &Common) -> Outcome {
    let dir = discover::canonical(&common.dir)?;
    let names = past_runs::names(&dir)?;
    if names.is_empty() {
        screen::remark(&format!(
            "no runs yet in {}; `terca` runs the suite",
            store::runs_dir(&dir)
        ));
        return Ok(0);
    }
    let palette = Palette {
        colour: screen::colour(common.color, &std::io::stdout()),
    };
    let rows: Vec<RunRow> = names.into_iter().map(|name| row(&dir, name)).collect();
    screen::say(&runs_table(
        &rows,
        &jiff::tz::TimeZone::system(),
        screen::max_width(),
        palette,
    ));
    Ok(0)
}

/// A run that cannot be read is still listed, with the reason.
pub(super) fn row(dir: &camino::Utf8Path, name: String) -> RunRow {
    let dir = store::runs_dir(dir).join(&name);
    let bytes = clean::bytes_below(&dir);
    match past_runs::read(&dir) {
        Ok(run) => {
            let state = run.state;
            RunRow {
                run: name,
                suite: state.suite().to_owned(),
                status: Some(state.status()),
                started_at: state.started_at(),
                trials: state.counts().total,
                passed: state.counts().passed,
                failed: state.counts().partial + state.counts().failed,
                errors: state.counts().errors,
                bytes,
                note: None,
            }
        }
        Err(error) => RunRow {
            run: name,
            suite: String::new(),
            status: None,
            started_at: None,
            trials: 0,
            passed: 0,
            failed: 0,
            errors: 0,
            bytes,
            note: Some(error.to_string()),
        },
    }
}
