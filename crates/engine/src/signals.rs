//! What Ctrl+C, SIGTERM and SIGHUP do.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::interrupt::Interrupt;
use crate::scheduler::Message;

/// The exit status of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// From now on signals stop the run instead of ending the program: the first asks agents to end, the second
/// ends them. This thread raises the interrupt itself, since the scheduler may be stuck writing to a pipe that
/// nobody reads; after a third signal it does not wait for anybody. The supervisors see to the rest.
pub fn forward(to: &Sender<Message>, interrupt: &Arc<Interrupt>) -> io::Result<()> {
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = Signals::new(wanted)?;
    let (to, interrupt) = (to.clone(), interrupt.clone());
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for (count, _) in signals.forever().enumerate() {
            match count {
                0 => interrupt.stop(),
                1 => interrupt.kill(),
                _ => std::process::exit(INTERRUPTED),
            }
            // Fails when the run is over already.
            let _ = to.send(Message::Signal);
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
