//! The effect of an arm on one figure.

use serde::{Deserialize, Serialize};

use super::figures::Read;
use super::pairs::Pair;
use crate::stats::paired::{Paired, difference_of_rates};
use crate::stats::ratio::{ln_geometric_mean, ratio};
use crate::stats::sample::mean;
use crate::stats::{CannotTell, Interval};

/// The effect of an arm on one figure.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Effect {
    /// Rates and scores: the experiment minus the baseline. Tokens, cost and time: the experiment over the baseline.
    pub value: Option<f64>,
    /// 95 %, over the evals.
    pub interval: Option<Interval>,
    /// The p-value.
    pub p: Option<f64>,
    /// By Holm's method, for all comparisons of its kind.
    pub p_adjusted: Option<f64>,
    /// The number of evals it is from.
    pub evals: usize,
    /// The reason why something of it is missing.
    pub cannot_tell: Option<CannotTell>,
}

impl Effect {
    pub(super) fn on_pass_rate(pairs: &[Pair<'_>], seed: u64) -> Self {
        let rates: Vec<(f64, f64)> = pairs.iter().map(Pair::rates).collect();
        Effect::of(difference_of_rates(&rates, seed))
    }

    /// With another test's p-value.
    pub(super) fn with_p(self, p: f64) -> Self {
        Effect {
            p: Some(p),
            p_adjusted: Some(p),
            ..self
        }
    }

    pub(super) fn on_score(pairs: &[Pair<'_>], seed: u64) -> Self {
        let scores: Vec<(f64, f64)> = pairs.iter().filter_map(Pair::scores).collect();
        Effect::of(difference_of_rates(&scores, seed))
    }

    pub(super) fn on(read: Read, pairs: &[Pair<'_>], seed: u64) -> Self {
        let logarithms: Result<Vec<Option<(f64, f64)>>, CannotTell> = pairs
            .iter()
            .map(|pair| ln_geometric_means(pair, read))
            .collect();
        let known = logarithms.map(|pairs| pairs.into_iter().flatten().collect::<Vec<_>>());
        Effect::of(known.and_then(|pairs| ratio(&pairs, seed)))
    }

    fn of(found: Result<Paired, CannotTell>) -> Self {
        match found {
            Ok(found) => Effect {
                value: Some(found.difference),
                interval: found.interval.ok(),
                p: found.p.ok(),
                p_adjusted: found.p.ok(),
                evals: found.evals,
                cannot_tell: found.interval.err().or(found.p.err()),
            },
            Err(reason) => Effect {
                cannot_tell: Some(reason),
                ..Effect::default()
            },
        }
    }
}

/// `None` where a whole cell has no figure: the eval is left out. A figure of zero spoils everything.
fn ln_geometric_means(pair: &Pair<'_>, read: Read) -> Result<Option<(f64, f64)>, CannotTell> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (experiment, baseline) in &pair.cells {
        let of = |cell: &super::grid::Cell<'_>| -> Result<f64, CannotTell> {
            ln_geometric_mean(
                &cell
                    .judged()
                    .filter_map(|trial| read(&trial.stats))
                    .collect::<Vec<f64>>(),
            )
        };
        match (of(experiment), of(baseline)) {
            (Ok(one), Ok(other)) => {
                first.push(one);
                second.push(other);
            }
            (Err(CannotTell::NotPositive), _) | (_, Err(CannotTell::NotPositive)) => {
                return Err(CannotTell::NotPositive);
            }
            _ => {}
        }
    }
    Ok(mean(&first).zip(mean(&second)))
}
