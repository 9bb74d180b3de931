//! The change that each event makes, one function for each kind that changes more than a field or two.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::spent::Reports;
use super::{Grading, Live, RunState, Trial};
use crate::config::adaptive::Adaptive;
use crate::plan::VariantName;
use crate::run::event::{
    Event, EventKind, Phase, RegradedTrial, RunStart, RunStatus, StopReason, TrialHead,
};
use crate::run::outcome::{Attempt, Status, TrialReport};
use crate::transcript::Usage;

impl RunState {
    /// Folds a journal.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut state = RunState::default();
        for event in events {
            state.apply(event);
        }
        state
    }

    /// Applies one event. An event about an unknown trial changes nothing.
    pub fn apply(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunStarted(start) => self.run_started(start, event.at),
            EventKind::RunResumed {
                terca_version,
                concurrency,
            } => {
                self.start.terca_version.clone_from(terca_version);
                self.start.concurrency = *concurrency;
                self.resumed();
            }
            EventKind::RoundStarted { trials, .. } => self.round_started(trials),
            EventKind::TrialStarted { trial, on } => {
                self.trial_started(*trial, on.as_deref(), event.at);
            }
            EventKind::PhaseStarted { trial, phase } => {
                self.phase_started(*trial, *phase, event.at);
            }
            EventKind::Progress {
                trial,
                doing,
                usage,
            } => self.progress(*trial, doing, *usage),
            EventKind::TrialFinished { trial, report } => self.trial_finished(*trial, report),
            EventKind::AttemptFailed { trial, report, .. } => self.attempt_failed(*trial, report),
            // News for the display alone.
            EventKind::StepsFound { .. } | EventKind::StepMade { .. } => {}
            EventKind::VariantStopped(stopped) => self.stopped_variants.push(stopped.clone()),
            EventKind::Regraded {
                grading,
                other_tests,
                trials,
            } => self.regraded(*grading, other_tests, trials),
            EventKind::Stopping { reason } => self.stop(*reason),
            EventKind::RunFinished { status } => {
                self.status = *status;
                self.finished_at = Some(event.at);
            }
        }
    }

    /// Trials beyond the fewest repetitions of an adaptive run are spare until a round calls them.
    fn run_started(&mut self, start: &RunStart, at: Timestamp) {
        let mut start = start.clone();
        let heads = std::mem::take(&mut start.trials);
        let fewest = start.adaptive.map_or(u32::MAX, |bounds| bounds.min);
        let variants = variants(&heads);
        let is_called = |head: &TrialHead| head.repetition <= fewest;
        let (called, spare) = heads.into_iter().partition(is_called);
        *self = RunState {
            start,
            started_at: Some(at),
            variants,
            spare,
            ..RunState::default()
        };
        self.call(called);
    }

    /// Adds trials that are to run.
    fn call(&mut self, heads: Vec<TrialHead>) {
        let pending = Arc::new(TrialReport::pending());
        let mut called = Vec::with_capacity(heads.len());
        for head in heads {
            let variant = self.variant_position(&head.environment, &head.experiment);
            // Every variant of the plan is known; a trial of another one changes nothing.
            let head = Arc::new(head);
            let trial = |variant| Trial::pending(head, pending.clone(), variant);
            called.extend(variant.map(trial));
        }
        self.trials.extend(called);
        self.trials.sort_by_key(|trial| trial.head.id);
        self.counts.total = self.trials.len();
    }

    pub(super) fn variant_position(&self, environment: &str, experiment: &str) -> Option<usize> {
        self.variants.iter().position(|variant| {
            variant.experiment == experiment && variant.environment == environment
        })
    }

    /// Trials in flight have not run, and the reason to stop is over.
    fn resumed(&mut self) {
        for id in std::mem::take(&mut self.in_flight) {
            self.land(id);
        }
        self.status = RunStatus::Running;
        self.finished_at = None;
        self.stopping = None;
        self.stopped_variants.clear();
    }

    fn round_started(&mut self, ids: &[u32]) {
        let ids: HashSet<u32> = ids.iter().copied().collect();
        let is_called = |head: &TrialHead| ids.contains(&head.id);
        let (called, spare): (Vec<TrialHead>, _) = std::mem::take(&mut self.spare)
            .into_iter()
            .partition(is_called);
        self.spare = spare;
        self.call(called);
    }

    /// Trials that a round asked for and nobody can pay for are spare again: the comparisons go by those that ran.
    fn give_back(&mut self) {
        let Some(Adaptive { min, .. }) = self.start.adaptive else {
            return;
        };
        let is_begun = |trial: &Trial| {
            trial.live.is_some()
                || trial.report.status != Status::Pending
                || !trial.earlier.is_empty()
                // A foreign journal may end a trial with any status.
                || trial.reports != Reports::default()
        };
        let trials = std::mem::take(&mut self.trials).into_iter();
        let (kept, given): (_, Vec<Trial>) =
            trials.partition(|trial| trial.head.repetition <= min || is_begun(trial));
        self.trials = kept;
        self.counts.total = self.trials.len();
        let heads = given
            .into_iter()
            .map(|trial| Arc::unwrap_or_clone(trial.head));
        self.spare.extend(heads);
        self.spare.sort_by_key(|head| head.id);
    }

    fn trial_mut(&mut self, id: u32) -> Option<&mut Trial> {
        let index = self.position(id)?;
        Some(&mut self.trials[index])
    }

    /// Returns a trial, which is in flight no longer.
    fn land(&mut self, id: u32) -> Option<&mut Trial> {
        self.in_flight.retain(|other| *other != id);
        let trial = self.trial_mut(id)?;
        trial.live = None;
        Some(trial)
    }

    fn trial_started(&mut self, id: u32, on: Option<&str>, at: Timestamp) {
        // Started once more, after a crash say: still in flight once.
        let Some(trial) = self.land(id) else {
            return;
        };
        // The folder is cleared for this attempt.
        if !trial.report.evidence.is_empty() {
            Arc::make_mut(&mut trial.report).evidence.clear();
        }
        trial.live = Some(Live {
            since: at,
            on: on.map(str::to_owned),
            phase: Phase::Setup,
            phase_since: at,
            doing: String::new(),
            usage: Usage::default(),
        });
        self.in_flight.push(id);
    }

    fn trial_finished(&mut self, id: u32, report: &TrialReport) {
        let Some(trial) = self.land(id) else {
            return;
        };
        let before = std::mem::replace(&mut trial.report, Arc::new(report.clone()));
        // Other work, of which there is one grading.
        trial.earlier_gradings.clear();
        trial.regraded_by = None;
        if before.status == Status::Error {
            trial.earlier.push(Attempt::of(&before));
        }
        trial.pay_attempt(report);
        self.recount(before.status, report.status);
    }

    fn attempt_failed(&mut self, id: u32, report: &TrialReport) {
        let Some(trial) = self.land(id) else {
            return;
        };
        trial.earlier.push(Attempt::of(report));
        trial.pay_attempt(report);
    }

    fn regraded(
        &mut self,
        grading: u32,
        other_tests: &BTreeMap<String, String>,
        trials: &[RegradedTrial],
    ) {
        self.grading = Some(grading);
        for RegradedTrial { trial, report } in trials {
            let Some(trial) = self.trial_mut(*trial) else {
                continue;
            };
            let old = std::mem::replace(&mut trial.report, Arc::new(report.clone()));
            let tests = other_tests.get(&trial.head.eval).cloned();
            trial.earlier_gradings.push(Grading {
                status: old.status,
                score: old.score,
                tests: std::mem::replace(&mut trial.regraded_by, tests),
            });
            trial.pay_judges(report);
            self.recount(old.status, report.status);
        }
    }

    /// A trial that ends a second time, in a resumed run say, counts as it ended last.
    fn recount(&mut self, before: Status, now: Status) {
        self.counts.change(before, |count| count - 1);
        self.counts.change(now, |count| count + 1);
    }

    fn stop(&mut self, reason: StopReason) {
        self.stopping = Some(reason);
        if reason == StopReason::Budget {
            self.give_back();
        }
    }

    fn phase_started(&mut self, id: u32, phase: Phase, at: Timestamp) {
        if let Some(live) = self.live(id) {
            live.phase = phase;
            live.phase_since = at;
            live.doing.clear();
        }
    }

    fn progress(&mut self, id: u32, doing: &str, usage: Usage) {
        if let Some(live) = self.live(id) {
            doing.clone_into(&mut live.doing);
            live.usage = usage;
        }
    }

    fn live(&mut self, id: u32) -> Option<&mut Live> {
        self.trial_mut(id)?.live.as_mut()
    }
}

/// The variants that a plan names, in its order.
fn variants(heads: &[TrialHead]) -> Vec<VariantName> {
    let mut known = HashSet::new();
    heads
        .iter()
        .filter(|head| known.insert((&head.environment, &head.experiment)))
        .map(|head| VariantName {
            environment: head.environment.clone(),
            experiment: head.experiment.clone(),
        })
        .collect()
}
