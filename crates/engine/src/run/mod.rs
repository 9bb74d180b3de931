//! A run: scheduling its trials, its directory, and everything done with runs of the past.

pub mod clean;
pub mod history;
pub mod merge_runs;
pub mod past_runs;
pub mod regrade;
pub mod scheduler;
pub mod signals;
pub mod store;
pub mod trial_files;
pub mod watch;
