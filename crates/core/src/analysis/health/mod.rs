//! `terca health`: what each eval tells, and what it costs.
//!
//! An eval is worth its price when its trials end differently for a reason. One that always passes, or never does,
//! adds nothing to any comparison; one that passes now and then tells most; one that passes where the others fail
//! measures something else, or is broken. One whose tests grade the same work differently adds luck: that is what *flaky*
//! means here. An agent that does not always succeed is no fault of the eval.

mod correlation;
mod eval;
mod gather;

use serde::{Deserialize, Serialize};

use crate::analysis::history::Record;
use crate::stats::ALPHA;
use crate::stats::holm::holm;

pub use correlation::Correlation;
pub use eval::{EvalHealth, Mark};

/// Of the document that `terca health --format json` writes.
pub const HEALTH_VERSION: u32 = 2;

/// The answer of `terca health`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// The version of this document.
    pub version: u32,
    /// The suite's name.
    pub suite: String,
    /// The runs that say something.
    pub runs: Vec<String>,
    /// The evals.
    pub evals: Vec<EvalHealth>,
    /// The evals that could go.
    pub droppable: Droppable,
}

/// The evals that could be left out of every run without losing information.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Droppable {
    /// Their names.
    pub evals: Vec<String>,
    /// Of what all evals cost and took.
    pub cost_share: Option<f64>,
    /// Its share of the time of all evals.
    pub seconds_share: Option<f64>,
}

/// The records are sorted, oldest first. Trials of an eval as it was before it changed are not counted.
pub fn health(records: &[Record]) -> Health {
    let gathered = gather::gather(records);
    let mut evals: Vec<EvalHealth> = gathered
        .evals
        .iter()
        .map(|seen| EvalHealth::of(seen, &gathered))
        .collect();
    contradictions(&mut evals);
    Health {
        version: HEALTH_VERSION,
        suite: records
            .last()
            .map_or_else(String::new, |record| record.state.suite().to_owned()),
        runs: gathered.runs,
        droppable: Droppable::of(&mut evals),
        evals,
    }
}

/// By Holm's method: of many evals one will look odd by chance.
fn contradictions(evals: &mut [EvalHealth]) {
    let mut tested: Vec<&mut EvalHealth> = evals
        .iter_mut()
        .filter(|eval| eval.with_rest.is_some())
        .collect();
    let raw: Vec<f64> = tested
        .iter()
        .filter_map(|eval| eval.with_rest.map(|found| found.p))
        .collect();
    for (eval, adjusted) in tested.iter_mut().zip(holm(&raw)) {
        if let Some(found) = &mut eval.with_rest {
            found.p_adjusted = adjusted;
            if found.r < 0.0 && adjusted < ALPHA {
                eval.marks.push(Mark::Contradicts);
            }
        }
    }
}

impl Droppable {
    /// And says of each eval what share of all it takes.
    fn of(evals: &mut [EvalHealth]) -> Self {
        let total =
            |read: fn(&EvalHealth) -> Option<f64>| evals.iter().filter_map(read).sum::<f64>();
        let (cost, seconds) = (
            total(|eval| eval.cost_usd),
            total(|eval| Some(eval.seconds)),
        );
        let share = |part: f64, whole: f64| (whole > 0.0).then_some(part / whole);
        for eval in evals.iter_mut() {
            eval.cost_share = eval.cost_usd.and_then(|part| share(part, cost));
            eval.seconds_share = share(eval.seconds, seconds);
        }
        let dropped = || evals.iter().filter(|eval| eval.droppable);
        let sum = |shares: Vec<Option<f64>>| {
            shares
                .into_iter()
                .flatten()
                .reduce(|one, other| one + other)
        };
        Droppable {
            evals: dropped().map(|eval| eval.eval.clone()).collect(),
            cost_share: sum(dropped().map(|eval| eval.cost_share).collect()),
            seconds_share: sum(dropped().map(|eval| eval.seconds_share).collect()),
        }
    }
}

#[cfg(test)]
mod tests;
