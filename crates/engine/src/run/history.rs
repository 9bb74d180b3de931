//! The latest runs of a suite that have ended, for whoever wants to learn from them.

use camino::Utf8Path;
use terca_core::analysis::history::Record;
use terca_core::run::event::RunStatus;

use crate::run::past_runs;
use crate::run::past_runs::RunsError;
use crate::run::store::runs_dir;

/// Older ones say little about the agents of today, and reading takes time.
const LATEST: usize = 50;

/// Oldest first. A run that cannot be read has nothing to teach.
pub fn read(suite_dir: &Utf8Path) -> Result<Vec<Record>, RunsError> {
    let names = past_runs::names(suite_dir)?;
    let latest = names.len().saturating_sub(LATEST);
    let dirs = names[latest..]
        .iter()
        .map(|name| runs_dir(suite_dir).join(name));
    Ok(dirs
        .filter_map(|dir| of(&dir).ok())
        .filter(has_ended)
        .collect())
}

/// One run.
pub fn of(dir: &Utf8Path) -> Result<Record, RunsError> {
    Ok(Record {
        state: past_runs::read(dir)?.state,
        prints: past_runs::fingerprints(dir),
    })
}

fn has_ended(record: &Record) -> bool {
    record.state.status() != RunStatus::Running
}
