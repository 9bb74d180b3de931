//! The two levels of Ctrl+C, in a form that `poll(2)` can wait for, and the pause of Ctrl+Z.
//!
//! Each level is the read end of a pipe. Raising the level closes the write end, which wakes every thread that polls,
//! now and later: no signal can be missed, and none has to be consumed. A pause comes and goes, so everybody looks for it
//! from time to time.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::locked;
use crate::tree::ShouldStop;

/// The state of an interrupt: not raised, stop, or kill.
#[derive(Debug)]
pub struct Interrupt {
    stop: Level,
    kill: Level,
    pause: Mutex<Pause>,
    heeded: Condvar,
}

/// The pause, and those who have to heed it.
#[derive(Debug, Default)]
struct Pause {
    is_asked: bool,
    /// The commands that run.
    commands: usize,
    /// Those of them that were told to stop.
    told: usize,
}

/// A command that runs, and stops in a pause.
#[derive(Debug)]
pub(crate) struct Paused<'a> {
    interrupt: &'a Interrupt,
    is_told: bool,
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
            pause: Mutex::default(),
            heeded: Condvar::new(),
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

    /// Asks for a pause, and waits until all commands that run were told of it, at most so long.
    pub fn pause(&self, patience: Duration) {
        self.locked().is_asked = true;
        let not_all = |pause: &mut Pause| pause.told < pause.commands;
        let waited = self
            .heeded
            .wait_timeout_while(self.locked(), patience, not_all);
        drop(waited);
    }

    /// Ends the pause.
    pub fn go_on(&self) {
        self.locked().is_asked = false;
    }

    /// Notes that a command runs.
    pub(crate) fn pausable(&self) -> Paused<'_> {
        self.locked().commands += 1;
        Paused {
            interrupt: self,
            is_told: false,
        }
    }

    fn locked(&self) -> MutexGuard<'_, Pause> {
        locked(&self.pause)
    }

    pub(crate) fn stop_file(&self) -> &OwnedFd {
        &self.stop.read
    }

    pub(crate) fn kill_file(&self) -> &OwnedFd {
        &self.kill.read
    }
}

impl Paused<'_> {
    /// Returns whether a pause has begun or ended since the command was last told: `true` for a beginning.
    pub(crate) fn news(&self) -> Option<bool> {
        let is_asked = self.interrupt.locked().is_asked;
        (is_asked != self.is_told).then_some(is_asked)
    }

    /// Notes that the command was told.
    pub(crate) fn told(&mut self, is_asked: bool) {
        let mut pause = self.interrupt.locked();
        if is_asked && !self.is_told {
            pause.told += 1;
        } else if !is_asked && self.is_told {
            pause.told -= 1;
        }
        self.is_told = is_asked;
        self.interrupt.heeded.notify_all();
    }
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        self.told(false);
        self.interrupt.locked().commands -= 1;
        self.interrupt.heeded.notify_all();
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
        locked(&self.write).take();
    }
}
