//! The tap between agents and MCP servers. That of a server by HTTP is in the gateway; this is that of a program.
//!
//! An agent is told to start `terca __mcp-tap` in the place of a server. The tap starts the server, passes every byte on
//! in both directions as it is, and sends a copy to Terca, which reads it. Only where tools are hidden, it changes
//! messages about them ([`HiddenTools`](terca_core::mcp_tap::HiddenTools)). An agent must not notice: standard error, the
//! directory and the variables are the server's own, a signal is passed on, the tap ends as the server ended, and the
//! server is killed with the tap.
//!
//! The copy goes through a socket to Terca, and not to a file. What Terca has read cannot be taken back, a session that
//! is killed leaves everything up to then, and keys are masked before anything is written. An agent can find the socket
//! and write to it. So Terca asks the kernel who is at the other end: it must be Terca's own program, and the
//! server that it starts must be the one of the suite. Everything else is refused, and noted. An agent that runs
//! without a sandbox as the same user can still start the server by itself, past the tap: then the record says nothing of
//! it, and nothing false.
//!
//! Rejected:
//!
//! - *A record that the tap writes to a file.* The agent can write there too.
//! - *Terca starts the servers, and the tap is a pipe to them.* They would have another environment, process tree and
//!   sandbox than the agent gives them.
//! - *The server in the place of the tap, with the tap as its child.* Signals and exits would be the server's own, but
//!   nobody else hears how it ended.

mod message;
mod pass;
mod record;
mod remote;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::sync::OnceLock;

use camino::Utf8PathBuf;

use crate::process::own_process;
pub use record::{Tap, Tapped, TappedServer};
pub use remote::RemoteTaps;

/// The hidden first argument that makes the program a tap. The socket, the server's name, and its command follow.
const TAP: &str = "__mcp-tap";
/// The hidden first argument that makes the program a tap that hides tools. The socket, the server's name, the number of
/// tools, their names, and the server's command follow.
const HIDING_TAP: &str = "__mcp-tap-hiding";
/// The hidden first argument that makes the program a server which is killed with its tap. Its command follows.
const SERVER: &str = "__mcp-server";

/// Terca's own program, as an agent starts it.
#[derive(Debug, Clone)]
pub struct TapProgram {
    /// Its path, as the agent sees it.
    pub path: Utf8PathBuf,
    /// Its file, as Terca sees it.
    pub file: Utf8PathBuf,
}

/// Terca's own program, kept for agents that see the same files as Terca: it may be replaced while the run goes on.
#[derive(Debug, Default)]
pub struct KeptProgram(OnceLock<Option<Utf8PathBuf>>);

impl KeptProgram {
    /// Returns the program, which is kept in a directory of its own when the first trial needs it.
    pub fn get(&self, dir: impl FnOnce() -> io::Result<Utf8PathBuf>) -> Option<TapProgram> {
        let kept = self.0.get_or_init(|| {
            let place = dir().ok()?.join("terca");
            own_process::keep_program(&place).ok()?;
            Some(place)
        });
        kept.clone().map(|path| TapProgram {
            file: path.clone(),
            path,
        })
    }
}

/// Becomes a tap, or a server behind one, if the arguments of this process say so. Returns the exit status.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let first = args.next()?;
    let rest: Vec<OsString> = args.collect();
    match first.to_str()? {
        TAP => Some(pass::tap(&rest, false)),
        HIDING_TAP => Some(pass::tap(&rest, true)),
        SERVER => Some(pass::become_server(&rest)),
        _ => None,
    }
}
