//! The lines at the beginning of a run, the same for the live display and for plain lines.

use std::collections::BTreeSet;

use terca_core::prose;
use terca_core::state::RunState;

use crate::spans::Spans;
use crate::style::Tone;

/// `basic-js: 24 trials (3 evals × 2 variants × 4 repetitions), 4 at a time, run 2026-11-14-001, seed 7`.
pub fn header(state: &RunState) -> Spans {
    let trials = prose::count(state.trials.len(), "trial");
    let mut line = Spans::of(Tone::Bold, &state.suite).with(Tone::Plain, &format!(": {trials}"));
    let heads = state.trials.iter().map(|trial| &trial.head);
    let shape = Shape::of(heads);
    if state.trials.len() > 1 {
        line.push(Tone::Plain, &format!(" ({})", shape.in_words()));
    }
    line.push(
        Tone::Dim,
        &format!(", {} at a time, run {}, seed {}", state.concurrency, state.run, state.seed),
    );
    line
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
    pub fn of<'a>(heads: impl IntoIterator<Item = &'a terca_core::event::TrialHead>) -> Self {
        let (mut evals, mut variants) = (BTreeSet::new(), BTreeSet::new());
        let mut cells = std::collections::BTreeMap::<_, usize>::new();
        for head in heads {
            evals.insert(&head.eval);
            variants.insert((&head.environment, &head.experiment));
            *cells.entry((&head.eval, &head.environment, &head.experiment)).or_default() += 1;
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

    /// `3 evals × 2 variants × 4 repetitions`, or a list where that product would be wrong.
    pub fn in_words(&self) -> String {
        let (fewest, most) = self.repetitions;
        let evals = prose::count(self.evals, "eval");
        let variants = prose::count(self.variants, "variant");
        if fewest != most {
            return format!("{evals}, {variants}, {fewest} to {most} repetitions");
        }
        let repetitions = prose::count(most, "repetition");
        let separator = if self.evals * self.variants * most == self.trials { " × " } else { ", " };
        [evals, variants, repetitions].join(separator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::heads;

    #[test]
    fn the_shape_is_a_product_only_where_that_is_true() {
        assert_eq!(Shape::of(&heads(3, 2, 4)).in_words(), "3 evals × 2 variants × 4 repetitions");
        assert_eq!(Shape::of(&heads(1, 1, 1)).in_words(), "1 eval × 1 variant × 1 repetition");
        // A selection or a shard has left some out.
        assert_eq!(Shape::of(&heads(3, 2, 4)[1..]).in_words(), "3 evals, 2 variants, 3 to 4 repetitions");
        assert_eq!(Shape::of(&heads(2, 2, 1)[1..]).in_words(), "2 evals, 2 variants, 1 repetition");
    }
}
