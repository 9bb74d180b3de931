//! `terca plan`: what a run would cost and what it could show, before anything is spent.
//!
//! Costs, times and variances are those of earlier runs of the same cases where there are some; what is assumed
//! otherwise is said.

mod precision;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ablation::{Ablation, Kind, Part, Split};
pub use crate::analysis::history::Known;
use crate::analysis::history::{History, Past};
use crate::analysis::summary::{MOST_EVALS, Proposal};
use crate::run::event::TrialHead;
use crate::stats::beyond::FEWEST_EVALS;
use crate::stats::power;
use crate::stats::sample::mean;

use precision::Pair;
pub use precision::{Assumption, Precision, Variances};

/// Of the document that `terca plan --format json` writes.
pub const FORECAST_VERSION: u32 = 2;

/// The question to answer.
#[derive(Debug)]
pub struct Question<'a> {
    /// The suite's name.
    pub suite: &'a str,
    /// The name of the baseline.
    pub baseline: &'a str,
    /// The trials of the plan.
    pub plan: &'a [TrialHead],
    /// Trials at once.
    pub concurrency: usize,
    /// A difference that is to be seen.
    pub detect: Option<f64>,
}

/// The answer of `terca plan`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// The version of this document.
    pub version: u32,
    /// The suite's name.
    pub suite: String,
    /// The name of the baseline.
    pub baseline: String,
    /// The number of trials.
    pub trials: usize,
    /// The number of trials at a time.
    pub concurrency: usize,
    /// The facts from earlier runs.
    pub history: Known,
    /// The variants, each with what it takes.
    pub arms: Vec<Arm>,
    /// All of it together.
    pub expense: Expense,
    /// The differences that each comparison can see.
    pub precision: Vec<Precision>,
    /// The plans that would see the difference that was asked about.
    pub detect: Option<Detect>,
}

/// Answers a question about a plan from the history of its suite.
pub fn forecast(question: &Question<'_>, history: &History) -> Forecast {
    let arms = arms(question, history);
    let precision = precision::all(question, history);
    Forecast {
        version: FORECAST_VERSION,
        suite: question.suite.to_owned(),
        baseline: question.baseline.to_owned(),
        trials: question.plan.len(),
        concurrency: question.concurrency,
        history: history.known,
        expense: Expense::total(&arms, question.concurrency),
        detect: question
            .detect
            .and_then(|difference| Detect::of(difference, &precision, &arms, question)),
        arms,
        precision,
    }
}

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
    fn total(arms: &[Arm], concurrency: usize) -> Self {
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
    fn scaled(self, times: f64) -> Self {
        let scale = |value: Option<f64>| value.map(|value| value * times);
        Expense {
            cost_usd: scale(self.cost_usd),
            seconds: scale(self.seconds),
        }
    }
}

fn arms(question: &Question<'_>, history: &History) -> Vec<Arm> {
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

/// More is not worth proposing.
const MOST_REPETITIONS: usize = 10_000;

/// The answer to `--detect`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Detect {
    /// The difference in pass rate.
    pub difference: f64,
    /// The plan as it is sees it on its evals.
    pub is_seen: bool,
    /// Repetitions of these evals that see it on these evals; `null` when nobody would run so many.
    pub with_these_evals: Option<Proposal>,
    /// Evals that see it for other tasks like these, with the repetitions of the plan; `null` when nobody would write so many.
    pub beyond: Option<Proposal>,
}

impl Detect {
    /// For the comparison that sees least: the others see it too.
    fn of(
        difference: f64,
        precision: &[Precision],
        arms: &[Arm],
        question: &Question<'_>,
    ) -> Option<Self> {
        let seen = |one: &&Precision| one.detectable.unwrap_or(f64::INFINITY);
        let hardest = precision
            .iter()
            .max_by(|one, other| seen(one).total_cmp(&seen(other)))?;
        let propose = |evals, repetitions| {
            let of_arm = evals * repetitions;
            let scaled = |arm: &Arm| Arm {
                trials: of_arm,
                expense: arm.expense.scaled(of_arm as f64 / arm.trials.max(1) as f64),
                ..arm.clone()
            };
            let arms: Vec<Arm> = arms.iter().map(scaled).collect();
            let Expense { cost_usd, seconds } = Expense::total(&arms, question.concurrency);
            Proposal {
                difference,
                evals,
                repetitions,
                trials: of_arm * arms.len(),
                cost_usd,
                seconds,
            }
        };
        let luck = hardest.variances.experiment + hardest.variances.baseline;
        let number = hardest.comparisons;
        let repetitions = power::repetitions_needed(hardest.evals, luck, difference, number);
        let variance = hardest.variances.between + luck / hardest.repetitions;
        let is_seen_by =
            |evals: &usize| power::detectable_beyond(variance, *evals, number) <= difference;
        let planned = hardest.repetitions.round().max(1.0) as usize;
        Some(Detect {
            difference,
            is_seen: seen(&hardest) <= difference,
            with_these_evals: (hardest.evals > 0 && repetitions <= MOST_REPETITIONS)
                .then(|| propose(hardest.evals, repetitions)),
            beyond: (FEWEST_EVALS..=MOST_EVALS)
                .find(is_seen_by)
                .map(|evals| propose(evals, planned)),
        })
    }
}

/// The answer before an ablation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AblationForecast {
    /// The suite's name.
    pub suite: String,
    /// The experiment whose parts are compared.
    pub experiment: String,
    /// The kind of the parts.
    pub kind: Kind,
    /// The way in which the rules are split.
    pub split: Option<Split>,
    /// The parts, in the order in which they are written.
    pub parts: Vec<Part>,
    /// The number of rows of the design.
    pub rows: usize,
    /// The number of evals.
    pub evals: usize,
    /// The trials of each eval in each environment.
    pub trials_of_eval: usize,
    /// The number of all trials.
    pub trials: usize,
    /// The number of trials at a time.
    pub concurrency: usize,
    /// The facts from earlier runs of the experiment.
    pub history: Known,
    /// The cost and the time, as if every trial had all parts.
    pub expense: Expense,
    /// The effect of a part that is found in four of five cases. It is the same for every part.
    pub precision: Precision,
}

impl AblationForecast {
    /// `question` is about the trials of the ablation under the name of its experiment, and so is the history.
    pub fn of(design: &Ablation, question: &Question<'_>, history: &History) -> Self {
        let arms = arms(question, history);
        AblationForecast {
            suite: question.suite.to_owned(),
            experiment: design.experiment.clone(),
            kind: design.kind,
            split: design.split,
            parts: design.parts.clone(),
            rows: design.rows.len(),
            evals: design.evals.len(),
            trials_of_eval: design.trials_of_eval(),
            trials: question.plan.len(),
            concurrency: question.concurrency,
            history: history.known,
            expense: Expense::total(&arms, question.concurrency),
            precision: precision(design, question.plan, history),
        }
    }
}

/// Half of the trials of each eval have a part, and half do not.
fn precision(design: &Ablation, plan: &[TrialHead], history: &History) -> Precision {
    let mut cases: BTreeMap<(&str, &str), Vec<&TrialHead>> = BTreeMap::new();
    for head in plan {
        cases
            .entry((&head.eval, &head.environment))
            .or_default()
            .push(head);
    }
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for trials in cases.values() {
        let (with, without) = trials.split_at(trials.len() / 2);
        pairs.push((with.to_vec(), without.to_vec()));
    }
    let environment = plan.first().map_or("", |head| &head.environment);
    let names = [environment, design.experiment.as_str()];
    Precision::of(names, Some("without"), &pairs, design.parts.len(), history)
}

#[cfg(test)]
mod tests;
