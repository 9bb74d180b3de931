//! The two levels of Ctrl+C, in a form that `poll(2)` can wait for.
//!
//! Each level is the read end of a pipe. Raising the level closes the write end, which wakes every thread that polls,
//! now and later: no signal can be missed, and none has to be consumed.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::tree::ShouldStop;

/// The state of an interrupt: not raised, stop, or kill.
#[derive(Debug)]
pub struct Interrupt {
    stop: Level,
    kill: Level,
}

#[derive(Debug)]
struct Level {
    raised: AtomicBool,
    read: OwnedFd,
    write: Mutex<Option<OwnedFd>>,
}

impl Interrupt {
    /// Makes an interrupt that is not raised.
    pub fn new() -> io::Result<Self> {
        Ok(Interrupt {
            stop: Level::new()?,
            kill: Level::new()?,
        })
    }

    /// Raises the first level: agents are asked to end.
    pub fn stop(&self) {
        self.stop.raise();
    }

    /// Raises both levels: everything is ended at once.
    pub fn kill(&self) {
        self.stop.raise();
        self.kill.raise();
    }

    /// Returns whether the first level is raised.
    pub fn is_stop(&self) -> bool {
        self.stop.raised.load(Ordering::Acquire)
    }

    /// Returns whether the second level is raised.
    pub fn is_kill(&self) -> bool {
        self.kill.raised.load(Ordering::Acquire)
    }

    pub(crate) fn stop_file(&self) -> &OwnedFd {
        &self.stop.read
    }

    pub(crate) fn kill_file(&self) -> &OwnedFd {
        &self.kill.read
    }
}

/// Copies and comparisons of trees end with the first level.
impl ShouldStop for Interrupt {
    fn should_stop(&self) -> bool {
        self.is_stop()
    }
}

impl Level {
    fn new() -> io::Result<Self> {
        let (read, write) = io::pipe()?;
        Ok(Level {
            raised: AtomicBool::new(false),
            read: read.into(),
            write: Mutex::new(Some(write.into())),
        })
    }

    fn raise(&self) {
        self.raised.store(true, Ordering::Release);
        self.write
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}
