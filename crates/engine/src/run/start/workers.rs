//! The workers of a run: chosen, told about the run, and waited for.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use terca_core::plan::workers::chosen_workers;
use terca_core::run::run_file::CaseSandbox;
use terca_core::run::settings::RunSettings;
use terca_core::text::diagnostic::Diagnostics;
use terca_core::worker_pool::WorkerPool;

use super::{PreparedRun, StartError};
use crate::remote::message::{Opened, Order};
use crate::remote::{Ending, OwnProgram, WorkerError, suite_cache};
use crate::run::crew::{Crew, CrewRequest};
use crate::run::load::RunPlan;
use crate::run::trial_thread::{Message, SlotNews};

/// The workers of a run.
#[derive(Debug)]
pub(super) struct Workers {
    /// Trials run on this machine, too.
    pub(super) is_local: bool,
    /// The slots of this machine, where there are workers beside it.
    pub(super) local_slots: Option<usize>,
    pub(super) pools: Vec<WorkerPool>,
    /// The slots in all; `None` where trials run on this machine alone.
    pub(super) slots: Option<usize>,
}

impl Workers {
    /// Returns the workers that the settings name. Unknown names were reported when the plan was made.
    pub(super) fn chosen(plan: &RunPlan, settings: &RunSettings) -> Self {
        let mut known = Diagnostics::default();
        let chosen = chosen_workers(&plan.suite, &settings.on, &mut known);
        let (is_local, pools) = match chosen {
            Some(chosen) => (chosen.is_local, chosen.pools.into_iter().cloned().collect()),
            None => (true, Vec::new()),
        };
        let pools: Vec<WorkerPool> = pools;
        let own = match plan.suite.local_slots {
            Some(slots) => slots as usize,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let local_slots = (is_local && !pools.is_empty()).then_some(own);
        let of_pools = pools
            .iter()
            .map(|pool| pool.places().len() * pool.slots as usize);
        let slots = of_pools.sum::<usize>() + local_slots.unwrap_or(0);
        Workers {
            is_local,
            local_slots,
            slots: (!pools.is_empty()).then_some(slots),
            pools,
        }
    }
}

impl PreparedRun<'_> {
    /// Returns the names of the pools that its workers are of.
    pub fn worker_places(&self) -> Vec<String> {
        let pools = self.workers.pools.iter();
        pools.map(|pool| pool.name.clone()).collect()
    }

    /// Starts the workers, and waits until the first one is ready.
    pub fn connect(&mut self) -> Result<(), StartError> {
        if self.workers.pools.is_empty() {
            return Ok(());
        }
        let request = self.crew_request()?;
        let crew = Crew::start(request, &self.mailbox.0).map_err(StartError::NoWorkDir)?;
        self.crew = Some(self.wait_for_first(crew)?);
        Ok(())
    }

    fn crew_request(&self) -> Result<CrewRequest, StartError> {
        let dir = self.work.new_dir().map_err(StartError::NoWorkDir)?;
        let parcel = dir.join("suite");
        let suite = suite_cache::write_parcel(&parcel, |packer| self.sealed.pack(packer))
            .map_err(StartError::NoCopyOfSuite)?;
        let sandboxes = OnceLock::new();
        if self.workers.is_local {
            let _first = sandboxes.set(self.opened().sandboxes);
        }
        let pools = self.workers.pools.clone();
        Ok(CrewRequest {
            local: self.workers.local_slots,
            most: self.at_once().min(self.plan.order.len()).max(1),
            order: Order {
                suite,
                suite_dir: self.plan.suite.root.clone(),
                settings: self.settings_of_workers(),
                variables: self.plan.variables_for_workers(&self.host),
                fingerprints: self.fingerprints.clone(),
                rebuild_layers: self.program.rebuild_layers,
                settled: self.settled.clone(),
            },
            sandboxes,
            parcel,
            dir,
            version: self.program.version.to_owned(),
            own_program: OwnProgram::for_pools(&pools).map_err(StartError::NoWorkDir)?,
            launcher: self.launcher.clone(),
            unpackers: Default::default(),
            ending: Ending::default(),
            pools,
        })
    }

    /// Returns the settings with which a worker comes to the same plan.
    fn settings_of_workers(&self) -> RunSettings {
        let mut settings = self.settings.clone();
        settings.selection.seed = Some(self.plan.seed);
        // Only the files of these are sent.
        let trials = self.plan.plan.trials.iter();
        let evals: BTreeSet<String> = trials.map(|trial| trial.case.eval.name.clone()).collect();
        settings.selection.evals = evals.into_iter().collect();
        settings.on.clear();
        settings
    }

    /// Waits until a slot is ready, and keeps what its worker tells about the run.
    fn wait_for_first(&mut self, mut crew: Crew) -> Result<Crew, StartError> {
        while !crew.has_idle() {
            match self.mailbox.1.recv() {
                Ok(Message::Slot(news)) => {
                    if let SlotNews::Ready { opened, .. } = &*news {
                        self.opened = self.opened.take().or_else(|| opened.clone());
                    }
                    crew.hear(*news);
                }
                Ok(Message::Signal) | Err(_) => {
                    return Err(StartError::Worker {
                        place: String::new(),
                        error: WorkerError::Interrupted,
                    });
                }
                Ok(Message::Trial(_) | Message::Late { .. } | Message::Suspend { .. }) => {}
            }
            if let Some((place, error)) = crew.failure().cloned() {
                return Err(StartError::Worker { place, error });
            }
        }
        Ok(crew)
    }

    /// Returns the facts that a worker tells its coordinator.
    pub fn opened(&self) -> Opened {
        let sandbox_of = |asked| CaseSandbox {
            contained_by: self.sandboxes.contained_by(asked),
            image: self.sandboxes.image(asked).cloned(),
        };
        let cases = self.plan.plan.cases();
        Opened {
            sandboxes: cases
                .map(|case| sandbox_of(case.variant.sandbox.as_ref()))
                .collect(),
            networks: self.networks().into_iter().collect(),
            not_contained: self.not_contained(),
        }
    }
}
