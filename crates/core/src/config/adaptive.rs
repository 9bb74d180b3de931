//! Repetitions that depend on the results.

use serde::{Deserialize, Serialize};

/// The bounds of adaptive repetitions: they are added until every comparison is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adaptive {
    /// The fewest repetitions.
    pub min: u32,
    /// The most repetitions.
    pub max: u32,
}
