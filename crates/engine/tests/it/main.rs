#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so and ends"
)]
//! The engine without the program: supervision, the stages of a trial, and the scheduler, with stand-in agents.

mod scheduler;
mod stages;
mod supervision;
mod support;
