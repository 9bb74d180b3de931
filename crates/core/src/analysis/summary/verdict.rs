//! One word for a comparison.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::evidence::Evidence;
use crate::stats::ALPHA;

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
    /// A difference needs both: an interval that leaves out 0, and a p-value that allows for the number of
    /// comparisons. The interval alone is too sure of itself when evals are few; the p-value alone has no size.
    pub fn of(effect: &Effect, margin: f64) -> Self {
        let Some(interval) = effect.interval else {
            return Verdict::Inconclusive;
        };
        let is_found = effect.p_adjusted.is_some_and(|p| p < ALPHA);
        if is_found && interval.low > 0.0 {
            Verdict::Better
        } else if is_found && interval.high < 0.0 {
            Verdict::Worse
        } else if interval.lies_within(-margin, margin) {
            Verdict::Equivalent
        } else {
            Verdict::Inconclusive
        }
    }

    /// Of an adaptive run: a difference is what the pairs that differ show, allowing for every look at them. That the
    /// interval is within the margin is asked once, of runs that went to their end without finding one.
    pub fn of_evidence(evidence: &Evidence, effect: &Effect, margin: f64) -> Self {
        let is_found = effect.p_adjusted.is_some_and(|p| p < ALPHA);
        match evidence.better.cmp(&evidence.worse) {
            Ordering::Greater if is_found => Verdict::Better,
            Ordering::Less if is_found => Verdict::Worse,
            _ if effect
                .interval
                .is_some_and(|interval| interval.lies_within(-margin, margin)) =>
            {
                Verdict::Equivalent
            }
            _ => Verdict::Inconclusive,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    #[test]
    fn the_interval_the_p_value_and_the_margin() {
        for (low, high, p, verdict) in [
            (0.09, 0.33, 0.004, Verdict::Better),
            (-0.33, -0.09, 0.004, Verdict::Worse),
            (0.01, 0.04, 0.004, Verdict::Better),
            (-0.02, 0.04, 0.6, Verdict::Equivalent),
            (-0.02, 0.06, 0.6, Verdict::Inconclusive),
            // Few evals, or many comparisons.
            (0.09, 0.33, 0.06, Verdict::Inconclusive),
            (0.01, 0.04, 0.06, Verdict::Equivalent),
            (-0.05, 0.05, 1.0, Verdict::Inconclusive),
        ] {
            let interval = Some(Interval { low, high });
            let effect = Effect {
                interval,
                p: Some(0.0),
                p_adjusted: Some(p),
                ..Effect::default()
            };
            assert_eq!(Verdict::of(&effect, 0.05), verdict, "{low} … {high}, {p}");
        }
        assert_eq!(Verdict::of(&Effect::default(), 0.05), Verdict::Inconclusive);
    }
}
