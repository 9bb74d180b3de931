//! The lines at the beginning of a run, the same for the live display and for plain lines.

use std::collections::{BTreeMap, BTreeSet};

use terca_core::config::adaptive::Adaptive;
use terca_core::run::event::TrialHead;
use terca_core::run::state::RunState;
use terca_core::text::prose;

use crate::spans::Spans;
use crate::style::Tone;

/// `basic-js: 24 trials (3 evals × 2 variants × 4 repetitions)`.
pub fn title(state: &RunState) -> Spans {
    let trials = prose::count(state.trials().len(), "trial");
    let title = Spans::of(Tone::Bold, state.suite()).with(Tone::Plain, &format!(": {trials}"));
    let title = match Shape::of(state.trials().iter().map(|trial| &trial.head)).in_words() {
        words if words.is_empty() => title,
        words => title.with(Tone::Plain, &format!(" ({words})")),
    };
    match state.adaptive() {
        Some(bounds) => title.with(Tone::Plain, &format!(", {}", until_decided(bounds))),
        None => title,
    }
}

/// `then more, until every comparison is decided, up to 20 repetitions`.
pub fn until_decided(bounds: Adaptive) -> String {
    let most = prose::count(bounds.max as usize, "repetition");
    format!("then more, until every comparison is decided, up to {most}")
}

/// `4 at a time, run 2026-11-14-001, seed 7`.
pub fn particulars(state: &RunState) -> Spans {
    let text = format!(
        "{} at a time, run {}, seed {}",
        state.concurrency(),
        state.run(),
        state.seed()
    );
    Spans::of(Tone::Dim, &text)
}

/// How many of what a plan is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    pub evals: usize,
    pub variants: usize,
    /// The fewest and the most repetitions of a cell.
    pub repetitions: (usize, usize),
    pub trials: usize,
}

impl Shape {
    pub fn of<'a>(heads: impl IntoIterator<Item = &'a TrialHead>) -> Self {
        let (mut evals, mut variants) = (BTreeSet::new(), BTreeSet::new());
        let mut cells = BTreeMap::<_, usize>::new();
        for head in heads {
            evals.insert(&head.eval);
            variants.insert((&head.environment, &head.experiment));
            *cells
                .entry((&head.eval, &head.environment, &head.experiment))
                .or_default() += 1;
        }
        Shape {
            evals: evals.len(),
            variants: variants.len(),
            repetitions: (
                cells.values().min().copied().unwrap_or(0),
                cells.values().max().copied().unwrap_or(0),
            ),
            trials: cells.values().sum(),
        }
    }

    /// `3 evals × 2 variants × 4 repetitions`, or a list where that product would be wrong. What there is but one of is
    /// left out, and so is what would only repeat the number of trials.
    pub fn in_words(&self) -> String {
        let (fewest, most) = self.repetitions;
        let is_product = fewest == most && self.evals * self.variants * most == self.trials;
        let repetitions = prose::count(most, "repetition");
        let factors: Vec<String> = [
            (self.evals, prose::count(self.evals, "eval")),
            (self.variants, prose::count(self.variants, "variant")),
            (
                most,
                if fewest == most {
                    repetitions
                } else {
                    format!("up to {repetitions}")
                },
            ),
        ]
        .into_iter()
        .filter(|(number, _)| *number > 1)
        .map(|(_, words)| words)
        .collect();
        match (is_product, factors.len()) {
            (true, 0 | 1) => String::new(),
            (true, _) => factors.join(" × "),
            (false, _) => factors.join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::heads;

    #[test]
    fn the_shape_is_a_product_only_where_that_is_true() {
        assert_eq!(
            Shape::of(&heads(3, 2, 4)).in_words(),
            "3 evals × 2 variants × 4 repetitions"
        );
        assert_eq!(
            Shape::of(&heads(3, 1, 4)).in_words(),
            "3 evals × 4 repetitions"
        );
        assert_eq!(Shape::of(&heads(3, 1, 1)).in_words(), "");
        // A selection or a shard has left some out.
        assert_eq!(
            Shape::of(&heads(3, 2, 4)[1..]).in_words(),
            "3 evals, 2 variants, up to 4 repetitions"
        );
        assert_eq!(
            Shape::of(&heads(2, 2, 1)[1..]).in_words(),
            "2 evals, 2 variants"
        );
    }
}
