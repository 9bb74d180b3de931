//! What an ablation would take and could show, before anything is spent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::precision::Pair;
use super::{Expense, Known, Precision, Question, expense};
use crate::ablation::{Ablation, Kind, Part, Split};
use crate::analysis::history::History;
use crate::run::event::TrialHead;

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
        let arms = expense::arms(question, history);
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
