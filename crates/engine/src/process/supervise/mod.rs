//! No process that Terca starts, and no descendant of one, outlives its trial.
//!
//! Agents put their tool shells into sessions of their own, so killing a process group leaves them running. Therefore
//! every trial has a supervisor: the same program started once more, as a *child subreaper* (orphans below it
//! become its children), runs the trial's commands in turn, and after the agent and after each test kills and reaps
//! until the kernel lists no child any more. When a trial is over and nothing is left below it, a supervisor that is
//! still as it was started may take the next one (see [`SupervisorPool`]).
//!
//! ```text
//! terca ──socket──► supervisor (own session, subreaper) ──► sh -c … (own process group) ──► …
//! ```
//!
//! - Terca dies, even by SIGKILL: the socket closes, and the supervisor ends everything, then itself.
//! - The supervisor is shot by the agent: its orphans come to Terca, which is a subreaper too and ends them.
//! - The supervisor is stopped by the agent: when it does not answer in time, Terca shoots it itself.
//! - Either way the command has ended like one that was killed, and another supervisor takes the next one.
//! - Terca is stopped by Ctrl+Z: the supervisor stops everything below it (see [`freeze`]), and the time does not count.
//! - Commands read from files and write to files, never to pipes: a slow reader cannot slow an agent, a background
//!   child that holds the output open cannot block a trial, and a crash loses nothing.
//!
//! In a sandbox, the command has a supervisor of its own that is the first process of a PID namespace
//! ([`Enclosure`]): it cannot be killed or stopped from inside, and the kernel ends the namespace with it.
//!
//! ```text
//! terca ──► bwrap ──► supervisor (process 1 of its namespace) ──► sh -c … ──► …
//!   └────────socket───────┘
//! ```
//!
//! In a container, the supervisor is no child of Terca's: it connects to a socket that is shown there, and another process
//! of Terca's ([`keep`]) holds the program that asked for the container, and removes the container when Terca is gone.
//!
//! ```text
//! terca ──► keeper ──► docker run      daemon ──► supervisor (process 1) ──► sh -c … ──► …
//!   └──────────────────socket─────────────────────────┘
//! ```
//!
//! Out of reach: both killed at the same moment, and programs that run as another user, which are left and noted in the
//! results. On systems without subreapers (macOS) only the process group is ended.
//!
//! Rejected:
//!
//! - *Killing the process group, or the session.* Every real agent that was tried leaves both.
//! - *Terca itself as the only subreaper.* Orphans of all trials would come to one place without a sign of
//!   their trial: the end of one trial could not end its own orphans while others run. And nothing would end them
//!   when Terca is killed.
//! - *`PR_SET_PDEATHSIG`.* It is set by the child, is lost at `exec` of a set-user-id program, and does not reach
//!   grandchildren. A socket that closes always reaches the supervisor.
//! - *A PID namespace for everybody.* It needs user namespaces, which many distributions and containers forbid, and agents
//!   see other process ids in it. A sandbox has one.
//! - *`bwrap` below a supervisor outside.* It dies of the signal that asks a command to end, takes the namespace with it at
//!   once, and makes an exit code of a signal. With a supervisor inside, requests and results pass through its socket.
//! - *A cgroup for everybody.* Needs delegation by systemd or root. A command with limits has one where that is possible.
//! - *A sweep by an environment marker in `/proc`.* Races with processes that fork, and a program can clean its
//!   environment.
//! - *One supervisor for each command.* Starting one is the dearest thing that a small trial does.

mod client;
mod keeper;
mod kept_container;
mod launcher;
mod os;
mod passed_sockets;
mod pool;
mod protocol;
mod supervisor;

pub use client::{SuperviseError, Supervisor, Turn};
pub use keeper::{KEEPER, keep};
pub use kept_container::KeptContainer;
pub use launcher::{Container, Enclosure, Launcher, Outlet};
pub(crate) use os::children_of;
pub use pool::{SupervisorGuard, SupervisorPool};
pub use protocol::{ARGUMENT, Ended, Job, Swept};
pub use supervisor::serve;
