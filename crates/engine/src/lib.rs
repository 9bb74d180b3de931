//! Terca's effects: everything that touches files, processes, signals and the clock.
//!
//! There is no async runtime here. A trial is a sequence of blocking steps on a thread of its own, and each
//! thread waits in one place, `poll(2)`, for its supervisor or for an interrupt. The scheduler alone talks to
//! the world: it receives events over one channel, numbers and journals them, folds them into the run's state,
//! and shows them.

#![warn(missing_docs)]

/// The version of Terca.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub mod host;
pub mod machine_check;
pub mod mcp_tap;
pub mod mine;
pub mod process;
pub mod run;
pub mod sandbox;
pub mod suite;
pub mod tree;
pub mod trial;
pub mod workers;
pub mod workspace;

/// Locks a mutex, also one that a thread held when it panicked: every value behind one is whole at any moment.
pub(crate) fn locked<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
