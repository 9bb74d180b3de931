//! The latest runs of a suite that have ended, for analyses over several runs.

use camino::Utf8Path;
use terca_core::analysis::history::Record;
use terca_core::run::event::RunStatus;

use crate::run::files::runs_dir;
use crate::run::past_runs;
use crate::run::past_runs::{PastRun, RunsError};

/// Older runs say little about the agents of today, and reading takes time.
const LATEST: usize = 50;

/// Reads the latest runs, oldest first. One that cannot be read is left out.
pub fn read(suite_dir: &Utf8Path) -> Result<Vec<Record>, RunsError> {
    let names = past_runs::names(suite_dir)?;
    let latest = names.len().saturating_sub(LATEST);
    let dirs = names[latest..]
        .iter()
        .map(|name| runs_dir(suite_dir).join(name));
    Ok(dirs
        .filter_map(|dir| past_runs::read(&dir).ok())
        .map(record)
        .filter(has_ended)
        .collect())
}

fn record(run: PastRun) -> Record {
    Record {
        prints: past_runs::fingerprints(&run.dir),
        state: run.state,
    }
}

fn has_ended(record: &Record) -> bool {
    record.state.status() != RunStatus::Running
}
