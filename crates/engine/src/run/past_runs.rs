//! The runs so far, read back from disk.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use terca_core::analysis::results::Results;
use terca_core::plan::fingerprint::CasePrint;
use terca_core::run::event::{Event, EventKind, RunStatus};
use terca_core::run::state::RunState;
use thiserror::Error;

use crate::run::store::{EVENTS, RUN, is_going_on, runs_dir};

#[derive(Debug, Error)]
pub enum RunsError {
    #[error("no runs yet in {0}\nhelp: `terca` runs the suite; `-C DIR` names another suite")]
    None(Utf8PathBuf),
    #[error("no run `{name}`; the runs are {known}\nhelp: `terca list` says more about them")]
    Unknown { name: String, known: String },
    #[error(
        "{path} cannot be read: {source}\nhelp: is the run's folder whole? `terca list` lists the runs"
    )]
    Read {
        path: Utf8PathBuf,
        source: io::Error,
    },
    #[error(
        "{path}, line {line} is not an event: {reason}\nhelp: was the file edited, or made by a newer version? \
         `terca list` lists the other runs"
    )]
    Journal {
        path: Utf8PathBuf,
        line: usize,
        reason: String,
    },
}

/// A run as its journal tells it.
#[derive(Debug)]
pub struct PastRun {
    pub dir: Utf8PathBuf,
    pub state: RunState,
    /// The number of the next event.
    pub next_sequence: u64,
}

impl PastRun {
    pub fn results(&self) -> Results {
        Results::of(&self.state)
    }
}

/// The names of all runs, oldest first.
pub fn names(suite_dir: &Utf8Path) -> Result<Vec<String>, RunsError> {
    let dir = runs_dir(suite_dir);
    let entries = match dir.read_dir_utf8() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(RunsError::Read { path: dir, source }),
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_owned())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort_by_key(|name| order(name));
    Ok(names)
}

/// By day, then by number: `-1000` comes after `-999`.
fn order(name: &str) -> (String, u32, String) {
    let day = name.rsplit_once('-').map_or(name, |(day, _)| day);
    (
        day.to_owned(),
        number_of(name).unwrap_or(0),
        name.to_owned(),
    )
}

fn number_of(name: &str) -> Option<u32> {
    name.rsplit_once('-')?.1.parse().ok()
}

/// Opens a run by name, by number (the latest of that number), or the latest.
pub fn open(suite_dir: &Utf8Path, name: Option<&str>) -> Result<PastRun, RunsError> {
    read(&find(suite_dir, name)?)
}

/// The folder of such a run.
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
                    .find(|known| number.is_some() && number == number_of(known))
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

/// The same, or the path of a run's folder, from another suite or another machine say. A path that leads nowhere is
/// not taken for a run of this suite that happens to have the same name.
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

/// The journal of a run.
pub fn events(dir: &Utf8Path) -> Result<Vec<Event>, RunsError> {
    let path = dir.join(EVENTS);
    let text = std::fs::read(&path).map_err(|source| RunsError::Read {
        path: path.clone(),
        source,
    })?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let mut events = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        match serde_json::from_str::<Event>(line) {
            Ok(event) => events.push(event),
            // The last line may be torn: Terca was killed while writing it.
            Err(_) if index + 1 == lines.len() && !text.ends_with('\n') => {}
            Err(error) => {
                return Err(RunsError::Journal {
                    path,
                    line: index + 1,
                    reason: error.to_string(),
                });
            }
        }
    }
    Ok(events)
}

/// The plan that a run was started with, as `run.json` has it.
pub fn plan(dir: &Utf8Path) -> Result<Value, RunsError> {
    let path = dir.join(RUN);
    let text = std::fs::read(&path).map_err(|source| RunsError::Read {
        path: path.clone(),
        source,
    })?;
    serde_json::from_slice(&text).map_err(|error| RunsError::Read {
        path,
        source: error.into(),
    })
}

/// What the cases of a run were made from, if its `run.json` says so.
pub fn fingerprints(dir: &Utf8Path) -> Option<Vec<CasePrint>> {
    let mut plan = plan(dir).ok()?;
    serde_json::from_value(plan.get_mut("fingerprints")?.take()).ok()
}

/// The latest run, if it was interrupted. Looks at the end of its journal alone.
pub fn latest_interrupted(suite_dir: &Utf8Path) -> Option<String> {
    const LONGEST_END: i64 = 4096;
    let name = names(suite_dir).ok()?.pop()?;
    let dir = runs_dir(suite_dir).join(&name);
    let mut journal = File::open(dir.join(EVENTS)).ok()?;
    let length = i64::try_from(journal.metadata().ok()?.len()).ok()?;
    journal.seek(SeekFrom::End(-length.min(LONGEST_END))).ok()?;
    let mut end = Vec::new();
    journal.read_to_end(&mut end).ok()?;
    let end = String::from_utf8_lossy(&end);
    let last = end
        .lines()
        .next_back()
        .and_then(|line| serde_json::from_str::<Event>(line).ok());
    let is_complete = last.is_some_and(|event| {
        matches!(
            event.kind,
            EventKind::RunFinished {
                status: RunStatus::Complete
            }
        )
    });
    (!is_complete && !is_going_on(&dir)).then_some(name)
}

/// Whether an agent had a trial in one of the latest runs.
pub fn has_lately_run(suite_dir: &Utf8Path, agent: &str) -> bool {
    const LATEST: usize = 20;
    let names = names(suite_dir).unwrap_or_default();
    names.iter().rev().take(LATEST).any(|name| {
        let plan = plan(&runs_dir(suite_dir).join(name)).unwrap_or_default();
        plan["trials"]
            .as_array()
            .is_some_and(|trials| trials.iter().any(|trial| trial["agent"] == agent))
    })
}
