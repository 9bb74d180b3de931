//! Workers: trials that run on another machine, over the standard input and output of a command.
//!
//! Anything that can start a command elsewhere with its input and output connected can have workers: `srun`, `ssh`,
//! `kubectl run -i`, `docker run -i`. The command starts `terca worker`, which greets and then speaks in frames:
//!
//! ```text
//! coordinator                                worker
//!                                       ◄──  greeting, Hello { version, node }
//! Open { suite, settings, variables }   ──►
//!                                       ◄──  Wanted              if the suite is not in the node's cache
//! data frames, the last one empty       ──►
//!                                       ◄──  Opened | Refused
//! Run { trial, attempt }                ──►
//!                                       ◄──  Event …, data frames with the trial's files, Ended { report }
//! Stop | Kill                           ──►
//! Ping | Inspect                        ──►
//!                                       ◄──  Pong | Inspected { findings }
//! ```
//!
//! Where a machine has no Terca, the command starts a script in its place, which says whether it wants the program
//! (`own_program`) and then becomes it.
//!
//! - **The connection is the heartbeat.** A worker ends, with everything that it started, when its input closes. It says
//!   that it is there every few seconds. One that is silent for too long, or reads nothing for so long, is taken for lost.
//! - **Secrets travel in frames**, never in arguments, job scripts or files outside of a trial.
//! - A trial is run by the same code as a local one ([`crate::trial`]). The worker knows nothing of the journal, of retries
//!   or of limits: the scheduler is where it was, and is the one writer of truth.
//! - **At least once**: what a worker sends belongs to an attempt at a trial. The first complete one counts.

mod call;
mod connection;
pub mod frame;
pub mod message;
mod own_program;
mod patient_pipe;
mod start_error;
pub mod suite_cache;

pub use call::{Call, unexpected};
pub use connection::{Connection, Heard, STARTS_WORKER};
pub use own_program::OwnProgram;
pub use patient_pipe::Ending;
pub use start_error::WorkerError;
