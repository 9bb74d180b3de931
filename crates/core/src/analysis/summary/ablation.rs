//! The parts of an ablation: for each, the trials with it against the trials without it.
//!
//! Every part is compared as experiments are: by the same test, stratified by eval, with the same interval and the same
//! words. All parts are one family, so Holm's method holds over all of them.

use std::borrow::Cow;
use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::compare::{compare_family, effect_on_pass_rate};
use super::comparison::{Comparison, Verdict};
use super::pairs::{ArmTrial, Arms, By};
use super::wording;
use crate::ablation::{Ablation, Kind};
use crate::run::state::{RunState, Trial};
use crate::stats::ALPHA;
use crate::stats::holm::holm;

/// The name of the trials that do not have a part.
const WITHOUT: &str = "without";
/// The most parts whose pairs are looked at.
const MOST_SCREENED: usize = 24;

/// The answer of an ablation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AblationSummary {
    /// The experiment whose parts these are.
    pub experiment: String,
    /// The kind of the parts.
    pub kind: Kind,
    /// The parts, by their effect for each 1,000 tokens.
    pub parts: Vec<PartEffect>,
    /// Pairs of parts that may act together. A hint and no finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<PairHint>,
}

/// The effect of one part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartEffect {
    /// Its name.
    pub name: String,
    /// Its position among the parts as they are written, from 0.
    pub position: usize,
    /// An estimate of the tokens that it adds to each request.
    pub tokens: Option<u64>,
    /// The word for its effect.
    pub finding: Finding,
    /// The effect for each 1,000 tokens.
    pub per_thousand_tokens: Option<f64>,
    /// The trials with it against the trials without it.
    pub comparison: Comparison,
}

/// The word for the effect of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Finding {
    /// Trials with it are better.
    EarnsItsPlace,
    /// No difference was shown.
    NoEffectShown,
    /// Trials with it are worse.
    Hurts,
    /// No eval was judged both with and without it.
    NotCompared,
}

impl Finding {
    fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Better => Finding::EarnsItsPlace,
            Verdict::Worse => Finding::Hurts,
            Verdict::Equivalent | Verdict::Inconclusive => Finding::NoEffectShown,
        }
    }

    /// Returns it in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Finding::EarnsItsPlace => "earns its place",
            Finding::NoEffectShown => "no effect shown",
            Finding::Hurts => "hurts",
            Finding::NotCompared => "not compared",
        }
    }
}

/// Pairs of parts whose common effect is not the sum of both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PairHint {
    /// The names. Where there are several pairs, the design cannot tell them apart.
    pub pairs: Vec<[String; 2]>,
    /// The pass rate of trials with both or neither of the first pair, minus that of trials with one of them.
    pub difference: f64,
    /// By Holm's method, for all pairs that were looked at.
    pub p_adjusted: f64,
}

impl AblationSummary {
    pub(super) fn of(state: &RunState, design: &Ablation) -> Self {
        let parts = || 0..design.parts.len();
        let families: Vec<Arms<'_>> = parts()
            .map(|part| arms(state, design, &design.parts[part].name, |has| has(part)))
            .collect();
        let found = compare_family(&families);
        let mut effects: Vec<PartEffect> = (found.into_iter().zip(parts()))
            .map(|(comparison, part)| PartEffect::of(design, part, comparison))
            .collect();
        effects.sort_by(|one, other| other.rank().total_cmp(&one.rank()));
        AblationSummary {
            experiment: design.experiment.clone(),
            kind: design.kind,
            parts: effects,
            hints: hints(state, design),
        }
    }

    /// Returns the positions of the parts that earn their place.
    pub fn earned(&self) -> Vec<usize> {
        let earned = self.with(Finding::EarnsItsPlace);
        earned.map(|part| part.position).collect()
    }

    /// Returns the parts with this finding.
    pub fn with(&self, finding: Finding) -> impl Iterator<Item = &PartEffect> {
        self.parts
            .iter()
            .filter(move |part| part.finding == finding)
    }
}

impl PartEffect {
    fn of(design: &Ablation, position: usize, comparison: Comparison) -> Self {
        let part = &design.parts[position];
        let value = comparison.decisive().value;
        let finding = match value {
            Some(_) => Finding::of(comparison.verdict),
            None => Finding::NotCompared,
        };
        let thousands = part.tokens.filter(|tokens| *tokens > 0);
        let thousands = thousands.map(|tokens| tokens as f64 / 1000.0);
        let mut effect = PartEffect {
            name: part.name.clone(),
            position,
            tokens: part.tokens,
            finding,
            per_thousand_tokens: value.zip(thousands).map(|(value, of)| value / of),
            comparison,
        };
        effect.comparison.sentence = effect.sentence();
        effect
    }

    /// Parts whose size is not known come by their effect.
    fn rank(&self) -> f64 {
        let value = self.comparison.decisive().value;
        self.per_thousand_tokens
            .or(value)
            .unwrap_or(f64::NEG_INFINITY)
    }

    /// `earns its place`, or `no effect shown (could be removed; saves 1,240 tokens a request)`.
    pub fn words(&self) -> String {
        let saves = self.tokens.map(|tokens| {
            let tokens = wording::thousands(tokens);
            format!("; saves {tokens} tokens a request")
        });
        let saves = saves.unwrap_or_default();
        match self.finding {
            Finding::NoEffectShown => {
                format!("{} (could be removed{saves})", self.finding.as_str())
            }
            finding => finding.as_str().to_owned(),
        }
    }

    /// `` `Testing` earns its place: +22 points (95 % interval +8 … +35) ``.
    fn sentence(&self) -> String {
        let effect = self.comparison.decisive();
        let measure = self.comparison.measure;
        let found = effect
            .value
            .map(|value| wording::difference(measure, value));
        let found = found.map_or(String::new(), |found| format!(": {found}"));
        let interval = effect
            .interval
            .map(|interval| wording::ends(measure, interval));
        let interval = interval.map_or(String::new(), |ends| format!(" (95 % interval {ends})"));
        format!("`{}`: {}{found}{interval}", self.name, self.words())
    }
}

/// Returns the trials of a run in two arms. `is_arm` is asked with the parts that a trial has.
fn arms<'a>(
    state: &'a RunState,
    design: &Ablation,
    name: &'a str,
    is_arm: impl Fn(&dyn Fn(usize) -> bool) -> bool,
) -> Arms<'a> {
    let baseline = if name == WITHOUT {
        "without it"
    } else {
        WITHOUT
    };
    let in_arm = |trial: &'a Trial| {
        let mut rows = design.rows.iter();
        let row = rows.find(|row| row.experiment == trial.head.experiment)?;
        let has = |part| row.parts.contains(&part);
        Some(ArmTrial {
            arm: if is_arm(&has) { name } else { baseline },
            place: Cow::Borrowed(&trial.head.environment),
            trial,
        })
    };
    let trials = state.trials().iter().filter_map(in_arm).collect();
    Arms {
        adaptive: None,
        tests_expenses: false,
        ..Arms::new(By::Experiment, baseline, trials, state)
    }
}

/// Looks for pairs of parts that act together. Pairs that the rows cannot tell apart are one question.
fn hints(state: &RunState, design: &Ablation) -> Vec<PairHint> {
    let number = design.parts.len();
    if number > MOST_SCREENED {
        return Vec::new();
    }
    let mut screened: Vec<(Vec<bool>, Vec<[usize; 2]>)> = Vec::new();
    for first in 0..number {
        for second in first + 1..number {
            let is_alike = |row: &crate::ablation::Row| {
                row.parts.contains(&first) == row.parts.contains(&second)
            };
            let column: Vec<bool> = design.rows.iter().map(is_alike).collect();
            let opposite: Vec<bool> = column.iter().map(|alike| !alike).collect();
            match screened
                .iter_mut()
                .find(|(known, _)| *known == column || *known == opposite)
            {
                Some((_, pairs)) => pairs.push([first, second]),
                None => screened.push((column, vec![[first, second]])),
            }
        }
    }
    let effects: Vec<_> = (screened.iter())
        .map(|(_, pairs)| {
            let [first, second] = pairs[0];
            let is_alike = |has: &dyn Fn(usize) -> bool| has(first) == has(second);
            effect_on_pass_rate(&arms(state, design, "alike", is_alike))
        })
        .collect();
    let raw: Vec<f64> = effects
        .iter()
        .map(|effect| effect.p.unwrap_or(1.0))
        .collect();
    let name = |part: usize| design.parts[part].name.clone();
    let mut found: Vec<PairHint> = Vec::new();
    for (((_, pairs), effect), p) in screened.iter().zip(&effects).zip(holm(&raw)) {
        if p < ALPHA {
            found.push(PairHint {
                pairs: pairs.iter().map(|pair| pair.map(name)).collect(),
                difference: effect.value.unwrap_or(0.0),
                p_adjusted: p,
            });
        }
    }
    found.sort_by_key(|hint| Reverse((hint.difference.abs() * 1e6) as u64));
    found
}
