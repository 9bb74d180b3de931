//! The runs so far, read back from disk.

use std::fs::File;
use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::analysis::results::Results;
use terca_core::plan::fingerprint::CaseFingerprint;
use terca_core::run::event::{Event, EventKind, RunStatus};
use terca_core::run::run_file::{RunFile, RunFileError};
use terca_core::run::state::RunState;
use thiserror::Error;

use crate::run::files::{EVENTS, RUN, runs_dir};
use crate::run::journal::{self, is_going_on};
use crate::run::names as run_names;

/// A larger `run.json` is not read: that of a million trials has a third of it.
const LARGEST_RUN_FILE: u64 = 1 << 30;

/// A run that cannot be found or read.
#[derive(Debug, Error)]
pub enum RunsError {
    /// The suite has no runs.
    #[error("no runs yet in {0}")]
    None(Utf8PathBuf),
    /// The suite has no run of this name.
    #[error("no run `{name}`; the runs are {known}")]
    Unknown {
        /// The name that was looked for.
        name: String,
        /// The latest runs that there are.
        known: String,
    },
    /// The machine refused to read a file.
    #[error("{path} cannot be read: {source}")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// The machine's reason.
        source: io::Error,
    },
    /// A line of the journal is not an event.
    #[error("{path}, line {line} is not an event: {reason}")]
    Journal {
        /// The journal.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
        /// The parser's reason.
        reason: String,
    },
    /// `run.json` cannot be used.
    #[error("{path} is not the plan of a run: {source}")]
    RunFile {
        /// The file.
        path: Utf8PathBuf,
        /// The parser's reason.
        source: RunFileError,
    },
}

/// A run as its journal tells it.
#[derive(Debug)]
pub struct PastRun {
    /// The run's directory.
    pub dir: Utf8PathBuf,
    /// The state that the events come to.
    pub state: RunState,
    /// The number of the next event.
    pub next_sequence: u64,
}

impl PastRun {
    /// Computes the results.
    pub fn results(&self) -> Results {
        Results::of(&self.state)
    }
}

/// Returns the names of all runs, oldest first.
pub fn names(suite_dir: &Utf8Path) -> Result<Vec<String>, RunsError> {
    run_names::names(suite_dir).map_err(|source| RunsError::Read {
        path: runs_dir(suite_dir),
        source,
    })
}

/// Opens a run by name, by number (the latest of that number), or the latest.
pub fn open(suite_dir: &Utf8Path, name: Option<&str>) -> Result<PastRun, RunsError> {
    read(&find(suite_dir, name)?)
}

/// Returns the directory of a run: by name, by number (the latest of that number), or the latest.
pub fn find(suite_dir: &Utf8Path, name: Option<&str>) -> Result<Utf8PathBuf, RunsError> {
    let names = names(suite_dir)?;
    let Some(latest) = names.last() else {
        return Err(RunsError::None(runs_dir(suite_dir)));
    };
    let chosen = match name {
        None => latest,
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

fn unknown(name: &str, names: &[String]) -> RunsError {
    const SHOWN: usize = 5;
    let last: Vec<&str> = names.iter().rev().take(SHOWN).map(String::as_str).collect();
    let more = if names.len() > SHOWN { " …" } else { "" };
    RunsError::Unknown {
        name: name.to_owned(),
        known: format!("{}{more}", last.join(", ")),
    }
}

/// Returns the directory of a run by name, by number or by path, which may be of another suite. A path that leads
/// nowhere is not taken for a run of this suite that has the same name.
pub fn find_anywhere(suite_dir: &Utf8Path, name: &str) -> Result<Utf8PathBuf, RunsError> {
    let places = [Utf8PathBuf::from(name), suite_dir.join(name)];
    if let Some(dir) = places.into_iter().find(|dir| dir.join(EVENTS).is_file()) {
        return Ok(dir);
    }
    if name.contains('/') {
        Err(unknown(name, &names(suite_dir)?))
    } else {
        find(suite_dir, Some(name))
    }
}

/// Folds the journal of a run.
pub fn read(dir: &Utf8Path) -> Result<PastRun, RunsError> {
    let mut state = RunState::default();
    let mut next_sequence = 0;
    for event in events(dir)? {
        state.apply(&event);
        next_sequence = event.seq + 1;
    }
    if state.status() == RunStatus::Running && !is_going_on(dir) {
        state.abandon();
    }
    Ok(PastRun {
        dir: dir.to_owned(),
        state,
        next_sequence,
    })
}

/// Reads the journal of a run.
pub fn events(dir: &Utf8Path) -> Result<Vec<Event>, RunsError> {
    let path = dir.join(EVENTS);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(source) => return Err(RunsError::Read { path, source }),
    };
    journal::parse(&text).map_err(|bad| RunsError::Journal {
        path,
        line: bad.line,
        reason: bad.reason,
    })
}

/// Reads the `run.json` of a run.
pub fn run_file(dir: &Utf8Path) -> Result<RunFile, RunsError> {
    let path = dir.join(RUN);
    let text = match read_bounded(&path) {
        Ok(text) => text,
        Err(source) => return Err(RunsError::Read { path, source }),
    };
    RunFile::parse(&text).map_err(|source| RunsError::RunFile { path, source })
}

fn read_bounded(path: &Utf8Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > LARGEST_RUN_FILE {
        return Err(io::Error::other(format!(
            "it has {length} bytes, and the largest that is read has {LARGEST_RUN_FILE}"
        )));
    }
    let mut text = Vec::new();
    file.take(LARGEST_RUN_FILE).read_to_end(&mut text)?;
    Ok(text)
}

/// Returns the fingerprints of a run's cases, where its `run.json` can be read.
pub fn fingerprints(dir: &Utf8Path) -> Option<Vec<CaseFingerprint>> {
    Some(run_file(dir).ok()?.fingerprints)
}

/// Returns the latest run if it was interrupted. Reads the end of its journal alone.
pub fn latest_interrupted(suite_dir: &Utf8Path) -> Option<String> {
    let name = names(suite_dir).ok()?.pop()?;
    let dir = runs_dir(suite_dir).join(&name);
    if !dir.join(EVENTS).is_file() {
        return None;
    }
    let is_complete = journal::last_event(&dir).is_some_and(|event| {
        matches!(
            event.kind,
            EventKind::RunFinished {
                status: RunStatus::Complete
            }
        )
    });
    (!is_complete && !is_going_on(&dir)).then_some(name)
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
