//! Keys, one at a time.
//!
//! The terminal hands them over as they are from the first question to the last. Otherwise a Ctrl+C between two keys would be a
//! signal, and no question would see it.

use std::io::{self, stdin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use console::{Key, Term};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::SIGINT;

/// A terminal that hands over keys until this is dropped.
pub(super) struct Keys {
    pub terminal: Term,
    /// The modes to go back to.
    before: Option<Termios>,
    /// Somebody has sent the signal of Ctrl+C.
    is_interrupted: Arc<AtomicBool>,
}

impl Keys {
    pub(super) fn open() -> Self {
        let is_interrupted = Arc::new(AtomicBool::new(false));
        // The signal itself would leave the terminal as it is now.
        let _ = signal_hook::flag::register(SIGINT, is_interrupted.clone());
        let before = tcgetattr(stdin()).ok();
        if let Some(before) = &before {
            let mut modes = before.clone();
            modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
            let _ = tcsetattr(stdin(), OptionalActions::Drain, &modes);
        }
        Keys {
            terminal: Term::stderr(),
            before,
            is_interrupted,
        }
    }

    /// Waits for a key.
    pub(super) fn next(&self) -> io::Result<Key> {
        if self.is_interrupted.load(Ordering::Acquire) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match self.terminal.read_key_raw() {
            Ok(Key::CtrlC | Key::Char('\u{4}')) => Err(io::ErrorKind::Interrupted.into()),
            read => read,
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(stdin(), OptionalActions::Drain, before);
        }
    }
}
