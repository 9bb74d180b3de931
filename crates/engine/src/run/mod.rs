//! A run: starting it, scheduling its trials, its directory, and everything done with runs of the past.

pub mod ablate;
pub mod clean;
pub mod files;
pub mod follow;
pub mod journal;
pub mod load;
pub mod machine_lints;
pub mod merge_runs;
mod names;
pub mod offered_tools;
pub mod past_runs;
pub mod record;
pub mod regrade;
pub mod remarks;
pub mod replay;
pub mod resume;
pub mod saved_workspace;
pub mod scheduler;
pub mod signals;
pub mod slots;
pub mod start;
pub mod store;
pub mod trial_files;
pub mod trial_thread;
pub mod verify;
pub mod watch;
