//! The open directory of a run: the one place that writes its journal, its results and its `run.json`.

use std::fs::File;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::analysis::results::Results;
use terca_core::run::event::{Event, RunStatus};
use terca_core::run::run_file::RunFile;
use terca_core::run::seal::JournalEnd;
use terca_core::run::state::RunState;
use thiserror::Error;

use crate::run::files::{
    DIR_MODE, EVENTS, GRADINGS, RESULTS, RUN, open_run, reason, replace, runs_dir, sync,
    write_document,
};
use crate::run::journal::Journal;
use crate::run::names;
use crate::run::past_runs::{self, PastRun};
use crate::run::record::{self, RunsError};
use crate::tree::Dir;
use crate::workspace::own_dirs::make_own_dir;
use crate::workspace::stale_dirs::{Draft, remove_drafts};

/// A run's directory that could not be made, opened or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The machine refused to write.
    #[error("{doing}: {source}")]
    Refused {
        /// The failed step.
        doing: String,
        /// The machine's reason.
        source: io::Error,
    },
    /// The journal cannot be opened.
    #[error("{path} cannot be opened: {source}")]
    Open {
        /// The journal.
        path: Utf8PathBuf,
        /// The machine's reason.
        source: io::Error,
    },
    /// Another Terca is running it.
    #[error("the run {0} is still going on")]
    GoingOn(String),
    /// The run cannot be read, or is not as Terca wrote it.
    #[error(transparent)]
    Runs(#[from] RunsError),
}

const NOT_APPENDED: &str = "events.jsonl could not be written";

fn refused<E: Into<io::Error>>(doing: impl Into<String>) -> impl FnOnce(E) -> StoreError {
    let doing = doing.into();
    move |error| StoreError::Refused {
        doing,
        source: error.into(),
    }
}

/// The open directory of a run.
#[derive(Debug)]
pub struct Store {
    /// The run's name.
    pub name: String,
    /// The run's directory.
    pub dir: Utf8PathBuf,
    opened: Dir,
    journal: Journal,
    /// The time from which results may be written again, and the trials that had ended when they were.
    last_write: Option<(Instant, usize)>,
}

impl Store {
    /// Makes the next free directory of the day, with `run.json` and an empty journal in it. A directory without them
    /// is never seen, so every run can be resumed.
    pub fn create(
        suite_dir: &Utf8Path,
        today: jiff::civil::Date,
        run_file: &RunFile,
    ) -> Result<Self, StoreError> {
        Store::make(suite_dir, today, run_file)
            .map_err(refused("the run's directory could not be made"))
    }

    fn make(
        suite_dir: &Utf8Path,
        today: jiff::civil::Date,
        run_file: &RunFile,
    ) -> io::Result<Self> {
        let runs = &runs_dir(suite_dir);
        fs_err::create_dir_all(runs)?;
        let drafts = make_own_dir(suite_dir)?;
        remove_drafts(&drafts);
        let draft = Draft::create(&drafts, 0o777)?;
        let opened = open_run(draft.path())?;
        let mut text = Vec::new();
        write_document(run_file, &mut text)?;
        replace(&opened, RUN, |file| file.write_all(&text))?;
        let journal = Journal::create(&opened, &text)?;
        let (dir, _) = draft.publish(names::free_dirs(runs, today)?)?;
        let store = Store::new(dir, journal)?;
        // The names are on the disk before anything is run.
        sync(&store.opened)?;
        sync(Dir::open(runs)?)?;
        Ok(store)
    }

    /// Opens the directory of a run that was interrupted, unless it is going on, and reads it. One that is not as Terca
    /// wrote it stays as it is. An event that was being written when Terca died is cut off.
    pub fn reopen(dir: &Utf8Path) -> Result<(Self, PastRun), StoreError> {
        let (opened, file) = lock(dir)?;
        let past = past_runs::sound(record::read_in(&opened, dir)?, true)?;
        let journal = Journal::reopen(file, &past.record).map_err(unopened(dir))?;
        let store = Store::new(dir.to_owned(), journal).map_err(unopened(dir))?;
        Ok((store, past))
    }

    fn new(dir: Utf8PathBuf, journal: Journal) -> io::Result<Self> {
        Ok(Store {
            name: run_name(&dir),
            opened: open_run(&dir)?,
            dir,
            journal,
            last_write: None,
        })
    }

    /// Appends an event to the journal. It may be shown after [`Store::settle`].
    pub fn append(&mut self, event: &Event) -> Result<(), StoreError> {
        self.journal.append(event).map_err(refused(NOT_APPENDED))
    }

    /// Waits until the ends of trials are on the disk.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        self.journal.settle().map_err(refused(NOT_APPENDED))
    }

    /// Keeps the results as they are under the number of their grading, before there is another.
    pub fn keep_grading(&self, state: &RunState) -> Result<(), StoreError> {
        let dir = self
            .opened
            .create_dir_all(GRADINGS, DIR_MODE)
            .map_err(refused("the directory of earlier grades could not be made"))?;
        let name = format!("{:02}.json", state.grading());
        write_results(&dir, &name, state, self.journal.end())
    }

    /// Writes the results at the end, and reads the files of the run again. Returns how they are not as they were written.
    pub fn conclude(&mut self, state: &RunState) -> Result<Option<RunsError>, StoreError> {
        self.write_results(state)?;
        Ok(match record::read(&self.dir) {
            Ok((record, _)) => record.fault(),
            Err(error) => Some(error),
        })
    }

    /// Writes the results when it is time again.
    pub fn refresh_results(&mut self, state: &RunState) -> Result<(), StoreError> {
        if self
            .last_write
            .is_none_or(|last| is_due(last, state.counts().finished()))
        {
            return self.write_results(state);
        }
        Ok(())
    }

    /// Replaces `results.json`.
    pub fn write_results(&mut self, state: &RunState) -> Result<(), StoreError> {
        // Results of events that a power cut took away would look like a journal that has lost lines.
        self.settle()?;
        let began = Instant::now();
        write_results(&self.opened, RESULTS, state, self.journal.end())?;
        let pause = INTERVAL.max(began.elapsed() * SHARE);
        self.last_write = Some((Instant::now() + pause, state.counts().finished()));
        Ok(())
    }
}

fn write_results(
    dir: &Dir,
    name: &str,
    state: &RunState,
    made_from: JournalEnd,
) -> Result<(), StoreError> {
    let results = Results {
        journal: Some(made_from),
        ..Results::of(state)
    };
    replace(dir, name, |file| write_document(&results, file)).map_err(refused(format!(
        "{} could not be written",
        dir.path().join(name).display()
    )))
}

/// Writes the results of a run again where they are stale or torn and nobody is at work on it. Returns whether
/// they were.
pub fn mend_results(run: &PastRun) -> Result<bool, StoreError> {
    if run.state.status() == RunStatus::Running || !run.record.has_stale_results() {
        return Ok(false);
    }
    let (opened, _locked) = lock(&run.dir)?;
    // Somebody may have continued it meanwhile.
    let now = past_runs::sound(record::read_in(&opened, &run.dir)?, false)?;
    write_results(&opened, RESULTS, &now.state, now.record.journal.end())?;
    Ok(true)
}

/// Opens the directory of a run and takes its journal, unless it is going on.
fn lock(dir: &Utf8Path) -> Result<(Dir, File), StoreError> {
    let opened = open_run(dir).map_err(reason).map_err(unopened(dir))?;
    let file = Journal::lock(&opened).map_err(unopened(dir))?;
    let file = file.ok_or_else(|| StoreError::GoingOn(run_name(dir)))?;
    Ok((opened, file))
}

fn unopened(dir: &Utf8Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = dir.join(EVENTS);
    move |source| StoreError::Open { path, source }
}

/// Returns the name of the run in a directory.
pub(super) fn run_name(dir: &Utf8Path) -> String {
    dir.file_name().unwrap_or(dir.as_str()).to_owned()
}

/// The shortest time between two writes.
const INTERVAL: Duration = Duration::from_millis(500);
/// Writing takes at most this part of the time, however large the results grow.
const SHARE: u32 = 50;

fn is_due((next, written): (Instant, usize), finished: usize) -> bool {
    finished > written && Instant::now() >= next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::journal::is_going_on;

    fn run_file() -> RunFile {
        let text = include_bytes!("../../../terca/tests/fixtures/run.json");
        RunFile::parse(text).unwrap()
    }

    #[test]
    fn many_at_once_get_a_folder_each() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        let today = jiff::civil::date(2026, 11, 14);
        let file = run_file();
        let names = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| Store::create(&dir, today, &file).unwrap().name))
                .collect();
            let mut names: Vec<String> = threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect();
            names.sort();
            names
        });
        let expected: Vec<String> = (1..=16).map(|n| format!("2026-11-14-{n:03}")).collect();
        assert_eq!(names, expected);
        assert_eq!(
            fs_err::read_to_string(dir.join(".terca/.gitignore")).unwrap(),
            "*\n"
        );
        let left = dir.join(".terca").read_dir_utf8().unwrap().count();
        assert_eq!(left, 2, "runs and .gitignore, and no draft");
    }

    #[test]
    fn a_run_that_goes_on_is_not_opened_twice() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        let today = jiff::civil::date(2026, 11, 14);
        let store = Store::create(&dir, today, &run_file()).unwrap();
        assert!(is_going_on(&store.dir));
        let error = Store::reopen(&store.dir).unwrap_err();
        assert!(
            matches!(&error, StoreError::GoingOn(name) if name == "2026-11-14-001"),
            "{error}"
        );
        let place = store.dir.clone();
        drop(store);
        assert!(!is_going_on(&place));
        assert_eq!(Store::reopen(&place).unwrap().0.name, "2026-11-14-001");
    }

    #[test]
    fn results_are_written_again_when_enough_has_happened() {
        let now = Instant::now();
        let later = now + Duration::from_secs(600);
        assert!(is_due((now, 100), 101));
        assert!(!is_due((now, 100), 100), "nothing has ended");
        assert!(!is_due((later, 100), 112), "too soon");
    }
}
