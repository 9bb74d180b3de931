//! The pure heart of Terca.
//!
//! Nothing here touches a file, a process, the network or the clock: text and facts come in, values go out.
//! So every rule of the product can be tested as a table, checked as a law, or fuzzed. The data flows one way:
//!
//! ```text
//! source text ─► reader (with places) ─► config: Suite ─plan::expand─► Plan [TrialSpec …]
//! agent output ─► agent decoder ─► transcript steps, usage, ending
//! test evidence ─► grade: verdicts ─► grades ─► run::outcome
//! events ─► run::state::RunState ─► analysis: results, summary ─► every display
//! ```

#![warn(missing_docs)]

pub mod ablation;
pub mod agent;
pub mod analysis;
pub mod config;
pub mod grade;
pub mod mcp_tap;
pub mod new_suite;
pub mod plan;
pub mod prices;
pub mod process;
mod reader;
pub mod run;
pub mod stats;
pub mod text;
pub mod transcript;
pub mod trial_error;
pub mod wire;
pub mod worker_pool;

#[cfg(test)]
mod fixture;
