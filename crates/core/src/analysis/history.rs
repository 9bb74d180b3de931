//! The cases of a plan in earlier runs of the suite.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::plan::fingerprint::{CaseFingerprint, Changes};
use crate::run::event::TrialHead;
use crate::run::outcome::Status;
use crate::run::state::{RunState, Trial};

/// An earlier run, and what its cases were made from, if it says so.
#[derive(Debug)]
pub struct Record {
    /// The run.
    pub state: RunState,
    /// The fingerprints of its cases.
    pub prints: Option<Vec<CaseFingerprint>>,
}

impl Record {
    /// The evals that were others than they are now, though they had the same names.
    pub fn changed(&self, now: &[CaseFingerprint]) -> BTreeSet<String> {
        let changes = self
            .prints
            .as_ref()
            .map(|prints| Changes::between(prints, now));
        changes.map_or_else(BTreeSet::new, |changes| changes.evals.into_keys().collect())
    }
}

/// The eval, the environment, the experiment, the agent and its model of trials.
type Case = (String, String, String, String, Option<String>);

fn case_of(head: TrialHead) -> Case {
    (
        head.eval, head.environment, head.experiment, head.agent, head.model,
    )
}

/// The judged trials of a case.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Past {
    /// The trials that have the full score.
    pub passed: usize,
    /// The trials that have a score.
    pub judged: usize,
    /// Those that were reported.
    pub costs: Vec<f64>,
    /// From set-up to the end of the tests.
    pub seconds: Vec<f64>,
}

impl Past {
    pub(super) fn rate(&self) -> f64 {
        self.passed as f64 / self.judged as f64
    }

    fn add(&mut self, trial: &Trial) {
        let report = &trial.report;
        self.judged += 1;
        self.passed += usize::from(report.status == Status::Passed);
        self.costs.extend(report.stats.usage.cost_usd);
        self.seconds.push(report.duration_seconds);
    }
}

/// The judged trials of earlier runs, by case.
#[derive(Debug, Default)]
pub struct History {
    cases: BTreeMap<Case, Past>,
    /// The amount of it.
    pub known: Known,
}

/// The amount of history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Known {
    /// The number of runs that say something.
    pub runs: usize,
    /// Judged trials of the plan's cases.
    pub trials: usize,
}

impl History {
    /// Of the cases of a plan, without evals that have changed since.
    pub fn of(records: &[Record], plan: &[TrialHead], now: &[CaseFingerprint]) -> Self {
        let wanted: BTreeSet<Case> = plan.iter().cloned().map(case_of).collect();
        let mut history = History::default();
        for record in records {
            let changed = record.changed(now);
            let judged = record
                .state
                .trials()
                .iter()
                .filter(|trial| trial.report.status.is_judged());
            let mut says_something = false;
            for trial in judged.filter(|trial| !changed.contains(&trial.head.eval)) {
                let case = case_of((*trial.head).clone());
                if wanted.contains(&case) {
                    history.cases.entry(case).or_default().add(trial);
                    history.known.trials += 1;
                    says_something = true;
                }
            }
            history.known.runs += usize::from(says_something);
        }
        history
    }

    /// Returns the judged trials of a trial's case.
    pub fn case(&self, head: &TrialHead) -> Option<&Past> {
        self.cases.get(&case_of(head.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{error, print, run};

    #[test]
    fn only_what_is_still_the_same_counts() {
        let place = ["a", "gemini", "control"];
        let other = ["b", "gemini", "control"];
        let state = || {
            run("1")
                .cell(place, 2, 3)
                .reports(place, vec![error()])
                .cell(other, 1, 1)
        };
        let plan = [(*state().trials()[0].head).clone()];
        let old = Record {
            state: state(),
            prints: Some(vec![print(place, &[("tests", "1")])]),
        };
        let silent = Record {
            state: state(),
            prints: None,
        };
        let foreign = Record {
            state: state().edited(|trials| {
                for (head, _) in trials {
                    head.agent = "oracle".into();
                }
            }),
            prints: None,
        };
        let history = History::of(
            &[old, silent, foreign],
            &plan,
            &[print(place, &[("tests", "2")])],
        );
        assert_eq!(
            (history.known.runs, history.known.trials),
            (1, 3),
            "the run that does not say what it was made from"
        );
        let past = history.case(&plan[0]).unwrap();
        assert_eq!(
            (
                past.passed,
                past.judged,
                past.costs.len(),
                past.seconds.len()
            ),
            (2, 3, 3, 3)
        );
    }
}
