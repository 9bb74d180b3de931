//! Proves drafts in a sandbox: the commit passes its tests, doing nothing and cheating do not, every time.

use camino::Utf8Path;
use jiff::Timestamp;
use terca_core::analysis::results::Results;
use terca_core::analysis::validation::{Flaw, Proof, proofs};
use terca_core::new_suite::mine::draft::Draft;
use terca_core::new_suite::mine::{Reason, Refusal};
use terca_core::run::event::Event;
use terca_core::run::observer::Observer;
use terca_core::run::settings::{RunSettings, SelectionSettings};
use terca_core::run::state::RunState;
use terca_core::text::diagnostic::Style;
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;

use super::hear::Heard;
use super::{MineError, Request};
use crate::run::load::{self, RunPlan};
use crate::run::regrade::Regrading;
use crate::run::resume::OpenRun;
use crate::run::scheduler::FinishedRun;
use crate::run::start::{PreparedRun, StartOptions};
use crate::workspace::layers::remove_private;

/// Further gradings of the same work, which must end in the same way.
const REGRADES: u32 = 2;

/// Tricks that work where tests load the code that they test, or let it read them, as those of projects do.
const OF_PROJECTS: [&str; 4] = ["expected", "source", "asserts", "equal"];

/// The end of a proof: `None` when it was interrupted, or else perhaps the reason why nothing is proven.
type Proven = Result<Option<Result<(), Refusal>>, MineError>;

/// Proves the only eval of a suite. Where runners report each test, it finds those that must pass first, and demands them.
pub(super) fn prove(suite: &Utf8Path, draft: &mut Draft, request: &Request) -> Proven {
    let settings = settings(request);
    let mut plan = plan(suite, &settings, request)?;
    let heard = Heard::default();
    heard.listen(&mut plan.trials);
    let run = PreparedRun::new(
        &plan,
        &settings,
        StartOptions::default(),
        request.host.clone(),
    )?;
    let layers = run.context.base_layers.clone();
    let store = run.create_dir()?;
    let proven = match run.execute(store, None, &mut Nobody) {
        Ok(finished) => prove_again(suite, draft, request, &finished, &heard),
        Err(error) => Err(error.into()),
    };
    // Other drafts have no use for them, and they may be large.
    remove_private(suite, &layers.all());
    proven
}

/// Proves the end of a run by more gradings.
fn prove_again(
    suite: &Utf8Path,
    draft: &mut Draft,
    request: &Request,
    finished: &FinishedRun,
    heard: &Heard,
) -> Proven {
    if finished.interrupted {
        return Ok(None);
    }
    let first = refused(&finished.state, request);
    if draft.is_reported() {
        return prove_by_lists(suite, draft, request, (finished, first), heard);
    }
    if let Some(refusal) = first {
        return Ok(Some(Err(refusal)));
    }
    for _ in 0..REGRADES {
        let Some(after) = graded_again(suite, &finished.dir, request, None)? else {
            return Ok(None);
        };
        if let Some(refusal) = refused(&after, request) {
            return Ok(Some(Err(flaky(&refusal))));
        }
    }
    Ok(Some(Ok(())))
}

/// Takes the lists from two gradings, and proves them by a third one.
fn prove_by_lists(
    suite: &Utf8Path,
    draft: &mut Draft,
    request: &Request,
    (finished, first): (&FinishedRun, Option<Refusal>),
    heard: &Heard,
) -> Proven {
    let detail = match first {
        // What tests said is known from their reports.
        Some(Refusal {
            reason: Reason::Setup | Reason::Unknown | Reason::Slow,
            ..
        }) => return Ok(first.map(Err)),
        Some(Refusal {
            reason: Reason::Broken,
            detail,
        }) => detail,
        _ => None,
    };
    let nothing = |reason: Reason| {
        let detail = detail.clone().filter(|_| reason == Reason::Broken);
        Ok(Some(Err(Refusal { reason, detail })))
    };
    if let Err(reason) = heard.lists(draft) {
        return nothing(reason);
    }
    if graded_again(suite, &finished.dir, request, Some(heard))?.is_none() {
        return Ok(None);
    }
    let lists = match heard.lists(draft) {
        Ok(lists) => lists,
        Err(reason) => return nothing(reason),
    };
    let (name, text) = draft.demand(lists);
    fs_err::write(suite.join(&draft.folder).join(name), text)?;
    let Some(after) = graded_again(suite, &finished.dir, request, None)? else {
        return Ok(None);
    };
    Ok(Some(match refused(&after, request) {
        None => Ok(()),
        Some(refusal) if refusal.reason == Reason::Gameable => Err(refusal),
        Some(refusal) => Err(flaky(&refusal)),
    }))
}

/// Returns why the eval of a run is not proven, if it is not.
fn refused(state: &RunState, request: &Request) -> Option<Refusal> {
    let results = Results::of(state);
    let proofs = proofs(&results);
    proofs.iter().find_map(|proof| refusal(proof, request))
}

fn flaky(refusal: &Refusal) -> Refusal {
    Refusal::with(Reason::Flaky, refusal.reason.words())
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
    heard: Option<&Heard>,
) -> Result<Option<RunState>, MineError> {
    let open = OpenRun::open(run)?;
    let names = SelectionSettings::default();
    let settings = RunSettings {
        offline_tests: true,
        ..open.settings_for(&names, request.concurrency)
    };
    let mut plan = plan(suite, &settings, request)?;
    plan.adopt(&open.past.state);
    if let Some(heard) = heard {
        heard.listen(&mut plan.trials);
    }
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
    let names = names_that_count(proof);
    (has(Flaw::Gameable) && !names.is_empty())
        .then(|| Refusal::with(Reason::Gameable, prose::joined(names, ", ")))
}

/// Returns the names of the tricks that a draft falls to and need not.
fn names_that_count(proof: &Proof<'_>) -> Vec<&'static str> {
    let tricks = proof.falls().into_iter().flat_map(|fall| fall.tricks);
    let names = tricks.map(|trick| trick.name);
    names.filter(|name| !OF_PROJECTS.contains(name)).collect()
}

/// Watches nothing: the end of a draft is told.
struct Nobody;

impl Observer for Nobody {
    fn event(&mut self, _: &Event, _: &RunState) {}

    fn tick(&mut self, _: Timestamp, _: &RunState) {}
}
