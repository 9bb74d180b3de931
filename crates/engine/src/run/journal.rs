//! The journal of a run while it is written: one event a line, locked for as long as its Terca lives.
//!
//! Agents run as the same user, and could change it. So Terca keeps a copy that has no name, looks before each line
//! whether the journal is still the file that it wrote, and compares the whole at the end. A journal that was cut,
//! replaced, removed or changed is put aside and written anew from the copy; the run goes on, and its end says so.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use terca_core::run::event::{Event, EventKind};
use terca_core::run::seal::{JournalEnd, Seal, digest};

use crate::run::files::{
    EVENTS, FILE_MODE, LARGEST_RUN_FILE, RUN, clear, open_run, reason, replace, sync, sync_dir,
};
use crate::run::record::Record;
use crate::tree::{Dir, TreeError};

/// The name of a journal that was changed while its run went on.
pub(super) const SPOILT: &str = "events.jsonl.spoilt";

/// The open journal of a run. Nobody else writes to it.
#[derive(Debug)]
pub(super) struct Journal {
    dir: Dir,
    file: File,
    seal: Seal,
    events: usize,
    /// The file as it was after the last line.
    seen: Seen,
    /// Everything that was written, in a file without a name.
    copy: Option<File>,
    /// The end of a trial was written since the last [`Journal::settle`].
    is_unsettled: bool,
    /// The content of `run.json`.
    run_file: Vec<u8>,
    changes: Vec<&'static str>,
}

/// The facts by which a file is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    inode: (u64, u64),
    length: u64,
    /// Nobody can set it.
    changed: (i64, u32),
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
    /// Makes an empty journal beside the `run.json` with this content.
    pub(super) fn create(dir: Dir, run_file: Vec<u8>) -> io::Result<Self> {
        let file = dir.append_to_file(EVENTS, FILE_MODE)?;
        // On a file system without locks, nobody can tell whether the run is going on; that is all.
        let _ = file.try_lock();
        let seal = Seal::new(digest(&run_file));
        Journal::new(dir, file, seal, 0, run_file)
    }

    /// Takes the journal of a run that was interrupted, so that nobody else continues it.
    pub(super) fn lock(dir: &Dir) -> Result<File, NotOpened> {
        let machine = |error: TreeError| NotOpened::Machine(reason(error));
        // It must be there: appending would make it.
        dir.open_file(EVENTS).map_err(machine)?;
        let file = dir.append_to_file(EVENTS, FILE_MODE).map_err(machine)?;
        if is_free(&file) {
            Ok(file)
        } else {
            Err(NotOpened::GoingOn)
        }
    }

    /// Goes on with a journal that was read whole, after cutting off what was being written when its Terca died.
    pub(super) fn reopen(dir: Dir, file: File, record: &Record) -> io::Result<Self> {
        if file.metadata()?.nlink() > 1 {
            // Whoever sent the run may have chosen a file of the user's for it.
            return Err(io::Error::other(
                "the file has a hard link elsewhere, which would be changed, too; copy the run first",
            ));
        }
        file.set_len(record.journal.sound_bytes)?;
        let seal = record.journal.seal.clone();
        let events = record.journal.events;
        Journal::new(dir, file, seal, events, record.run_text.clone())
    }

    fn new(dir: Dir, file: File, seal: Seal, events: usize, run_file: Vec<u8>) -> io::Result<Self> {
        Ok(Journal {
            seen: Seen::of(&file)?,
            // Without room for a copy, a change is still noticed.
            copy: copy_of(&dir, &file).ok(),
            dir,
            file,
            seal,
            events,
            is_unsettled: false,
            run_file,
            changes: Vec::new(),
        })
    }

    /// Appends an event with a single write, so that a finished event is never lost when Terca is killed.
    pub(super) fn append(&mut self, event: &Event) -> io::Result<()> {
        if !self.is_as_it_was()? {
            self.restore()?;
        }
        let line = self.seal.line(event)?;
        self.file.write_all(&line)?;
        self.is_unsettled |= is_weighty(&event.kind);
        let copied = self.copy.as_mut().map(|copy| copy.write_all(&line));
        if copied.is_some_and(|copied| copied.is_err()) {
            self.copy = None;
        }
        self.events += 1;
        self.seen = Seen::of(&self.file)?;
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

    /// Compares all of the journal and of `run.json` with what was written. Returns the changes that were found,
    /// here and
    /// before; they have been undone.
    pub(super) fn conclude(&mut self) -> io::Result<&[&'static str]> {
        if !self.is_named()? || !self.has_content()? {
            self.restore()?;
        }
        let found = self.dir.read_file(RUN, LARGEST_RUN_FILE);
        if !found.is_ok_and(|found| found == self.run_file) {
            replace(&self.dir, RUN, |file| file.write_all(&self.run_file))?;
            self.changes.push(RUN);
        }
        sync_dir(&self.dir)?;
        Ok(&self.changes)
    }

    fn is_as_it_was(&mut self) -> io::Result<bool> {
        let now = Seen::in_dir(&self.dir)?;
        if now == Some(self.seen) {
            return Ok(true);
        }
        // Other permissions or another name beside the first are no harm.
        if self.is_named()? && self.has_content()? {
            self.seen = Seen::of(&self.file)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Tells whether the name still leads to the file that is written.
    fn is_named(&self) -> io::Result<bool> {
        let named = Seen::in_dir(&self.dir)?;
        Ok(named.is_some_and(|named| named.inode == self.seen.inode))
    }

    /// Tells whether the file has what was written to it.
    fn has_content(&self) -> io::Result<bool> {
        if self.file.metadata()?.len() != self.seen.length {
            return Ok(false);
        }
        match &self.copy {
            Some(copy) => is_equal(copy, &self.file, self.seen.length),
            None => Ok(true),
        }
    }

    /// Writes the journal anew, and puts aside what is in its place.
    fn restore(&mut self) -> io::Result<()> {
        const NEW: &str = ".events.jsonl.new";
        self.changes.push(EVENTS);
        let Some(copy) = &self.copy else {
            return Err(io::Error::other(
                "it was changed during the run, and there is no copy of it",
            ));
        };
        clear(&self.dir, NEW)?;
        let mut file = self.dir.append_to_file(NEW, FILE_MODE)?;
        let _ = file.try_lock();
        let mut from = copy;
        from.seek(SeekFrom::Start(0))?;
        io::copy(&mut from, &mut file)?;
        sync(&file)?;
        if self.dir.meta_at(EVENTS)?.is_some() {
            clear(&self.dir, SPOILT)?;
            self.dir.rename(EVENTS, SPOILT)?;
        }
        self.dir.rename(NEW, EVENTS)?;
        self.seen = Seen::of(&file)?;
        self.file = file;
        Ok(())
    }
}

impl Seen {
    fn of(file: &File) -> io::Result<Self> {
        let meta = file.metadata()?;
        Ok(Seen {
            inode: (meta.dev(), meta.ino()),
            length: meta.len(),
            changed: (meta.ctime(), meta.ctime_nsec() as u32),
        })
    }

    /// Looks at what has the journal's name.
    fn in_dir(dir: &Dir) -> io::Result<Option<Self>> {
        let meta = dir.meta_at(EVENTS)?;
        Ok(meta.map(|meta| Seen {
            inode: (meta.device, meta.inode),
            length: meta.size,
            changed: meta.changed,
        }))
    }
}

/// Events that cost something to bring about again.
fn is_weighty(kind: &EventKind) -> bool {
    match kind {
        EventKind::RunStarted { .. }
        | EventKind::TrialFinished { .. }
        | EventKind::AttemptFailed { .. }
        | EventKind::Regraded { .. }
        | EventKind::RunFinished { .. } => true,
        EventKind::RunResumed { .. }
        | EventKind::RoundStarted { .. }
        | EventKind::StepsFound { .. }
        | EventKind::StepMade { .. }
        | EventKind::TrialStarted { .. }
        | EventKind::PhaseStarted { .. }
        | EventKind::Progress { .. }
        | EventKind::VariantStopped { .. }
        | EventKind::Stopping { .. } => false,
    }
}

/// Copies a file into one without a name.
fn copy_of(dir: &Dir, file: &File) -> io::Result<File> {
    let name = format!(".events.jsonl.{:016x}", fastrand::u64(..));
    let mut copy = dir.create_file(&name, 0o600)?;
    dir.remove_file(&name)?;
    let mut from = file;
    from.seek(SeekFrom::Start(0))?;
    io::copy(&mut from, &mut copy)?;
    Ok(copy)
}

/// Compares the first bytes of two files.
fn is_equal(one: &File, other: &File, length: u64) -> io::Result<bool> {
    const PIECE: usize = 256 * 1024;
    let mut pieces = [vec![0; PIECE], vec![0; PIECE]];
    let mut at = 0;
    while at < length {
        let size = PIECE.min(usize::try_from(length - at).unwrap_or(PIECE));
        for (file, piece) in [one, other].into_iter().zip(&mut pieces) {
            match file.read_exact_at(&mut piece[..size], at) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
                answer => answer?,
            }
        }
        if pieces[0][..size] != pieces[1][..size] {
            return Ok(false);
        }
        at += size as u64;
    }
    Ok(true)
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

/// Returns the last event of a journal, reading no more than its end.
pub(super) fn last_event(dir: &Dir) -> Option<Event> {
    const LONGEST_END: i64 = 4096;
    let mut journal = dir.open_file(EVENTS).ok()?;
    let length = i64::try_from(journal.metadata().ok()?.len()).ok()?;
    journal.seek(SeekFrom::End(-length.min(LONGEST_END))).ok()?;
    let mut end = Vec::new();
    journal
        .take(LONGEST_END as u64)
        .read_to_end(&mut end)
        .ok()?;
    let end = String::from_utf8_lossy(&end);
    serde_json::from_str(end.lines().next_back()?).ok()
}
