//! Grades the trials of a run again, with the tests of the suite as it is now.
//!
//! The new grades are recorded all at once when the last one is known: a run shows one grading or the next, never
//! half of each. Earlier gradings stay in `gradings/` and in the journal.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use camino::Utf8PathBuf;
use terca_core::plan::TrialSpec;
use terca_core::plan::fingerprint::CaseFingerprint;
use terca_core::run::event::{Event, EventKind, RegradedTrial};
use terca_core::run::outcome::TrialReport;
use terca_core::run::settings::{RunSettings, SelectionSettings};
use terca_core::run::state::RunState;

use crate::host::steady_clock;
use crate::locked;
use crate::run::load::RunPlan;
use crate::run::past_runs::{self, RunsError};
use crate::run::resume::OpenRun;
use crate::run::start::PreparedRun;
use crate::run::store::StoreError;
use crate::run::trial_thread::Mailbox;
use crate::trial::{Context, Ungradable, is_gradable, regrade};
use crate::workspace::saved::restore::RestoreError;

/// The trials that are graded again, and how.
#[derive(Debug)]
pub struct Regrading {
    run: OpenRun,
    context: Arc<Context>,
    /// Kept, so that a signal still stops the tests.
    _mailbox: Mailbox,
    /// The trials to be graded, and their reports so far.
    tasks: Vec<(TrialSpec, Arc<TrialReport>)>,
    /// The hash of the tests of each eval whose tests are not known to be those of the run.
    other_tests: BTreeMap<String, String>,
    at_once: usize,
    /// Trials whose workspaces were not kept: they stay as they were graded.
    pub not_kept: usize,
    /// The first trial whose files are not those of its end, by its directory, and the reason. Nothing is graded
    /// then: a part of a run would be graded with other tests than the rest.
    pub damaged: Option<(Utf8PathBuf, RestoreError)>,
}

/// The run before and after it was graded again.
#[derive(Debug)]
pub struct Regraded {
    /// The state before.
    pub before: RunState,
    /// The state now.
    pub after: RunState,
    /// The way in which its files are not as they were written: somebody changed them meanwhile.
    pub damage: Option<RunsError>,
}

impl OpenRun {
    /// Returns the settings of the run for a grading of these evals and variants; where none are named, those that
    /// the run was started with.
    pub fn settings_for(&self, names: &SelectionSettings, concurrency: Option<u32>) -> RunSettings {
        let mut settings = self.settings();
        settings.selection.choose(names);
        settings.concurrency = concurrency.or(settings.concurrency);
        settings
    }
}

impl Regrading {
    /// Finds what can be graded.
    pub fn new(run: OpenRun, prepared: PreparedRun<'_>, plan: &RunPlan) -> Self {
        let at_once = prepared.at_once();
        let own = past_runs::fingerprints(&run.past.dir).unwrap_or_default();
        let other_tests = other_tests(&own, &prepared.fingerprints);
        let (context, _, mailbox) = prepared.into_context(&run.past.dir);
        let mut tasks = Vec::new();
        let mut not_kept = 0;
        let mut damaged = None;
        for trial in &plan.trials {
            let Some(known) = run.past.state.trial(trial.id) else {
                continue;
            };
            match is_gradable(trial, &known.report, &context) {
                Ok(()) => tasks.push((trial.clone(), known.report.clone())),
                Err(Ungradable::NotKept) => not_kept += 1,
                Err(Ungradable::Damaged(error)) => {
                    damaged.get_or_insert((trial.dir.clone(), error));
                }
                Err(Ungradable::NotRun) => {}
            }
        }
        Regrading {
            run,
            context,
            _mailbox: mailbox,
            tasks,
            other_tests,
            at_once,
            not_kept,
            damaged,
        }
    }

    /// Returns the number of trials to be graded.
    pub fn trials(&self) -> usize {
        self.tasks.len()
    }

    /// Runs the tests and records the grades; `None` when it was interrupted. `progress` is called after each trial
    /// with the number done.
    pub fn run(
        mut self,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Option<Regraded>, StoreError> {
        let grading = self.run.past.state.grading() + 1;
        let Some(trials) = self.grade(grading, progress) else {
            return Ok(None);
        };
        let regraded = EventKind::Regraded {
            grading,
            other_tests: std::mem::take(&mut self.other_tests),
            trials,
        };
        self.record(regraded).map(Some)
    }

    /// Returns the new reports in the order of the tasks; `None` when it was interrupted.
    fn grade(&self, grading: u32, progress: &(dyn Fn(usize) + Sync)) -> Option<Vec<RegradedTrial>> {
        let tasks = &self.tasks;
        let context = &*self.context;
        let next = AtomicUsize::new(0);
        let done: Mutex<BTreeMap<usize, TrialReport>> = Mutex::default();
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some((trial, old)) = tasks.get(index) else {
                    return;
                };
                let Some(report) = regrade(trial, old, grading, context) else {
                    return;
                };
                let mut done = locked(&done);
                done.insert(index, report);
                progress(done.len());
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.at_once.clamp(1, tasks.len().max(1)) {
                scope.spawn(work);
            }
        });
        let done = std::mem::take(&mut *locked(&done));
        if done.len() < tasks.len() {
            return None;
        }
        let reports = tasks.iter().zip(done.into_values());
        let reports = reports.map(|((trial, _), report)| RegradedTrial {
            trial: trial.id,
            report,
        });
        Some(reports.collect())
    }

    /// Puts the earlier results aside, then records the new ones in one line.
    fn record(&mut self, kind: EventKind) -> Result<Regraded, StoreError> {
        let before = self.run.past.state.clone();
        let store = &mut self.run.store;
        store.keep_grading(&before)?;
        let event = Event {
            seq: self.run.past.next_sequence(),
            at: steady_clock::now(),
            kind: kind.masked(&self.context.mask),
        };
        store.append(&event)?;
        let mut after = before.clone();
        after.apply(&event);
        let damage = store.conclude(&after)?;
        Ok(Regraded {
            before,
            after,
            damage,
        })
    }
}

/// Returns the hashes of the tests that differ from the run's own, or whose equality is not known, by eval.
fn other_tests(own: &[CaseFingerprint], now: &[CaseFingerprint]) -> BTreeMap<String, String> {
    let same = |print: &CaseFingerprint| {
        let known = own.iter().find(|other| other.eval == print.eval);
        let known = known.and_then(CaseFingerprint::tests);
        known.is_some() && known == print.tests()
    };
    let others = now.iter().filter(|print| !same(print));
    others
        .map(|print| (print.eval.clone(), print.tests().unwrap_or_default()))
        .collect()
}
