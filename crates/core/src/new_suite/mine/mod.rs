//! Evals from the history of a repository: which commits become one, and what it is made of.
//!
//! ```text
//! commit ─choice─► Chosen { tests, solution } ─contents─► small, text, no secrets
//!                            │
//!                            ├─ recipe   setup and hidden check, by the language of its tests
//!                            ├─ prompt   the message, without the answer
//!                            └─ draft    the files of the eval ─► proven by the engine, or refused
//!                                           └─ describe   the prompt of an agent, if there is no leak in it
//! ```
//!
//! Everything here is told what git has; nothing asks git or runs anything. A commit that does not become an eval has
//! a [`Refusal`], which says why.

pub mod choice;
pub mod commit;
pub mod contents;
pub mod describe;
pub mod draft;
mod file_role;
mod leaks;
pub mod mined;
mod prompt;
pub mod recipe;
pub mod refusal;
mod suite_file;

pub use refusal::{Reason, Refusal};
pub use suite_file::{MARK, proof_file, suite_file};
