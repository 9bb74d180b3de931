//! Names of trials, without the parts that are the same for every trial of the run.
//!
//! `default` is the name of an environment or experiment that nobody wrote, so a run that has only that one does
//! not mention it; and without repetitions there is no `#01`.

use std::collections::BTreeSet;

use terca_core::run::event::TrialHead;
use terca_core::run::state::RunState;

use crate::term::width::{clean, shorten, width};

const UNWRITTEN: &str = "default";

/// The parts of a name that this run needs, and their widths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    environments: bool,
    experiments: bool,
    repetitions: bool,
    eval_width: usize,
    variant_width: usize,
    /// The width of the brief name of a variant.
    brief_width: usize,
    number_width: usize,
    /// There are several environments, several experiments.
    several: (bool, bool),
}

impl Names {
    pub fn of<'a>(heads: impl IntoIterator<Item = &'a TrialHead>) -> Self {
        let heads: Vec<&TrialHead> = heads.into_iter().collect();
        let mut names = Names {
            environments: is_worth_naming(heads.iter().map(|head| head.environment.as_str())),
            experiments: is_worth_naming(heads.iter().map(|head| head.experiment.as_str())),
            repetitions: heads.iter().any(|head| head.repetition > 1),
            eval_width: heads
                .iter()
                .map(|head| width(&clean(&head.eval)))
                .max()
                .unwrap_or(0),
            ..Names::default()
        };
        let highest = heads.iter().map(|head| head.repetition).max().unwrap_or(0);
        names.number_width = width(&names.repetition(highest));
        let variants: BTreeSet<(&str, &str)> = heads
            .iter()
            .map(|head| (head.environment.as_str(), head.experiment.as_str()))
            .collect();
        let differ = |parts: Vec<&str>| parts.windows(2).any(|pair| pair[0] != pair[1]);
        names.several = (
            differ(
                variants
                    .iter()
                    .map(|(environment, _)| *environment)
                    .collect(),
            ),
            differ(variants.iter().map(|(_, experiment)| *experiment).collect()),
        );
        let widest = |name: &dyn Fn(&str, &str) -> String| {
            variants
                .iter()
                .map(|(one, other)| width(&name(one, other)))
                .max()
                .unwrap_or(0)
        };
        (names.variant_width, names.brief_width) = (
            widest(&|one, other| names.variant(one, other)),
            widest(&|one, other| names.brief(one, other)),
        );
        names
    }

    /// The names of all trials of a run, those that are spare too.
    pub fn of_run(state: &RunState) -> Self {
        let trials = state.trials().iter().map(|trial| &*trial.head);
        Names::of(trials.chain(state.spare()))
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

    /// The width of the number of a repetition.
    pub fn number_width(&self) -> usize {
        self.number_width
    }

    /// The widths of evals and variants.
    pub fn widths(&self) -> [usize; 2] {
        [self.eval_width, self.variant_width]
    }

    /// The widths of evals and of variants as brief as they can be.
    pub fn brief_widths(&self) -> [usize; 2] {
        [self.eval_width, self.brief_width]
    }

    /// The columns that a name takes beside these two.
    pub fn beside(&self) -> usize {
        let [gap, space] = [
            self.variant_width + self.number_width,
            self.variant_width.min(self.number_width),
        ];
        usize::from(gap > 0) * 2 + usize::from(space > 0) + self.number_width
    }

    /// The width of a name without columns.
    pub fn longest(&self) -> usize {
        self.eval_width + self.brief_width + self.beside() - usize::from(self.beside() > 0)
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

/// Several names, or one that somebody chose.
fn is_worth_naming<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    let Some(first) = names.next() else {
        return false;
    };
    first != UNWRITTEN || names.any(|name| name != first)
}

fn words<const N: usize>(parts: [String; N]) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::head;

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
}
