//! The one loop that talks to the world.
//!
//! Trials run on threads of their own and say what happens over one channel. The loop alone numbers events,
//! journals them, folds them into the state, and shows them, in that order: what is shown is on disk, and there
//! is one writer of truth.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use terca_core::analysis::rounds;
use terca_core::plan::TrialSpec;
use terca_core::run::event::{
    Event, EventKind, RunStart, RunStatus, StopReason, StoppedVariant, TrialHead,
};
use terca_core::run::limits::Limits;
use terca_core::run::observer::Observer;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::run::queue::Queue;
use terca_core::run::retry;
use terca_core::run::state::{RunState, Trial};
use terca_core::trial_error::{ErrorKind, TrialError};

use crate::host::steady_clock;
use crate::run::past_runs::{PastRun, RunsError};
use crate::run::slots::Slots;
use crate::run::store::{Store, StoreError};
use crate::run::trial_thread::{GivenUp, Message, SlotNews};
use crate::trial::{self, Context};

/// The time between two turns of the observers when nothing happens.
const TICK: Duration = Duration::from_millis(100);
/// After a second interrupt, how long trials have to see their processes dead before Terca leaves anyway.
const LAST_WAIT: Duration = Duration::from_secs(3);

/// The trials of a run, and how they are run.
#[derive(Debug)]
pub struct RunRequest {
    /// The beginning of the run. The waits before further attempts are drawn from its seed.
    pub start: RunStart,
    /// The number of trials in flight, for each agent.
    pub limits: Limits,
    /// No further trial starts after the first that does not pass.
    pub fail_fast: bool,
    /// The number of further attempts at a trial that ended in an error.
    pub retries: u32,
    /// No further trial starts once those that ended have cost this much.
    pub budget_usd: Option<f64>,
    /// The trials, in the order of their ids.
    pub trials: Vec<TrialSpec>,
    /// Positions in `trials`, in the order to start them; spare trials wait until a round needs them.
    pub order: Vec<usize>,
    /// The past of a run that is resumed.
    pub past: Option<PastRun>,
}

/// A run that has come to an end.
#[derive(Debug)]
pub struct FinishedRun {
    /// Its last state.
    pub state: RunState,
    /// Tells whether a signal ended it.
    pub interrupted: bool,
    /// The places of slots that were given up, and the reasons.
    pub given_up: BTreeMap<String, GivenUp>,
    /// No slot was left.
    pub is_without_slots: bool,
    /// The way in which its files are not as they were written: somebody changed them meanwhile.
    pub damage: Option<RunsError>,
    /// Its directory.
    pub dir: Utf8PathBuf,
    /// Tells how the suite changed while the run went on. The run did not notice.
    pub suite_changes: Vec<String>,
    /// A line for each thing of its trials that could not be removed.
    pub not_removed: Vec<String>,
}

/// Runs the trials of a request to their end.
pub fn run(
    request: &RunRequest,
    context: &Arc<Context>,
    store: Store,
    receiver: &Receiver<Message>,
    slots: Slots,
    observer: &mut dyn Observer,
) -> Result<FinishedRun, StoreError> {
    let (state, sequence) = match &request.past {
        Some(past) => (past.state.clone(), past.next_sequence()),
        None => (RunState::default(), 0),
    };
    let mut run = Run {
        request,
        context,
        store,
        observer,
        state,
        sequence,
        queue: Queue::new(&request.trials, request.limits.clone()),
        started: Instant::now(),
        random: fastrand::Rng::with_seed(request.start.seed),
        interrupted: false,
        damage: None,
        unshown: Vec::new(),
        slots,
    };
    let result = run.drive(receiver);
    if result.is_err() {
        // The journal cannot be written any more: nothing is left running, and the caller says why.
        context.interrupt.kill();
        run.drain(receiver);
    }
    result.map(|()| FinishedRun {
        dir: run.store.dir,
        suite_changes: Vec::new(),
        not_removed: Vec::new(),
        is_without_slots: run.slots.have_failed(),
        given_up: run.slots.given_up,
        interrupted: run.interrupted,
        damage: run.damage,
        state: run.state,
    })
}

struct Run<'a> {
    request: &'a RunRequest,
    context: &'a Arc<Context>,
    store: Store,
    observer: &'a mut dyn Observer,
    state: RunState,
    sequence: u64,
    queue: Queue,
    started: Instant,
    random: fastrand::Rng,
    interrupted: bool,
    damage: Option<RunsError>,
    /// Events that are folded in, but not shown: they may not be on the disk yet.
    unshown: Vec<Event>,
    slots: Slots,
}

impl Run<'_> {
    fn drive(&mut self, receiver: &Receiver<Message>) -> Result<(), StoreError> {
        self.begin()?;
        self.tell_cached_steps()?;
        self.settle()?;
        // From the first trial on there are results to look at. Should it fail, it is tried again later.
        let _ = self.store.refresh_results(&self.state);
        let known: HashSet<u32> = self
            .state
            .trials()
            .iter()
            .map(|trial| trial.head.id)
            .collect();
        self.enqueue(|id| known.contains(&id));
        let mut leave_at: Option<Instant> = None;
        loop {
            // The next trial starts before the disk is waited for.
            self.start_trials()?;
            self.settle()?;
            // Should it fail now, it is tried again later, and at the end; the journal has everything.
            let _ = self.store.refresh_results(&self.state);
            self.observer.tick(steady_clock::now(), &self.state);
            if self.context.interrupt.is_kill() {
                let leave_at = *leave_at.get_or_insert_with(|| Instant::now() + LAST_WAIT);
                if Instant::now() >= leave_at {
                    break;
                }
            }
            if self.state.in_flight().len() == 0 && (self.queue.is_empty() || self.is_stopping()) {
                if self.is_stopping() || !self.start_round()? {
                    break;
                }
                continue;
            }
            match receiver.recv_timeout(TICK) {
                Ok(Message::Trial(kind)) => match *kind {
                    EventKind::TrialFinished { trial, report } => {
                        self.trial_ended(trial, report)?;
                    }
                    other => self.record(other)?,
                },
                Ok(Message::Signal) => self.signal()?,
                Ok(Message::Suspend { ready, go_on }) => self.suspend(&ready, &go_on),
                Ok(Message::Slot(news)) => self.slot_changed(*news)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        self.end()
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        let start = self.request.start.clone();
        self.record(match self.request.past {
            Some(_) => EventKind::RunResumed {
                terca_version: start.terca_version,
                concurrency: start.concurrency,
            },
            None => EventKind::RunStarted(Box::new(start)),
        })
    }

    /// Tells which steps of `prepare` are in the cache. Other machines have caches of their own.
    fn tell_cached_steps(&mut self) -> Result<(), StoreError> {
        if !self.slots.are_local() {
            return Ok(());
        }
        let request = self.request;
        let cases = (request.order.iter()).map(|index| &*request.trials[*index].case);
        match trial::cached_steps(self.context, cases) {
            Some(found) => self.record(found),
            None => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), StoreError> {
        // Trials that were still in flight when Terca left at once.
        let in_flight: Vec<u32> = self.state.in_flight().map(|trial| trial.head.id).collect();
        for trial in in_flight {
            let report = TrialReport {
                status: Status::Interrupted,
                ..TrialReport::pending()
            };
            self.record(EventKind::TrialFinished {
                trial,
                report: Box::new(report),
            })?;
        }
        let is_cut = matches!(
            self.state.stopping(),
            Some(StopReason::Interrupted | StopReason::NoWorkers)
        );
        let status = if is_cut {
            RunStatus::Interrupted
        } else {
            RunStatus::Complete
        };
        self.record(EventKind::RunFinished { status })?;
        self.settle()?;
        self.damage = self.store.conclude(&self.state)?;
        Ok(())
    }

    fn stop(&mut self, reason: StopReason) -> Result<(), StoreError> {
        self.record(EventKind::Stopping { reason })
    }

    fn is_stopping(&self) -> bool {
        self.state.stopping().is_some()
    }

    fn start_trials(&mut self) -> Result<(), StoreError> {
        while !self.is_stopping() {
            if self.is_budget_spent() && !self.queue.is_empty() {
                return self.stop(StopReason::Budget);
            }
            if self.may_spend_too_much() || !self.slots.has_idle() {
                break;
            }
            let Some(next) = self.queue.next(self.started.elapsed()) else {
                break;
            };
            let trial = self.request.trials[next].clone();
            let attempt = self.state.trial(trial.id).map_or(1, Trial::next_attempt);
            self.record(EventKind::TrialStarted {
                trial: trial.id,
                on: self.slots.next_node(),
            })?;
            self.slots.start(trial, attempt, self.context);
        }
        Ok(())
    }

    /// Takes note of a slot that is ready, or that is gone. Without any slot the run stops; it can be resumed.
    fn slot_changed(&mut self, news: SlotNews) -> Result<(), StoreError> {
        self.slots.hear(news);
        if !self.slots.have_failed() || self.is_stopping() {
            return Ok(());
        }
        self.stop(StopReason::NoWorkers)
    }

    /// Lets these trials wait for their turn, in the order to start them. Returns their ids.
    fn enqueue(&mut self, is_called: impl Fn(u32) -> bool) -> Vec<u32> {
        let request = self.request;
        let id = |position: &usize| request.trials[*position].id;
        let mut called = request.order.clone();
        called.retain(|position| is_called(id(position)));
        self.queue.extend(&called);
        called.iter().map(id).collect()
    }

    /// Starts one more repetition of what is not decided. Returns whether there is anything to start, or to record.
    fn start_round(&mut self) -> Result<bool, StoreError> {
        let Some(round) = rounds::next(&self.state) else {
            return Ok(false);
        };
        if self.is_budget_spent() {
            self.stop(StopReason::Budget)?;
            return Ok(true);
        }
        // In a run that is resumed, the suite may no longer have them.
        let mut trials = self.enqueue(|id| round.trials.contains(&id));
        if trials.is_empty() {
            return Ok(false);
        }
        trials.sort_unstable();
        self.record(EventKind::RoundStarted {
            repetition: round.repetition,
            undecided: round.undecided,
            trials,
        })?;
        Ok(true)
    }

    fn is_budget_spent(&self) -> bool {
        // A sum of cents: 0.1 + 0.2 is 0.3.
        let is_spent = |budget| self.state.spent().for_budget() + 1e-9 >= budget;
        self.request.budget_usd.is_some_and(is_spent)
    }

    /// Returns whether the trials in flight may spend the rest of the budget, at what those before them took with their
    /// judges. Until one has ended nobody knows, and the first one runs alone.
    fn may_spend_too_much(&self) -> bool {
        let in_flight = self.state.in_flight().len();
        let Some(budget) = self.request.budget_usd.filter(|_| in_flight > 0) else {
            return false;
        };
        let total = self.state.spent();
        let spent = total.for_budget();
        let each = spent / total.trials as f64;
        total.trials == 0 || spent + each * in_flight as f64 + 1e-9 >= budget
    }

    fn trial_ended(&mut self, id: u32, report: Box<TrialReport>) -> Result<(), StoreError> {
        // Trials are in the order of their ids.
        let found = self
            .request
            .trials
            .binary_search_by_key(&id, |trial| trial.id);
        let Ok(position) = found else { return Ok(()) };
        let error = report.error.clone();
        let rate_limited = error
            .as_ref()
            .is_some_and(|error| error.kind == ErrorKind::RateLimit);
        self.queue.ended(position, rate_limited);
        if let Some(wait) = self.wait_before_retry(position, &report) {
            self.queue.again(position, self.started.elapsed() + wait);
            let wait_seconds = (wait.as_secs_f64() * 1000.0).round() / 1000.0;
            return self.record(EventKind::AttemptFailed {
                trial: id,
                report,
                wait_seconds,
            });
        }
        let passed = report.status == Status::Passed;
        self.record(EventKind::TrialFinished { trial: id, report })?;
        if let Some(error) = error.filter(|error| retry::is_hopeless(error.kind)) {
            self.stop_variant(position, error)?;
        }
        if !passed && self.request.fail_fast && !self.is_stopping() {
            self.stop(StopReason::FailFast)?;
        }
        Ok(())
    }

    /// Returns the wait before another attempt; `None` when there is to be none.
    fn wait_before_retry(&mut self, position: usize, report: &TrialReport) -> Option<Duration> {
        let error = report
            .error
            .as_ref()
            .filter(|_| report.status == Status::Error)?;
        let trial = self.state.trial(self.request.trials[position].id);
        let lost = trial.map_or(0, Trial::lost_attempts);
        let is_left = retry::is_left(error.kind, report.attempts, lost, self.request.retries);
        if !is_left || self.is_stopping() || self.queue.is_stopped(position) {
            return None;
        }
        retry::wait(error, report.attempts, self.random.f64())
    }

    fn stop_variant(&mut self, position: usize, error: TrialError) -> Result<(), StoreError> {
        if self.queue.is_stopped(position) {
            return Ok(());
        }
        let variant = &self.request.trials[position].case.variant;
        let is_of_it = |head: &&TrialHead| {
            head.environment == variant.environment && head.experiment == variant.experiment
        };
        let spare = self.state.spare().iter().filter(is_of_it).count();
        let trials = self.queue.stop_variant_of(position) + spare;
        if trials == 0 {
            return Ok(());
        }
        self.record(EventKind::VariantStopped(StoppedVariant {
            environment: variant.environment.clone(),
            experiment: variant.experiment.clone(),
            error,
            trials,
        }))
    }

    fn signal(&mut self) -> Result<(), StoreError> {
        if std::mem::replace(&mut self.interrupted, true) {
            return Ok(());
        }
        self.slots.stop();
        self.stop(StopReason::Interrupted)
    }

    /// Gives the screen back, and waits until Terca has it again.
    fn suspend(&mut self, ready: &Sender<()>, go_on: &Receiver<()>) {
        self.observer.suspend();
        let _ = ready.send(());
        // Closed or told: either way it goes on.
        let _ = go_on.recv();
        self.observer.resume(steady_clock::now(), &self.state);
    }

    /// Number, journal, fold; [`Run::settle`] shows.
    fn record(&mut self, kind: EventKind) -> Result<(), StoreError> {
        let event = Event {
            seq: self.sequence,
            at: steady_clock::now(),
            kind: kind.masked(&self.context.mask),
        };
        if event.kind.is_lasting() {
            self.sequence += 1;
            self.store.append(&event)?;
        }
        self.state.apply(&event);
        self.unshown.push(event);
        Ok(())
    }

    /// Waits until the ends of trials are on the disk, and shows what happened: what is shown is not lost.
    fn settle(&mut self) -> Result<(), StoreError> {
        self.store.settle()?;
        for event in self.unshown.drain(..) {
            self.observer.event(&event, &self.state);
        }
        Ok(())
    }

    /// Waits for the trials in flight without recording anything more.
    fn drain(&mut self, receiver: &Receiver<Message>) {
        let leave_at = Instant::now() + LAST_WAIT;
        while self.state.in_flight().len() > 0 && Instant::now() < leave_at {
            if let Ok(Message::Trial(kind)) = receiver.recv_timeout(TICK) {
                self.state.apply(&Event {
                    seq: self.sequence,
                    at: steady_clock::now(),
                    kind: *kind,
                });
            }
        }
    }
}
