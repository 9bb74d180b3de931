//! Terca's effects: everything that touches files, processes, signals and the clock.
//!
//! There is no async runtime here. A trial is a sequence of blocking steps on a thread of its own, and each
//! thread waits in one place, `poll(2)`, for its supervisor or for an interrupt. The scheduler alone talks to
//! the world: it receives events over one channel, numbers and journals them, folds them into the run's state,
//! and shows them.

pub mod bodies;
pub mod cache;
pub mod clean;
pub mod content;
pub mod create;
pub mod credentials;
pub mod discover;
pub mod doctor;
pub mod environment;
pub mod files;
pub mod harbor;
pub mod history;
pub mod interrupt;
pub mod join;
pub mod regrade;
pub mod runs;
pub mod scheduler;
pub mod signals;
pub mod store;
pub mod supervise;
pub mod trial;
pub mod watch;
pub mod work;

mod changes;
mod diff;
mod ignored;
mod log;
mod output;
mod renames;
mod same;
mod stale;
mod tail;
mod tree;
mod version;
