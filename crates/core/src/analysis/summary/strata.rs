//! The trials of two arms as strata: an eval, or an eval in a place. Each eval has the same weight, which its places share.

use super::figures::Read;
use super::grid::Cell;
use super::pairs::Pair;
use crate::run::outcome::TrialReport;
use crate::stats::permutation::Values;
use crate::stats::sample::mean;
use crate::stats::stratum::{Count, Stratum, TwoArms};

/// Returns how often trials passed. Every pair has trials that were judged in both arms.
pub(super) fn counts(pairs: &[Pair<'_>]) -> Vec<Stratum> {
    let mut strata = Vec::new();
    for pair in pairs {
        for (arm, baseline) in &pair.cells {
            strata.push(Stratum {
                arm: count(arm),
                baseline: count(baseline),
                share: pairs.len() * pair.cells.len(),
            });
        }
    }
    strata
}

pub(super) fn count(cell: &Cell<'_>) -> Count {
    let (passed, trials) = cell.tally();
    Count { passed, trials }
}

/// A figure of the trials of two arms.
#[derive(Debug, Default)]
pub(super) struct Graded {
    /// The values, in places where both arms have some.
    pub(super) strata: Vec<Values>,
    /// The difference of each eval that has values in both arms.
    pub(super) differences: Vec<f64>,
}

/// Returns the scores.
pub(super) fn scores(pairs: &[Pair<'_>]) -> Graded {
    Graded::of(pairs, |trial| trial.score)
}

impl Graded {
    /// Reads a value of each trial that was judged. A place without values in one of the arms is left out.
    fn of(pairs: &[Pair<'_>], read: impl Fn(&TrialReport) -> Option<f64>) -> Self {
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

/// Cost, tokens or time of the trials of two arms.
#[derive(Debug)]
pub(super) struct Expenses {
    /// The logarithms. A zero has none.
    pub(super) logarithms: Graded,
    /// The ratio of the arithmetic means, zeros included.
    pub(super) bill: Option<f64>,
    /// Trials with a figure of zero.
    pub(super) zeros: usize,
    /// Trials without a figure.
    pub(super) unknown: usize,
}

impl Expenses {
    pub(super) fn of(pairs: &[Pair<'_>], read: Read) -> Self {
        let is_zero = |figure: &f64| *figure <= 0.0;
        let mut zeros = 0;
        let mut unknown = 0;
        for trial in pairs.iter().flat_map(Pair::judged) {
            match read(&trial.stats) {
                Some(figure) if is_zero(&figure) => zeros += 1,
                Some(_) => {}
                None => unknown += 1,
            }
        }
        let all = Graded::of(pairs, |trial| read(&trial.stats));
        let bill = |values: fn(&Values) -> &Vec<f64>| -> f64 {
            let weighted =
                |stratum: &Values| mean(values(stratum)).unwrap_or(0.0) * stratum.weight();
            all.strata.iter().map(weighted).sum()
        };
        let (arm, baseline) = (bill(|values| &values.arm), bill(|values| &values.baseline));
        Expenses {
            logarithms: Graded::of(pairs, |trial| {
                read(&trial.stats)
                    .filter(|figure| !is_zero(figure))
                    .map(f64::ln)
            }),
            bill: (baseline > 0.0).then(|| arm / baseline),
            zeros,
            unknown,
        }
    }
}
