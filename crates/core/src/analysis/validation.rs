//! The answer of `terca validate`: whether evals prove anything.
//!
//! An eval is proven when its own solution passes, doing nothing does not, and the built-in cheat does not. It is
//! the evals that are proven, so one variant is enough: the three agents are three environments in the place
//! of one, and the run is like any other.

use serde::Serialize;
use serde_json::{Value, json};

use crate::agent;
use crate::agent::AgentChoice;
use crate::agent::control::{CHEAT, CONTROLS, NOP, ORACLE, is_control};
use crate::analysis::distinct::distinct;
use crate::analysis::results::{Results, TrialResult};
use crate::config::suite::Setup;
use crate::config::{Patch, Suite};
use crate::plan::Plan;
use crate::plan::selection::{Selection, select};
use crate::run::outcome::Status;
use crate::text::diagnostic::Diagnostics;

/// Puts the three agents in the place of the suite's environments. What is built on is the first environment and
/// the baseline, or the first that are selected. Returns what is left to select: the evals.
pub fn prepare(suite: &mut Suite, selection: &Selection, problems: &mut Diagnostics) -> Selection {
    let selected = select(suite, selection, problems);
    let environment = selected
        .environments
        .first()
        .map_or_else(Setup::named_default, |setup| (*setup).clone());
    let mut experiment = selected.main_experiment(suite);
    experiment.agent = Patch::Keep;
    suite.environments = CONTROLS
        .into_iter()
        .filter_map(|name| played_by(&environment, name))
        .collect();
    suite.baseline.clone_from(&experiment.name);
    suite.experiments = vec![experiment];
    Selection {
        evals: selection.evals.clone(),
        ..Selection::default()
    }
}

fn played_by(environment: &Setup, name: &str) -> Option<Setup> {
    let choice = AgentChoice::of(agent::find(name)?);
    Some(Setup {
        name: name.to_owned(),
        agent: Patch::Set(choice),
        ..environment.clone()
    })
}

/// Leaves out what cannot be tried: the oracle where there is no solution.
pub fn without_missing_solutions(mut plan: Plan) -> Plan {
    plan.trials
        .retain(|trial| trial.case.eval.has_solution() || trial.case.variant.environment != ORACLE);
    for (trial, id) in plan.trials.iter_mut().zip(1..) {
        trial.id = id;
    }
    plan
}

/// The three trials of one eval. `None` is a trial that did not run.
#[derive(Debug, Clone)]
pub struct Proof<'a> {
    /// The eval's name.
    pub eval: &'a str,
    /// What the eval lacks, where it is incomplete.
    pub lacks: &'a [String],
    /// The trial of the solution.
    pub oracle: Option<&'a TrialResult>,
    /// The trial that does nothing.
    pub nop: Option<&'a TrialResult>,
    /// The trial that cheats.
    pub cheat: Option<&'a TrialResult>,
}

/// A fault of an eval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Flaw {
    /// It says itself that it lacks something.
    Incomplete,
    /// There is no solution to prove it with.
    NoSolution,
    /// Its own solution does not pass.
    Broken,
    /// It passes when nothing is done.
    Trivial,
    /// It passes for the cheat.
    Gameable,
    /// A trial ended in an error, or did not run.
    Unknown,
}

impl Flaw {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Flaw::Incomplete => "incomplete",
            Flaw::NoSolution => "no solution",
            Flaw::Broken => "broken",
            Flaw::Trivial => "trivial",
            Flaw::Gameable => "gameable",
            Flaw::Unknown => "unknown",
        }
    }
}

impl Proof<'_> {
    /// How `oracle`, `nop` and `cheat` ended.
    fn statuses(&self) -> [Option<Status>; 3] {
        [self.oracle, self.nop, self.cheat].map(|trial| trial.map(|trial| trial.report.status))
    }

    /// None: the eval is proven.
    pub fn flaws(&self) -> Vec<Flaw> {
        let [oracle, nop, cheat] = self.statuses();
        // Without tests everything passes.
        let passes = |status| matches!(status, Some(Status::Passed | Status::Unverified));
        let mut flaws = Vec::new();
        if !self.lacks.is_empty() {
            flaws.push(Flaw::Incomplete);
        }
        match oracle {
            None => flaws.push(Flaw::NoSolution),
            Some(status) if status.is_judged() && status != Status::Passed => {
                flaws.push(Flaw::Broken);
            }
            Some(_) => {}
        }
        // What passes for nothing is gameable too; that it is trivial says it better.
        if passes(nop) {
            flaws.push(Flaw::Trivial);
        } else if passes(cheat) {
            flaws.push(Flaw::Gameable);
        }
        let done = |status: Option<Status>| status.is_some_and(Status::is_done);
        if oracle.is_some_and(|status| !status.is_done()) || !done(nop) || !done(cheat) {
            flaws.push(Flaw::Unknown);
        }
        flaws
    }
}

/// Returns the answer of `terca validate`, for programs. It is the last of the events.
pub fn validated(results: &Results) -> Value {
    let eval = |proof: &Proof<'_>| {
        let [oracle, nop, cheat] = proof.statuses();
        let flaws = proof.flaws();
        json!({
            "eval": proof.eval,
            "proven": flaws.is_empty(),
            "flaws": flaws,
            "incomplete": proof.lacks,
            "oracle": oracle,
            "nop": nop,
            "cheat": cheat,
        })
    };
    let evals: Value = proofs(results).iter().map(eval).collect();
    json!({ "event": "validated", "run": results.run, "evals": evals })
}

/// Returns whether the trials are those of `terca validate`: several agents that check evals, each the environment of its name.
pub fn is_validation(results: &Results) -> bool {
    let is_one = |trial: &TrialResult| {
        is_control(&trial.head.agent) && trial.head.environment == trial.head.agent
    };
    let first = results.trials.first().map(|trial| &trial.head.agent);
    let has_several = results
        .trials
        .iter()
        .any(|trial| Some(&trial.head.agent) != first);
    has_several && results.trials.iter().all(is_one)
}

/// One for each eval, in the order of the trials.
pub fn proofs(results: &Results) -> Vec<Proof<'_>> {
    let trials = || results.trials.iter();
    let of = |eval: &str, name: &str| {
        trials().rfind(|trial| trial.head.eval == eval && trial.head.environment == name)
    };
    distinct(trials().map(|trial| trial.head.eval.as_str()))
        .into_iter()
        .map(|eval| Proof {
            eval,
            lacks: results
                .descriptions
                .incomplete
                .get(eval)
                .map_or(&[], Vec::as_slice),
            oracle: of(eval, ORACLE),
            nop: of(eval, NOP),
            cheat: of(eval, CHEAT),
        })
        .collect()
}

/// 0 when every eval is proven, 1 when not, 3 when that is not known because a trial ended in an error.
pub fn exit_status(proofs: &[Proof<'_>]) -> u8 {
    let mut statuses = proofs.iter().flat_map(Proof::statuses);
    match statuses.any(|status| status == Some(Status::Error)) {
        true => 3,
        false => u8::from(proofs.iter().any(|proof| !proof.flaws().is_empty())),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::run::event::TrialHead;
    use crate::run::outcome::TrialReport;
    use crate::run::state::RunState;

    fn trial(agent: &str, status: Status) -> TrialResult {
        let head = TrialHead {
            id: 1,
            eval: "fib".into(),
            environment: agent.into(),
            experiment: "default".into(),
            repetition: 1,
            dir: "fib".into(),
            agent: agent.into(),
            model: None,
        };
        TrialResult {
            head: head.into(),
            report: Arc::new(TrialReport {
                status,
                ..TrialReport::pending()
            }),
            earlier: Vec::new(),
            spent: Default::default(),
            remark: None,
        }
    }

    #[test]
    fn flaws_and_exit_statuses() {
        use Flaw::{Broken, Gameable, NoSolution, Trivial, Unknown};
        use Status::{Error, Failed, Partial, Passed, Pending};
        for (oracle, nop, cheat, flaws, status) in [
            (Some(Passed), Failed, Failed, &[][..], 0),
            (Some(Passed), Partial, Partial, &[], 0),
            (Some(Partial), Failed, Failed, &[Broken], 1),
            (Some(Failed), Failed, Passed, &[Broken, Gameable], 1),
            (Some(Passed), Passed, Passed, &[Trivial], 1),
            (None, Failed, Failed, &[NoSolution], 1),
            (None, Failed, Passed, &[NoSolution, Gameable], 1),
            (Some(Error), Failed, Failed, &[Unknown], 3),
            (Some(Passed), Error, Passed, &[Gameable, Unknown], 3),
            (Some(Passed), Failed, Pending, &[Unknown], 1),
        ] {
            let trials = [oracle.map(|status| trial("oracle", status))]
                .into_iter()
                .flatten()
                .chain([trial("nop", nop), trial("cheat", cheat)]);
            let results = Results {
                trials: trials.collect(),
                ..Results::of(&RunState::default())
            };
            let proofs = proofs(&results);
            assert_eq!(proofs.len(), 1);
            assert_eq!(proofs[0].flaws(), flaws, "{oracle:?} {nop:?} {cheat:?}");
            assert_eq!(exit_status(&proofs), status, "{oracle:?} {nop:?} {cheat:?}");
        }
    }
}
