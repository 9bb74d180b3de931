//! One word for a comparison.

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use crate::stats::ALPHA;
use crate::stats::beyond::FEWEST_EVALS;

/// The verdict on an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It passes more often than the baseline.
    Better,
    /// It passes less often than the baseline.
    Worse,
    /// The difference is smaller than the margin.
    Equivalent,
    /// It cannot be told from the baseline.
    Inconclusive,
}

impl Verdict {
    /// A difference needs both: an interval that leaves out 0, and a p-value that allows for the number of comparisons.
    /// Equivalence needs the 90 % interval within the margin, which is two one-sided tests.
    pub fn of(effect: &Effect, margin: f64) -> Self {
        let is_found = effect.p_adjusted.is_some_and(|p| p < ALPHA);
        let interval = effect.interval.filter(|_| is_found);
        if interval.is_some_and(|interval| interval.low > 0.0) {
            Verdict::Better
        } else if interval.is_some_and(|interval| interval.high < 0.0) {
            Verdict::Worse
        } else if effect
            .interval90
            .is_some_and(|interval| interval.is_within(-margin, margin))
        {
            Verdict::Equivalent
        } else {
            Verdict::Inconclusive
        }
    }

    /// Returns whether the experiment changed something.
    pub fn is_difference(self) -> bool {
        matches!(self, Verdict::Better | Verdict::Worse)
    }

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Better => "BETTER",
            Verdict::Worse => "WORSE",
            Verdict::Equivalent => "EQUIVALENT",
            Verdict::Inconclusive => "INCONCLUSIVE",
        }
    }
}

/// The second answer: would other tasks like these show the same difference?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Beyond {
    /// They would.
    Holds,
    /// These evals do not say so.
    Unclear,
    /// There are fewer than five evals.
    TooFewEvals,
}

impl Beyond {
    /// Answers for a verdict that is a difference.
    pub fn of(verdict: Verdict, effect: &Effect) -> Option<Self> {
        if !verdict.is_difference() {
            return None;
        }
        Some(match effect.beyond {
            _ if effect.evals < FEWEST_EVALS => Beyond::TooFewEvals,
            Some(interval) if !interval.contains(0.0) => Beyond::Holds,
            _ => Beyond::Unclear,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    fn effect(low: f64, high: f64, p: f64) -> Effect {
        let interval = Some(Interval { low, high });
        Effect {
            interval,
            interval90: interval,
            p: Some(0.0),
            p_adjusted: Some(p),
            evals: 5,
            ..Effect::default()
        }
    }

    #[test]
    fn the_interval_the_p_value_and_the_margin() {
        for (low, high, p, verdict) in [
            (0.09, 0.33, 0.004, Verdict::Better),
            (-0.33, -0.09, 0.004, Verdict::Worse),
            (0.01, 0.04, 0.004, Verdict::Better),
            (-0.02, 0.04, 0.6, Verdict::Equivalent),
            (-0.02, 0.051, 0.6, Verdict::Inconclusive),
            (-0.051, 0.02, 0.6, Verdict::Inconclusive),
            // Many comparisons.
            (0.09, 0.33, 0.06, Verdict::Inconclusive),
            (0.01, 0.04, 0.06, Verdict::Equivalent),
            (-0.05, 0.05, 1.0, Verdict::Inconclusive),
            (-0.001, 0.33, 0.04, Verdict::Inconclusive),
            (-0.33, 0.001, 0.04, Verdict::Inconclusive),
        ] {
            let found = Verdict::of(&effect(low, high, p), 0.05);
            assert_eq!(found, verdict, "{low} … {high}, {p}");
        }
        assert_eq!(Verdict::of(&Effect::default(), 0.05), Verdict::Inconclusive);
        // The 95 % interval is wider than the margin, and the 90 % interval is not.
        let near = Effect {
            interval90: Some(Interval {
                low: -0.02,
                high: 0.04,
            }),
            ..effect(-0.03, 0.06, 0.6)
        };
        assert_eq!(Verdict::of(&near, 0.05), Verdict::Equivalent);
    }

    #[test]
    fn beyond_these_evals() {
        let of = |evals, low| {
            let effect = Effect {
                evals,
                beyond: Some(Interval { low, high: 0.9 }),
                ..effect(0.1, 0.3, 0.001)
            };
            Beyond::of(Verdict::Better, &effect)
        };
        assert_eq!(of(4, 0.1), Some(Beyond::TooFewEvals));
        assert_eq!(of(5, 0.001), Some(Beyond::Holds));
        assert_eq!(of(5, -0.001), Some(Beyond::Unclear));
        let none = Beyond::of(Verdict::Equivalent, &effect(0.0, 0.0, 1.0));
        assert_eq!(none, None);
    }
}
