//! What each event changes, one function for each kind that changes more than a field or two.

use jiff::Timestamp;

use super::{Counts, Live, RunState, StoppedVariant, Trial};
use crate::config::adaptive::Adaptive;
use crate::run::event::{Event, EventKind, Phase, RegradedTrial, RunStatus, StopReason, TrialHead};
use crate::run::outcome::{Attempt, Status, TrialReport};
use crate::transcript::Usage;

impl RunState {
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut state = RunState::default();
        for event in events {
            state.apply(event);
        }
        state
    }

    pub fn apply(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunStarted {
                run,
                suite,
                terca_version,
                seed,
                concurrency,
                baseline,
                adaptive,
                trials,
            } => {
                *self = RunState {
                    run: run.clone(),
                    suite: suite.clone(),
                    terca_version: terca_version.clone(),
                    seed: *seed,
                    concurrency: *concurrency,
                    baseline: baseline.clone(),
                    started_at: Some(event.at),
                    ..RunState::planned(trials, *adaptive)
                };
            }
            EventKind::RunResumed {
                terca_version,
                concurrency,
            } => {
                self.terca_version.clone_from(terca_version);
                self.concurrency = *concurrency;
                self.resumed();
            }
            EventKind::RoundStarted { trials, .. } => self.round_started(trials),
            EventKind::TrialStarted { trial } => self.trial_started(*trial, event.at),
            EventKind::PhaseStarted { trial, phase } => self.phase_started(*trial, *phase),
            EventKind::Progress {
                trial,
                doing,
                usage,
            } => self.progress(*trial, doing, *usage),
            EventKind::TrialFinished { trial, report } => self.trial_finished(*trial, report),
            EventKind::AttemptFailed { trial, report, .. } => self.attempt_failed(*trial, report),
            EventKind::VariantStopped {
                environment,
                experiment,
                error,
                trials,
            } => {
                let (environment, experiment) = (environment.clone(), experiment.clone());
                let stopped = StoppedVariant {
                    environment,
                    experiment,
                    error: error.clone(),
                    trials: *trials,
                };
                self.stopped_variants.push(stopped);
            }
            EventKind::Regraded { grading, trials } => self.regraded(*grading, trials),
            EventKind::Stopping { reason } => self.stopping(*reason),
            EventKind::RunFinished { status } => {
                self.status = *status;
                self.finished_at = Some(event.at);
            }
        }
    }

    /// Trials beyond the fewest repetitions of an adaptive run are spare until a round calls them.
    fn planned(heads: &[TrialHead], adaptive: Option<Adaptive>) -> Self {
        let at_once =
            |head: &TrialHead| adaptive.is_none_or(|bounds| head.repetition <= bounds.min);
        let (called, spare): (Vec<TrialHead>, _) = heads.iter().cloned().partition(at_once);
        RunState {
            adaptive,
            counts: Counts {
                total: called.len(),
                ..Counts::default()
            },
            trials: called.into_iter().map(Trial::pending).collect(),
            spare,
            ..RunState::default()
        }
    }

    /// What was in flight has not run; what was told about stopping is over.
    fn resumed(&mut self) {
        for index in std::mem::take(&mut self.in_flight) {
            self.trials[index].live = None;
        }
        self.status = RunStatus::Running;
        self.finished_at = None;
        self.stopping = None;
        self.stopped_variants.clear();
    }

    fn round_started(&mut self, ids: &[u32]) {
        let is_called = |head: &TrialHead| ids.contains(&head.id);
        let (called, spare): (Vec<TrialHead>, _) = std::mem::take(&mut self.spare)
            .into_iter()
            .partition(is_called);
        self.spare = spare;
        self.rearrange(|trials| {
            trials
                .into_iter()
                .chain(called.into_iter().map(Trial::pending))
                .collect()
        });
    }

    /// What a round asked for and nobody can pay for is spare again: the comparisons go by what there is.
    fn give_back(&mut self) {
        let Some(Adaptive { min, .. }) = self.adaptive else {
            return;
        };
        let is_begun = |trial: &Trial| {
            trial.live.is_some()
                || trial.report.status != Status::Pending
                || !trial.earlier.is_empty()
        };
        let mut given: Vec<Trial> = Vec::new();
        self.rearrange(|trials| {
            let (kept, rest) = trials
                .into_iter()
                .partition(|trial| trial.head.repetition <= min || is_begun(trial));
            given = rest;
            kept
        });
        self.spare.extend(given.into_iter().map(|trial| trial.head));
        self.spare.sort_by_key(|head| head.id);
    }

    /// Other trials, in the order of their ids; what is in flight stays so.
    fn rearrange(&mut self, change: impl FnOnce(Vec<Trial>) -> Vec<Trial>) {
        let flying: Vec<u32> = self
            .in_flight
            .iter()
            .map(|index| self.trials[*index].head.id)
            .collect();
        self.trials = change(std::mem::take(&mut self.trials));
        self.trials.sort_by_key(|trial| trial.head.id);
        self.counts.total = self.trials.len();
        self.in_flight = flying
            .into_iter()
            .filter_map(|id| self.position(id))
            .collect();
    }

    fn trial_started(&mut self, id: u32, at: Timestamp) {
        let Some(index) = self.position(id) else {
            return;
        };
        self.trials[index].live = Some(Live {
            since: at,
            phase: Phase::Setup,
            doing: String::new(),
            usage: Usage::default(),
        });
        // Started once more, after a crash say: still in flight once.
        self.in_flight.retain(|other| *other != index);
        self.in_flight.push(index);
    }

    fn trial_finished(&mut self, id: u32, report: &TrialReport) {
        let Some(index) = self.position(id) else {
            return;
        };
        let trial = &mut self.trials[index];
        trial.live = None;
        let before = std::mem::replace(&mut trial.report, report.clone());
        if before.status == Status::Error {
            trial.earlier.push(Attempt::of(&before));
        }
        self.in_flight.retain(|other| *other != index);
        self.recount(before.status, report.status);
    }

    fn attempt_failed(&mut self, id: u32, report: &TrialReport) {
        let Some(index) = self.position(id) else {
            return;
        };
        let trial = &mut self.trials[index];
        trial.live = None;
        trial.earlier.push(Attempt::of(report));
        self.in_flight.retain(|other| *other != index);
    }

    fn regraded(&mut self, grading: u32, trials: &[RegradedTrial]) {
        self.grading = grading;
        for RegradedTrial { trial, report } in trials {
            let Some(index) = self.position(*trial) else {
                continue;
            };
            let before = std::mem::replace(&mut self.trials[index].report, report.clone());
            self.recount(before.status, report.status);
        }
    }

    /// A trial that ends a second time, in a resumed run say, counts as it ended last.
    fn recount(&mut self, before: Status, now: Status) {
        self.counts.change(before, |count| count - 1);
        self.counts.change(now, |count| count + 1);
    }

    fn stopping(&mut self, reason: StopReason) {
        self.stopping = Some(reason);
        if reason == StopReason::Budget {
            self.give_back();
        }
    }

    fn phase_started(&mut self, id: u32, phase: Phase) {
        if let Some(live) = self.live(id) {
            live.phase = phase;
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
        let index = self.position(id)?;
        self.trials[index].live.as_mut()
    }
}
