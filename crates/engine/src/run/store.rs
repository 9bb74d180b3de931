//! A run on disk: its folder, the journal, and the results.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use terca_core::analysis::results::Results;
use terca_core::run::event::Event;
use terca_core::run::state::{Counts, RunState};
use thiserror::Error;

pub const EVENTS: &str = "events.jsonl";
pub const RESULTS: &str = "results.json";
pub const RUN: &str = "run.json";
/// Earlier results, where the tests have been run again.
pub const GRADINGS: &str = "gradings";

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
pub enum StoreError {
    #[error("{doing}: {source}")]
    Refused { doing: String, source: io::Error },
    #[error(
        "{path} cannot be opened: {source}\nhelp: is the run's folder whole? `terca list` lists the runs"
    )]
    Open {
        path: Utf8PathBuf,
        source: io::Error,
    },
    #[error(
        "the run {0} is still going on\nhelp: wait for its end, or stop it with Ctrl+C where it runs"
    )]
    GoingOn(String),
}

fn refused(doing: impl Into<String>) -> impl FnOnce(io::Error) -> StoreError {
    let doing = doing.into();
    move |source| StoreError::Refused { doing, source }
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
    fn is_outdated(&self, counts: &Counts) -> bool {
        let age = self.at.elapsed();
        let news = counts.finished().saturating_sub(self.finished);
        let enough = news >= (counts.total / PARTS).max(1) || (news > 0 && age >= LONGEST_WAIT);
        enough && age >= INTERVAL.max(self.took * SHARE)
    }
}

impl Store {
    /// Makes the next free folder of the day, with the plan and an empty journal in it: a folder without them is
    /// never seen, so every run can be resumed.
    pub fn create(
        suite_dir: &Utf8Path,
        today: jiff::civil::Date,
        plan: &serde_json::Value,
    ) -> Result<Self, StoreError> {
        let runs = runs_dir(suite_dir);
        fs::create_dir_all(&runs).map_err(refused("the runs directory could not be made"))?;
        keep_out_of_git(suite_dir).map_err(refused(".terca/.gitignore could not be written"))?;
        let drafts = suite_dir.join(".terca");
        remove_unfinished(&drafts);
        let draft = drafts.join(format!("{DRAFT}{:08x}", fastrand::u32(..)));
        fs::create_dir(&draft).map_err(refused("the run's folder could not be made"))?;
        let journal = File::options()
            .create_new(true)
            .append(true)
            .open(draft.join(EVENTS));
        let journal = journal.map_err(refused("events.jsonl could not be made"))?;
        // Where files cannot be locked, nobody can tell whether the run is going on; that is all.
        let _ = journal.try_lock();
        replace(&draft, RUN, plan)?;
        let (name, dir) = next_folder(&runs, &draft, today)
            .map_err(refused("the run's folder could not be made"))?;
        Ok(Store {
            name,
            dir,
            journal,
            written: None,
        })
    }

    /// Opens the folder of a run that was interrupted, unless it is going on. What was being written to the journal
    /// when Terca died is cut off.
    pub fn reopen(dir: &Utf8Path) -> Result<Self, StoreError> {
        let path = dir.join(EVENTS);
        let name = dir.file_name().unwrap_or_default().to_owned();
        let unopened = |source| StoreError::Open {
            path: path.clone(),
            source,
        };
        let journal = File::options()
            .read(true)
            .append(true)
            .open(&path)
            .map_err(unopened)?;
        if let Err(std::fs::TryLockError::WouldBlock) = journal.try_lock() {
            return Err(StoreError::GoingOn(name));
        }
        cut_torn_line(&journal).map_err(unopened)?;
        Ok(Store {
            name,
            dir: dir.to_owned(),
            journal,
            written: None,
        })
    }

    /// Appends an event. One write for one line: what is finished is never lost.
    pub fn append(&mut self, event: &Event) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(event)
            .map_err(|error| refused("an event could not be written")(error.into()))?;
        line.push(b'\n');
        self.journal
            .write_all(&line)
            .map_err(refused("events.jsonl could not be written"))
    }

    /// Keeps the results as they are under the number of their grading, before there is another.
    pub fn keep_grading(&self, state: &RunState) -> Result<(), StoreError> {
        let dir = self.dir.join(GRADINGS);
        fs::create_dir_all(&dir)
            .map_err(refused("the folder of earlier gradings could not be made"))?;
        replace(
            &dir,
            &format!("{:02}.json", state.grading()),
            &Results::of(state),
        )
    }

    /// Writes the results when it is time again.
    pub fn refresh_results(&mut self, state: &RunState) -> Result<(), StoreError> {
        if self
            .written
            .is_none_or(|written| written.is_outdated(state.counts()))
        {
            self.write_results(state)
        } else {
            Ok(())
        }
    }

    /// Replaces `results.json` atomically: whoever reads it finds a whole document.
    pub fn write_results(&mut self, state: &RunState) -> Result<(), StoreError> {
        let started = Instant::now();
        replace(&self.dir, RESULTS, &Results::of(state))?;
        let finished = state.counts().finished();
        self.written = Some(Written {
            at: Instant::now(),
            took: started.elapsed(),
            finished,
        });
        Ok(())
    }
}

fn replace(dir: &Utf8Path, name: &str, document: &impl serde::Serialize) -> Result<(), StoreError> {
    let (new, place) = (dir.join(format!(".{name}.new")), dir.join(name));
    let write = || -> io::Result<()> {
        let mut file = io::BufWriter::new(File::create(&new)?);
        serde_json::to_writer_pretty(&mut file, document)?;
        file.write_all(b"\n")?;
        file.flush()?;
        std::fs::rename(&new, &place)
    };
    write().map_err(refused(format!("{place} could not be written")))
}

/// Whether a run's Terca is alive: it holds the journal locked for as long as it lives.
pub fn is_going_on(dir: &Utf8Path) -> bool {
    let Ok(journal) = File::open(dir.join(EVENTS)) else {
        return false;
    };
    matches!(
        journal.try_lock_shared(),
        Err(std::fs::TryLockError::WouldBlock)
    )
}

/// A line that has no end was being written when Terca died, or when the disk was full.
fn cut_torn_line(mut journal: &File) -> io::Result<()> {
    const BLOCK: u64 = 64 * 1024;
    let mut end = journal.metadata()?.len();
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        journal.seek(SeekFrom::Start(start))?;
        block.clear();
        journal.take(end - start).read_to_end(&mut block)?;
        if let Some(last) = block.iter().rposition(|byte| *byte == b'\n') {
            return journal.set_len(start + last as u64 + 1);
        }
        end = start;
    }
    journal.set_len(0)
}

/// Folders that are being made have this before their names.
const DRAFT: &str = ".new-";

/// Drafts of programs that died before they had a folder.
fn remove_unfinished(drafts: &Utf8Path) {
    let Ok(entries) = drafts.read_dir_utf8() else {
        return;
    };
    for entry in entries
        .flatten()
        .filter(|entry| entry.file_name().starts_with(DRAFT))
    {
        // One that has just been made and not yet locked is held to be another's, until it is old enough.
        let age = entry
            .metadata()
            .ok()
            .and_then(|meta| meta.modified().ok()?.elapsed().ok());
        let is_old = age.is_some_and(|age| age > Duration::from_secs(60));
        if is_old && !is_going_on(entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn keep_out_of_git(suite_dir: &Utf8Path) -> io::Result<()> {
    let ignore = suite_dir.join(".terca/.gitignore");
    if ignore.exists() {
        Ok(())
    } else {
        fs::write(ignore, "*\n")
    }
}

/// Gives the draft its name, `YYYY-MM-DD-NNN`. A folder with something in it cannot be replaced by another, so two
/// that start together get two names.
fn next_folder(
    runs: &Utf8Path,
    draft: &Utf8Path,
    today: jiff::civil::Date,
) -> io::Result<(String, Utf8PathBuf)> {
    let prefix = format!("{today}-");
    let mut number = 0;
    for entry in fs::read_dir(runs)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let taken = name
            .strip_prefix(&prefix)
            .and_then(|rest| rest.parse::<u32>().ok());
        number = number.max(taken.unwrap_or(0));
    }
    loop {
        number += 1;
        let name = format!("{prefix}{number:03}");
        let dir = runs.join(&name);
        match std::fs::rename(draft, &dir) {
            Ok(()) => return Ok((name, dir)),
            Err(error) if is_taken(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(
        error.kind(),
        AlreadyExists | DirectoryNotEmpty | NotADirectory
    )
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
            let threads: Vec<_> = (0..16)
                .map(|_| {
                    scope.spawn(|| {
                        Store::create(&dir, today, &serde_json::json!({}))
                            .unwrap()
                            .name
                    })
                })
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
            fs::read_to_string(dir.join(".terca/.gitignore")).unwrap(),
            "*\n"
        );
    }

    #[test]
    fn results_are_written_again_when_enough_has_happened() {
        let counts = |total, passed| Counts {
            total,
            passed,
            ..Counts::default()
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
            assert_eq!(
                written.is_outdated(&counts(total, passed)),
                outdated,
                "{seconds} {total} {passed}"
            );
        }
    }

    #[test]
    fn numbers_go_on_after_a_gap_and_past_999() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        fs::create_dir_all(dir.join("2026-11-14-999")).unwrap();
        fs::create_dir_all(dir.join("2026-11-13-004")).unwrap();
        fs::create_dir_all(dir.join("draft")).unwrap();
        let today = jiff::civil::date(2026, 11, 14);
        assert_eq!(
            next_folder(&dir, &dir.join("draft"), today).unwrap().0,
            "2026-11-14-1000"
        );
    }

    #[test]
    fn a_torn_line_is_cut_off_and_nothing_else() {
        let long = format!("{}\n", "x".repeat(200_000));
        for (written, kept) in [
            ("", ""),
            ("a", ""),
            ("a\n", "a\n"),
            ("a\nb", "a\n"),
            (&format!("a\n{long}"), &format!("a\n{long}")),
            (&format!("a\n{}", &long[..long.len() - 1]), "a\n"),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(written.as_bytes()).unwrap();
            cut_torn_line(&file).unwrap();
            file.rewind().unwrap();
            let mut left = String::new();
            file.read_to_string(&mut left).unwrap();
            assert!(
                left == kept,
                "{} bytes left of {}",
                left.len(),
                written.len()
            );
        }
    }

    #[test]
    fn a_run_that_goes_on_is_not_opened_twice() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        let store = Store::create(
            &dir,
            jiff::civil::date(2026, 11, 14),
            &serde_json::json!({"seed": 1}),
        )
        .unwrap();
        assert!(is_going_on(&store.dir));
        let error = Store::reopen(&store.dir).unwrap_err();
        assert!(
            matches!(&error, StoreError::GoingOn(name) if name == "2026-11-14-001"),
            "{error}"
        );
        let place = store.dir.clone();
        drop(store);
        assert!(!is_going_on(&place));
        assert_eq!(Store::reopen(&place).unwrap().name, "2026-11-14-001");
    }
}
