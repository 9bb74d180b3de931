//! Proves drafts in a sandbox: the commit passes its tests, doing nothing and cheating do not, every time.

use std::collections::BTreeMap;

use camino::Utf8Path;
use jiff::Timestamp;
use terca_core::analysis::results::Results;
use terca_core::analysis::validation::{Flaw, Proof, proofs};
use terca_core::config::sandbox::Sandbox;
use terca_core::new_suite::mine::{Reason, Refusal};
use terca_core::run::event::Event;
use terca_core::run::observer::Observer;
use terca_core::run::settings::{RunSettings, SelectionSettings};
use terca_core::run::state::RunState;
use terca_core::text::diagnostic::Style;
use terca_core::trial_error::ErrorKind;

use super::MineError;
use crate::host::environment::Host;
use crate::run::load::{self, RunPlan};
use crate::run::regrade::Regrading;
use crate::run::resume::OpenRun;
use crate::run::start::{PreparedRun, StartOptions};

/// Further gradings of the same work, which must end in the same way.
const REGRADES: u32 = 3;

/// How drafts are proven.
#[derive(Clone)]
pub(super) struct How<'a> {
    pub(super) sandbox: &'a Sandbox,
    pub(super) concurrency: Option<u32>,
    /// The time limit of tests.
    pub(super) test_seconds: f64,
    pub(super) host: &'a Host,
    /// Told how many trials have ended, and of how many.
    pub(super) tell: &'a (dyn Fn(usize, usize) + Sync),
}

/// Returns the refusals by the names of the evals in a suite; `None` when it was interrupted.
pub(super) fn prove(
    suite: &Utf8Path,
    how: &How<'_>,
) -> Result<Option<BTreeMap<String, Refusal>>, MineError> {
    let settings = settings(how);
    let plan = plan(suite, &settings, how)?;
    let run = PreparedRun::new(&plan, &settings, StartOptions::default(), how.host.clone())?;
    let store = run.create_dir()?;
    let finished = run.execute(store, None, &mut Counter(how.tell))?;
    if finished.interrupted {
        return Ok(None);
    }
    let results = Results::of(&finished.state);
    let mut refusals = BTreeMap::new();
    let mut sound = Vec::new();
    for proof in proofs(&results) {
        match refusal(&proof, how) {
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
        let Some(after) = graded_again(suite, &finished.dir, &sound, how)? else {
            return Ok(None);
        };
        let results = Results::of(&after);
        for proof in proofs(&results) {
            let is_sound = sound.iter().any(|name| name == proof.eval);
            if let Some(refusal) = refusal(&proof, how).filter(|_| is_sound) {
                sound.retain(|name| name != proof.eval);
                let detail = refusal.reason.words();
                refusals.insert(proof.eval.to_owned(), Refusal::with(Reason::Flaky, detail));
            }
        }
    }
    Ok(Some(refusals))
}

fn settings(how: &How<'_>) -> RunSettings {
    RunSettings {
        selection: SelectionSettings {
            repetitions: Some(1),
            sandbox: Some(how.sandbox.clone()),
            ..SelectionSettings::default()
        },
        validate: true,
        concurrency: how.concurrency,
        offline_tests: true,
        ..RunSettings::default()
    }
}

/// Makes the plan of a suite that Terca wrote.
pub(super) fn plan(
    suite: &Utf8Path,
    settings: &RunSettings,
    how: &How<'_>,
) -> Result<RunPlan, MineError> {
    let loaded = load::load(suite, settings, how.host)?;
    let problems = loaded.problems.render(&loaded.sources, Style::PLAIN);
    loaded.plan.ok_or(MineError::Drafts(problems))
}

/// Grades the work of a run again, and returns its state then.
fn graded_again(
    suite: &Utf8Path,
    run: &Utf8Path,
    evals: &[String],
    how: &How<'_>,
) -> Result<Option<RunState>, MineError> {
    let open = OpenRun::open(run)?;
    let names = SelectionSettings {
        evals: evals.to_vec(),
        ..SelectionSettings::default()
    };
    let settings = RunSettings {
        offline_tests: true,
        ..open.settings_for(&names, how.concurrency)
    };
    let mut plan = plan(suite, &settings, how)?;
    plan.adopt(&open.past.state);
    let prepared = open.prepare(&plan, &settings, how.host.clone())?;
    let regrading = Regrading::new(open, prepared, &plan);
    let total = regrading.trials();
    let regraded = regrading.run(&|done| (how.tell)(done, total))?;
    Ok(regraded.map(|regraded| regraded.after))
}

/// Returns why an eval is not proven, if it is not.
fn refusal(proof: &Proof<'_>, how: &How<'_>) -> Option<Refusal> {
    let flaws = proof.flaws();
    let has = |flaw: Flaw| flaws.contains(&flaw);
    let trials = [proof.oracle, proof.nop, proof.cheat];
    let mut errors = trials
        .iter()
        .flatten()
        .filter_map(|trial| trial.report.error.as_ref());
    if has(Flaw::Unknown) {
        let refusal = match errors.next() {
            Some(error) if error.kind == ErrorKind::Setup => {
                Refusal::with(Reason::Setup, &error.message)
            }
            Some(error) => Refusal::with(Reason::Unknown, &error.message),
            None => Reason::Unknown.into(),
        };
        return Some(refusal);
    }
    if has(Flaw::Broken) || has(Flaw::NoSolution) {
        let lost = proof
            .oracle
            .and_then(|trial| trial.report.tests.first_loss());
        return Some(match lost {
            Some((_, grade)) if grade.duration_seconds >= how.test_seconds => {
                Refusal::with(Reason::Slow, &grade.message)
            }
            Some((_, grade)) => Refusal::with(Reason::Broken, &grade.message),
            None => Reason::Broken.into(),
        });
    }
    if has(Flaw::Trivial) {
        return Some(Reason::Trivial.into());
    }
    has(Flaw::Gameable).then(|| Reason::Gameable.into())
}

/// Counts trials that have ended.
pub(super) struct Counter<'a>(pub(super) &'a (dyn Fn(usize, usize) + Sync));

impl Observer for Counter<'_> {
    fn event(&mut self, _: &Event, state: &RunState) {
        let trials = state.trials();
        let ended = trials
            .iter()
            .filter(|trial| trial.report.status.is_judged());
        (self.0)(ended.count(), trials.len());
    }

    fn tick(&mut self, _: Timestamp, _: &RunState) {}
}
