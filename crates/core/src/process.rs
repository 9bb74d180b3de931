//! The end of a process: its exit status or the signal that killed it.

use serde::{Deserialize, Serialize};

/// A signal that asks a program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    /// SIGINT, as Ctrl+C sends it.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

/// The way a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

impl Exit {
    /// Returns the exit status, if it has one.
    pub fn code(self) -> Option<i32> {
        match self {
            Exit::Code(code) => Some(code),
            Exit::Signal(_) => None,
        }
    }

    /// Returns words for a message.
    pub fn describe(self) -> String {
        match self {
            // A shell reports a killed command with these.
            Exit::Code(code @ 129..=159) => {
                format!("exit status {code} ({})", signal_name(code - 128))
            }
            Exit::Code(code) => format!("exit status {code}"),
            Exit::Signal(signal) => format!("killed by {}", signal_name(signal)),
        }
    }
}

/// Returns the name of a signal, for messages.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}
