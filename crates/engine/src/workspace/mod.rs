//! The directories of trials: what is copied into them, what changed in them, and what is left of them.

mod above;
pub mod base_layers;
pub mod changes;
pub mod diff;
pub mod ignored;
pub mod inside;
pub mod layers;
pub mod merged_layers;
pub mod overlay;
pub mod overlay_base;
pub mod overlays;
mod put_away;
pub mod removal;
pub mod renames;
pub mod saved;
pub mod sealed_suite;
pub(crate) mod secret_name;
pub mod stale_dirs;
pub mod suite_inputs;
pub mod tree_hash;
pub mod trial_dirs;
pub mod visible;
