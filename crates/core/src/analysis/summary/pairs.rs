//! Pairs the trials of two arms: cells of a grid of evals, places and arms, and the strata of the statistics that they make.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::analysis::distinct::distinct;
use crate::config::verdict::Measure;
use crate::run::outcome::{Attempt, Status, TrialReport};
use crate::run::state::{RunState, Trial};
use crate::stats::permutation::Values;
use crate::stats::sample::mean;
use crate::stats::stratum::{Count, Stratum, TwoArms};

#[derive(Debug)]
pub(super) struct Grid<'a> {
    pub evals: Vec<&'a str>,
    pub places: Vec<&'a str>,
    pub arms: Vec<&'a str>,
    pub cells: Vec<Cell<'a>>,
    positions: HashMap<(&'a str, &'a str, &'a str), usize>,
}

/// An eval of an arm in a place.
#[derive(Debug)]
pub(super) struct Cell<'a> {
    pub eval: &'a str,
    pub place: &'a str,
    pub arm: &'a str,
    pub trials: Vec<&'a Trial>,
}

impl<'a> Grid<'a> {
    pub(super) fn of(trials: &'a [ArmTrial<'a>]) -> Self {
        let mut cells: Vec<Cell<'a>> = Vec::new();
        let mut positions = HashMap::new();
        for trial in trials {
            let key = (&*trial.trial.head.eval, &*trial.place, trial.arm);
            let position = *positions.entry(key).or_insert_with(|| {
                let (eval, place, arm) = key;
                cells.push(Cell {
                    eval,
                    place,
                    arm,
                    trials: Vec::new(),
                });
                cells.len() - 1
            });
            cells[position].trials.push(trial.trial);
        }
        Grid {
            evals: distinct(cells.iter().map(|cell| cell.eval)),
            places: distinct(cells.iter().map(|cell| cell.place)),
            arms: distinct(cells.iter().map(|cell| cell.arm)),
            cells,
            positions,
        }
    }

    pub(super) fn cell(&self, eval: &str, place: &str, arm: &str) -> Option<&Cell<'a>> {
        self.positions
            .get(&(eval, place, arm))
            .map(|position| &self.cells[*position])
    }
}

impl<'a> Cell<'a> {
    pub(super) fn reports(&self) -> impl Iterator<Item = &'a TrialReport> {
        self.trials.iter().map(|trial| &*trial.report)
    }

    pub(super) fn judged(&self) -> impl Iterator<Item = &'a TrialReport> {
        self.reports().filter(|trial| trial.status.is_judged())
    }

    /// Returns how many were judged at a later attempt.
    pub(super) fn retried(&self) -> usize {
        let judged = self
            .trials
            .iter()
            .filter(|trial| trial.report.status.is_judged());
        judged
            .filter(|trial| trial.earlier.iter().any(has_worked))
            .count()
    }

    /// Returns the number of attempts in which the agent worked and which ended in an error.
    pub(super) fn attempts_without_result(&self) -> usize {
        let of_trial = |trial: &Trial| {
            let last = (trial.report.status == Status::Error).then(|| Attempt::of(&trial.report));
            let earlier = trial.earlier.iter().filter(|one| has_worked(one)).count();
            earlier + usize::from(last.is_some_and(|last| has_worked(&last)))
        };
        self.trials.iter().map(|trial| of_trial(trial)).sum()
    }

    /// Returns how many passed, and how many were judged.
    pub(super) fn tally(&self) -> Count {
        let passed = self.judged().filter(|trial| trial.status == Status::Passed);
        Count {
            passed: passed.count(),
            trials: self.judged().count(),
        }
    }
}

/// Returns whether an agent came to an end in this attempt. One that lost its worker has none.
fn has_worked(attempt: &Attempt) -> bool {
    attempt.stats.duration_seconds.is_some()
}

/// The places in which two arms are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'g, 'a> {
    pub grid: &'g Grid<'a>,
    pub places: &'g [&'a str],
}

/// One eval in both arms: the cell of the arm first, then the baseline's, for each place.
#[derive(Debug)]
pub(super) struct Pair<'g> {
    pub eval: &'g str,
    pub cells: Vec<(&'g Cell<'g>, &'g Cell<'g>)>,
}

impl<'g> Scope<'g, 'g> {
    /// Returns all trials of one arm.
    pub(super) fn trials(&self, arm: &str) -> Vec<&'g TrialReport> {
        let cells = self.grid.evals.iter().flat_map(|eval| {
            self.places
                .iter()
                .filter_map(|place| self.grid.cell(eval, place, arm))
        });
        cells.flat_map(Cell::reports).collect()
    }

    /// Returns the evals that were judged in both arms, and the names of those that were planned in both and not
    /// judged.
    pub(super) fn pairs(&self, arm: &str, baseline: &str) -> (Vec<Pair<'g>>, Vec<String>) {
        let mut pairs = Vec::new();
        let mut left_out = Vec::new();
        for &eval in &self.grid.evals {
            let both = |place: &&str| {
                let of = |name| self.grid.cell(eval, place, name);
                Some((of(arm)?, of(baseline)?))
            };
            let cells: Vec<_> = self.places.iter().filter_map(both).collect();
            let planned = !cells.is_empty();
            let cells: Vec<_> = cells
                .into_iter()
                .filter(|(one, other)| is_judged(one) && is_judged(other))
                .collect();
            if !cells.is_empty() {
                pairs.push(Pair { eval, cells });
            } else if planned {
                left_out.push(eval.to_owned());
            }
        }
        (pairs, left_out)
    }
}

fn is_judged(cell: &Cell<'_>) -> bool {
    cell.judged().next().is_some()
}

impl Pair<'_> {
    /// Returns the mean over the places, in each arm.
    fn means(&self, read: impl Fn(&Cell<'_>) -> Option<f64>) -> Option<(f64, f64)> {
        let known = self
            .cells
            .iter()
            .filter_map(|(one, other)| read(one).zip(read(other)));
        let (first, second): (Vec<f64>, Vec<f64>) = known.unzip();
        mean(&first).zip(mean(&second))
    }

    pub(super) fn rates(&self) -> (f64, f64) {
        let rate = |cell: &Cell<'_>| {
            let Count { passed, trials } = cell.tally();
            Some(passed as f64 / trials as f64)
        };
        self.means(rate).unwrap_or_default()
    }

    pub(super) fn scores(&self) -> Option<(f64, f64)> {
        self.means(|cell| {
            mean(
                &cell
                    .judged()
                    .filter_map(|trial| trial.score)
                    .collect::<Vec<f64>>(),
            )
        })
    }

    /// Returns the difference in pass rate, as the mean over the places.
    pub(super) fn difference(&self) -> f64 {
        let (rate, baseline) = self.rates();
        rate - baseline
    }

    /// Returns all trials of both arms that were judged.
    pub(super) fn judged(&self) -> impl Iterator<Item = &TrialReport> {
        let cells = self
            .cells
            .iter()
            .flat_map(|(arm, baseline)| [*arm, *baseline]);
        cells.flat_map(Cell::judged)
    }
}

/// Returns how often trials passed. Every pair has trials that were judged in both arms.
pub(super) fn counts(pairs: &[Pair<'_>]) -> Vec<Stratum> {
    let mut strata = Vec::new();
    for pair in pairs {
        for (arm, baseline) in &pair.cells {
            strata.push(Stratum {
                arm: arm.tally(),
                baseline: baseline.tally(),
                share: pairs.len() * pair.cells.len(),
            });
        }
    }
    strata
}

/// A figure of the trials of two arms.
#[derive(Debug, Default)]
pub(super) struct Graded {
    /// The values, in places where both arms have some.
    pub strata: Vec<Values>,
    /// The difference of each eval that has values in both arms.
    pub differences: Vec<f64>,
}

/// Returns the scores.
pub(super) fn scores(pairs: &[Pair<'_>]) -> Graded {
    Graded::of(pairs, |trial| trial.score)
}

impl Graded {
    /// Reads a value of each trial that was judged. A place without values in one of the arms is left out.
    pub(super) fn of(pairs: &[Pair<'_>], read: impl Fn(&TrialReport) -> Option<f64>) -> Self {
        let values = |cell: &Cell<'_>| -> Vec<f64> { cell.judged().filter_map(&read).collect() };
        let mut evals: Vec<Vec<Values>> = Vec::new();
        for pair in pairs {
            let cells = pair.cells.iter().map(|(arm, baseline)| Values {
                arm: values(arm),
                baseline: values(baseline),
                share: 1,
            });
            let known: Vec<Values> = cells
                .filter(|values| !values.arm.is_empty() && !values.baseline.is_empty())
                .collect();
            if !known.is_empty() {
                evals.push(known);
            }
        }
        let number = evals.len();
        let mut graded = Graded::default();
        for mut places in evals {
            let differences: Vec<f64> = places.iter().map(Values::difference).collect();
            graded.differences.extend(mean(&differences));
            let share = number * places.len();
            for values in &mut places {
                values.share = share;
            }
            graded.strata.extend(places);
        }
        graded
    }

    /// Returns whether all values are passes or failures.
    pub(super) fn is_all_or_nothing(&self) -> bool {
        let mut values = self
            .strata
            .iter()
            .flat_map(|stratum| stratum.arm.iter().chain(&stratum.baseline));
        values.all(|value| *value == 0.0 || *value == 1.0)
    }
}

/// Arms are compared in places: experiments in each environment, environments with each experiment, runs in each
/// variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Experiments, in each environment.
    #[default]
    Experiment,
    /// Environments, with each experiment.
    Environment,
    /// Runs, in each variant.
    Run,
}

impl By {
    /// Returns the word for an arm.
    pub fn as_str(self) -> &'static str {
        match self {
            By::Experiment => "experiment",
            By::Environment => "environment",
            By::Run => "run",
        }
    }

    /// Returns the word for a place.
    pub fn place(self) -> &'static str {
        match self {
            By::Experiment => "environment",
            By::Environment => "experiment",
            By::Run => "variant",
        }
    }
}

/// Everything that a comparison needs to know.
#[derive(Debug)]
pub(crate) struct Arms<'a> {
    /// The kind of the arms: only the words depend on it.
    pub by: By,
    /// The arm that the others are compared with.
    pub baseline: &'a str,
    pub trials: Vec<ArmTrial<'a>>,
    /// Differences that are smaller make no difference.
    pub margin: f64,
    /// The figure that the verdicts are about.
    pub measure: Measure,
    pub concurrency: usize,
    /// The arms that differ from the baseline in nothing but their name, each with its place.
    pub identical: Vec<(&'a str, &'a str)>,
    /// Trials were added for as long as the comparisons were undecided, up to so many repetitions.
    pub adaptive: Option<u32>,
    /// Tokens, cost and time have p-values. Those of many arms take long.
    pub tests_expenses: bool,
}

/// A trial as part of a comparison.
#[derive(Debug, Clone)]
pub(crate) struct ArmTrial<'a> {
    pub arm: &'a str,
    pub place: Cow<'a, str>,
    pub trial: &'a Trial,
}

impl<'a> Arms<'a> {
    /// Trials of a run, which says the rest.
    pub(crate) fn new(
        by: By,
        baseline: &'a str,
        trials: Vec<ArmTrial<'a>>,
        state: &RunState,
    ) -> Self {
        Arms {
            by,
            baseline,
            trials,
            margin: state.margin(),
            measure: state.start().verdict.measure,
            concurrency: state.concurrency(),
            identical: Vec::new(),
            adaptive: state.start().adaptive.map(|bounds| bounds.max),
            tests_expenses: true,
        }
    }

    /// The experiments of a run in its environments, or the other way round.
    pub(crate) fn within(state: &'a RunState, by: By, baseline: &'a str, margin: f64) -> Self {
        let in_arm = |trial: &'a Trial| {
            let (experiment, environment) = (&trial.head.experiment, &trial.head.environment);
            let (arm, place) = match by {
                By::Environment => (environment, experiment),
                By::Experiment | By::Run => (experiment, environment),
            };
            ArmTrial {
                arm,
                place: Cow::Borrowed(place),
                trial,
            }
        };
        let trials = state.trials().iter().map(in_arm).collect();
        let mut arms = Arms {
            margin,
            ..Arms::new(by, baseline, trials, state)
        };
        if by != By::Environment && baseline == state.baseline() {
            let same = state.start().identical_to_baseline.iter();
            let same = same.map(|variant| (&*variant.experiment, &*variant.environment));
            arms.identical = same.collect();
        }
        arms
    }
}
