//! Keys at the terminal while a run goes on.
//!
//! The terminal hands keys over at once and does not show them; Ctrl+C, Ctrl+Z and Ctrl+\\ stay signals. Every way out
//! gives it back as it was: the end of the run, a panic, the third Ctrl+C, and Ctrl+Z. Keys that nobody has read are
//! thrown away then, so that a shell does not run them.
//!
//! In the background the terminal is somebody else's, and is neither read nor changed.

use std::io::{IsTerminal, stderr, stdin};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};

use crate::run::live_screen;

/// The time between two looks at whether the terminal is ours. Keys are heard at once.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

static TERMINAL: Mutex<State> = Mutex::new(State::Untouched);

/// The state of the terminal that standard input comes from.
enum State {
    /// Keys are not wanted, not yet or not any more.
    Untouched,
    /// Keys are wanted, but the terminal is somebody else's.
    Away,
    /// Keys are heard. These are the modes to go back to.
    Heard(Box<Termios>),
}

fn state() -> MutexGuard<'static, State> {
    TERMINAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that was asked for by a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// The keys are to be listed.
    Help,
    /// The run is to stop.
    Stop,
}

/// Keys that are heard until this is dropped.
#[derive(Debug)]
pub struct Keyboard {
    wishes: Receiver<Wish>,
}

impl Keyboard {
    /// Listens where a person is at a terminal, in the foreground.
    pub fn open() -> Option<Self> {
        let is_possible = stdin().is_terminal() && stderr().is_terminal() && is_in_foreground();
        if !is_possible {
            return None;
        }
        take_over()?;
        let (sender, wishes) = channel();
        let thread = std::thread::Builder::new().name("keys".into());
        if thread.spawn(move || listen(&sender)).is_err() {
            give_back();
            return None;
        }
        Some(Keyboard { wishes })
    }

    /// Returns the next wish, if there is one.
    pub fn next(&self) -> Option<Wish> {
        self.wishes.try_recv().ok()
    }

    /// Gives the terminal back until the program has it again.
    pub fn suspend(&self) {
        give_back();
        *state() = State::Away;
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Makes the terminal as it was, for a program that ends at once.
pub fn restore() {
    give_back();
    live_screen::leave();
}

/// Goes back to the modes that the terminal had, and throws away what was typed.
fn give_back() {
    let mut state = state();
    if let State::Heard(before) = &*state
        && is_in_foreground()
    {
        let _ = tcsetattr(stdin(), OptionalActions::Flush, before);
    }
    *state = State::Untouched;
}

/// Has keys handed over at once, and not shown.
fn take_over() -> Option<()> {
    let mut state = state();
    let before = tcgetattr(stdin()).ok()?;
    let mut modes = before.clone();
    modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
    modes.special_codes[SpecialCodeIndex::VMIN] = 0;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(stdin(), OptionalActions::Now, &modes).ok()?;
    *state = State::Heard(Box::new(before));
    Some(())
}

/// Tells whether the terminal is this program's. Who changes or reads another one's is stopped.
fn is_in_foreground() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}

fn listen(sender: &Sender<Wish>) {
    loop {
        let is_away = match &*state() {
            State::Untouched => return,
            State::Away => true,
            State::Heard(_) => false,
        };
        if !is_in_foreground() {
            let _ = poll(&mut [], Some(&LOOK));
        } else if is_away {
            if take_over().is_none() {
                return;
            }
        } else {
            let input = stdin();
            let ready = poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&LOOK));
            if ready.is_ok_and(|ready| ready > 0) && !pass_on(sender) {
                return;
            }
        }
    }
}

/// Reads what was typed. Returns whether there may be more.
fn pass_on(sender: &Sender<Wish>) -> bool {
    let state = state();
    if !matches!(*state, State::Heard(_)) {
        return true;
    }
    let mut typed = [0; 64];
    match rustix::io::read(stdin(), &mut typed) {
        Ok(0) => false,
        Ok(length) => wishes(&typed[..length])
            .into_iter()
            .all(|wish| sender.send(wish).is_ok()),
        Err(error) => error == rustix::io::Errno::INTR,
    }
}

/// Returns what keys ask for.
fn wishes(typed: &[u8]) -> Vec<Wish> {
    let wishes = typed.iter().filter_map(|key| match key {
        b'q' | b'Q' => Some(Wish::Stop),
        b'?' | b'h' => Some(Wish::Help),
        _ => None,
    });
    wishes.collect()
}
