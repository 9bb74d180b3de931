//! Ctrl+C, SIGTERM and SIGHUP stop a run instead of ending the program; Ctrl+Z pauses it.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::locked;
use crate::process::interrupt::Interrupt;
use crate::process::{own_process, pause};
use crate::run::trial_thread::Message;

/// The exit status of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// A signal that follows one of the same kind sooner than this is an echo of it.
///
/// One press of Ctrl+C reaches every process at the terminal, and some of them pass it on: npm does so for its
/// scripts, and `timeout` sends SIGTERM to its child and to its group. Nobody reads the hint about a second press
/// in less time.
const ECHO: Duration = Duration::from_millis(500);

/// The time that commands have to hear of a pause, and then the display to give the screen back.
const BEFORE_A_PAUSE: Duration = Duration::from_secs(1);

static BEFORE_LEAVING: OnceLock<fn()> = OnceLock::new();

/// Says what is done before the program ends at once: the third Ctrl+C does not wait for anybody who would tidy up.
pub fn before_leaving(act: fn()) {
    // Nobody says so twice.
    let _ = BEFORE_LEAVING.set(act);
}

fn tidy_up() {
    if let Some(act) = BEFORE_LEAVING.get() {
        act();
    }
}

/// The runs that signals are for: those that go on, and the last one.
static RUNS: Mutex<Vec<Suspension>> = Mutex::new(Vec::new());

/// Receives signals from now on: the first asks agents to end, the second kills them. The thread for signals raises the
/// interrupt itself, since the scheduler may be stuck writing to a pipe that nobody reads. The third ends the program
/// at once; the supervisors kill what is left. The result does the same for somebody who presses a key.
pub fn forward(to: &Sender<Message>, interrupt: &Arc<Interrupt>) -> io::Result<Stopper> {
    let stopper = Stopper {
        to: to.clone(),
        interrupt: Arc::downgrade(interrupt),
        heard: Arc::default(),
    };
    let mut runs = locked(&RUNS);
    if runs.is_empty() {
        listen()?;
    }
    runs.retain(|suspension| suspension.run.interrupt.strong_count() > 0);
    runs.push(Suspension {
        run: stopper.clone(),
        go_on: None,
    });
    Ok(stopper)
}

/// Starts the thread for signals. There is one for all runs: a program may have thousands, one after the other.
fn listen() -> io::Result<()> {
    let all = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT];
    let mut signals = Signals::new(all.into_iter().filter(is_wanted))?;
    let hear = move || {
        for signal in signals.forever() {
            let mut runs = locked(&RUNS);
            match signal {
                // Where no shell could continue it, nothing happens, as the kernel has it.
                SIGTSTP if own_process::is_orphaned() => {}
                SIGTSTP => {
                    runs.iter_mut().for_each(Suspension::begin);
                    let _ = kill_process(getpid(), Signal::STOP);
                }
                SIGCONT => runs.iter_mut().for_each(Suspension::end),
                SIGQUIT => {
                    tidy_up();
                    let _ = emulate_default_handler(signal);
                }
                _ => runs.iter().for_each(|one| one.run.hear(Some(signal))),
            }
        }
    };
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(hear)?;
    Ok(())
}

/// Notes Ctrl+C, SIGTERM and SIGHUP from now on, for a program that looks when it has the time.
pub fn noted() -> io::Result<Arc<AtomicBool>> {
    let is_noted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(is_wanted) {
        signal_hook::flag::register(signal, is_noted.clone())?;
    }
    Ok(is_noted)
}

/// A hand that stops a run as Ctrl+C does.
#[derive(Debug, Clone)]
pub struct Stopper {
    to: Sender<Message>,
    interrupt: Weak<Interrupt>,
    heard: Arc<Mutex<Heard>>,
}

impl Stopper {
    /// Counts a key that was pressed, which has no echo.
    pub fn press(&self) {
        self.hear(None);
    }

    fn hear(&self, signal: Option<i32>) {
        let mut heard = locked(&self.heard);
        if heard.is_echo(signal, Instant::now()) {
            return;
        }
        let count = heard.count;
        drop(heard);
        self.act(count);
    }

    fn act(&self, count: usize) {
        // It is gone when the run is over.
        let interrupt = self.interrupt.upgrade();
        match count {
            1 => interrupt.iter().for_each(|interrupt| interrupt.stop()),
            2 => interrupt.iter().for_each(|interrupt| interrupt.kill()),
            _ => {
                tidy_up();
                std::process::exit(INTERRUPTED);
            }
        }
        // Fails when the run is over already.
        let _ = self.to.send(Message::Signal);
    }
}

/// Ctrl+Z, and what follows it.
#[derive(Debug)]
struct Suspension {
    run: Stopper,
    /// Wakes the display when it is dropped. `None` where Terca is not stopped.
    go_on: Option<Sender<()>>,
}

impl Suspension {
    /// Stops agents, and gives the screen back.
    fn begin(&mut self) {
        let interrupt = self.run.interrupt.upgrade();
        if let Some(interrupt) = interrupt.filter(|_| self.go_on.is_none()) {
            pause::begin();
            interrupt.pause(BEFORE_A_PAUSE);
            let (ready, is_ready) = channel();
            let (sender, go_on) = channel();
            self.go_on = Some(sender);
            if self.run.to.send(Message::Suspend { ready, go_on }).is_ok() {
                // The loop may be stuck writing to a pipe whose reader is stopped already.
                let _ = is_ready.recv_timeout(BEFORE_A_PAUSE);
            }
        }
    }

    /// Goes on where it was stopped.
    fn end(&mut self) {
        if self.go_on.is_some() {
            pause::end();
            if let Some(interrupt) = self.run.interrupt.upgrade() {
                interrupt.go_on();
            }
            self.go_on = None;
        }
    }
}

/// The signals so far, without echoes.
#[derive(Debug, Default)]
struct Heard {
    count: usize,
    last: Option<(i32, Instant)>,
}

impl Heard {
    /// Counts a signal or a key, and tells whether it is an echo of the last one.
    fn is_echo(&mut self, signal: Option<i32>, at: Instant) -> bool {
        let is_echo = self
            .last
            .is_some_and(|(last, since)| signal == Some(last) && at.duration_since(since) < ECHO);
        if !is_echo {
            self.last = signal.map(|signal| (signal, at)).or(self.last);
            self.count += 1;
        }
        is_echo
    }
}

/// Tells whether Terca was not started to ignore a signal: `nohup terca` survives a hang-up.
fn is_wanted(signal: &i32) -> bool {
    !own_process::ignores(*signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts signals, each given with its time in milliseconds.
    fn counted(signals: &[(i32, u64)]) -> usize {
        let start = Instant::now();
        let mut heard = Heard::default();
        for (signal, at) in signals {
            heard.is_echo(Some(*signal), start + Duration::from_millis(*at));
        }
        heard.count
    }

    #[test]
    fn a_press_that_is_passed_on_counts_once() {
        assert_eq!(counted(&[(SIGINT, 0), (SIGINT, 3), (SIGINT, 40)]), 1);
        assert_eq!(counted(&[(SIGINT, 0), (SIGINT, 499)]), 1);
    }

    #[test]
    fn a_second_press_counts() {
        assert_eq!(counted(&[(SIGINT, 0), (SIGINT, 500)]), 2);
        // However impatiently somebody presses: an echo does not put off the end of the echoes.
        assert_eq!(
            counted(&[
                (SIGINT, 0),
                (SIGINT, 200),
                (SIGINT, 400),
                (SIGINT, 600),
                (SIGINT, 1200)
            ]),
            3
        );
    }

    #[test]
    fn another_signal_is_no_echo() {
        assert_eq!(counted(&[(SIGHUP, 0), (SIGTERM, 1)]), 2);
    }
}
