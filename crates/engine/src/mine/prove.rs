//! Proves drafts in a sandbox: the commit passes its tests, doing nothing and cheating do not, every time.

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

use super::{MineError, Request};
use crate::run::load::{self, RunPlan};
use crate::run::regrade::Regrading;
use crate::run::resume::OpenRun;
use crate::run::scheduler::FinishedRun;
use crate::run::start::{PreparedRun, StartOptions};

/// Further gradings of the same work, which must end in the same way.
const REGRADES: u32 = 3;

/// Proves the only eval of a suite. Returns why it is not proven, if it is not; `None` when it was interrupted.
pub(super) fn prove(
    suite: &Utf8Path,
    request: &Request,
) -> Result<Option<Result<(), Refusal>>, MineError> {
    let finished = run(suite, &settings(request), request)?;
    if finished.interrupted {
        return Ok(None);
    }
    let refused = |state: &RunState| {
        let results = Results::of(state);
        proofs(&results)
            .iter()
            .find_map(|proof| refusal(proof, request))
    };
    if let Some(refusal) = refused(&finished.state) {
        return Ok(Some(Err(refusal)));
    }
    for _ in 0..REGRADES {
        let Some(after) = graded_again(suite, &finished.dir, request)? else {
            return Ok(None);
        };
        if let Some(refusal) = refused(&after) {
            let detail = refusal.reason.words();
            return Ok(Some(Err(Refusal::with(Reason::Flaky, detail))));
        }
    }
    Ok(Some(Ok(())))
}

/// Runs a suite that was made for a while.
pub(super) fn run(
    suite: &Utf8Path,
    settings: &RunSettings,
    request: &Request,
) -> Result<FinishedRun, MineError> {
    let plan = plan(suite, settings, request)?;
    let options = StartOptions::default();
    let run = PreparedRun::new(&plan, settings, options, request.host.clone())?;
    let store = run.create_dir()?;
    Ok(run.execute(store, None, &mut Nobody)?)
}

pub(super) fn settings(request: &Request) -> RunSettings {
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
    request: &Request,
) -> Result<RunPlan, MineError> {
    let loaded = load::load(suite, settings, &request.host)?;
    let problems = loaded.problems.render(&loaded.sources, Style::PLAIN);
    loaded.plan.ok_or(MineError::Drafts(problems))
}

/// Grades the work of a run again, and returns its state then.
fn graded_again(
    suite: &Utf8Path,
    run: &Utf8Path,
    request: &Request,
) -> Result<Option<RunState>, MineError> {
    let open = OpenRun::open(run)?;
    let names = SelectionSettings::default();
    let settings = RunSettings {
        offline_tests: true,
        ..open.settings_for(&names, request.concurrency)
    };
    let mut plan = plan(suite, &settings, request)?;
    plan.adopt(&open.past.state);
    let prepared = open.prepare(&plan, &settings, request.host.clone())?;
    let regraded = Regrading::new(open, prepared, &plan).run(&|_| {})?;
    Ok(regraded.map(|regraded| regraded.after))
}

/// Returns why an eval is not proven, if it is not.
pub(super) fn refusal(proof: &Proof<'_>, request: &Request) -> Option<Refusal> {
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

/// Watches nothing: the end of a draft is told.
struct Nobody;

impl Observer for Nobody {
    fn event(&mut self, _: &Event, _: &RunState) {}

    fn tick(&mut self, _: Timestamp, _: &RunState) {}
}
