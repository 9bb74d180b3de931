//! Watches a run that another program may write: its journal or its remarks change, or its Terca begins or ends.

use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use crate::run::files::{EVENTS, GRADINGS, open_run};
use crate::run::journal::is_going_on;
use crate::run::remarks::REMARKS;

const LOOK_EVERY: Duration = Duration::from_millis(150);
/// The longest wait without a report, and the time between two questions whether the run goes on.
const QUIET: Duration = Duration::from_secs(2);

/// A report about a watched run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// There is something new about trials, or tests ran again.
    Grown,
    /// A person made a remark.
    Remarked,
    /// Nothing happened for a while.
    Quiet,
    /// A Terca writes to it, for the first time or again (`terca resume`).
    Begun,
    /// Nobody writes to it any more.
    Ended,
}

/// A run that is being watched.
#[derive(Debug)]
pub struct Watch {
    dir: Utf8PathBuf,
    seen: Facts,
    is_going_on: Option<bool>,
    asked: Instant,
}

impl Watch {
    /// Watches the run in a directory; everything so far counts as seen.
    pub fn new(dir: &Utf8Path) -> Self {
        Watch {
            dir: dir.to_owned(),
            seen: facts(dir),
            is_going_on: None,
            asked: Instant::now(),
        }
    }

    /// Waits for the next report. The first one says whether the run goes on. There is no last one: a run that
    /// ended may be resumed, or its tests run again.
    pub fn wait(&mut self) -> Change {
        let started = Instant::now();
        loop {
            let facts = facts(&self.dir);
            if facts != self.seen {
                let is_remark = facts[..2] == self.seen[..2];
                self.seen = facts;
                return match is_remark {
                    true => Change::Remarked,
                    false => Change::Grown,
                };
            }
            // Rarely: the question takes the lock for a moment.
            if self.is_going_on.is_none() || self.asked.elapsed() >= QUIET {
                self.asked = Instant::now();
                let is_going_on = is_going_on(&self.dir);
                if self.is_going_on.replace(is_going_on) != Some(is_going_on) {
                    return match is_going_on {
                        true => Change::Begun,
                        false => Change::Ended,
                    };
                }
            }
            if started.elapsed() >= QUIET {
                return Change::Quiet;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// The facts by which a change is noticed: of the journal, of earlier gradings, and of the remarks.
type Facts = [Option<OfFile>; 3];

/// The identity, the length and the time of change of a file.
type OfFile = ((u64, u64), u64, (i64, u32));

fn facts(dir: &Utf8Path) -> Facts {
    let dir = open_run(dir);
    let of = |name| {
        let meta = dir.as_ref().ok()?.meta_at(name).ok().flatten()?;
        Some(((meta.device, meta.inode), meta.size, meta.changed))
    };
    [EVENTS, GRADINGS, REMARKS].map(of)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn growth_and_the_end() {
        let guard = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        let mut journal = std::fs::File::create(dir.join(EVENTS)).unwrap();
        journal.lock().unwrap();
        let mut watch = Watch::new(&dir);
        assert_eq!(watch.wait(), Change::Begun);
        journal.write_all(b"{}\n").unwrap();
        assert_eq!(watch.wait(), Change::Grown);
        drop(journal);
        assert_eq!(after_silence(&mut watch), Change::Ended);
        std::fs::write(dir.join(REMARKS), "x").unwrap();
        assert_eq!(after_silence(&mut watch), Change::Remarked);
        let journal = std::fs::File::open(dir.join(EVENTS)).unwrap();
        journal.lock().unwrap();
        assert_eq!(after_silence(&mut watch), Change::Begun, "it is resumed");
    }

    /// Returns the next report that says something.
    fn after_silence(watch: &mut Watch) -> Change {
        loop {
            match watch.wait() {
                Change::Quiet => {}
                change => return change,
            }
        }
    }
}
