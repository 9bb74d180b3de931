//! The journal of a run: one event a line, locked for as long as its Terca lives.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use terca_core::run::event::Event;

use crate::run::files::EVENTS;

/// The open journal of a run. Nobody else writes to it.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
}

/// The reason why a journal was not opened.
#[derive(Debug)]
pub(super) enum NotOpened {
    /// Another Terca has it.
    GoingOn,
    /// The machine refused.
    Machine(io::Error),
}

impl Journal {
    /// Makes an empty journal.
    pub(super) fn create(dir: &Utf8Path) -> io::Result<Self> {
        let file = File::options()
            .create_new(true)
            .append(true)
            .open(dir.join(EVENTS))?;
        // On a file system without locks, nobody can tell whether the run is going on; that is all.
        let _ = file.try_lock();
        Ok(Journal { file })
    }

    /// Opens the journal of a run that was interrupted, and cuts off what was being written when its Terca died.
    pub(super) fn reopen(dir: &Utf8Path) -> Result<Self, NotOpened> {
        let file = File::options()
            .read(true)
            .append(true)
            .open(dir.join(EVENTS))
            .map_err(NotOpened::Machine)?;
        if !is_free(&file) {
            return Err(NotOpened::GoingOn);
        }
        cut_torn_line(&file).map_err(NotOpened::Machine)?;
        Ok(Journal { file })
    }

    /// Appends an event with a single write, so that a finished event is never lost.
    pub(super) fn append(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

/// Takes the lock of a journal. Returns whether no other Terca holds it.
///
/// A process that a killed Terca was just starting has a copy of the handle, and so of the lock, until it runs its
/// program. So a lock that is taken is tried again for a moment.
fn is_free(journal: &File) -> bool {
    const MOMENT: Duration = Duration::from_secs(1);
    const PAUSE: Duration = Duration::from_millis(20);
    let started = Instant::now();
    while let Err(TryLockError::WouldBlock) = journal.try_lock() {
        if started.elapsed() >= MOMENT {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
    true
}

/// Tells whether a run's Terca is alive: it holds the journal locked for as long as it lives.
pub fn is_going_on(dir: &Utf8Path) -> bool {
    let Ok(journal) = File::open(dir.join(EVENTS)) else {
        return false;
    };
    matches!(journal.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Cuts off a last line without an end: it was being written when Terca died, or when the disk was full.
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

/// A line of a journal that is not an event.
#[derive(Debug)]
pub(super) struct BadLine {
    /// From 1.
    pub(super) line: usize,
    pub(super) reason: String,
}

/// Parses a journal. A last line without an end is left out: Terca was killed while it wrote it.
pub(super) fn parse(text: &[u8]) -> Result<Vec<Event>, BadLine> {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut events = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        match serde_json::from_str::<Event>(line) {
            Ok(event) => events.push(event),
            Err(_) if index + 1 == lines.len() && !text.ends_with('\n') => {}
            Err(error) => {
                return Err(BadLine {
                    line: index + 1,
                    reason: error.to_string(),
                });
            }
        }
    }
    Ok(events)
}

/// Returns the last event of a journal, reading no more than its end.
pub(super) fn last_event(dir: &Utf8Path) -> Option<Event> {
    const LONGEST_END: i64 = 4096;
    let mut journal = File::open(dir.join(EVENTS)).ok()?;
    let length = i64::try_from(journal.metadata().ok()?.len()).ok()?;
    journal.seek(SeekFrom::End(-length.min(LONGEST_END))).ok()?;
    let mut end = Vec::new();
    journal.read_to_end(&mut end).ok()?;
    let end = String::from_utf8_lossy(&end);
    serde_json::from_str(end.lines().next_back()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
