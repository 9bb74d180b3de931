//! The smallest difference that each comparison of a plan sees in four of five cases: on its evals, and beyond them.

use serde::{Deserialize, Serialize};

use super::{Question, Variances};
use crate::analysis::history::History;
use crate::run::event::TrialHead;
use crate::stats::beyond::FEWEST_EVALS;
use crate::stats::power::{Spread, detectable_in_plan};
use crate::stats::stratified_exact::smallest_p;
use crate::stats::{ALPHA, CannotTell, advice};

/// The differences that one comparison can see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Precision {
    /// The environment's name.
    pub environment: String,
    /// The experiment's name.
    pub experiment: String,
    /// `null`: nothing within this run, so another run of the same plan.
    pub baseline: Option<String>,
    /// Evals in both arms.
    pub evals: usize,
    /// The number of comparisons that the p-values will be adjusted for.
    pub comparisons: usize,
    /// The repetitions of an eval in an arm, as the mean over all.
    pub repetitions: f64,
    /// The smallest difference on these evals that is found in four of five cases.
    pub detectable: Option<f64>,
    /// The smallest difference for other tasks like these that is found in four of five cases, from five evals on.
    pub beyond: Option<f64>,
    /// The reason why there is none.
    pub cannot_tell: Option<CannotTell>,
    /// The variances that it is reckoned from.
    pub variances: Variances,
}

/// One eval of the plan in both arms: its trials in each.
pub(super) type Pair<'a> = (Vec<&'a TrialHead>, Vec<&'a TrialHead>);

pub(super) fn all(question: &Question<'_>, history: &History) -> Vec<Precision> {
    let variants = distinct(
        question
            .plan
            .iter()
            .map(|head| (head.environment.as_str(), head.experiment.as_str())),
    );
    let has = |environment: &str, experiment: &str| variants.contains(&(environment, experiment));
    let others: Vec<_> = variants
        .iter()
        .filter(|(environment, experiment)| {
            *experiment != question.baseline && has(environment, question.baseline)
        })
        .map(|(environment, experiment)| (*environment, *experiment, Some(question.baseline)))
        .collect();
    // Nothing to compare within the run: then it is for comparing with another.
    let asked = if others.is_empty() {
        variants
            .iter()
            .map(|(environment, experiment)| (*environment, *experiment, None))
            .collect()
    } else {
        others
    };
    let comparisons = asked.len();
    let of = |(environment, experiment, baseline): &(&str, &str, Option<&str>)| {
        let pairs = pairs(
            question.plan,
            environment,
            experiment,
            baseline.unwrap_or(experiment),
        );
        Precision::of(
            [environment, experiment],
            *baseline,
            &pairs,
            comparisons,
            history,
        )
    };
    asked.iter().map(of).collect()
}

impl Precision {
    pub(super) fn of(
        [environment, experiment]: [&str; 2],
        baseline: Option<&str>,
        pairs: &[Pair<'_>],
        comparisons: usize,
        history: &History,
    ) -> Self {
        let known: Vec<_> = pairs
            .iter()
            .map(|(one, other)| {
                let past =
                    |trials: &[&TrialHead]| trials.first().and_then(|head| history.case(head));
                // Two runs of the same say nothing about how a change would act on the evals.
                (past(one), baseline.and_then(|_| past(other)))
            })
            .collect();
        let mut variances = Variances::of(&known);
        if baseline.is_none() {
            variances.baseline = variances.experiment;
            variances
                .assumed
                .retain(|assumption| *assumption != super::Assumption::LuckOfOneArm);
        }
        let luck = |(one, other): &Pair<'_>| {
            variances.experiment / one.len() as f64 + variances.baseline / other.len() as f64
        };
        let evals = pairs.len();
        let luck = pairs.iter().map(luck).sum::<f64>() / evals.max(1) as f64;
        let of_trial = variances.experiment + variances.baseline;
        let repetitions = if luck > 0.0 { of_trial / luck } else { 1.0 };
        let trials: Vec<(usize, usize)> = pairs
            .iter()
            .map(|(one, other)| (one.len(), other.len()))
            .collect();
        let found = match evals {
            0 => Err(CannotTell::NoEvals),
            _ if smallest_p(&trials) * comparisons as f64 >= ALPHA => Err(CannotTell::TooFewTrials),
            _ => Ok(advice::detectable(
                evals, of_trial, repetitions, comparisons,
            )),
        };
        let spread = Spread {
            between: variances.between,
            luck,
        };
        let beyond = (evals >= FEWEST_EVALS)
            .then(|| detectable_in_plan(spread, evals, comparisons).ok())
            .flatten();
        Precision {
            environment: environment.to_owned(),
            experiment: experiment.to_owned(),
            baseline: baseline.map(str::to_owned),
            evals,
            comparisons,
            repetitions,
            detectable: found.ok(),
            beyond,
            cannot_tell: found.err(),
            variances,
        }
    }
}

/// The evals that both arms have.
fn pairs<'a>(
    plan: &'a [TrialHead],
    environment: &str,
    experiment: &str,
    baseline: &str,
) -> Vec<Pair<'a>> {
    let evals = distinct(plan.iter().map(|head| head.eval.as_str()));
    let trials = |eval: &str, experiment: &str| -> Vec<&'a TrialHead> {
        let is_of = |head: &&TrialHead| {
            (
                head.eval.as_str(),
                head.environment.as_str(),
                head.experiment.as_str(),
            ) == (eval, environment, experiment)
        };
        plan.iter().filter(is_of).collect()
    };
    let pairs = evals
        .into_iter()
        .map(|eval| (trials(eval, experiment), trials(eval, baseline)));
    pairs
        .filter(|(one, other)| !one.is_empty() && !other.is_empty())
        .collect()
}

fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}
