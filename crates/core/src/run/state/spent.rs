//! The spending of trials, as far as it is known.
//!
//! Everything that ran is paid for: every attempt of an agent, also one that ended in an error or was interrupted, and
//! every judge, also those of earlier gradings. The figures of a trial (`TrialReport::stats`) are those of its last
//! attempt alone, because they say what the work takes, not what it cost to get there.

use serde::{Deserialize, Serialize};

use crate::run::outcome::TrialReport;
use crate::transcript::Usage;

/// Sums of what is known. A figure that is known of no session is `null`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// Input tokens, the cached ones among them.
    pub input_tokens: Option<u64>,
    /// Output tokens, thinking among them.
    pub output_tokens: Option<u64>,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
}

impl Spent {
    /// Adds what one session used.
    pub fn add(&mut self, usage: &Usage) {
        self.input_tokens = sum(self.input_tokens, usage.input_tokens, u64::saturating_add);
        self.output_tokens = sum(self.output_tokens, usage.output_tokens, u64::saturating_add);
        self.cost_usd = sum(self.cost_usd, usage.cost_usd, |one, other| one + other);
    }

    /// Adds what another trial spent.
    pub fn merge(&mut self, other: &Spent) {
        self.add(&Usage {
            input_tokens: other.input_tokens,
            output_tokens: other.output_tokens,
            cost_usd: other.cost_usd,
            ..Usage::default()
        });
    }

    /// Returns input and output tokens together.
    pub fn tokens(&self) -> Option<u64> {
        sum(self.input_tokens, self.output_tokens, u64::saturating_add)
    }
}

fn sum<T>(so_far: Option<T>, more: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (so_far, more) {
        (Some(one), Some(other)) => Some(add(one, other)),
        (one, other) => one.or(other),
    }
}

/// The spending of several trials together, and of how many of them it is known.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpentTotal {
    /// The sums.
    #[serde(flatten)]
    pub spent: Spent,
    /// Trials that came to their agent, in an attempt that has ended.
    pub trials: usize,
    /// Those of them whose tokens are known.
    pub trials_with_tokens: usize,
    /// Those of them whose cost is known.
    pub trials_with_cost: usize,
}

impl SpentTotal {
    /// Returns whether some cost is missing from the sum, so that more was spent than it says.
    pub fn lacks_cost(&self) -> bool {
        self.trials_with_cost < self.trials
    }

    /// Follows one trial from what was known of it before to what is known now.
    pub(super) fn follow(&mut self, used: &[Usage], before: Reports, now: Reports) {
        for usage in used {
            self.spent.add(usage);
        }
        self.trials += usize::from(now.has_ended) - usize::from(before.has_ended);
        move_count(
            &mut self.trials_with_tokens,
            before.tokens.is_whole(),
            now.tokens.is_whole(),
        );
        move_count(
            &mut self.trials_with_cost,
            before.cost.is_whole(),
            now.cost.is_whole(),
        );
    }
}

fn move_count(count: &mut usize, before: bool, now: bool) {
    match (before, now) {
        (false, true) => *count += 1,
        (true, false) => *count -= 1,
        _ => {}
    }
}

/// The figures of a trial that are known so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Reports {
    has_ended: bool,
    tokens: Reported,
    cost: Reported,
}

/// A figure is known when it is known of an attempt at least, and of every judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Reported {
    by_agent: bool,
    silent_judge: bool,
}

impl Reported {
    fn is_whole(self) -> bool {
        self.by_agent && !self.silent_judge
    }
}

impl Reports {
    /// Notes an attempt that ended. Without its agent it spent nothing, so nothing is missing.
    pub(super) fn attempt(&mut self, report: &TrialReport) {
        let usage = &report.stats.usage;
        self.has_ended |= report.came_to_its_agent() || *usage != Usage::default();
        self.tokens.by_agent |= usage.tokens().is_some();
        self.cost.by_agent |= usage.cost_usd.is_some();
        self.judges(report);
    }

    /// Notes the judges of a grading.
    pub(super) fn judges(&mut self, report: &TrialReport) {
        for usage in judges(report) {
            self.tokens.silent_judge |= usage.tokens().is_none();
            self.cost.silent_judge |= usage.cost_usd.is_none();
        }
    }
}

/// Returns what the judges of a trial's tests used, those without a verdict too.
pub fn judges(report: &TrialReport) -> impl Iterator<Item = Usage> {
    let heard = report.tests.iter();
    let heard = heard.filter_map(|(_, grade)| grade.judge.as_ref().map(|judge| &judge.by));
    heard
        .chain(&report.paid_judges)
        .map(|judge| judge.stats.usage)
}
