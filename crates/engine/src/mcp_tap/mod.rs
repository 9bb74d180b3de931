//! The tap between agents and MCP servers. That of a server by HTTP is in the gateway; this is that of a program.
//!
//! An agent is told to start `terca __mcp-tap` in the place of a server. The tap starts the server, passes every byte on
//! in both directions as it is, and keeps a copy. Only where tools are hidden, it changes
//! messages about them ([`HiddenTools`](terca_core::mcp_tap::HiddenTools)). An agent must not notice: standard error, the
//! directory and the variables are the server's own, a signal is passed on, the tap ends as the server ended, and the
//! server is killed with the tap.
//!
//! The copy goes to a file in the trial's directory, which Terca reads when the agent has ended: a session that is killed
//! leaves everything up to then, and keys are masked before anything is kept. An agent that wants to can write there, too,
//! as it can start the server past the tap: the record says what an honest agent does.
//!
//! Rejected:
//!
//! - *A socket to Terca, which asks the kernel who is at the other end.* It cost three times the code, and an agent
//!   could still start the server by itself.
//! - *Terca starts the servers, and the tap is a pipe to them.* They would have another environment, process tree and
//!   sandbox than the agent gives them.
//! - *The server in the place of the tap, with the tap as its child.* Signals and exits would be the server's own, but
//!   nobody else hears how it ended.

mod pass;
mod record;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::sync::OnceLock;

use camino::Utf8PathBuf;

use crate::process::own_process;
pub use record::{Tap, Tapped};

/// The hidden first argument that makes the program a tap. The directory of records, the server's name, the number of tools
/// that are hidden, their names, and the server's command follow.
const TAP: &str = "__mcp-tap";
/// The hidden first argument that makes the program a server which is killed with its tap. Its command follows.
const SERVER: &str = "__mcp-server";

/// Terca's own program, kept for agents that see the same files as Terca: it may be replaced while the run goes on.
#[derive(Debug, Default)]
pub struct KeptProgram(OnceLock<Option<Utf8PathBuf>>);

impl KeptProgram {
    /// Returns the program, which is kept in a directory of its own when the first trial needs it.
    pub fn get(&self, dir: impl FnOnce() -> io::Result<Utf8PathBuf>) -> Option<Utf8PathBuf> {
        let kept = self.0.get_or_init(|| {
            let place = dir().ok()?.join("terca");
            own_process::keep_program(&place).ok()?;
            Some(place)
        });
        kept.clone()
    }
}

/// Becomes a tap, or a server behind one, if the arguments of this process say so. Returns the exit status.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let first = args.next()?;
    let rest: Vec<OsString> = args.collect();
    match first.to_str()? {
        TAP => Some(pass::tap(&rest)),
        SERVER => Some(pass::become_server(&rest)),
        _ => None,
    }
}
