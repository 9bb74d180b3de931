//! Somebody who shows a run while it goes on.

use jiff::Timestamp;

use crate::run::event::Event;
use crate::run::state::RunState;

/// Called by the scheduler alone, after the event is folded in.
pub trait Observer {
    /// Called after every event, with the state that follows from it.
    fn event(&mut self, event: &Event, state: &RunState);
    /// Called a few times a second, and when nothing happens.
    fn tick(&mut self, now: Timestamp, state: &RunState);
    /// Called before the terminal goes to another program.
    fn suspend(&mut self) {}
    /// Called when Terca has the terminal again.
    fn resume(&mut self, _now: Timestamp, _state: &RunState) {}
}
