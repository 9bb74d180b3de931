//! The journal of a run while it is written: one event a line, locked for as long as its Terca lives.
//!
//! Agents run as the same user, and could change it. Each line is sealed, so that a change is noticed when it is read again
//! ([`crate::run::record`]): at the end of the run, and by everybody who looks at it later.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use terca_core::run::event::{Event, EventKind};
use terca_core::run::seal::{JournalEnd, Seal, digest};

use crate::run::files::{EVENTS, FILE_MODE, open_run, reason, sync};
use crate::run::record::Record;
use crate::tree::Dir;

/// The open journal of a run. Nobody else writes to it.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    seal: Seal,
    events: usize,
    /// The end of a trial was written since the last [`Journal::settle`].
    is_unsettled: bool,
}

impl Journal {
    /// Makes an empty journal beside the `run.json` with this content.
    pub(super) fn create(dir: &Dir, run_file: &[u8]) -> io::Result<Self> {
        let file = dir.append_to_file(EVENTS, FILE_MODE)?;
        // On a file system without locks, nobody can tell whether the run is going on; that is all.
        let _ = file.try_lock();
        Ok(Journal::new(file, Seal::new(digest(run_file)), 0))
    }

    /// Takes the journal of a run that was interrupted, so that nobody else continues it. `None`: another Terca has it.
    pub(super) fn lock(dir: &Dir) -> io::Result<Option<File>> {
        // It must be there: appending would make it.
        dir.open_file(EVENTS).map_err(reason)?;
        let file = dir.append_to_file(EVENTS, FILE_MODE).map_err(reason)?;
        Ok(Some(file).filter(is_free))
    }

    /// Goes on with a journal that was read whole, after cutting off what was being written when its Terca died.
    pub(super) fn reopen(file: File, record: &Record) -> io::Result<Self> {
        if file.metadata()?.nlink() > 1 {
            // Whoever sent the run may have chosen a file of the user's for it.
            return Err(io::Error::other(
                "the file has a hard link elsewhere, which would be changed, too; copy the run first",
            ));
        }
        file.set_len(record.journal.sound_bytes)?;
        let seal = record.journal.seal.clone();
        Ok(Journal::new(file, seal, record.journal.events))
    }

    fn new(file: File, seal: Seal, events: usize) -> Self {
        Journal {
            file,
            seal,
            events,
            is_unsettled: false,
        }
    }

    /// Appends an event with a single write, so that a finished event is never lost when Terca is killed.
    pub(super) fn append(&mut self, event: &Event) -> io::Result<()> {
        self.file.write_all(&self.seal.line(event)?)?;
        self.is_unsettled |= is_weighty(&event.kind);
        self.events += 1;
        Ok(())
    }

    /// Waits until the ends of trials are on the disk, so that a power cut does not lose them.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_unsettled) {
            return Ok(());
        }
        sync(&self.file)
    }

    /// Returns the end of what was written.
    pub(super) fn end(&self) -> JournalEnd {
        JournalEnd {
            events: self.events,
            chain: self.seal.chain(),
        }
    }
}

/// Events that cost something to bring about again.
fn is_weighty(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::RunStarted(_)
            | EventKind::TrialFinished { .. }
            | EventKind::AttemptFailed { .. }
            | EventKind::Regraded { .. }
            | EventKind::RunFinished { .. }
    )
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
    open_run(dir).is_ok_and(|dir| is_held(&dir))
}

/// Tells whether somebody holds the journal in a directory.
pub(super) fn is_held(dir: &Dir) -> bool {
    let Ok(journal) = dir.open_file(EVENTS) else {
        return false;
    };
    matches!(journal.try_lock_shared(), Err(TryLockError::WouldBlock))
}
