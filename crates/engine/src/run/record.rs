//! The record of a run: its journal, `run.json` and `results.json`, read together and checked against each other.

use std::io::{self, BufReader, Read};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use terca_core::run::event::{Event, RunStatus};
use terca_core::run::journal::{Damage, Journal};
use terca_core::run::run_file::RunFileError;
use terca_core::run::seal::{JournalEnd, digest};
use terca_core::run::state::RunState;
use thiserror::Error;

use crate::run::files::{
    EVENTS, LARGEST_JOURNAL, LARGEST_RESULTS, LARGEST_RUN_FILE, PIECE, RESULTS, RUN, open_run,
    reason,
};
use crate::tree::Dir;

/// A run that cannot be found or read, or that is not as Terca wrote it.
#[derive(Debug, Error)]
pub enum RunsError {
    /// The suite has no runs.
    #[error("no runs yet in {0}")]
    None(Utf8PathBuf),
    /// All runs of the suite are of `terca validate`.
    #[error("no runs yet but those of `terca validate`; the latest is {0}")]
    OnlyValidations(String),
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
    /// A line of the journal is not as Terca wrote it.
    #[error("{path}, {damage}")]
    Journal {
        /// The journal.
        path: Utf8PathBuf,
        /// The line, and its damage.
        damage: Damage,
    },
    /// `run.json` cannot be used.
    #[error("{path} is not the plan of a run: {source}")]
    RunFile {
        /// The file.
        path: Utf8PathBuf,
        /// The parser's reason.
        source: RunFileError,
    },
    /// `run.json` is not the one that the run was started with.
    #[error("{0} was changed or is missing: it does not match the seal of the journal")]
    RunFileChanged(Utf8PathBuf),
    /// The results tell more than the journal.
    #[error(
        "{path} has lost lines: it has {events} events, and results.json beside it was made from {made_from}"
    )]
    Shorter {
        /// The journal.
        path: Utf8PathBuf,
        /// The number of its events.
        events: usize,
        /// The number of events that the results were made from.
        made_from: usize,
    },
    /// The results are those of another journal.
    #[error("{0} and results.json beside it do not belong together: one of them was changed")]
    OtherResults(Utf8PathBuf),
}

/// The files of a run, as far as they are sound.
#[derive(Debug)]
pub struct Record {
    /// The run's directory.
    pub dir: Utf8PathBuf,
    /// The journal.
    pub journal: Journal,
    /// The content of `run.json`; empty where it cannot be read.
    pub run_text: Vec<u8>,
    /// The results.
    pub results: ResultsFile,
}

/// The `results.json` of a run, as far as it can be told without reading all of it.
#[derive(Debug)]
pub enum ResultsFile {
    /// There is none.
    Missing,
    /// It is not such a document.
    Unreadable,
    /// It is there.
    Present(ResultsHeader),
}

/// The facts that `results.json` tells about itself.
#[derive(Debug, Deserialize)]
pub struct ResultsHeader {
    /// The status of the run.
    pub status: RunStatus,
    /// The end of the journal that it was made from.
    pub journal: JournalEnd,
}

/// Reads the record of the run in a directory, and stops at the first damage. The state is that of its events.
pub fn read(dir: &Utf8Path) -> Result<(Record, RunState), RunsError> {
    read_in(&open(dir)?, dir)
}

/// Reads the events of a run up to the first damage, or so many of them.
pub(super) fn events(
    dir: &Utf8Path,
    most: usize,
    mut each: impl FnMut(Event),
) -> Result<(), RunsError> {
    let opened = open(dir)?;
    let run_text = opened.read_file(RUN, LARGEST_RUN_FILE).unwrap_or_default();
    let mut given = 0;
    read_journal(&opened, dir, &run_text, |event| {
        if given < most {
            each(event);
            given += 1;
        }
    })?;
    Ok(())
}

/// Opens the directory of a run.
pub(super) fn open(dir: &Utf8Path) -> Result<Dir, RunsError> {
    open_run(dir).map_err(|error| RunsError::Read {
        path: dir.to_owned(),
        source: reason(error),
    })
}

/// Reads the record in an open directory, whose path is for messages.
pub(super) fn read_in(opened: &Dir, dir: &Utf8Path) -> Result<(Record, RunState), RunsError> {
    // The results before the journal: they are written after it.
    let results = results(opened);
    let run_text = opened.read_file(RUN, LARGEST_RUN_FILE).unwrap_or_default();
    let mut state = RunState::default();
    let journal = read_journal(opened, dir, &run_text, |event| state.apply(&event))?;
    let record = Record {
        dir: dir.to_owned(),
        journal,
        run_text,
        results,
    };
    Ok((record, state))
}

fn read_journal(
    opened: &Dir,
    dir: &Utf8Path,
    run_text: &[u8],
    each: impl FnMut(Event),
) -> Result<Journal, RunsError> {
    let file = (opened.open_file_up_to(EVENTS, LARGEST_JOURNAL)).map_err(reason);
    let journal = file.and_then(|file| {
        let text = BufReader::with_capacity(PIECE, file.take(LARGEST_JOURNAL));
        Journal::read(text, &digest(run_text), each)
    });
    journal.map_err(|source| RunsError::Read {
        path: dir.join(EVENTS),
        source,
    })
}

impl Record {
    /// Returns the first reason why the run is not as Terca wrote it.
    pub fn fault(&self) -> Option<RunsError> {
        let journal = &self.journal;
        let path = self.dir.join(EVENTS);
        if let Some(damage) = journal.damage.clone() {
            return Some(RunsError::Journal { path, damage });
        }
        let sealed_with = journal.seal.run_file();
        if sealed_with.is_some_and(|hash| hash != digest(&self.run_text)) {
            return Some(RunsError::RunFileChanged(self.dir.join(RUN)));
        }
        let ResultsFile::Present(ResultsHeader { journal: end, .. }) = &self.results else {
            return None;
        };
        let events = journal.events;
        if end.events > events {
            let made_from = end.events;
            return Some(RunsError::Shorter {
                path,
                events,
                made_from,
            });
        }
        let link = journal.link_after(end.events);
        (link != end.chain).then_some(RunsError::OtherResults(path))
    }

    /// Tells whether `results.json` is missing, torn, or older than the journal of a run that nobody is at work on.
    pub fn has_stale_results(&self) -> bool {
        match &self.results {
            ResultsFile::Missing | ResultsFile::Unreadable => true,
            ResultsFile::Present(ResultsHeader { status, journal }) => {
                *status == RunStatus::Running || journal.events != self.journal.events
            }
        }
    }
}

/// Reads the facts about the results in the directory of a run.
pub(super) fn results(dir: &Dir) -> ResultsFile {
    let file = match dir.open_file_up_to(RESULTS, LARGEST_RESULTS) {
        Ok(file) => file,
        Err(error) if error.is_not_found() => return ResultsFile::Missing,
        Err(_) => return ResultsFile::Unreadable,
    };
    let text = BufReader::with_capacity(PIECE, file.take(LARGEST_RESULTS));
    serde_json::from_reader(text).map_or(ResultsFile::Unreadable, ResultsFile::Present)
}
