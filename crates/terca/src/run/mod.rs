//! What a person sees of a run: the display while it goes on, the keys that are heard, and what is shown at its end.

pub mod display;
pub mod keyboard;
pub mod live_screen;
pub mod output;
mod suggest;
