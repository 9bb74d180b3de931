//! The engine without the program: supervision, the stages of a trial, and the scheduler, with stand-in agents.

mod scheduler;
mod stages;
mod supervision;
mod support;
