//! A model that says what it was told to say: a server on this machine that speaks the protocols of real ones.
//!
//! What it answers follows from the request alone. The scenario is named in the prompt (`scenario:NAME`), and
//! the turn is the number of tool results that the conversation holds by then. So trials may run side by side,
//! and an agent may ask again, without one script being eaten up by another. Every request is kept.

mod anthropic;
mod chat;
mod gemini;
mod request;
mod responses;
mod script;
mod server;
mod vocabulary;
mod wire;

pub use request::{Dialect, Request, Served};
pub use script::{Fault, Scenario, Script, Trouble, Turn, Usage};
pub use server::ModelServer;
pub use vocabulary::{Action, Call, NewFile, Tools, Vocabulary};
