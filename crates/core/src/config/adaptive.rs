//! Repetitions between two numbers.

use serde::{Deserialize, Serialize};

/// How many repetitions there are at least, and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adaptive {
    pub min: u32,
    pub max: u32,
}
