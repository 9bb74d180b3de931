//! A run while it happens: its events, the state they fold into, and the rules of the scheduler.

pub mod event;
pub mod journal;
pub mod limits;
mod masked;
pub mod merge;
pub mod observer;
pub mod outcome;
pub mod queue;
pub mod remark;
pub mod retry;
pub mod run_file;
pub mod seal;
pub mod settings;
pub mod state;
