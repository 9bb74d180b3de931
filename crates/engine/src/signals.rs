//! Signals become messages to the scheduler.

use std::io;
use std::sync::mpsc::Sender;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::scheduler::Message;

/// From now on Ctrl+C, SIGTERM and SIGHUP reach the scheduler instead of ending the program.
pub fn forward(to: &Sender<Message>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
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
