//! Makes the comparisons: drafts each, adjusts the p-values of all, then judges each.

use super::arms::{Pair, Scope};
use super::comparison::{Comparison, EvalEffect, Repetitions};
use super::effect::Effect;
use super::evidence::Evidence;
use super::figures::{COST, SECONDS, TOKENS};
use super::grid::Grid;
use super::outlook::{Basis, Outlook, fewest_evals};
use super::side::{Arms, Side};
use super::terms::Terms;
use super::verdict::Verdict;
use super::{DeliveryCounts, sentence, warnings};
use crate::stats::CannotTell;
use crate::stats::fisher::fisher;
use crate::stats::holm::holm;
use crate::stats::sample::mean;

/// Those over all environments are one family of questions, and those in each environment another.
pub(super) fn compare(grid: &Grid<'_>, terms: &Terms<'_>) -> Vec<Comparison> {
    if !grid.experiments.contains(&terms.baseline) {
        return Vec::new();
    }
    let others: Vec<&str> = grid
        .experiments
        .iter()
        .copied()
        .filter(|experiment| *experiment != terms.baseline)
        .collect();
    let several = grid.environments.len() > 1;
    let mut over_all: Vec<Draft<'_>> = Vec::new();
    let mut in_each: Vec<Draft<'_>> = Vec::new();
    for experiment in others {
        if several {
            over_all.push(Draft::of(
                Scope {
                    grid,
                    environments: &grid.environments,
                },
                experiment,
                terms,
            ));
        }
        for environments in grid.environments.chunks(1) {
            in_each.push(Draft::of(Scope { grid, environments }, experiment, terms));
        }
    }
    let families = [over_all, in_each].map(|mut family| {
        family.retain(Draft::is_planned);
        adjust(&mut family);
        let size = family.len();
        family
            .into_iter()
            .map(move |draft| draft.finish(size, terms))
    });
    let mut comparisons: Vec<Comparison> = families.into_iter().flatten().collect();
    let place = |comparison: &Comparison| {
        grid.experiments
            .iter()
            .position(|name| *name == comparison.experiment)
    };
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
        let (scores, other_scores): (Vec<f64>, Vec<f64>) =
            pairs.iter().filter_map(Pair::scores).unzip();
        let side = |experiment, rates: &[f64], scores: &[f64]| Side {
            pass_rate: mean(rates),
            mean_score: mean(scores),
            ..Side::of(&scope.trials(experiment))
        };
        let arms = Arms {
            experiment: side(experiment, &rates, &scores),
            baseline: side(terms.baseline, &other_rates, &other_scores),
        };
        let environment = match scope.environments {
            [only] => Some((*only).to_owned()),
            _ => None,
        };
        let alone: Vec<EvalEffect> = pairs.iter().map(EvalEffect::of).collect();
        let sequential = terms.adaptive.then(|| Evidence::of(&pairs));
        let comparison = Comparison {
            experiment: experiment.to_owned(),
            baseline: terms.baseline.to_owned(),
            per_eval: if environment.is_some() {
                alone
            } else {
                Vec::new()
            },
            environment,
            verdict: Verdict::Inconclusive,
            sentence: String::new(),
            warnings: Vec::new(),
            cannot_tell: None,
            evals: pairs.len(),
            left_out,
            repetitions: Repetitions::of(&pairs),
            comparisons: 1,
            sequential,
            errors_p: fisher(
                arms.experiment.errors_or_not(),
                arms.baseline.errors_or_not(),
            ),
            arms,
            pass_rate: match sequential {
                Some(evidence) => Effect::on_pass_rate(&pairs, terms.seed).with_p(evidence.p()),
                None => Effect::on_pass_rate(&pairs, terms.seed),
            },
            mean_score: Effect::on_score(&pairs, terms.seed),
            tokens: Effect::on(TOKENS, &pairs, terms.seed),
            cost_usd: Effect::on(COST, &pairs, terms.seed),
            seconds: Effect::on(SECONDS, &pairs, terms.seed),
            outlook: None,
        };
        Draft {
            scope,
            pairs,
            comparison,
        }
    }

    /// Whether both arms have trials here at all.
    fn is_planned(&self) -> bool {
        let arms = &self.comparison.arms;
        arms.experiment.trials > 0 && arms.baseline.trials > 0
    }

    fn finish(self, comparisons: usize, terms: &Terms<'_>) -> Comparison {
        let Draft {
            scope,
            pairs,
            mut comparison,
        } = self;
        comparison.comparisons = comparisons;
        comparison.verdict = match &comparison.sequential {
            Some(evidence) => Verdict::of_evidence(evidence, &comparison.pass_rate, terms.margin),
            None => Verdict::of(&comparison.pass_rate, terms.margin),
        };
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
        comparison.sentence = sentence::of(&comparison, environments, terms);
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
        // Repetitions alone can decide it, about these evals.
        _ if comparison.sequential.is_some() => None,
        1 => Some(CannotTell::OneEval),
        evals if evals < fewest_evals(comparison.comparisons) => Some(CannotTell::TooFewEvals),
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
