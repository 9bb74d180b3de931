//! Continues a run that ended before its plan did, by its user, by a crash or by a power cut.
//!
//! Finished trials stay. The others run with the same plan, seed and settings.

use camino::Utf8Path;
use terca_core::analysis::rounds;
use terca_core::plan::fingerprint::differences;
use terca_core::run::event::RunStatus;
use terca_core::run::outcome::Status;
use terca_core::run::run_file::RunFile;
use terca_core::run::settings::RunSettings;
use terca_core::run::state::Trial;

use crate::host::environment::Host;
use crate::run::load::RunPlan;
use crate::run::past_runs::{self, PastRun};
use crate::run::start::{PreparedRun, StartError, StartOptions};
use crate::run::store::{Store, StoreError};
use crate::sandbox::SandboxError;

/// An earlier run, held so that nobody else continues it.
#[derive(Debug)]
pub struct OpenRun {
    pub(super) store: Store,
    /// The run so far.
    pub past: PastRun,
    /// The settings and the plan that it was started with.
    pub file: RunFile,
}

/// The trials of an earlier run that are done, and those that are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Remaining {
    /// Trials that stay as they are.
    pub done: usize,
    /// Trials that run now.
    pub to_run: usize,
    /// Tells whether further rounds may follow, in an adaptive run.
    pub more_as_needed: bool,
    /// Tells whether the run is complete: there is nothing to do, and nothing to record.
    pub is_over: bool,
}

impl OpenRun {
    /// Opens the run in a directory.
    pub fn open(dir: &Utf8Path) -> Result<Self, StoreError> {
        let file = past_runs::run_file(dir);
        let (store, past) = Store::reopen(dir)?;
        Ok(OpenRun {
            store,
            past,
            file: file?,
        })
    }

    /// Returns the settings of the run, with the seed that was chosen for it.
    pub fn settings(&self) -> RunSettings {
        let mut settings = self.file.settings.clone();
        settings.selection.seed = Some(self.file.seed);
        settings
    }

    /// Reduces the plan of the suite as it is now to what is left of the run.
    pub fn keep_remaining(&self, plan: &mut RunPlan, errors_too: bool) -> Remaining {
        let state = &self.past.state;
        // A run that died before its first event has no trials yet: all of the plan is left.
        if !self.has_begun() {
            return Remaining {
                to_run: plan.order.len(),
                ..Remaining::default()
            };
        }
        plan.adopt(state);
        let is_left = |id: u32| {
            let trial = state.trial(id);
            trial.is_some_and(|trial| is_open(trial, errors_too))
        };
        let trials = &plan.trials;
        plan.order.retain(|index| {
            let id = trials[*index].id;
            is_left(id) || state.spare().iter().any(|head| head.id == id)
        });
        let to_run = plan
            .order
            .iter()
            .filter(|index| is_left(trials[**index].id))
            .count();
        let done = state
            .trials()
            .iter()
            .filter(|trial| !is_open(trial, errors_too))
            .count();
        Remaining {
            done,
            to_run,
            more_as_needed: !state.spare().is_empty(),
            // A run that died after its last trial has yet to record that it is over.
            is_over: state.status() == RunStatus::Complete
                && to_run == 0
                && rounds::next(state).is_none(),
        }
    }

    /// Makes everything that trials need, with the sandboxes that the run was started with.
    pub fn prepare<'a>(
        &self,
        plan: &'a RunPlan,
        settings: &'a RunSettings,
        host: Host,
    ) -> Result<PreparedRun<'a>, StartError> {
        let options = StartOptions {
            settled: self.file.settled_sandboxes(),
            ..StartOptions::default()
        };
        let prepared = PreparedRun::new(plan, settings, options, host);
        prepared.map_err(|error| match error {
            StartError::Sandbox(SandboxError::Files(_) | SandboxError::UnknownDefault(_)) => error,
            StartError::Sandbox(error) => StartError::SandboxOfRun(error),
            other => other,
        })
    }

    /// Writes the results again. A run that died between its last event and its end has older ones.
    pub fn write_results(&mut self) -> Result<(), StoreError> {
        self.store.write_results(&self.past.state)
    }

    /// A part of a plan may have begun, and ended, without a trial.
    fn has_begun(&self) -> bool {
        self.past.next_sequence() > 0
    }

    /// Returns what has changed in the suite since the run was started.
    pub fn changes(&self, run: &PreparedRun<'_>) -> Vec<String> {
        differences(&self.file.fingerprints, &run.fingerprints)
    }

    /// Returns the directory, and what has happened so far where anything has.
    pub fn into_parts(self) -> (Store, Option<PastRun>) {
        let has_begun = self.has_begun();
        (self.store, Some(self.past).filter(|_| has_begun))
    }
}

fn is_open(trial: &Trial, errors_too: bool) -> bool {
    match trial.report.status {
        Status::Pending | Status::Interrupted => true,
        Status::Error => errors_too,
        Status::Passed | Status::Partial | Status::Failed | Status::Unverified => false,
    }
}
