//! The suite that a command works in, its plan, and its earlier runs.

pub mod bare_words;
pub mod load;
pub mod only_agent;
pub mod past;
pub mod place;
pub mod trial_choice;
