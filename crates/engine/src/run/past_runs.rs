//! The runs so far, read back from disk.

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::analysis::history;
use terca_core::analysis::results::Results;
use terca_core::plan::fingerprint::CaseFingerprint;
use terca_core::run::event::RunStatus;
use terca_core::run::run_file::{RunFile, RunKind};
use terca_core::run::state::RunState;

use crate::run::files::{EVENTS, LARGEST_RUN_FILE, RUN, open_run, reason, runs_dir};
use crate::run::journal::{is_going_on, is_held};
use crate::run::names as run_names;
use crate::run::record::{self, Record, ResultsFile};
use crate::run::remarks;
use crate::tree::Dir;

pub use crate::run::record::RunsError;

/// A run as its journal tells it.
#[derive(Debug)]
pub struct PastRun {
    /// The run's directory.
    pub dir: Utf8PathBuf,
    /// The state that the events come to.
    pub state: RunState,
    /// The record that it was read from.
    pub record: Record,
}

impl PastRun {
    fn of((record, mut state): (Record, RunState), is_going_on: bool) -> Self {
        if state.status() == RunStatus::Running && !is_going_on {
            state.abandon();
        }
        PastRun {
            dir: record.dir.clone(),
            state,
            record,
        }
    }

    /// Returns the number of the next event.
    pub fn next_sequence(&self) -> u64 {
        self.record.journal.events as u64
    }

    /// Computes the results, with the remarks that people made.
    pub fn results(&self) -> Results {
        Results::of(&self.state).with_remarks(&remarks::read(&self.dir))
    }
}

/// Returns the names of all runs, the one that was started first first.
pub fn names(suite_dir: &Utf8Path) -> Result<Vec<String>, RunsError> {
    Ok(folders(suite_dir)?.runs)
}

/// Returns the names of all runs, and of what is among them and is none.
pub fn folders(suite_dir: &Utf8Path) -> Result<run_names::Folders, RunsError> {
    run_names::folders(suite_dir).map_err(|source| RunsError::Read {
        path: runs_dir(suite_dir),
        source,
    })
}

/// Tells whether a word has the form of a run's name, such as `2026-11-14-001`.
pub fn is_run_name(word: &str) -> bool {
    run_names::day(word).is_some() && run_names::number(word).is_some()
}

/// Returns the directory of a run: by name, by number (the latest of that number), or the latest.
pub fn find(suite_dir: &Utf8Path, name: Option<&str>) -> Result<Utf8PathBuf, RunsError> {
    let names = names(suite_dir)?;
    let Some(last) = names.last() else {
        return Err(RunsError::None(runs_dir(suite_dir)));
    };
    let chosen = match name {
        None => {
            latest_of(suite_dir, &names).ok_or_else(|| RunsError::OnlyValidations(last.clone()))?
        }
        Some(name) => {
            let wanted = Utf8Path::new(name).file_name().unwrap_or(name);
            let exact = names.iter().find(|known| *known == wanted);
            let number = wanted.parse::<u32>().ok();
            let by_number = || {
                names
                    .iter()
                    .rev()
                    .find(|known| number.is_some() && number == run_names::number(known))
            };
            exact
                .or_else(by_number)
                .ok_or_else(|| unknown(name, &names))?
        }
    };
    Ok(runs_dir(suite_dir).join(chosen))
}

/// Returns the name of the run that commands look at when none is named: the one that was started last. A run of `terca
/// validate` says nothing about agents, and must be named. One of `oracle`, `nop` or `cheat` alone must be, where there
/// is a run of agents.
pub fn latest(suite_dir: &Utf8Path) -> Option<String> {
    latest_of(suite_dir, &names(suite_dir).ok()?).cloned()
}

fn latest_of<'a>(suite_dir: &Utf8Path, names: &'a [String]) -> Option<&'a String> {
    let runs = runs_dir(suite_dir);
    let mut of_controls = None;
    for name in names.iter().rev() {
        match kind(&runs.join(name)) {
            Some(RunKind::Agents) => return Some(name),
            None if of_controls.is_none() => return Some(name),
            Some(RunKind::Controls) => of_controls = of_controls.or(Some(name)),
            Some(RunKind::Validate) | None => {}
        }
    }
    of_controls
}

/// Tells what a run is about. One without a readable `run.json` does not say so.
pub fn kind(dir: &Utf8Path) -> Option<RunKind> {
    Some(run_file(dir).ok()?.kind())
}

fn unknown(name: &str, names: &[String]) -> RunsError {
    const SHOWN: usize = 5;
    let last: Vec<&str> = names.iter().rev().take(SHOWN).map(String::as_str).collect();
    let more = if names.len() > SHOWN { " …" } else { "" };
    RunsError::Unknown {
        name: name.to_owned(),
        known: format!("{}{more}", last.join(", ")),
    }
}

/// Tells whether a directory has the journal of a run. It may turn out to be a pipe, and is refused then.
pub fn is_run(dir: &Utf8Path) -> bool {
    dir.join(EVENTS).symlink_metadata().is_ok()
}

/// Returns the directory of a run by name, by number or by path, which may be of another suite. A path that leads
/// nowhere is not taken for a run of this suite that has the same name.
pub fn find_anywhere(suite_dir: &Utf8Path, name: &str) -> Result<Utf8PathBuf, RunsError> {
    let places = [Utf8PathBuf::from(name), suite_dir.join(name)];
    if let Some(dir) = places.into_iter().find(|dir| is_run(dir)) {
        return Ok(dir);
    }
    if name.contains('/') {
        Err(unknown(name, &names(suite_dir)?))
    } else {
        find(suite_dir, Some(name))
    }
}

/// Returns the directories of several runs that are named so.
pub fn find_all(suite_dir: &Utf8Path, names: &[String]) -> Result<Vec<Utf8PathBuf>, RunsError> {
    let found = names.iter().map(|name| find_anywhere(suite_dir, name));
    found.collect()
}

/// Reads a run. One that is not as Terca wrote it is an error.
pub fn read(dir: &Utf8Path) -> Result<PastRun, RunsError> {
    sound(record::read(dir)?, is_going_on(dir))
}

/// Takes a run from its record, which must have no fault. One without an end that does not go on was interrupted.
pub(super) fn sound(read: (Record, RunState), is_going_on: bool) -> Result<PastRun, RunsError> {
    match read.0.fault() {
        Some(fault) => Err(fault),
        None => Ok(PastRun::of(read, is_going_on)),
    }
}

/// Reads a run as far as it is sound, with the fault that ends this.
pub fn read_sound_part(dir: &Utf8Path) -> Result<(PastRun, Option<RunsError>), RunsError> {
    let read = record::read(dir)?;
    let fault = read.0.fault();
    Ok((PastRun::of(read, is_going_on(dir)), fault))
}

/// Reads the `run.json` of a run.
pub fn run_file(dir: &Utf8Path) -> Result<RunFile, RunsError> {
    let path = dir.join(RUN);
    let text = open_run(dir).and_then(|opened| opened.read_file(RUN, LARGEST_RUN_FILE));
    let text = text.map_err(|error| RunsError::Read {
        path: path.clone(),
        source: reason(error),
    })?;
    RunFile::parse(&text).map_err(|source| RunsError::RunFile { path, source })
}

/// Returns the fingerprints of a run's cases, where its `run.json` can be read.
pub fn fingerprints(dir: &Utf8Path) -> Option<Vec<CaseFingerprint>> {
    Some(run_file(dir).ok()?.fingerprints)
}

/// Returns the latest run if it was interrupted, as its results tell.
pub fn latest_interrupted(suite_dir: &Utf8Path) -> Option<String> {
    let name = latest(suite_dir)?;
    let dir: Dir = open_run(&runs_dir(suite_dir).join(&name)).ok()?;
    dir.open_file(EVENTS).ok()?;
    let is_complete = match record::results(&dir) {
        ResultsFile::Present(header) => header.status == RunStatus::Complete,
        ResultsFile::Missing | ResultsFile::Unreadable => false,
    };
    (!is_complete && !is_held(&dir)).then_some(name)
}

/// Tells whether an agent had a trial in one of the latest runs.
pub fn has_lately_run(suite_dir: &Utf8Path, agent: &str) -> bool {
    const LATEST: usize = 20;
    let names = names(suite_dir).unwrap_or_default();
    names.iter().rev().take(LATEST).any(|name| {
        let file = run_file(&runs_dir(suite_dir).join(name));
        file.is_ok_and(|file| file.trials.iter().any(|trial| trial.agent == agent))
    })
}

/// Reads the latest runs that have ended, for analyses over several runs, oldest first. One that cannot be read is left out.
pub fn history(suite_dir: &Utf8Path) -> Result<Vec<history::Record>, RunsError> {
    // Older runs say little about the agents of today, and reading takes time.
    const LATEST: usize = 50;
    let names = names(suite_dir)?;
    let latest = &names[names.len().saturating_sub(LATEST)..];
    let runs = latest
        .iter()
        .filter_map(|name| read(&runs_dir(suite_dir).join(name)).ok());
    let ended = runs.filter(|run| run.state.status() != RunStatus::Running);
    Ok(ended
        .map(|run| history::Record {
            prints: fingerprints(&run.dir),
            state: run.state,
        })
        .collect())
}
