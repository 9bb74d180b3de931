//! Counts of trials by how they ended.

use crate::run::outcome::Status;

/// Counts of trials by how they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// The trials that are to run, or have.
    pub total: usize,
    /// The trials that have the full score.
    pub passed: usize,
    /// The trials with a score between 0 and 1.
    pub partial: usize,
    /// The trials with a score of 0.
    pub failed: usize,
    /// The trials that could not be judged.
    pub errors: usize,
    /// The trials that a signal stopped.
    pub interrupted: usize,
}

impl Counts {
    /// Returns how many trials have ended.
    pub fn finished(&self) -> usize {
        self.passed + self.partial + self.failed + self.errors + self.interrupted
    }

    pub(super) fn change(&mut self, status: Status, by: impl Fn(usize) -> usize) {
        let count = match status {
            Status::Passed => &mut self.passed,
            Status::Partial => &mut self.partial,
            Status::Failed => &mut self.failed,
            Status::Error => &mut self.errors,
            Status::Interrupted => &mut self.interrupted,
            Status::Pending => return,
        };
        *count = by(*count);
    }
}
