#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so and ends"
)]
//! What Terca's own tests are made of. Never shipped.
//!
//! A [`Project`] is a suite in a temporary directory: files in, arguments, and out come standard output, standard
//! error, the exit status and a tree. The program under test is driven from outside, with an environment of
//! nothing but what the test gives it. A [`ModelServer`] answers in place of the model of a real agent, one of
//! [`agents`].

pub mod agents;
pub mod browser;
mod daemon;
mod documents;
mod http;
mod install;
mod mcp;
mod mcp_http;
mod model;
mod node;
mod outcome;
mod patience;
mod processes;
mod project;
pub mod runners;
mod session;
mod signals;
mod slurm;
mod ssh;
mod terminal;
mod tls;

pub use documents::generated;
pub use mcp::{LockedMcpServer, asked_of_tiny_mcp_server, tiny_mcp_entry, tiny_mcp_server};
pub use mcp_http::{HttpMcpServer, McpRequest};
pub use model::{
    Action, Dialect, Fault, ModelServer, Request, Scenario, Script, Served, Trouble, Turn, Usage,
    Vocabulary,
};
pub use node::Node;
pub use outcome::Outcome;
pub use patience::wait_until;
pub use processes::Process;
pub use project::{Project, write_program};
pub use session::Session;
pub use slurm::{SLURM_NODE_CPUS, SlurmCluster, SlurmJob};
pub use ssh::SshHosts;
pub use terminal::Terminal;
pub use tls::TlsServer;

use camino::{Utf8Path, Utf8PathBuf};

/// An agent for the command `command` that does every bad thing an agent may do; its first argument says which.
pub fn misbehaving_agent() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/misbehave.sh")
}

/// What real agents printed, recorded.
pub fn recorded_streams() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/streams")
}

/// A directory for `PATH` with programs that stand in for real agents and play recorded streams.
pub fn stand_ins() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/bin")
}
