//! Signals become messages to the scheduler.

use std::io;
use std::sync::mpsc::Sender;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::scheduler::Message;

/// From now on Ctrl+C, SIGTERM and SIGHUP reach the scheduler instead of ending the program.
pub fn forward(to: &Sender<Message>) -> io::Result<()> {
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(wanted)?;
    let to = to.clone();
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for _ in signals.forever() {
            if to.send(Message::Signal).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

/// The signals that whoever started Terca wants ignored, one bit each: `nohup terca` is to survive a hang-up.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
