//! The two levels of Ctrl+C, in a form that `poll(2)` can wait for.
//!
//! Each level is the read end of a pipe. Raising the level closes the write end, which wakes everybody who
//! polls, for ever after: nothing can be missed and nothing needs to be consumed.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

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
    pub fn new() -> io::Result<Self> {
        Ok(Interrupt {
            stop: Level::new()?,
            kill: Level::new()?,
        })
    }

    /// Agents are asked to end.
    pub fn stop(&self) {
        self.stop.raise();
    }

    /// Everything is ended at once.
    pub fn kill(&self) {
        self.stop.raise();
        self.kill.raise();
    }

    pub fn is_stop(&self) -> bool {
        self.stop.raised.load(Ordering::Acquire)
    }

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
