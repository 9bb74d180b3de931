//! What some trials used together. A sum is of those that told; how many did stands beside it.

use terca_core::analysis::results::TrialResult;
use terca_core::text::prose;
use terca_core::transcript::Stats;

/// A sum, and over how many trials.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Total {
    pub sum: f64,
    pub known: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Totals {
    pub trials: usize,
    pub input_tokens: Total,
    pub output_tokens: Total,
    pub cost_usd: Total,
}

impl Totals {
    /// Of the trials that were started, with the attempts before the last: they were paid for too.
    pub fn of<'a>(trials: impl IntoIterator<Item = &'a TrialResult>) -> Self {
        let mut totals = Totals::default();
        for trial in trials.into_iter().filter(|trial| trial.report.attempts > 0) {
            totals.trials += 1;
            let all = || {
                trial
                    .earlier
                    .iter()
                    .map(|attempt| &attempt.stats)
                    .chain([&trial.report.stats])
            };
            totals.input_tokens.add(all(), |stats| {
                stats.usage.input_tokens.map(|tokens| tokens as f64)
            });
            totals.output_tokens.add(all(), |stats| {
                stats.usage.output_tokens.map(|tokens| tokens as f64)
            });
            totals.cost_usd.add(all(), |stats| stats.usage.cost_usd);
        }
        totals
    }

    /// `312.0k tokens, $0.82`; what only some of the trials told is said to be so. Empty when nobody told anything.
    pub fn sentence(&self) -> String {
        let tokens = Total {
            sum: self.input_tokens.sum + self.output_tokens.sum,
            ..self.input_tokens
        };
        let parts = [
            self.told(tokens, |sum| {
                format!("{} tokens", prose::compact(sum.round() as u64))
            }),
            self.told(self.cost_usd, prose::dollars),
        ];
        parts
            .into_iter()
            .flatten()
            .collect::<Vec<String>>()
            .join(", ")
    }

    fn told(&self, total: Total, text: impl Fn(f64) -> String) -> Option<String> {
        match total.known {
            0 => None,
            known if known < self.trials => Some(format!(
                "{} ({known} of {} trials told)",
                text(total.sum),
                self.trials
            )),
            _ => Some(text(total.sum)),
        }
    }
}

impl Total {
    fn add<'a>(
        &mut self,
        attempts: impl Iterator<Item = &'a Stats>,
        read: impl Fn(&Stats) -> Option<f64>,
    ) {
        let known: Vec<f64> = attempts.filter_map(read).collect();
        self.sum += known.iter().sum::<f64>();
        self.known += usize::from(!known.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn what_is_not_known_is_said() {
        let results = fixture::mixed_run().results();
        let totals = Totals::of(&results.trials);
        assert_eq!(
            (totals.trials, totals.cost_usd.known),
            (24, 23),
            "an error told nothing"
        );
        assert_eq!(
            totals.sentence(),
            "547.0k tokens (23 of 24 trials told), $0.875 (23 of 24 trials told)"
        );
        assert_eq!(Totals::of([]).sentence(), "");
    }
}
