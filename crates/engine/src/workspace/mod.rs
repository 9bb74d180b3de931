//! The directories of trials: copying, hashing, comparing and removing trees of files.

pub mod changes;
pub mod diff;
pub mod file_eq;
pub mod ignored;
pub mod layers;
pub mod renames;
mod sealed;
pub mod sealed_suite;
pub(crate) mod secret_name;
pub mod stale_dirs;
pub mod tree;
pub mod tree_hash;
pub mod trial_dirs;
