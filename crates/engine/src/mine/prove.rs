//! Proves drafts in a sandbox: the commit passes its tests, doing nothing and cheating do not, every time.

use std::collections::BTreeMap;

use camino::Utf8Path;
use jiff::Timestamp;
use terca_core::analysis::results::Results;
use terca_core::analysis::validation::{Flaw, Proof, proofs};
use terca_core::new_suite::mine::{Reason, Refusal};
use terca_core::run::event::Event;
use terca_core::run::observer::Observer;
use terca_core::run::settings::{RunSettings, SelectionSettings};
use terca_core::run::state::RunState;
use terca_core::text::diagnostic::Style;
use terca_core::trial_error::ErrorKind;

use super::{MineError, Request, Stage};
use crate::run::load::{self, RunPlan};
use crate::run::regrade::Regrading;
use crate::run::resume::OpenRun;
use crate::run::scheduler::FinishedRun;
use crate::run::start::{PreparedRun, StartOptions};

/// Further gradings of the same work, which must end in the same way.
const REGRADES: u32 = 3;

/// Returns the refusals by the names of the evals in a suite; `None` when it was interrupted.
pub(super) fn prove(
    suite: &Utf8Path,
    request: &Request<'_>,
) -> Result<Option<BTreeMap<String, Refusal>>, MineError> {
    let finished = run(suite, &settings(request), request)?;
    if finished.interrupted {
        return Ok(None);
    }
    let results = Results::of(&finished.state);
    let mut refusals = BTreeMap::new();
    let mut sound = Vec::new();
    for proof in proofs(&results) {
        match refusal(&proof, request) {
            Some(refusal) => {
                refusals.insert(proof.eval.to_owned(), refusal);
            }
            None => sound.push(proof.eval.to_owned()),
        }
    }
    for _ in 0..REGRADES {
        if sound.is_empty() {
            break;
        }
        let Some(after) = graded_again(suite, &finished.dir, &sound, request)? else {
            return Ok(None);
        };
        let results = Results::of(&after);
        for proof in proofs(&results) {
            let is_sound = sound.iter().any(|name| name == proof.eval);
            if let Some(refusal) = refusal(&proof, request).filter(|_| is_sound) {
                sound.retain(|name| name != proof.eval);
                let detail = refusal.reason.words();
                refusals.insert(proof.eval.to_owned(), Refusal::with(Reason::Flaky, detail));
            }
        }
    }
    Ok(Some(refusals))
}

/// Runs a suite that was made for a while.
pub(super) fn run(
    suite: &Utf8Path,
    settings: &RunSettings,
    request: &Request<'_>,
) -> Result<FinishedRun, MineError> {
    let plan = plan(suite, settings, request)?;
    let options = StartOptions::default();
    let run = PreparedRun::new(&plan, settings, options, request.host.clone())?;
    let store = run.create_dir()?;
    Ok(run.execute(store, None, &mut Counter(request.tell))?)
}

fn settings(request: &Request<'_>) -> RunSettings {
    RunSettings {
        selection: SelectionSettings {
            repetitions: Some(1),
            sandbox: Some(request.sandbox.clone()),
            ..SelectionSettings::default()
        },
        validate: true,
        concurrency: request.concurrency,
        offline_tests: true,
        ..RunSettings::default()
    }
}

/// Makes the plan of a suite that Terca wrote.
pub(super) fn plan(
    suite: &Utf8Path,
    settings: &RunSettings,
    request: &Request<'_>,
) -> Result<RunPlan, MineError> {
    let loaded = load::load(suite, settings, request.host)?;
    let problems = loaded.problems.render(&loaded.sources, Style::PLAIN);
    loaded.plan.ok_or(MineError::Drafts(problems))
}

/// Grades the work of a run again, and returns its state then.
fn graded_again(
    suite: &Utf8Path,
    run: &Utf8Path,
    evals: &[String],
    request: &Request<'_>,
) -> Result<Option<RunState>, MineError> {
    let open = OpenRun::open(run)?;
    let names = SelectionSettings {
        evals: evals.to_vec(),
        ..SelectionSettings::default()
    };
    let settings = RunSettings {
        offline_tests: true,
        ..open.settings_for(&names, request.concurrency)
    };
    let mut plan = plan(suite, &settings, request)?;
    plan.adopt(&open.past.state);
    let prepared = open.prepare(&plan, &settings, request.host.clone())?;
    let regrading = Regrading::new(open, prepared, &plan);
    let total = regrading.trials();
    let regraded = regrading.run(&|done| {
        (request.tell)(Stage::Trials {
            ended: done,
            of: total,
        });
    })?;
    Ok(regraded.map(|regraded| regraded.after))
}

/// Returns why an eval is not proven, if it is not.
fn refusal(proof: &Proof<'_>, request: &Request<'_>) -> Option<Refusal> {
    let flaws = proof.flaws();
    let has = |flaw: Flaw| flaws.contains(&flaw);
    if has(Flaw::Unknown) {
        let mut trials = [proof.oracle, proof.nop, proof.cheat].into_iter().flatten();
        let error = trials.find_map(|trial| trial.report.error.as_ref());
        let is_setup = error.is_some_and(|error| error.kind == ErrorKind::Setup);
        let detail = error.map(|error| error.message.clone());
        let reason = if is_setup {
            Reason::Setup
        } else {
            Reason::Unknown
        };
        return Some(Refusal { reason, detail });
    }
    if has(Flaw::Broken) || has(Flaw::NoSolution) {
        let loss = proof.oracle.and_then(|trial| trial.report.losses().next());
        let loss = loss.map(|(_, grade)| grade);
        let limit = request.wishes.test_seconds;
        let is_slow = loss.is_some_and(|grade| grade.duration_seconds >= limit);
        let detail = loss.map(|grade| grade.message.clone());
        let reason = if is_slow {
            Reason::Slow
        } else {
            Reason::Broken
        };
        return Some(Refusal { reason, detail });
    }
    if has(Flaw::Trivial) {
        return Some(Reason::Trivial.into());
    }
    has(Flaw::Gameable).then(|| Reason::Gameable.into())
}

/// Counts trials that have ended.
struct Counter<'a>(&'a (dyn Fn(Stage) + Sync));

impl Observer for Counter<'_> {
    fn event(&mut self, _: &Event, state: &RunState) {
        let trials = state.trials();
        let ended = trials
            .iter()
            .filter(|trial| trial.report.status.is_judged());
        (self.0)(Stage::Trials {
            ended: ended.count(),
            of: trials.len(),
        });
    }

    fn tick(&mut self, _: Timestamp, _: &RunState) {}
}
