//! Standard error while a display is painted on it, and how the display is erased by a program that ends at once.

use std::io::{self, Write, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use terca_report::RESTORE;

/// A terminal that takes nothing must not keep the program alive.
const PATIENCE: Duration = Duration::from_millis(200);

static PAINTED: Mutex<Painted> = Mutex::new(Painted::Nothing);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Painted {
    /// Nothing was painted.
    Nothing,
    /// A display is on the screen, or was.
    Display,
    /// The program ends: nothing more is painted.
    NoMore,
}

/// Standard error, for a display.
#[derive(Debug)]
pub struct LiveScreen;

impl Write for LiveScreen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut painted = PAINTED.lock().unwrap_or_else(PoisonError::into_inner);
        if *painted == Painted::NoMore {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        *painted = Painted::Display;
        // In one piece, so that nobody else writes in between.
        stderr().write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().flush()
    }
}

/// Erases the display for a message. It comes back below the message.
pub fn erase() {
    if let Some(painted) = locked() {
        erase_if(*painted);
    }
}

/// Erases the display for good.
pub fn leave() {
    if let Some(mut painted) = locked() {
        let before = std::mem::replace(&mut *painted, Painted::NoMore);
        erase_if(before);
    }
}

fn erase_if(painted: Painted) {
    let errors = stderr();
    let patience = Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(PATIENCE.subsec_nanos()),
    };
    if painted == Painted::Display
        && poll(&mut [PollFd::new(&errors, PollFlags::OUT)], Some(&patience)).is_ok_and(|n| n > 0)
    {
        // Past the lock of the stream, which a thread that waits for the terminal may hold.
        let _ = rustix::io::write(&errors, RESTORE.as_bytes());
    }
}

/// Waits for a thread that is just painting, but not for one that is stuck.
fn locked() -> Option<MutexGuard<'static, Painted>> {
    let since = Instant::now();
    loop {
        match PAINTED.try_lock() {
            Ok(painted) => return Some(painted),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if since.elapsed() >= PATIENCE => return None,
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
}
