//! Signals that the tests themselves ignore, as when a script starts them with `&`.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// Makes sure that programs started from here do not ignore signals.
///
/// A signal that is ignored stays so in every program that is started; one with a handler does not. The handler
/// does nothing, so that the tests go on ignoring it.
pub(crate) fn hear_in_children() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let ignored = ignored();
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            if ignored & (1 << (signal - 1)) != 0 {
                signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
                    .expect("a handler");
            }
        }
    });
}

/// The signals that this process ignores, one bit each. None are known where there is no `/proc`.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
