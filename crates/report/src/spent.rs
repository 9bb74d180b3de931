//! What a run has used so far, of the trials that ended and of those in flight.

use terca_core::run::state::RunState;
use terca_core::text::prose;
use terca_core::transcript::Stats;
use terca_core::transcript::Usage;

/// Sums of what agents have told; `None` while none has.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    /// Trials that were judged and told of no cost: the sum is less than was spent.
    pub untold: usize,
}

impl Spent {
    pub fn add(&mut self, usage: &Usage) {
        self.tokens = sum(self.tokens, usage.tokens(), u64::saturating_add);
        self.cost_usd = sum(self.cost_usd, usage.cost_usd, |one, other| one + other);
    }

    /// Of a trial that was judged.
    pub fn add_judged(&mut self, stats: &Stats) {
        self.add(&stats.usage);
        self.untold += usize::from(stats.usage.cost_usd.is_none());
    }

    /// With what the trials in flight have told so far.
    #[must_use]
    pub fn with_live(mut self, state: &RunState) -> Self {
        let trials = state
            .in_flight
            .iter()
            .filter_map(|index| state.trials.get(*index));
        trials
            .filter_map(|trial| trial.live.as_ref())
            .for_each(|live| self.add(&live.usage));
        self
    }

    /// `312.0k tokens`.
    pub fn tokens_in(&self, unit: &str) -> Option<String> {
        self.tokens
            .map(|tokens| format!("{} {unit}", prose::compact(tokens)))
    }

    /// `$0.820`; `$0.820+` when some of it was not told.
    pub fn dollars(&self) -> Option<String> {
        let more = if self.untold > 0 { "+" } else { "" };
        self.cost_usd.map(|cost| prose::dollars(cost) + more)
    }
}

fn sum<T>(so_far: Option<T>, more: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (so_far, more) {
        (Some(one), Some(other)) => Some(add(one, other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};
    use crate::memo::Memo;

    #[test]
    fn what_is_in_flight_counts_and_what_is_untold_is_marked() {
        let mut script = Script::new(fixture::heads(4, 1, 1), 2);
        let spent = |script: &Script| Memo::of(&script.state).spent.with_live(&script.state);
        assert_eq!(
            (spent(&script).tokens_in("tok"), spent(&script).dollars()),
            (None, None)
        );
        script.start(1).doing(1, "npm test", 900);
        assert_eq!(spent(&script).tokens_in("tok").as_deref(), Some("900 tok"));
        // Twenty seconds are ten thousand tokens, which take the place of those told on the way.
        script
            .finish(1, &fixture::passed(20.0))
            .start(2)
            .doing(2, "npm test", 500);
        assert_eq!(
            spent(&script).tokens_in("tokens").as_deref(),
            Some("10.5k tokens")
        );
        assert_eq!(spent(&script).dollars().as_deref(), Some("$0.016"));
        let mut silent = fixture::passed(20.0);
        silent.stats.usage = Usage::default();
        script.finish(2, &silent);
        assert_eq!(
            spent(&script).tokens_in("tokens").as_deref(),
            Some("10.0k tokens")
        );
        assert_eq!(spent(&script).dollars().as_deref(), Some("$0.016+"));
    }
}
