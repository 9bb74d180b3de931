//! The shape of a plan: how many evals, variants and repetitions it has.

use std::collections::{BTreeMap, BTreeSet};

use terca_core::run::event::TrialHead;
use terca_core::text::prose;

/// The factors of a plan.
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

    /// `3 evals × 2 variants × 4 repetitions`, or a list where that product would be wrong. A single one is left
    /// out, and so is a number that would only repeat that of the trials.
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
