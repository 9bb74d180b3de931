//! The pure heart of Terca.
//!
//! Nothing here touches a file, a process, the network or the clock: text and facts come in, values go out.
//! So every rule of the product can be tested as a table, checked as a law, or fuzzed. The data flows one way:
//!
//! ```text
//! source text ─► config::raw (with places) ─resolve─► Suite ─matrix::expand─► Plan [TrialSpec …]
//! agent output ─► agent decoder ─► transcript steps, usage, ending
//! test evidence ─► grade::judge ─► grades ─► outcome
//! events ─► state::RunState ─► results, summary, every display
//! ```

pub mod activity;
pub mod adaptive;
pub mod agent;
mod arguments;
pub mod bodies;
pub mod compare;
pub mod config;
pub mod delivery;
pub mod diagnostic;
pub mod event;
pub mod explain;
mod filler;
pub mod fingerprint;
pub mod forecast;
pub mod grade;
pub mod harbor;
pub mod health;
pub mod history;
pub mod json;
mod judges;
pub mod limits;
pub mod manifest;
pub mod mask;
pub mod matrix;
pub mod mcp;
pub mod merge;
pub mod observer;
pub mod outcome;
pub mod plan;
pub mod proof;
pub mod prose;
pub mod queue;
pub mod results;
pub mod retry;
pub mod rounds;
pub mod scaffold;
pub mod schedule;
pub mod scorecard;
pub mod selection;
pub mod shard;
pub mod source;
pub mod state;
pub mod stats;
pub mod summary;
pub mod trajectory;
pub mod transcript;
pub mod twice;

#[cfg(test)]
mod fixture;
