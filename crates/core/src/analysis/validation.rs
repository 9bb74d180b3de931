//! The answer of `terca validate`: whether evals measure anything.
//!
//! An eval is sound when its own solution passes, doing nothing does not, and it withstands the tricks of the built-in
//! cheat. It is the evals that are looked at, so one variant is enough: the three agents are three environments in the
//! place of one, and the run is like any other.
//!
//! The cheat has a trial for each set of tricks. Where a set passes, a round calls a trial for each of its tricks, so that the
//! answer names those that work. These trials are repetitions of the cheat, and spare until then.

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::{Value, json};

use crate::agent;
use crate::agent::AgentChoice;
use crate::agent::cheat::{REPETITIONS, SETS, TRICKS, Trick, played_in};
use crate::agent::control::{CHEAT, CONTROLS, NOP, ORACLE, is_control};
use crate::analysis::distinct::distinct;
use crate::analysis::results::{Results, TrialResult};
use crate::config::adaptive::Adaptive;
use crate::config::suite::Setup;
use crate::config::{Patch, Suite};
use crate::plan::selection::{Selection, select};
use crate::plan::{Plan, TrialSpec, trial_folder};
use crate::run::event::TrialHead;
use crate::run::outcome::Status;
use crate::run::state::RunState;
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

/// Leaves out what cannot be tried, the oracle where there is no solution, and adds the repetitions of the cheat.
pub fn with_tricks(mut plan: Plan) -> Plan {
    let is_played = |trial: &TrialSpec| match trial.case.variant.environment.as_str() {
        ORACLE => trial.case.eval.has_solution(),
        _ => true,
    };
    let trials = std::mem::take(&mut plan.trials).into_iter();
    for trial in trials.filter(is_played) {
        let variant = &trial.case.variant;
        let repetitions = match variant.environment.as_str() {
            CHEAT => REPETITIONS,
            _ => 1,
        };
        plan.trials
            .extend((1..=repetitions).map(|repetition| TrialSpec {
                dir: trial_folder(
                    &trial.case.eval.name, &variant.environment, &variant.experiment, repetition,
                ),
                repetition,
                ..trial.clone()
            }));
    }
    for (trial, id) in plan.trials.iter_mut().zip(1..) {
        trial.id = id;
    }
    plan.adaptive = Some(Adaptive {
        min: SETS,
        max: REPETITIONS,
    });
    plan
}

/// Returns the spare trials that tell which trick of a set works, where a set does and doing nothing does not.
pub fn telling(state: &RunState) -> Vec<&TrialHead> {
    let has_passed = |eval: &str, environment: &str, repetition: u32| {
        let mut trials = state.trials().iter();
        trials.any(|trial| {
            trial.head.eval == eval
                && trial.head.environment == environment
                && trial.head.repetition == repetition
                && passes(trial.report.status)
        })
    };
    let is_wanted = |head: &&TrialHead| {
        let set = played_in(head.repetition).first().map(|trick| trick.set);
        head.is_cheat()
            && set.is_some_and(|set| has_passed(&head.eval, CHEAT, set))
            && !has_passed(&head.eval, NOP, 1)
    };
    state.spare().iter().filter(is_wanted).collect()
}

/// Without tests everything passes.
fn passes(status: Status) -> bool {
    matches!(status, Status::Passed | Status::Unverified)
}

/// The trials of one eval. `None` is a trial that did not run.
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
    /// The trial of the cheat that says the most: one that passes, or did not end, or came the furthest.
    pub cheat: Option<&'a TrialResult>,
    /// All trials of the cheat.
    pub cheats: Vec<&'a TrialResult>,
}

/// Tricks that an eval falls to: one, or several that work together alone.
#[derive(Debug, Clone)]
pub struct Fall<'a> {
    /// The tricks.
    pub tricks: Vec<&'static Trick>,
    /// The trial that shows it.
    pub trial: &'a TrialResult,
}

/// A fault of an eval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Flaw {
    /// It says itself that it lacks something.
    Incomplete,
    /// There is no solution to show that it can be passed.
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

impl<'a> Proof<'a> {
    /// How `oracle`, `nop` and `cheat` ended.
    fn statuses(&self) -> [Option<Status>; 3] {
        [self.oracle, self.nop, self.cheat].map(|trial| trial.map(|trial| trial.report.status))
    }

    /// Returns the tricks that work.
    pub fn falls(&self) -> Vec<Fall<'a>> {
        let passed = |is_set: bool| {
            let passed = self
                .cheats
                .iter()
                .filter(|trial| passes(trial.report.status));
            let of = passed.map(|&trial| Fall {
                tricks: played_in(trial.head.repetition),
                trial,
            });
            of.filter(move |fall| (fall.trial.head.repetition <= SETS) == is_set)
        };
        let mut falls: Vec<Fall<'a>> = passed(false).collect();
        let is_empty_enough = falls.iter().any(|fall| fall.tricks[0].name == "empty");
        for set in passed(true) {
            let is_told = |fall: &Fall<'_>| set.tricks.contains(&fall.tricks[0]);
            if !falls.iter().any(is_told) {
                falls.push(set);
            }
        }
        falls.retain(|fall| !is_empty_enough || !fall.tricks[0].needs_any_files());
        falls
    }

    /// None: the eval is sound.
    pub fn flaws(&self) -> Vec<Flaw> {
        let [oracle, nop, cheat] = self.statuses();
        let passes = |status: Option<Status>| status.is_some_and(passes);
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
        let worked = |fall: &Fall<'_>| {
            let tricks = fall.tricks.iter();
            let tricks = tricks.map(|trick| json!({ "trick": trick.name, "cure": trick.cure }));
            json!({ "tricks": tricks.collect::<Value>(), "trial": fall.trial.head.id })
        };
        json!({
            "eval": proof.eval,
            "sound": flaws.is_empty(),
            "flaws": flaws,
            "incomplete": proof.lacks,
            "oracle": oracle,
            "nop": nop,
            "cheat": cheat,
            "worked": proof.falls().iter().map(worked).collect::<Value>(),
        })
    };
    let evals: Value = proofs(results).iter().map(eval).collect();
    let tricks = TRICKS.iter().map(|trick| trick.name);
    json!({
        "event": "validated",
        "run": results.run,
        "tricks": tricks.collect::<Value>(),
        "evals": evals,
    })
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
    let evals = distinct(results.trials.iter().map(|trial| trial.head.eval.as_str()));
    let proof = |eval| proof(results, eval);
    evals.into_iter().map(proof).collect()
}

fn proof<'a>(results: &'a Results, eval: &'a str) -> Proof<'a> {
    let of = |name: &str| {
        let is_its =
            |trial: &&TrialResult| trial.head.eval == eval && trial.head.environment == name;
        results.trials.iter().filter(is_its).collect::<Vec<_>>()
    };
    let cheats = of(CHEAT);
    let lacks = results.descriptions.incomplete.get(eval);
    Proof {
        eval,
        lacks: lacks.map_or(&[], Vec::as_slice),
        oracle: of(ORACLE).pop(),
        nop: of(NOP).pop(),
        cheat: cheats.iter().copied().reduce(more_telling),
        cheats,
    }
}

/// Returns the trial of the cheat that says more: one that passes, or did not end, or came further.
fn more_telling<'a>(one: &'a TrialResult, other: &'a TrialResult) -> &'a TrialResult {
    let rank = |trial: &TrialResult| match trial.report.status {
        status if passes(status) => 2,
        status if !status.is_done() => 1,
        _ => 0,
    };
    let score = |trial: &TrialResult| trial.report.score.unwrap_or(0.0);
    match rank(other).cmp(&rank(one)) {
        Ordering::Greater => other,
        Ordering::Equal if score(other) > score(one) => other,
        _ => one,
    }
}

/// 0 when every eval is sound, 1 when not, 3 when that is not known because a trial ended in an error.
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

    #[test]
    fn tricks_that_work_are_named() {
        let number = |name: &str| {
            let at = TRICKS.iter().position(|trick| trick.name == name).unwrap();
            SETS + 1 + u32::try_from(at).unwrap()
        };
        let quit = number("quit");
        for (passed, named) in [
            (vec![1, quit], vec!["quit"]),
            (vec![2], vec!["solution expected source summary"]),
            (
                vec![1, 2, quit, number("source"), number("settings")],
                vec!["quit", "settings", "source"],
            ),
            // What any file is enough for says nothing about the trick that leaves one.
            (
                vec![
                    1,
                    3,
                    quit,
                    number("equal"),
                    number("empty"),
                    number("results"),
                ],
                vec!["results", "empty"],
            ),
        ] {
            let repetitions = (1..=SETS).chain(passed.iter().copied().filter(|it| *it > SETS));
            let cheats = repetitions.map(|repetition| {
                let mut cheat = trial("cheat", Status::Failed);
                if passed.contains(&repetition) {
                    cheat = trial("cheat", Status::Passed);
                }
                let head = TrialHead {
                    repetition,
                    ..TrialHead::clone(&cheat.head)
                };
                TrialResult {
                    head: head.into(),
                    ..cheat
                }
            });
            let mut trials = vec![
                trial("oracle", Status::Passed),
                trial("nop", Status::Failed),
            ];
            trials.extend(cheats);
            trials.sort_by_key(|trial| trial.head.repetition);
            let results = Results {
                trials,
                ..Results::of(&RunState::default())
            };
            let proofs = proofs(&results);
            assert_eq!(proofs[0].flaws(), [Flaw::Gameable]);
            let falls = proofs[0].falls();
            let names = falls.iter().map(|fall| {
                let names = fall.tricks.iter().map(|trick| trick.name);
                names.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(names.collect::<Vec<_>>(), named);
        }
    }
}
