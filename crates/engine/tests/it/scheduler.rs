//! The scheduler: what is journaled, and when a run stops.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use terca_core::run::event::{Event, EventKind, Phase, RunStart, RunStatus, StopReason, TrialHead};
use terca_core::run::limits::Limits;
use terca_core::run::observer::Observer;
use terca_core::run::outcome::Status;
use terca_core::run::run_file::RunFile;
use terca_core::run::settings::RunSettings;
use terca_core::run::state::RunState;
use terca_engine::run::files::EVENTS;
use terca_engine::run::scheduler::{self, FinishedRun, RunRequest};
use terca_engine::run::slots::Slots;
use terca_engine::run::store::Store;
use terca_engine::run::trial_thread::Message;
use terca_engine::trial::Context;

use crate::support::{Suite, project, read};

/// Calls a function for every event.
struct Watcher<F>(F);

impl<F: FnMut(&Event, &RunState)> Observer for Watcher<F> {
    fn event(&mut self, event: &Event, state: &RunState) {
        (self.0)(event, state);
    }

    fn tick(&mut self, _now: jiff::Timestamp, _state: &RunState) {}
}

/// A suite of one eval with so many repetitions.
fn suite(agent: &str, repetitions: u32, rest: &str) -> Suite {
    Suite::load(project().file(
        "terca.yaml",
        format!(
            "repetitions: {repetitions}\nenvironments: [{{name: e, agent: {{name: command, command: {agent:?}}}}}]\n\
             evals:\n  - name: task\n    prompt: x\n{rest}"
        ),
    ))
}

/// The hands of a test on a run.
struct Hands<'a> {
    context: &'a Context,
    sender: &'a Sender<Message>,
}

/// A `run.json` that names nothing: the scheduler does not read it.
fn run_file() -> RunFile {
    let document = serde_json::json!({
        "schemaVersion": 1, "tercaVersion": "0", "suite": "suite", "description": null, "suiteDir": "/",
        "seed": 1, "concurrency": 1, "baseline": "default", "cases": [], "trials": [], "order": [],
        "command": RunSettings::default(), "fingerprints": [], "createdAt": "2026-11-17T00:00:00Z"
    });
    RunFile::parse(document.to_string().as_bytes()).unwrap()
}

/// Runs every trial of a suite, in the order of the plan.
fn run(
    suite: &mut Suite,
    change: impl FnOnce(&mut RunRequest),
    mut on_event: impl FnMut(&Event, &RunState, &Hands<'_>),
) -> FinishedRun {
    let store = Store::create(
        &suite.project.dir(),
        jiff::civil::date(2026, 1, 1),
        &run_file(),
    )
    .unwrap();
    Arc::get_mut(&mut suite.context).unwrap().run_dir = store.dir.clone();
    let mut request = RunRequest {
        start: RunStart {
            run: store.name.clone(),
            suite: "suite".into(),
            baseline: "default".into(),
            terca_version: "0".into(),
            seed: 1,
            concurrency: 1,
            trials: suite.specs.iter().map(TrialHead::of).collect(),
            ..RunStart::default()
        },
        limits: Limits::overall(1),
        fail_fast: false,
        retries: 0,
        budget_usd: None,
        trials: suite.specs.clone(),
        order: (0..suite.specs.len()).collect(),
        past: None,
    };
    change(&mut request);
    let (sender, receiver) = channel();
    let slots = Slots::local(sender.clone());
    let hands = Hands {
        context: &suite.context,
        sender: &sender,
    };
    let mut watcher = Watcher(|event: &Event, state: &RunState| on_event(event, state, &hands));
    scheduler::run(
        &request, &suite.context, store, &receiver, slots, &mut watcher,
    )
    .unwrap()
}

fn statuses(finished: &FinishedRun) -> Vec<Status> {
    let trials = finished.state.trials().iter();
    trials.map(|trial| trial.report.status).collect()
}

#[test]
fn every_trial_is_run_and_every_event_is_journaled_before_it_is_shown() {
    let mut suite = suite("true", 3, "");
    let mut shown = 0;
    let finished = run(
        &mut suite,
        |_| {},
        |event, _, hands| {
            if event.kind.is_lasting() {
                assert_eq!(event.seq, shown, "in their order");
                shown += 1;
                // The start of the next trial may be there already.
                let journal = read(&hands.context.run_dir.join(EVENTS));
                let line = journal.lines().nth(event.seq as usize).unwrap();
                assert_eq!(serde_json::from_str::<Event>(line).unwrap(), *event);
            }
        },
    );
    assert_eq!(statuses(&finished), [Status::Unverified; 3]);
    assert!(!finished.interrupted);
    assert!(shown >= 2 + 2 * 3, "{shown}");
    suite.assert_nothing_left();
}

#[test]
fn no_more_trials_run_at_once_than_allowed() {
    let mut suite = suite("sleep 0.1", 6, "");
    let mut most = 0;
    let finished = run(
        &mut suite,
        |orders| orders.limits = Limits::overall(3),
        |_, state, _| most = most.max(state.in_flight().len()),
    );
    assert_eq!(statuses(&finished), [Status::Unverified; 6]);
    assert_eq!(most, 3);
    suite.assert_nothing_left();
}

#[test]
fn after_a_failure_no_trial_is_started_if_asked_so() {
    let mut suite = suite("true", 3, "    tests:\n      - fileExists: never\n");
    let mut reason = None;
    let finished = run(
        &mut suite,
        |orders| orders.fail_fast = true,
        |event, _, _| {
            if let EventKind::Stopping { reason: why } = &event.kind {
                reason = Some(*why);
            }
        },
    );
    assert_eq!(
        statuses(&finished),
        [Status::Failed, Status::Pending, Status::Pending]
    );
    assert_eq!(reason, Some(StopReason::FailFast));
    suite.assert_nothing_left();
}

#[test]
fn an_agent_that_is_missing_stops_its_variant() {
    let mut suite = Suite::load(project().file(
        "terca.yaml",
        "repetitions: 3\nenvironments: [{name: e, agent: codex}]\nevals: [{name: task, prompt: x}]\n",
    ));
    let mut left_out = 0;
    let finished = run(
        &mut suite,
        |orders| orders.retries = 2,
        |event, _, _| {
            if let EventKind::VariantStopped(stopped) = &event.kind {
                left_out += stopped.trials;
            }
        },
    );
    assert_eq!(left_out, 2);
    assert_eq!(statuses(&finished)[0], Status::Error);
    let journal = read(&suite.context.run_dir.join(EVENTS));
    assert_eq!(journal.matches("\"trialStarted\"").count(), 1, "{journal}");
    suite.assert_nothing_left();
}

#[test]
fn an_interrupt_ends_what_runs_and_starts_nothing_more() {
    let mut suite = suite("sleep 300", 3, "");
    let mut ended = None;
    let finished = run(
        &mut suite,
        |_| {},
        |event, _, hands| match &event.kind {
            EventKind::PhaseStarted {
                phase: Phase::Agent,
                ..
            } => {
                hands.context.interrupt.stop();
                hands.sender.send(Message::Signal).unwrap();
            }
            EventKind::RunFinished { status } => ended = Some(*status),
            _ => {}
        },
    );
    assert!(finished.interrupted);
    assert_eq!(
        statuses(&finished),
        [Status::Interrupted, Status::Pending, Status::Pending]
    );
    assert_eq!(ended, Some(RunStatus::Interrupted));
    suite.assert_nothing_left();
}
