//! Watches a run that somebody else writes: its journal grows, or its Terca ends.

use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use crate::run::files::{EVENTS, open_run};
use crate::run::journal::is_going_on;

const LOOK_EVERY: Duration = Duration::from_millis(150);
/// The longest wait without a report.
const QUIET: Duration = Duration::from_secs(5);

/// A report about a watched run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The journal has grown.
    Grown,
    /// Nothing happened for a while.
    Quiet,
    /// Nobody writes to it any more.
    Ended,
}

/// A run that is being watched.
#[derive(Debug)]
pub struct Watch {
    dir: Utf8PathBuf,
    seen: u64,
    ended: bool,
}

impl Watch {
    /// Watches the run in a directory; its journal so far counts as seen.
    pub fn new(dir: &Utf8Path) -> Self {
        Watch {
            dir: dir.to_owned(),
            seen: size(dir),
            ended: false,
        }
    }

    /// Waits for the next change. Nothing follows after the end.
    pub fn wait(&mut self) -> Option<Change> {
        if self.ended {
            return None;
        }
        let started = Instant::now();
        loop {
            let size = size(&self.dir);
            if size != self.seen {
                self.seen = size;
                return Some(Change::Grown);
            }
            if started.elapsed() >= QUIET {
                return Some(self.still_there());
            }
            // At once, and then rarely: the question takes the lock for a moment.
            if started.elapsed() < LOOK_EVERY && self.still_there() == Change::Ended {
                return Some(Change::Ended);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn still_there(&mut self) -> Change {
        self.ended = !is_going_on(&self.dir);
        if self.ended {
            Change::Ended
        } else {
            Change::Quiet
        }
    }
}

fn size(dir: &Utf8Path) -> u64 {
    let meta = open_run(dir).and_then(|dir| dir.meta_at(EVENTS));
    meta.ok().flatten().map_or(0, |meta| meta.size)
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
        journal.write_all(b"{}\n").unwrap();
        assert_eq!(watch.wait(), Some(Change::Grown));
        drop(journal);
        assert_eq!(watch.wait(), Some(Change::Ended));
        assert_eq!(watch.wait(), None);
    }
}
