//! A run on disk: its folder, the journal, and the results.

use std::fs::File;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use terca_core::event::Event;
use terca_core::results::Results;
use terca_core::state::RunState;
use thiserror::Error;

pub const EVENTS: &str = "events.jsonl";
pub const RESULTS: &str = "results.json";
pub const RUN: &str = "run.json";

/// Results are not written more often than this while a run goes on.
const INTERVAL: Duration = Duration::from_millis(500);
/// Nor so often that writing them takes more than this part of the time, however large they grow.
const SHARE: u32 = 50;
/// Nor before this part of all trials has ended since: what is written over a whole run grows with the number of trials,
/// not with its square.
const PARTS: usize = 16;
/// Unless trials end so seldom that somebody who reads the results would wait.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

#[derive(Debug, Error)]
#[error("{doing}: {source}")]
pub struct StoreError {
    doing: String,
    source: io::Error,
}

fn refused(doing: impl Into<String>) -> impl FnOnce(io::Error) -> StoreError {
    let doing = doing.into();
    move |source| StoreError { doing, source }
}

/// Where the runs of a suite lie.
pub fn runs_dir(suite_dir: &Utf8Path) -> Utf8PathBuf {
    suite_dir.join(".terca/runs")
}

/// The open folder of a run.
#[derive(Debug)]
pub struct Store {
    pub name: String,
    pub dir: Utf8PathBuf,
    journal: File,
    written: Option<Written>,
}

/// The last time that the results were written: when, how long it took, and how many trials had ended.
#[derive(Debug, Clone, Copy)]
struct Written {
    at: Instant,
    took: Duration,
    finished: usize,
}

impl Written {
    fn is_outdated(&self, state: &RunState) -> bool {
        let age = self.at.elapsed();
        let news = state.counts.finished().saturating_sub(self.finished);
        let enough = news >= (state.counts.total / PARTS).max(1) || (news > 0 && age >= LONGEST_WAIT);
        enough && age >= INTERVAL.max(self.took * SHARE)
    }
}

impl Store {
    /// Makes the next free folder of the day.
    pub fn create(suite_dir: &Utf8Path, today: jiff::civil::Date) -> Result<Self, StoreError> {
        let runs = runs_dir(suite_dir);
        fs::create_dir_all(&runs).map_err(refused("the runs directory could not be made"))?;
        keep_out_of_git(suite_dir).map_err(refused(".terca/.gitignore could not be written"))?;
        let (name, dir) = next_folder(&runs, today).map_err(refused("the run's folder could not be made"))?;
        let journal = File::options().create_new(true).append(true).open(dir.join(EVENTS));
        let journal = journal.map_err(refused("events.jsonl could not be made"))?;
        Ok(Store { name, dir, journal, written: None })
    }

    /// Appends an event. One write for one line: what is finished is never lost.
    pub fn append(&mut self, event: &Event) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(event)
            .map_err(|error| refused("an event could not be written")(error.into()))?;
        line.push(b'\n');
        self.journal.write_all(&line).map_err(refused("events.jsonl could not be written"))
    }

    /// Writes the results when it is time again.
    pub fn refresh_results(&mut self, state: &RunState) -> Result<(), StoreError> {
        if self.written.is_none_or(|written| written.is_outdated(state)) {
            self.write_results(state)
        } else {
            Ok(())
        }
    }

    /// Replaces `results.json` atomically: whoever reads it finds a whole document.
    pub fn write_results(&mut self, state: &RunState) -> Result<(), StoreError> {
        let started = Instant::now();
        self.replace(RESULTS, &Results::of(state))?;
        let finished = state.counts.finished();
        self.written = Some(Written { at: Instant::now(), took: started.elapsed(), finished });
        Ok(())
    }

    pub fn write_plan(&self, plan: &serde_json::Value) -> Result<(), StoreError> {
        self.replace(RUN, plan)
    }

    fn replace(&self, name: &str, document: &impl serde::Serialize) -> Result<(), StoreError> {
        let (new, place) = (self.dir.join(format!(".{name}.new")), self.dir.join(name));
        let write = || -> io::Result<()> {
            let mut file = io::BufWriter::new(File::create(&new)?);
            serde_json::to_writer_pretty(&mut file, document)?;
            file.write_all(b"\n")?;
            file.flush()?;
            std::fs::rename(&new, &place)
        };
        write().map_err(refused(format!("{place} could not be written")))
    }
}

fn keep_out_of_git(suite_dir: &Utf8Path) -> io::Result<()> {
    let ignore = suite_dir.join(".terca/.gitignore");
    if ignore.exists() { Ok(()) } else { fs::write(ignore, "*\n") }
}

/// `YYYY-MM-DD-NNN`. Making a directory succeeds for one alone, so two that start together get two folders.
fn next_folder(runs: &Utf8Path, today: jiff::civil::Date) -> io::Result<(String, Utf8PathBuf)> {
    let prefix = format!("{today}-");
    let mut number = 0;
    for entry in fs::read_dir(runs)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let taken = name.strip_prefix(&prefix).and_then(|rest| rest.parse::<u32>().ok());
        number = number.max(taken.unwrap_or(0));
    }
    loop {
        number += 1;
        let name = format!("{prefix}{number:03}");
        let dir = runs.join(&name);
        match std::fs::create_dir(&dir) {
            Ok(()) => return Ok((name, dir)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_at_once_get_a_folder_each() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        let today = jiff::civil::date(2026, 11, 14);
        let names = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..16).map(|_| scope.spawn(|| Store::create(&dir, today).unwrap().name)).collect();
            let mut names: Vec<String> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            names.sort();
            names
        });
        let expected: Vec<String> = (1..=16).map(|n| format!("2026-11-14-{n:03}")).collect();
        assert_eq!(names, expected);
        assert_eq!(fs::read_to_string(dir.join(".terca/.gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn results_are_written_again_when_enough_has_happened() {
        let state = |total, passed| RunState {
            counts: terca_core::state::Counts { total, passed, ..Default::default() },
            ..RunState::default()
        };
        let ago = |seconds| Written {
            at: Instant::now() - Duration::from_secs(seconds),
            took: Duration::from_millis(20),
            finished: 100,
        };
        for (seconds, total, passed, outdated) in [
            (2, 200, 100, false),
            (2, 200, 112, true),
            (0, 200, 112, false),
            (2, 5000, 112, false),
            (2, 5000, 412, true),
            (31, 5000, 101, true),
            (31, 5000, 100, false),
        ] {
            let written = ago(seconds);
            assert_eq!(written.is_outdated(&state(total, passed)), outdated, "{seconds} {total} {passed}");
        }
    }

    #[test]
    fn numbers_go_on_after_a_gap_and_past_999() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        fs::create_dir_all(dir.join("2026-11-14-999")).unwrap();
        fs::create_dir_all(dir.join("2026-11-13-004")).unwrap();
        let today = jiff::civil::date(2026, 11, 14);
        assert_eq!(next_folder(&dir, today).unwrap().0, "2026-11-14-1000");
    }
}
