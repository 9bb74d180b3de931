//! The spending of trials, as far as it is known.
//!
//! Everything that ran is paid for: every attempt of an agent, also one that ended in an error or was interrupted, and
//! every judge, also those of earlier gradings. The figures of a trial (`TrialReport::stats`) are those of its last
//! attempt alone, because they say what the work takes, not what it cost to get there.

use serde::{Deserialize, Serialize};

use super::Trial;
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
    [so_far, more].into_iter().flatten().reduce(add)
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
    /// The dollars that agents say to have spent beyond these sums.
    #[serde(skip)]
    pub claimed_usd: f64,
}

impl SpentTotal {
    /// Returns whether some cost is missing from the sum, so that more was spent than it says.
    pub fn lacks_cost(&self) -> bool {
        self.trials_with_cost < self.trials
    }

    /// Returns the dollars that count for a budget: of the wire's figure and the agent's, the larger.
    pub fn for_budget(&self) -> f64 {
        self.spent.cost_usd.unwrap_or(0.0) + self.claimed_usd
    }

    /// Adds one trial.
    pub(super) fn count(&mut self, trial: &Trial) {
        self.spent.merge(&trial.spent);
        self.claimed_usd += trial.claimed_usd;
        self.trials += usize::from(trial.reports.has_ended);
        self.trials_with_tokens += usize::from(trial.reports.tokens.is_whole());
        self.trials_with_cost += usize::from(trial.reports.cost.is_whole());
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

impl Trial {
    /// Adds an attempt that ended to what was spent. Without its agent it spent nothing, so nothing is missing.
    pub(super) fn pay_attempt(&mut self, report: &TrialReport) {
        let usage = &report.stats.usage;
        self.spent.add(usage);
        let claimed = report.reported.and_then(|reported| reported.cost_usd);
        self.claimed_usd += (claimed.unwrap_or(0.0) - usage.cost_usd.unwrap_or(0.0)).max(0.0);
        let reports = &mut self.reports;
        reports.has_ended |= report.came_to_its_agent() || *usage != Usage::default();
        reports.tokens.by_agent |= usage.tokens().is_some();
        reports.cost.by_agent |= usage.cost_usd.is_some();
        self.pay_judges(report);
    }

    /// Adds the judges of a grading. The agent does not work again for another one.
    pub(super) fn pay_judges(&mut self, report: &TrialReport) {
        for usage in judges(report) {
            self.spent.add(&usage);
            self.reports.tokens.silent_judge |= usage.tokens().is_none();
            self.reports.cost.silent_judge |= usage.cost_usd.is_none();
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
