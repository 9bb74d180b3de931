//! The smallest difference that each comparison of a plan sees in four of five cases: on its evals, and beyond them.

use serde::{Deserialize, Serialize};

use super::Question;
use crate::analysis::distinct::distinct;
use crate::analysis::history::{History, Past};
use crate::run::event::TrialHead;
use crate::stats::beyond::FEWEST_EVALS;
use crate::stats::sample::mean;
use crate::stats::stratified_exact::smallest_p;
use crate::stats::stratum::Count;
use crate::stats::{ALPHA, CannotTell, power};

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
    let plan = question.plan.iter();
    let variants = distinct(plan.map(|head| (&*head.environment, &*head.experiment)));
    let is_compared = |(environment, experiment): &&(&str, &str)| {
        *experiment != question.baseline && variants.contains(&(environment, question.baseline))
    };
    let mut asked: Vec<&(&str, &str)> = variants.iter().filter(is_compared).collect();
    // Nothing to compare within the run: then it is for comparing with another.
    let baseline = (!asked.is_empty()).then_some(question.baseline);
    if asked.is_empty() {
        asked = variants.iter().collect();
    }
    let of = |(environment, experiment): &&(&str, &str)| {
        let baseline_arm = [environment, baseline.unwrap_or(experiment)];
        let pairs = pairs(question.plan, [environment, experiment], baseline_arm);
        Precision::of(
            [environment, experiment],
            baseline,
            &pairs,
            asked.len(),
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
                .retain(|assumption| *assumption != Assumption::LuckOfOneArm);
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
            _ => Ok(power::detectable(evals, of_trial, repetitions, comparisons)),
        };
        let beyond = (evals >= FEWEST_EVALS)
            .then(|| power::detectable_beyond(variances.between + luck, evals, comparisons));
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

/// Returns the evals of a plan that two variants have.
fn pairs<'a>(plan: &'a [TrialHead], arm: [&str; 2], baseline: [&str; 2]) -> Vec<Pair<'a>> {
    let trials = |eval: &str, [environment, experiment]: [&str; 2]| -> Vec<&'a TrialHead> {
        let is_of = |head: &&TrialHead| {
            head.eval == eval && head.environment == environment && head.experiment == experiment
        };
        plan.iter().filter(is_of).collect()
    };
    let evals = distinct(plan.iter().map(|head| head.eval.as_str())).into_iter();
    let pairs = evals.map(|eval| (trials(eval, arm), trials(eval, baseline)));
    pairs
        .filter(|(one, other)| !one.is_empty() && !other.is_empty())
        .collect()
}

/// The variance of one trial that passes half of the time: none is larger.
const WORST_LUCK: f64 = 0.25;

/// The variances of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variances {
    /// ω²: by which the evals' true effects differ.
    pub between: f64,
    /// σ² of one trial, in each arm.
    pub experiment: f64,
    /// The variance of a trial of the baseline.
    pub baseline: f64,
    /// The number of evals and judged trials they are from.
    pub evals: usize,
    /// The number of trials.
    pub trials: usize,
    /// The variances that were not measured.
    pub assumed: Vec<Assumption>,
}

/// A value in the place of one that nobody has measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Assumption {
    /// Of both arms.
    Luck,
    /// One arm is taken to be like the other.
    LuckOfOneArm,
    /// The variance between evals.
    Between,
}

impl Assumption {
    /// Returns the assumption in words.
    pub fn words(self) -> &'static str {
        match self {
            Assumption::Luck => "every trial passes half of the time (the hardest case)",
            Assumption::LuckOfOneArm => {
                "the variant that has not run yet varies as much as the other"
            }
            Assumption::Between => {
                "for other tasks, true effects are within 20 points of their mean"
            }
        }
    }
}

impl Variances {
    /// From what is known of each eval, in the experiment and in the baseline.
    pub(super) fn of(pairs: &[(Option<&Past>, Option<&Past>)]) -> Self {
        let luck = |past: &Past| {
            power::luck_of_trial(Count {
                passed: past.passed,
                trials: past.judged,
            })
        };
        let of_arm = |arm: Vec<Option<&Past>>| {
            mean(&arm.into_iter().flatten().map(luck).collect::<Vec<f64>>())
        };
        let (first, second): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let mut assumed = Vec::new();
        let (experiment, baseline) = match (of_arm(first), of_arm(second)) {
            (Some(one), Some(other)) => (one, other),
            (Some(known), None) | (None, Some(known)) => {
                assumed.push(Assumption::LuckOfOneArm);
                (known, known)
            }
            (None, None) => {
                assumed.push(Assumption::Luck);
                (WORST_LUCK, WORST_LUCK)
            }
        };
        let of_eval = |(one, other): &(Option<&Past>, Option<&Past>)| {
            let (one, other) = ((*one)?, (*other)?);
            let luck = |past: &Past| power::luck_of_rate(past.passed, past.judged);
            Some((one.rate() - other.rate(), luck(one)? + luck(other)?))
        };
        let (differences, lucks): (Vec<f64>, Vec<f64>) = pairs.iter().filter_map(of_eval).unzip();
        let (between, is_assumed) = power::between(&differences, mean(&lucks).unwrap_or_default());
        if is_assumed {
            assumed.push(Assumption::Between);
        }
        let known = |pair: &(Option<&Past>, Option<&Past>)| {
            [pair.0, pair.1]
                .into_iter()
                .flatten()
                .map(|past| past.judged)
                .sum::<usize>()
        };
        Variances {
            between,
            experiment,
            baseline,
            evals: pairs.iter().filter(|pair| known(pair) > 0).count(),
            trials: pairs.iter().map(known).sum(),
            assumed,
        }
    }
}
