//! A range that holds the true value in 95 of 100 cases.

use serde::{Deserialize, Serialize};

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// An interval around its centre.
    pub fn around(centre: f64, half_width: f64) -> Self {
        Interval {
            low: centre - half_width,
            high: centre + half_width,
        }
    }

    /// Returns whether the value is in it.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns whether all of it is strictly between the two.
    pub fn is_within(self, low: f64, high: f64) -> bool {
        low < self.low && self.high < high
    }

    /// The part of it that is possible.
    #[must_use]
    pub fn clamp(self, low: f64, high: f64) -> Self {
        Interval {
            low: self.low.clamp(low, high),
            high: self.high.clamp(low, high),
        }
    }

    /// Applies an increasing function to both ends.
    #[must_use]
    pub fn map(self, increasing: impl Fn(f64) -> f64) -> Self {
        Interval {
            low: increasing(self.low),
            high: increasing(self.high),
        }
    }
}
