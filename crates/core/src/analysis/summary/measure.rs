//! The figure that a verdict is about.

use serde::{Deserialize, Serialize};

/// The figure that a verdict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Measure {
    /// The share of trials that passed.
    #[default]
    PassRate,
    /// The mean score.
    Score,
}
