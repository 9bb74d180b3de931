//! The cost and the time of the arms of a plan, by those of their cases before.

use serde::{Deserialize, Serialize};

use super::Question;
use crate::analysis::history::{History, Past};
use crate::run::event::TrialHead;
use crate::stats::sample::mean;

/// One variant of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Arm {
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
    /// The agent's name.
    pub agent: String,
    /// The model that is asked for.
    pub model: Option<String>,
    /// The number of trials.
    pub trials: usize,
    /// The number of evals.
    pub evals: usize,
    /// Of the trials before; `null` when there were none.
    pub pass_rate: Option<f64>,
    /// The number of trials it is reckoned from.
    pub known_trials: usize,
    /// The cost and the time.
    pub expense: Expense,
}

/// `null` is not known: the arm never ran, or its agent does not report it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expense {
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Of an arm: all its trials, one after the other. Of a run: with as many at once as there may be.
    pub seconds: Option<f64>,
}

impl Expense {
    /// Of all arms: not known as soon as one is not.
    pub(super) fn total(arms: &[Arm], concurrency: usize) -> Self {
        let sum = |read: fn(&Expense) -> Option<f64>| {
            arms.iter()
                .map(|arm| read(&arm.expense))
                .sum::<Option<f64>>()
        };
        let trials: usize = arms.iter().map(|arm| arm.trials).sum();
        let at_once = concurrency.min(trials).max(1) as f64;
        Expense {
            cost_usd: sum(|expense| expense.cost_usd),
            seconds: sum(|expense| expense.seconds).map(|seconds| seconds / at_once),
        }
    }

    /// Returns the expense for another number of trials.
    pub(super) fn scaled(self, times: f64) -> Self {
        let scale = |value: Option<f64>| value.map(|value| value * times);
        Expense {
            cost_usd: scale(self.cost_usd),
            seconds: scale(self.seconds),
        }
    }
}

pub(super) fn arms(question: &Question<'_>, history: &History) -> Vec<Arm> {
    let mut variants: Vec<Vec<&TrialHead>> = Vec::new();
    for head in question.plan {
        let is_of = |trials: &&mut Vec<&TrialHead>| {
            trials[0].environment == head.environment && trials[0].experiment == head.experiment
        };
        match variants.iter_mut().find(is_of) {
            Some(trials) => trials.push(head),
            None => variants.push(vec![head]),
        }
    }
    variants.iter().map(|trials| arm(trials, history)).collect()
}

fn arm(trials: &[&TrialHead], history: &History) -> Arm {
    let first = trials[0];
    let cases: Vec<&[&TrialHead]> = trials
        .chunk_by(|one, other| one.eval == other.eval)
        .collect();
    let known: Vec<&Past> = cases
        .iter()
        .filter_map(|case| history.case(case[0]))
        .collect();
    let rates: Vec<f64> = known.iter().map(|past| past.rate()).collect();
    let expected = |read: fn(&Past) -> &[f64]| {
        let of_arm = mean(
            &known
                .iter()
                .filter_map(|past| mean(read(past)))
                .collect::<Vec<f64>>(),
        )?;
        let of_case = |case: &&[&TrialHead]| {
            let known = history.case(case[0]).and_then(|past| mean(read(past)));
            known.unwrap_or(of_arm) * case.len() as f64
        };
        Some(cases.iter().map(of_case).sum())
    };
    Arm {
        environment: first.environment.clone(),
        experiment: first.experiment.clone(),
        agent: first.agent.clone(),
        model: first.model.clone(),
        trials: trials.len(),
        evals: cases.len(),
        pass_rate: mean(&rates),
        known_trials: known.iter().map(|past| past.judged).sum(),
        expense: Expense {
            cost_usd: expected(|past| &past.costs),
            seconds: expected(|past| &past.seconds),
        },
    }
}
