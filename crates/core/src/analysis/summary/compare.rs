//! Makes the comparisons: drafts each, adjusts the p-values of all, then judges each.

use super::comparison::Outlook;
use super::comparison::{ArmFigures, Beyond, Comparison, EvalEffect, Repetitions, Verdict};
use super::effect::Effect;
use super::evidence::Evidence;
use super::figures::{COST, Figures, SECONDS, TOKENS};
use super::pairs::{self, ArmTrial, Arms, Grid, Pair, Scope};
use super::{DeliveryCounts, confounders, sentence, warnings};
use crate::agent::control::is_control;
use crate::config::verdict::Measure;
use crate::stats::fisher::fisher;
use crate::stats::holm::holm;
use crate::stats::stratified_exact::smallest_p;
use crate::stats::{ALPHA, CannotTell};

/// Compares every other arm with the baseline. The comparisons over all places are one family of questions, and those in
/// each place another. Agents that prove evals are compared with nothing: they say nothing about an experiment.
pub(crate) fn compare_arms(arms: &Arms<'_>) -> Vec<Comparison> {
    let trials = of_agents(arms);
    let grid = &Grid::of(&trials);
    if !grid.arms.contains(&arms.baseline) {
        return Vec::new();
    }
    let others: Vec<&str> = grid
        .arms
        .iter()
        .copied()
        .filter(|arm| *arm != arms.baseline)
        .collect();
    let several = grid.places.len() > 1;
    let mut over_all: Vec<Draft<'_>> = Vec::new();
    let mut in_each: Vec<Draft<'_>> = Vec::new();
    for arm in others {
        if several {
            let places = &grid.places;
            over_all.push(Draft::of(Scope { grid, places }, arm, arms));
        }
        for places in grid.places.chunks(1) {
            in_each.push(Draft::of(Scope { grid, places }, arm, arms));
        }
    }
    let families = [over_all, in_each].map(|mut family| {
        family.retain(Draft::is_planned);
        finished(family)
    });
    let mut comparisons = families.concat();
    comparisons.sort_by_key(|comparison| grid.arms.iter().position(|arm| *arm == comparison.arm));
    comparisons
}

/// Compares the two arms of each, over all their places. All of them are one family of questions.
pub(super) fn compare_family(family: &[Arms<'_>]) -> Vec<Comparison> {
    let trials: Vec<Vec<ArmTrial<'_>>> = family.iter().map(of_agents).collect();
    let grids: Vec<Grid<'_>> = trials.iter().map(|trials| Grid::of(trials)).collect();
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    for (arms, grid) in family.iter().zip(&grids) {
        let places = &grid.places;
        drafts.push(Draft::of(
            Scope { grid, places },
            other_arm(grid, arms),
            arms,
        ));
    }
    finished(drafts)
}

/// Returns the effect of the one arm beside the baseline on the pass rate, over all places.
pub(super) fn effect_on_pass_rate(arms: &Arms<'_>) -> Effect {
    let trials = of_agents(arms);
    let grid = &Grid::of(&trials);
    let places = &grid.places;
    let (pairs, _) = Scope { grid, places }.pairs(other_arm(grid, arms), arms.baseline);
    Effect::on_pass_rate(&pairs)
}

/// Returns the arm of a grid that is not the baseline.
fn other_arm<'a>(grid: &Grid<'a>, arms: &Arms<'_>) -> &'a str {
    let mut others = grid.arms.iter().filter(|arm| **arm != arms.baseline);
    others.next().copied().unwrap_or_default()
}

/// Returns the trials of agents that do not prove evals.
fn of_agents<'a>(arms: &Arms<'a>) -> Vec<ArmTrial<'a>> {
    let trials = arms.trials.iter();
    trials
        .filter(|trial| !is_control(&trial.trial.head.agent))
        .cloned()
        .collect()
}

/// A comparison before its p-values are adjusted.
struct Draft<'g> {
    scope: Scope<'g, 'g>,
    pairs: Vec<Pair<'g>>,
    arms: &'g Arms<'g>,
    comparison: Comparison,
}

impl<'g> Draft<'g> {
    fn of(scope: Scope<'g, 'g>, arm: &str, arms: &'g Arms<'g>) -> Self {
        let (pairs, left_out) = scope.pairs(arm, arms.baseline);
        let (rates, other_rates): (Vec<f64>, Vec<f64>) = pairs.iter().map(Pair::rates).unzip();
        let (scores, other_scores): (Vec<f64>, Vec<f64>) =
            pairs.iter().filter_map(Pair::scores).unzip();
        let figures = ArmFigures {
            arm: Figures::of_arm(&scope.trials(arm), &rates, &scores),
            baseline: Figures::of_arm(&scope.trials(arms.baseline), &other_rates, &other_scores),
        };
        let place = match scope.places {
            [only] => Some((*only).to_owned()),
            _ => None,
        };
        let sequential = arms
            .adaptive
            .map(|max| Evidence::of(&pairs, arms.measure, max));
        let measure = measure(&figures, arms);
        let at_the_end = |effect: Effect, of: Measure| match sequential {
            Some(evidence) if of == measure => effect.with_p(evidence.p(effect.p)),
            _ => effect,
        };
        let comparison = Comparison {
            arm: arm.to_owned(),
            baseline: arms.baseline.to_owned(),
            per_eval: EvalEffect::all(&pairs),
            place,
            measure,
            evals: pairs.len(),
            left_out,
            repetitions: Repetitions::of(&pairs),
            sequential,
            errors_p: fisher(
                (figures.arm.errors, figures.arm.judged),
                (figures.baseline.errors, figures.baseline.judged),
            ),
            figures,
            pass_rate: at_the_end(Effect::on_pass_rate(&pairs), Measure::PassRate),
            mean_score: at_the_end(Effect::on_score(&pairs), Measure::Score),
            tokens: Effect::on(TOKENS, &pairs, arms.tests_expenses),
            cost_usd: Effect::on(COST, &pairs, arms.tests_expenses),
            seconds: Effect::on(SECONDS, &pairs, arms.tests_expenses),
            ..Comparison::default()
        };
        Draft {
            scope,
            pairs,
            arms,
            comparison,
        }
    }

    /// Returns whether both arms have trials here at all.
    fn is_planned(&self) -> bool {
        let ArmFigures { arm, baseline } = &self.comparison.figures;
        arm.trials > 0 && baseline.trials > 0
    }

    fn finish(self, comparisons: usize) -> Comparison {
        let Draft {
            scope,
            pairs,
            arms,
            mut comparison,
        } = self;
        comparison.comparisons = comparisons;
        let effect = *comparison.decisive();
        comparison.verdict = Verdict::of(&effect, arms.margin);
        comparison.beyond = Beyond::of(comparison.verdict, &effect);
        comparison.outlook = Outlook::of(&comparison, &pairs, scope.places.len(), arms);
        if !comparison.verdict.is_difference() {
            comparison.cannot_tell = obstacle(&comparison, &pairs);
        }
        let delivery = DeliveryCounts::of(&scope.trials(&comparison.arm));
        comparison.warnings = warnings::of(&comparison, &delivery);
        let differences = confounders::warnings(&scope, &comparison.arm, &comparison.baseline);
        comparison.warnings.extend(differences);
        let is_identical = |place: &&str| arms.identical.contains(&(&comparison.arm, place));
        if scope.places.iter().all(is_identical) {
            let warning = warnings::identical(&comparison);
            comparison.warnings.insert(0, warning);
        }
        comparison.sentence = sentence::of(&comparison, &scope.grid.places, arms);
        comparison
    }
}

/// Returns the figure that the verdict is about: the score where the suite says so, or where no trial reached the full score
/// and some came near. An adaptive run has looked at one figure all the time, and goes on with it.
fn measure(figures: &ArmFigures, arms: &Arms<'_>) -> Measure {
    let ArmFigures { arm, baseline } = figures;
    let has_partial = [arm, baseline]
        .iter()
        .any(|one| one.mean_score.is_some_and(|score| score > 0.0));
    if arms.adaptive.is_none() && arm.passed + baseline.passed == 0 && has_partial {
        Measure::Score
    } else {
        arms.measure
    }
}

/// Returns the obstacle besides noise.
fn obstacle(comparison: &Comparison, pairs: &[Pair<'_>]) -> Option<CannotTell> {
    let ArmFigures { arm, baseline } = &comparison.figures;
    let rates = [arm.pass_rate, baseline.pass_rate];
    let trials: Vec<(usize, usize)> = pairs::counts(pairs)
        .iter()
        .map(|stratum| (stratum.arm.trials, stratum.baseline.trials))
        .collect();
    let smallest_p = smallest_p(&trials) * comparison.comparisons as f64;
    // Trials that did not run say nothing about how easy or hard the evals are.
    let (ended, planned) = comparison.ended();
    let all_ended = ended == planned;
    match comparison.measure {
        _ if pairs.is_empty() => Some(CannotTell::NoEvals),
        Measure::PassRate if all_ended && rates == [Some(1.0); 2] => Some(CannotTell::AllPassed),
        Measure::PassRate if all_ended && rates == [Some(0.0); 2] => Some(CannotTell::AllFailed),
        // Rounds go on until they can tell.
        _ if comparison.sequential.is_some() => None,
        _ if smallest_p >= ALPHA => Some(CannotTell::TooFewTrials),
        _ => None,
    }
}

/// Finishes the comparisons of a family, after Holm's correction, figure by figure.
fn finished(mut family: Vec<Draft<'_>>) -> Vec<Comparison> {
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
    let size = family.len();
    let finished = family.into_iter().map(|draft| draft.finish(size));
    finished.collect()
}
