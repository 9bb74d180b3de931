//! One arm against the baseline: an entry of `comparisons` in `results.json` and `terca compare --format json`.

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::evidence::Evidence;
use super::figures::Figures;
use super::pairs::{self, Arms, Pair};
use crate::config::verdict::Measure;
use crate::stats::beyond::FEWEST_EVALS;
use crate::stats::fisher::fisher;
use crate::stats::holm::holm;
use crate::stats::stratum::{Count, Stratum};
use crate::stats::wilson::newcombe;
use crate::stats::{
    ALPHA, CannotTell, Interval, miettinen_nurminen, power, sample, stratified_exact,
};

/// One arm against the baseline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The arm that is looked at: an experiment, an environment or a run.
    pub arm: String,
    /// The arm that it is compared with.
    pub baseline: String,
    /// The place where they are compared, `null` for all places together: an environment, an experiment or a variant.
    pub place: Option<String>,
    /// The figure that the verdict is about.
    #[serde(default)]
    pub measure: Measure,
    /// The verdict on these evals.
    pub verdict: Verdict,
    /// The second answer, where there is a difference: other tasks like these.
    pub beyond: Option<Beyond>,
    /// The verdict as a person would say it.
    pub sentence: String,
    /// Things to know before believing it.
    pub warnings: Vec<String>,
    /// The reason why it is inconclusive, when more than noise is the matter.
    pub cannot_tell: Option<CannotTell>,
    /// The number of evals that were judged in both arms.
    pub evals: usize,
    /// The evals that were not.
    pub left_out: Vec<String>,
    /// The planned repetitions.
    pub repetitions: Repetitions,
    /// The number of comparisons that the p-values are adjusted for.
    pub comparisons: usize,
    /// In an adaptive run: what the verdict goes by, and the p-value of the pass rate is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential: Option<Evidence>,
    /// Both arms: rates and scores over the evals judged in both, counts of all trials.
    pub figures: ArmFigures,
    /// Fisher's test of whether errors are as frequent in both.
    pub errors_p: f64,
    /// The effect on the pass rate: a difference.
    pub pass_rate: Effect,
    /// The effect on the mean score: a difference.
    pub mean_score: Effect,
    /// The effect on the tokens: a ratio.
    pub tokens: Effect,
    /// The effect on the cost: a ratio.
    pub cost_usd: Effect,
    /// The effect on the agent's time: a ratio.
    pub seconds: Effect,
    /// Each eval by itself.
    pub per_eval: Vec<EvalEffect>,
    /// The way to an answer, when it is inconclusive.
    pub outlook: Option<Outlook>,
}

/// The figures of the two arms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ArmFigures {
    /// The arm that is looked at.
    pub arm: Figures,
    /// The arm that it is compared with.
    pub baseline: Figures,
}

/// The planned trials of an eval in an arm, from the fewest to the most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetitions {
    /// The fewest.
    pub min: usize,
    /// The most.
    pub max: usize,
}

/// The effect of an arm on one eval. In one place: Newcombe's interval and Fisher's test. In several: the stratified interval
/// and test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvalEffect {
    /// The eval's name.
    pub eval: String,
    /// The trials of the arm that passed.
    #[serde(default)]
    pub passed: usize,
    /// The trials of the arm that were judged.
    #[serde(default)]
    pub judged: usize,
    /// The trials of the baseline that passed.
    #[serde(default)]
    pub baseline_passed: usize,
    /// The trials of the baseline that were judged.
    #[serde(default)]
    pub baseline_judged: usize,
    /// The difference in pass rate.
    pub difference: f64,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The p-value.
    pub p: f64,
    /// By Holm's method, for all evals of the comparison.
    #[serde(default)]
    pub p_adjusted: f64,
    /// The word for it, where the adjusted p-value shows a difference.
    pub change: Option<Change>,
}

/// An eval that changed for sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// It passes less often than with the baseline.
    Broke,
    /// It passes more often than with the baseline.
    Mended,
}

impl Repetitions {
    pub(super) fn of(pairs: &[Pair<'_>]) -> Self {
        let planned = || {
            pairs
                .iter()
                .flat_map(|pair| &pair.cells)
                .flat_map(|(one, other)| [one, other])
        };
        let counts = || planned().map(|cell| cell.trials.len());
        Repetitions {
            min: counts().min().unwrap_or(0),
            max: counts().max().unwrap_or(0),
        }
    }
}

impl EvalEffect {
    /// Returns the effect on each eval.
    pub(super) fn all(pairs: &[Pair<'_>]) -> Vec<Self> {
        let mut effects: Vec<EvalEffect> = pairs.iter().map(EvalEffect::of).collect();
        let raw: Vec<f64> = effects.iter().map(|effect| effect.p).collect();
        for (effect, adjusted) in effects.iter_mut().zip(holm(&raw)) {
            effect.p_adjusted = adjusted;
            effect.change = match effect.difference {
                _ if adjusted >= ALPHA => None,
                ..0.0 => Some(Change::Broke),
                _ => Some(Change::Mended),
            };
        }
        effects
    }

    /// Returns the word for a change that was shown. The strong ones are for evals that always fail or always pass now.
    pub fn word(&self) -> Option<&'static str> {
        Some(match self.change? {
            Change::Broke if self.passed == 0 => "broke",
            Change::Broke => "got worse",
            Change::Mended if self.passed == self.judged => "was fixed",
            Change::Mended => "got better",
        })
    }

    fn of(pair: &Pair<'_>) -> Self {
        let strata = pairs::counts(std::slice::from_ref(pair));
        let sum = |read: fn(&Stratum) -> usize| strata.iter().map(read).sum();
        let (interval, p) = match strata.as_slice() {
            [Stratum { arm, baseline, .. }] => {
                let tally = |count: &Count| (count.passed, count.trials);
                let ends = |count: &Count| (count.passed, count.trials - count.passed);
                (
                    newcombe(tally(arm), tally(baseline)),
                    fisher(ends(arm), ends(baseline)),
                )
            }
            strata => (
                miettinen_nurminen::interval(strata, 1.0 - ALPHA),
                stratified_exact::p_value(strata).unwrap_or(1.0),
            ),
        };
        EvalEffect {
            eval: pair.eval.to_owned(),
            passed: sum(|stratum| stratum.arm.passed),
            judged: sum(|stratum| stratum.arm.trials),
            baseline_passed: sum(|stratum| stratum.baseline.passed),
            baseline_judged: sum(|stratum| stratum.baseline.trials),
            difference: pair.difference(),
            interval: interval.ok(),
            p,
            p_adjusted: p,
            change: None,
        }
    }
}

impl Comparison {
    /// Returns the effect that the verdict is about.
    pub fn decisive(&self) -> &Effect {
        match self.measure {
            Measure::PassRate => &self.pass_rate,
            Measure::Score => &self.mean_score,
        }
    }

    /// Returns the sentence without the word of the verdict, for where the word has a style of its own.
    pub fn after_word(&self) -> &str {
        let rest = self.sentence.strip_prefix(self.verdict.as_str());
        rest.unwrap_or(&self.sentence).trim_start()
    }

    /// Returns the trials that were planned in both arms, and those that ended.
    pub fn ended(&self) -> (usize, usize) {
        let ArmFigures { arm, baseline } = &self.figures;
        let planned = arm.trials + baseline.trials;
        (planned - arm.unfinished - baseline.unfinished, planned)
    }
}

/// The verdict on an arm.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It passes more often than the baseline.
    Better,
    /// It passes less often than the baseline.
    Worse,
    /// The difference is smaller than the margin.
    Equivalent,
    /// It cannot be told from the baseline.
    #[default]
    Inconclusive,
}

impl Verdict {
    /// A difference needs both: an interval that leaves out 0, and a p-value that allows for the number of comparisons.
    /// Equivalence needs the 90 % interval within the margin, which is two one-sided tests.
    pub fn of(effect: &Effect, margin: f64) -> Self {
        let is_found = effect.p_adjusted.is_some_and(|p| p < ALPHA);
        let interval = effect.interval.filter(|_| is_found);
        if interval.is_some_and(|interval| interval.low > 0.0) {
            Verdict::Better
        } else if interval.is_some_and(|interval| interval.high < 0.0) {
            Verdict::Worse
        } else if effect
            .interval90
            .is_some_and(|interval| interval.is_within(-margin, margin))
        {
            Verdict::Equivalent
        } else {
            Verdict::Inconclusive
        }
    }

    /// Returns whether the experiment changed something.
    pub fn is_difference(self) -> bool {
        matches!(self, Verdict::Better | Verdict::Worse)
    }

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Better => "BETTER",
            Verdict::Worse => "WORSE",
            Verdict::Equivalent => "EQUIVALENT",
            Verdict::Inconclusive => "INCONCLUSIVE",
        }
    }
}

/// The second answer: would other tasks like these show the same difference?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Beyond {
    /// They would.
    Holds,
    /// These evals do not say so.
    Unclear,
    /// There are fewer than five evals.
    TooFewEvals,
}

impl Beyond {
    /// Answers for a verdict that is a difference.
    pub fn of(verdict: Verdict, effect: &Effect) -> Option<Self> {
        if !verdict.is_difference() {
            return None;
        }
        Some(match effect.beyond {
            _ if effect.evals < FEWEST_EVALS => Beyond::TooFewEvals,
            Some(interval) if !interval.contains(0.0) => Beyond::Holds,
            _ => Beyond::Unclear,
        })
    }
}

/// The differences that repetitions are reckoned for, the easiest to see first.
const DIFFERENCES: [f64; 3] = [0.3, 0.2, 0.1];
/// More repetitions than this are no advice.
const MOST_REPETITIONS: usize = 1000;
/// Nobody writes more evals than this to answer one question.
pub const MOST_EVALS: usize = 50;

/// The way to an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outlook {
    /// More repetitions of these evals, for each difference that the trials at hand do not show.
    #[serde(default)]
    pub repetitions: Vec<Proposal>,
    /// More evals, to show that the difference found holds beyond these. None where nobody would write so many.
    pub evals: Option<Proposal>,
}

/// A run of the two arms that would do. What it costs is reckoned from the trials at hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// The difference that it shows in four of five cases.
    pub difference: f64,
    /// The number of evals.
    pub evals: usize,
    /// The repetitions of each eval in each arm.
    pub repetitions: usize,
    /// In both arms together.
    pub trials: usize,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// With as many trials at a time as in this run.
    pub seconds: Option<f64>,
}

impl Outlook {
    /// What would tell more: more repetitions of these evals when they show nothing, more evals when these do not speak for others.
    pub(super) fn of(
        comparison: &Comparison,
        pairs: &[Pair<'_>],
        places: usize,
        arms: &Arms<'_>,
    ) -> Option<Self> {
        let planned = comparison.repetitions.max;
        let luck = luck(comparison.measure, pairs);
        let propose = |difference, evals: usize, repetitions: usize| {
            let of_arm = evals.saturating_mul(repetitions).saturating_mul(places);
            let of_both = |read: fn(&Figures) -> Option<f64>| {
                let ArmFigures { arm, baseline } = &comparison.figures;
                Some((read(arm)? + read(baseline)?) * of_arm as f64)
            };
            Proposal {
                difference,
                evals,
                repetitions,
                trials: of_arm.saturating_mul(2),
                cost_usd: of_both(|figures| figures.mean_cost_usd),
                seconds: of_both(|figures| figures.mean_trial_seconds)
                    .map(|seconds| seconds / arms.concurrency.max(1) as f64),
            }
        };
        let mut outlook = Outlook {
            repetitions: Vec::new(),
            evals: None,
        };
        match comparison.verdict {
            _ if pairs.is_empty() => return None,
            Verdict::Equivalent => return None,
            Verdict::Inconclusive => {
                let strata = pairs::counts(pairs).len();
                for difference in DIFFERENCES.into_iter().filter(|_| luck.is_ok()) {
                    let luck = luck.unwrap_or_default();
                    let comparisons = comparison.comparisons;
                    let needed = power::repetitions_needed(strata, luck, difference, comparisons);
                    if needed > planned && needed <= MOST_REPETITIONS {
                        let proposal = propose(difference, pairs.len(), needed);
                        outlook.repetitions.push(proposal);
                    }
                }
            }
            Verdict::Better | Verdict::Worse => {
                let found = comparison.decisive().value.unwrap_or(0.0);
                let wanted = comparison.beyond != Some(Beyond::Holds);
                let needed = evals_needed(comparison, pairs, luck.ok(), found);
                let needed = needed.filter(|evals| wanted && *evals <= MOST_EVALS);
                outlook.evals = needed.map(|evals| propose(found.abs(), evals, planned));
            }
        }
        Some(outlook)
    }
}

/// The variance of the difference that luck gives to one repetition.
fn luck(measure: Measure, pairs: &[Pair<'_>]) -> Result<f64, CannotTell> {
    match measure {
        Measure::PassRate => power::luck(&pairs::counts(pairs)),
        Measure::Score => {
            let of_one = |values: &[f64]| sample::variance(values).ok_or(CannotTell::OneRepetition);
            let lucks: Result<Vec<f64>, CannotTell> = pairs::scores(pairs)
                .strata
                .iter()
                .map(|values| Ok(of_one(&values.arm)? + of_one(&values.baseline)?))
                .collect();
            sample::mean(&lucks?).ok_or(CannotTell::NoEvals)
        }
    }
}

fn evals_needed(
    comparison: &Comparison,
    pairs: &[Pair<'_>],
    luck: Option<f64>,
    found: f64,
) -> Option<usize> {
    let differences: Vec<f64> = match comparison.measure {
        Measure::PassRate => pairs.iter().map(Pair::difference).collect(),
        Measure::Score => pairs::scores(pairs).differences,
    };
    let of_trials = luck? / comparison.repetitions.max.max(1) as f64;
    let (between, _) = power::between(&differences, of_trials);
    let needed = power::evals_needed(between + of_trials, found).max(FEWEST_EVALS);
    (needed > differences.len()).then_some(needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::stats::Interval;

    fn effect(low: f64, high: f64, p: f64) -> Effect {
        let interval = Some(Interval { low, high });
        Effect {
            interval,
            interval90: interval,
            p: Some(0.0),
            p_adjusted: Some(p),
            evals: 5,
            ..Effect::default()
        }
    }

    #[test]
    fn the_interval_the_p_value_and_the_margin() {
        for (low, high, p, verdict) in [
            (0.09, 0.33, 0.004, Verdict::Better),
            (-0.33, -0.09, 0.004, Verdict::Worse),
            (0.01, 0.04, 0.004, Verdict::Better),
            (-0.02, 0.04, 0.6, Verdict::Equivalent),
            (-0.02, 0.051, 0.6, Verdict::Inconclusive),
            (-0.051, 0.02, 0.6, Verdict::Inconclusive),
            // Many comparisons.
            (0.09, 0.33, 0.06, Verdict::Inconclusive),
            (0.01, 0.04, 0.06, Verdict::Equivalent),
            (-0.05, 0.05, 1.0, Verdict::Inconclusive),
            (-0.001, 0.33, 0.04, Verdict::Inconclusive),
            (-0.33, 0.001, 0.04, Verdict::Inconclusive),
        ] {
            let found = Verdict::of(&effect(low, high, p), 0.05);
            assert_eq!(found, verdict, "{low} … {high}, {p}");
        }
        assert_eq!(Verdict::of(&Effect::default(), 0.05), Verdict::Inconclusive);
        // The 95 % interval is wider than the margin, and the 90 % interval is not.
        let near = Effect {
            interval90: Some(Interval {
                low: -0.02,
                high: 0.04,
            }),
            ..effect(-0.03, 0.06, 0.6)
        };
        assert_eq!(Verdict::of(&near, 0.05), Verdict::Equivalent);
    }

    #[test]
    fn beyond_these_evals() {
        let of = |evals, low| {
            let effect = Effect {
                evals,
                beyond: Some(Interval { low, high: 0.9 }),
                ..effect(0.1, 0.3, 0.001)
            };
            Beyond::of(Verdict::Better, &effect)
        };
        assert_eq!(of(4, 0.1), Some(Beyond::TooFewEvals));
        assert_eq!(of(5, 0.001), Some(Beyond::Holds));
        assert_eq!(of(5, -0.001), Some(Beyond::Unclear));
        let none = Beyond::of(Verdict::Equivalent, &effect(0.0, 0.0, 1.0));
        assert_eq!(none, None);
    }
}
