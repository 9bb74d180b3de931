//! Names of trials, without the parts that are the same for every trial of the run.
//!
//! `default` is the name of an environment or experiment that nobody wrote, so a run that has only that one does
//! not mention it; and without repetitions there is no `#01`.

use std::collections::{BTreeMap, BTreeSet};

use terca_core::analysis::results::Results;
use terca_core::run::event::TrialHead;
use terca_core::run::state::RunState;
use terca_core::text::prose;

use crate::term::{clean, shorten, width};

const UNWRITTEN: &str = "default";

/// The parts of a name that this run needs, and their widths.
#[derive(Debug, Default)]
pub struct Names {
    environments: bool,
    experiments: bool,
    repetitions: bool,
    /// The widths of evals and variants.
    pub(crate) widths: [usize; 2],
    /// The widths of evals and of variants as brief as they can be.
    pub(crate) brief_widths: [usize; 2],
    /// The width of the number of a repetition.
    pub(crate) number_width: usize,
    /// There are several environments, several experiments.
    several: (bool, bool),
}

impl Names {
    pub fn of<'a>(heads: impl IntoIterator<Item = &'a TrialHead>) -> Self {
        let heads: Vec<&TrialHead> = heads.into_iter().collect();
        let environments: BTreeSet<_> = heads.iter().map(|head| &*head.environment).collect();
        let experiments: BTreeSet<_> = heads.iter().map(|head| &*head.experiment).collect();
        // Of several names there is one that somebody chose.
        let is_worth_naming = |names: &BTreeSet<&str>| names.iter().any(|name| *name != UNWRITTEN);
        let mut names = Names {
            environments: is_worth_naming(&environments),
            experiments: is_worth_naming(&experiments),
            repetitions: heads.iter().any(|head| head.repetition > 1),
            several: (environments.len() > 1, experiments.len() > 1),
            ..Names::default()
        };
        let widest = |name: &dyn Fn(&TrialHead) -> String| {
            let widths = heads.iter().map(|head| width(&name(head)));
            widths.max().unwrap_or(0)
        };
        let eval = widest(&|head| clean(&head.eval).into_owned());
        let variant = widest(&|head| names.variant(&head.environment, &head.experiment));
        let brief = widest(&|head| names.brief(&head.environment, &head.experiment));
        names.number_width = widest(&|head| names.repetition(head.repetition));
        (names.widths, names.brief_widths) = ([eval, variant], [eval, brief]);
        names
    }

    /// The names of all trials of a run, those that are spare too.
    pub fn of_run(state: &RunState) -> Self {
        let trials = state.trials().iter().map(|trial| &*trial.head);
        Names::of(trials.chain(state.spare()))
    }

    /// The names of all trials of a run that has results.
    pub(crate) fn of_results(results: &Results) -> Self {
        Names::of(results.trials.iter().map(|trial| &*trial.head))
    }

    /// The parts of a variant's name that tell it from others: environment, experiment, both or none.
    pub fn variant_parts(&self, environment: &str, experiment: &str) -> Vec<String> {
        [
            (self.environments, environment),
            (self.experiments, experiment),
        ]
        .into_iter()
        .filter(|(needed, _)| *needed)
        .map(|(_, part)| clean(part).into_owned())
        .collect()
    }

    /// `environment.experiment`; empty when the run has but one variant that nobody named.
    pub fn variant(&self, environment: &str, experiment: &str) -> String {
        self.variant_parts(environment, experiment).join(".")
    }

    /// The same, or `default` where it is empty.
    pub(crate) fn variant_or_default(&self, environment: &str, experiment: &str) -> String {
        let name = self.variant(environment, experiment);
        Some(name)
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| UNWRITTEN.to_owned())
    }

    /// The name without a part that all variants have in common: what tells them apart is the last to be cut.
    pub(crate) fn brief(&self, environment: &str, experiment: &str) -> String {
        match self.several {
            (true, false) => clean(environment).into_owned(),
            (false, true) => clean(experiment).into_owned(),
            _ => self.variant(environment, experiment),
        }
    }

    /// `#02`; empty when nothing is repeated.
    pub fn repetition(&self, number: u32) -> String {
        if self.repetitions {
            format!("#{number:02}")
        } else {
            String::new()
        }
    }

    /// `fib gemini.with-rules`: the cell that a trial belongs to.
    pub fn cell(&self, head: &TrialHead) -> String {
        let eval = clean(&head.eval).into_owned();
        words([eval, self.variant(&head.environment, &head.experiment)])
    }

    /// `fib gemini.with-rules #02`.
    pub fn trial(&self, head: &TrialHead) -> String {
        words([self.cell(head), self.repetition(head.repetition)])
    }

    /// The columns that a name takes beside these two.
    pub fn beside(&self) -> usize {
        let ([_, variant], number) = (self.widths, self.number_width);
        usize::from(variant + number > 0) * 2 + usize::from(variant.min(number) > 0) + number
    }

    /// The width of a name without columns.
    pub fn longest(&self) -> usize {
        let beside = self.beside();
        self.brief_widths.iter().sum::<usize>() + beside - usize::from(beside > 0)
    }

    /// The name in `columns` at most, as brief as it can be and its number kept.
    pub fn within(&self, head: &TrialHead, columns: usize) -> String {
        let number = self.repetition(head.repetition);
        let room = if number.is_empty() {
            columns
        } else {
            columns.saturating_sub(width(&number) + 1)
        };
        let cell = words([
            clean(&head.eval).into_owned(),
            self.brief(&head.environment, &head.experiment),
        ]);
        words([shorten(&cell, room).into_owned(), number])
    }
}

fn words<const N: usize>(parts: [String; N]) -> String {
    prose::joined(parts.into_iter().filter(|part| !part.is_empty()), " ")
}

/// The size of a plan: `24 trials`, and `3 evals × 2 variants × 4 repetitions`, or a list where that product would be wrong.
/// A single one is left out, and so is a number that would only repeat that of the trials.
pub(crate) fn plan_size<'a>(heads: impl IntoIterator<Item = &'a TrialHead>) -> (String, String) {
    let (mut evals, mut variants) = (BTreeSet::new(), BTreeSet::new());
    let mut cells = BTreeMap::<_, usize>::new();
    for head in heads {
        let variant = (&head.environment, &head.experiment);
        evals.insert(&head.eval);
        variants.insert(variant);
        *cells.entry((&head.eval, variant)).or_default() += 1;
    }
    let trials: usize = cells.values().sum();
    let fewest = cells.values().min().copied().unwrap_or(0);
    let most = cells.values().max().copied().unwrap_or(0);
    let up_to = if fewest == most { "" } else { "up to " };
    let factors: Vec<String> = [
        ("", evals.len(), "eval"),
        ("", variants.len(), "variant"),
        (up_to, most, "repetition"),
    ]
    .into_iter()
    .filter(|(_, number, _)| *number > 1)
    .map(|(before, number, noun)| format!("{before}{}", prose::count(number, noun)))
    .collect();
    let is_product = fewest == most && evals.len() * variants.len() * most == trials;
    let words = match (is_product, factors.len()) {
        (true, 0 | 1) => String::new(),
        (true, _) => factors.join(" × "),
        (false, _) => factors.join(", "),
    };
    (prose::count(trials, "trial"), words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{head, heads};

    fn names(variants: &[(&str, &str)], repetitions: u32) -> (Names, Vec<TrialHead>) {
        let heads: Vec<TrialHead> = variants
            .iter()
            .flat_map(|(environment, experiment)| {
                (1..=repetitions).map(|number| head(number, "fib", environment, experiment, number))
            })
            .collect();
        (Names::of(&heads), heads)
    }

    #[test]
    fn what_is_always_the_same_is_left_out() {
        for (variants, repetitions, expected) in [
            (&[("default", "default")][..], 1, "fib"),
            (&[("default", "default")], 2, "fib #02"),
            (&[("gemini", "default")], 1, "fib gemini"),
            (&[("default", "with-rules")], 1, "fib with-rules"),
            (
                &[("default", "default"), ("default", "with-rules")],
                2,
                "fib with-rules #02",
            ),
            (
                &[("default", "default"), ("gemini", "with-rules")],
                2,
                "fib gemini.with-rules #02",
            ),
        ] {
            let (names, heads) = names(variants, repetitions);
            assert_eq!(names.trial(heads.last().unwrap()), expected);
        }
    }

    #[test]
    fn the_shape_is_a_product_only_where_that_is_true() {
        assert_eq!(
            plan_size(&heads(3, 2, 4)).1,
            "3 evals × 2 variants × 4 repetitions"
        );
        assert_eq!(plan_size(&heads(3, 1, 4)).1, "3 evals × 4 repetitions");
        assert_eq!(plan_size(&heads(3, 1, 1)).1, "");
        // A selection or a shard has left some out.
        assert_eq!(
            plan_size(&heads(3, 2, 4)[1..]).1,
            "3 evals, 2 variants, up to 4 repetitions"
        );
        assert_eq!(plan_size(&heads(2, 2, 1)[1..]).1, "2 evals, 2 variants");
    }
}
