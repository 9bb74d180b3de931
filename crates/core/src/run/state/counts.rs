//! Counts of trials by how they ended.

use crate::run::outcome::Status;

/// Counts of trials by how they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub total: usize,
    pub passed: usize,
    pub partial: usize,
    pub failed: usize,
    pub errors: usize,
    pub interrupted: usize,
}

impl Counts {
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
