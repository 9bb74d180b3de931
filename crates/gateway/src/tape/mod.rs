//! Recordings of exchanges with models: written, read, and played.

mod player;
mod recorder;
pub(crate) mod recording;

pub(crate) use player::{LookUp, Player};
pub use player::{Played, Replay};
pub use recorder::NewRecording;
pub(crate) use recorder::{Recorder, Taking};
pub use recording::{Recording, RecordingError};
