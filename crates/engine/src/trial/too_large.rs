//! The words for a workspace that is beyond its limits.

use terca_core::text::prose;

use crate::tree::{TreeError, What};

/// The limit that a workspace is beyond.
#[derive(Debug, Clone, Copy)]
pub(super) struct TooLarge {
    what: What,
    limit: u64,
}

impl TooLarge {
    /// Returns the limit that an operation has met, if that is why it ended.
    pub(super) fn of(error: &TreeError) -> Option<TooLarge> {
        match *error {
            TreeError::TooLarge { what, limit } => Some(TooLarge { what, limit }),
            _ => None,
        }
    }

    /// Returns the reason why an agent's work is not tested.
    pub(super) fn left_by_agent(self) -> String {
        self.sentence("the agent left", "in its workspace")
    }

    /// Returns the reason why an agent is not started.
    pub(super) fn before_agent(self) -> String {
        self.sentence("the workspace has", "before the agent starts")
    }

    fn sentence(self, start: &str, end: &str) -> String {
        let limit = self.limit;
        let size = prose::bytes(limit);
        match self.what {
            What::Bytes => format!("{start} more than {size} {end} (limits.disk)"),
            What::Entries => format!("{start} more than {limit} files and directories {end}"),
            What::PathLength => format!("{start} a path of more than {limit} bytes {end}"),
            What::PathBytes => format!("{start} paths of more than {size} together {end}"),
        }
    }
}
