//! An experiment against the baseline.

use serde::{Deserialize, Serialize};

use super::arms::{Pair, Scope};
use super::effect::Effect;
use super::figures::{COST, SECONDS, TOKENS};
use super::grid::Grid;
use super::outlook::{Basis, Outlook};
use super::verdict::Verdict;
use super::{DeliveryCounts, sentence, warnings};
use crate::outcome::{Status, TrialReport};
use crate::stats::fisher::fisher;
use crate::stats::holm::holm;
use crate::stats::newcombe::newcombe;
use crate::stats::sample::mean;
use crate::stats::{CannotTell, Interval};

/// What is compared with what, and how.
#[derive(Debug)]
pub(super) struct Terms<'t> {
    pub(super) baseline: &'t str,
    pub(super) margin: f64,
    /// Of the draws of permutations.
    pub(super) seed: u64,
    pub(super) concurrency: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    pub experiment: String,
    pub baseline: String,
    /// `null`: over all environments.
    pub environment: Option<String>,
    pub verdict: Verdict,
    /// The verdict as a person would say it.
    pub sentence: String,
    /// What to know before believing it.
    pub warnings: Vec<String>,
    /// Why it is inconclusive, when more than noise is the matter.
    pub cannot_tell: Option<CannotTell>,
    /// How many evals were judged in both arms.
    pub evals: usize,
    /// The evals that were not.
    pub left_out: Vec<String>,
    pub repetitions: Repetitions,
    /// How many comparisons the p-values are adjusted for.
    pub comparisons: usize,
    /// The experiment's arm and the baseline's: rates and scores over the evals judged in both, counts of all trials.
    pub arms: Arms,
    /// Fisher's test of whether errors are as frequent in both.
    pub errors_p: f64,
    pub pass_rate: Effect,
    pub mean_score: Effect,
    pub tokens: Effect,
    pub cost_usd: Effect,
    pub seconds: Effect,
    /// Each eval by itself, in one environment.
    pub per_eval: Vec<EvalEffect>,
    /// What it would take to know, when it is inconclusive.
    pub outlook: Option<Outlook>,
}

/// How often an eval was planned in an arm, from the fewest to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetitions {
    pub min: usize,
    pub max: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arms {
    pub experiment: Side,
    pub baseline: Side,
}

/// One arm of a comparison.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Side {
    pub trials: usize,
    pub judged: usize,
    pub passed: usize,
    pub errors: usize,
    /// Interrupted, or not run at all.
    pub unfinished: usize,
    pub pass_rate: Option<f64>,
    pub mean_score: Option<f64>,
    pub mean_cost_usd: Option<f64>,
    /// From set-up to the end of the tests.
    pub mean_trial_seconds: Option<f64>,
}

/// How an experiment changed one eval: the difference in pass rate, Newcombe's interval, Fisher's test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvalEffect {
    pub eval: String,
    pub difference: f64,
    pub interval: Option<Interval>,
    pub p: f64,
}

/// Those over all environments are one family of questions, and those in each environment another.
pub(super) fn compare(grid: &Grid<'_>, terms: &Terms<'_>) -> Vec<Comparison> {
    if !grid.experiments.contains(&terms.baseline) {
        return Vec::new();
    }
    let others: Vec<&str> =
        grid.experiments.iter().copied().filter(|experiment| *experiment != terms.baseline).collect();
    let several = grid.environments.len() > 1;
    let mut over_all: Vec<Draft<'_>> = Vec::new();
    let mut in_each: Vec<Draft<'_>> = Vec::new();
    for experiment in others {
        if several {
            over_all.push(Draft::of(Scope { grid, environments: &grid.environments }, experiment, terms));
        }
        for environment in grid.environments.chunks(1) {
            in_each.push(Draft::of(Scope { grid, environments: environment }, experiment, terms));
        }
    }
    adjust(&mut over_all);
    adjust(&mut in_each);
    let families = [over_all, in_each].map(|family| {
        let size = family.len();
        family.into_iter().map(move |draft| draft.finish(size, terms))
    });
    let mut comparisons: Vec<Comparison> = families.into_iter().flatten().collect();
    let place =
        |comparison: &Comparison| grid.experiments.iter().position(|name| *name == comparison.experiment);
    comparisons.sort_by_key(place);
    comparisons
}

/// A comparison before its p-values are adjusted.
struct Draft<'g> {
    scope: Scope<'g, 'g>,
    pairs: Vec<Pair<'g>>,
    comparison: Comparison,
}

impl<'g> Draft<'g> {
    fn of(scope: Scope<'g, 'g>, experiment: &str, terms: &Terms<'_>) -> Self {
        let (pairs, left_out) = scope.pairs(experiment, terms.baseline);
        let (rates, other_rates): (Vec<f64>, Vec<f64>) = pairs.iter().map(Pair::rates).unzip();
        let (scores, other_scores): (Vec<f64>, Vec<f64>) = pairs.iter().filter_map(Pair::scores).unzip();
        let side = |experiment, rates: &[f64], scores: &[f64]| Side {
            pass_rate: mean(rates),
            mean_score: mean(scores),
            ..Side::of(&scope.trials(experiment))
        };
        let arms = Arms {
            experiment: side(experiment, &rates, &scores),
            baseline: side(terms.baseline, &other_rates, &other_scores),
        };
        let one_environment = match scope.environments {
            [only] => Some((*only).to_owned()),
            _ => None,
        };
        let comparison = Comparison {
            experiment: experiment.to_owned(),
            baseline: terms.baseline.to_owned(),
            per_eval: if one_environment.is_some() {
                pairs.iter().map(EvalEffect::of).collect()
            } else {
                Vec::new()
            },
            environment: one_environment,
            verdict: Verdict::Inconclusive,
            sentence: String::new(),
            warnings: Vec::new(),
            cannot_tell: None,
            evals: pairs.len(),
            left_out,
            repetitions: Repetitions::of(&pairs),
            comparisons: 1,
            errors_p: fisher(arms.experiment.errors_or_not(), arms.baseline.errors_or_not()),
            arms,
            pass_rate: Effect::on_pass_rate(&pairs, terms.seed),
            mean_score: Effect::on_score(&pairs, terms.seed),
            tokens: Effect::on(TOKENS, &pairs, terms.seed),
            cost_usd: Effect::on(COST, &pairs, terms.seed),
            seconds: Effect::on(SECONDS, &pairs, terms.seed),
            outlook: None,
        };
        Draft { scope, pairs, comparison }
    }

    fn finish(self, comparisons: usize, terms: &Terms<'_>) -> Comparison {
        let Draft { scope, pairs, mut comparison } = self;
        comparison.comparisons = comparisons;
        comparison.verdict = Verdict::of(&comparison.pass_rate, terms.margin);
        if comparison.verdict == Verdict::Inconclusive {
            let basis = Basis {
                pairs: &pairs,
                effect: &comparison.pass_rate,
                sides: [&comparison.arms.experiment, &comparison.arms.baseline],
                repetitions: comparison.repetitions.max,
                environments: scope.environments.len(),
                comparisons,
            };
            comparison.cannot_tell = obstacle(&comparison);
            comparison.outlook = Some(Outlook::of(&basis, terms)).filter(|_| comparison.evals > 0);
        }
        let delivery = DeliveryCounts::of(&scope.trials(&comparison.experiment));
        comparison.warnings = warnings::of(&comparison, &delivery);
        let environments = scope.grid.environments.as_slice();
        comparison.sentence = sentence::of(&comparison, environments, terms.margin);
        comparison
    }
}

/// What stands in the way, besides noise.
fn obstacle(comparison: &Comparison) -> Option<CannotTell> {
    let rates = [&comparison.arms.experiment, &comparison.arms.baseline].map(|side| side.pass_rate);
    match comparison.evals {
        0 => Some(CannotTell::NoEvals),
        _ if rates == [Some(1.0); 2] => Some(CannotTell::AllPassed),
        _ if rates == [Some(0.0); 2] => Some(CannotTell::AllFailed),
        1 => Some(CannotTell::OneEval),
        evals if evals < super::outlook::fewest_evals(comparison.comparisons) => {
            Some(CannotTell::TooFewEvals)
        }
        _ => None,
    }
}

/// Holm's correction, figure by figure.
fn adjust(family: &mut [Draft<'_>]) {
    let figures: [fn(&mut Comparison) -> &mut Effect; 5] = [
        |comparison| &mut comparison.pass_rate,
        |comparison| &mut comparison.mean_score,
        |comparison| &mut comparison.tokens,
        |comparison| &mut comparison.cost_usd,
        |comparison| &mut comparison.seconds,
    ];
    for figure in figures {
        let mut effects: Vec<&mut Effect> = family
            .iter_mut()
            .map(|draft| figure(&mut draft.comparison))
            .filter(|effect| effect.p.is_some())
            .collect();
        let raw: Vec<f64> = effects.iter().filter_map(|effect| effect.p).collect();
        for (effect, adjusted) in effects.iter_mut().zip(holm(&raw)) {
            effect.p_adjusted = Some(adjusted);
        }
    }
}

impl Side {
    fn of(trials: &[&TrialReport]) -> Self {
        let judged: Vec<&TrialReport> =
            trials.iter().copied().filter(|trial| trial.status.is_judged()).collect();
        let count = |status| trials.iter().filter(|trial| trial.status == status).count();
        let costs: Vec<f64> = judged.iter().filter_map(|trial| COST(&trial.stats)).collect();
        let seconds: Vec<f64> = judged.iter().map(|trial| trial.duration_seconds).collect();
        Side {
            trials: trials.len(),
            judged: judged.len(),
            passed: count(Status::Passed),
            errors: count(Status::Error),
            unfinished: count(Status::Interrupted) + count(Status::Pending),
            mean_cost_usd: mean(&costs),
            mean_trial_seconds: mean(&seconds),
            ..Side::default()
        }
    }

    /// Trials that ended in an error, and that did not.
    fn errors_or_not(&self) -> (usize, usize) {
        (self.errors, self.judged)
    }
}

impl Repetitions {
    fn of(pairs: &[Pair<'_>]) -> Self {
        let planned = || pairs.iter().flat_map(|pair| &pair.cells).flat_map(|(one, other)| [one, other]);
        let counts = || planned().map(|cell| cell.trials.len());
        Repetitions { min: counts().min().unwrap_or(0), max: counts().max().unwrap_or(0) }
    }
}

impl EvalEffect {
    fn of(pair: &Pair<'_>) -> Self {
        let (experiment, baseline) = pair.cells[0];
        let (one, other) = (experiment.tally(), baseline.tally());
        let (rate, other_rate) = pair.rates();
        let failed = |(passed, judged): (usize, usize)| (passed, judged - passed);
        EvalEffect {
            eval: pair.eval.to_owned(),
            difference: rate - other_rate,
            interval: newcombe(one, other).ok(),
            p: fisher(failed(one), failed(other)),
        }
    }
}
