//! The directories of trials: what is copied into them, what changed in them, and what is left of them.

pub mod base_layers;
pub mod changes;
pub mod diff;
mod files_above;
pub mod ignored;
pub mod inside;
pub mod laid;
pub mod layers;
pub mod merged_layers;
pub mod overlay;
pub mod overlays;
pub mod own_dirs;
pub mod saved;
mod sealed_dir;
pub mod sealed_suite;
pub mod stale_dirs;
pub mod suite_inputs;
pub mod tree_hash;
pub mod trial_dirs;
