//! Workers: trials that run on another machine, over the standard input and output of a command.
//!
//! Anything that can start a command elsewhere with its input and output connected can have workers: `srun`, `ssh`,
//! `kubectl run -i`, `docker run -i`. The command starts `terca worker` of the same version, which greets:
//!
//! ```text
//! coordinator                                worker
//!                                       ◄──  greeting with version, node and time
//! Open { settings, variables }, suite   ──►
//!                                       ◄──  Opened | Refused
//! Run { trial, attempt }                ──►
//!                                       ◄──  Event …, Ended { report }, files of the trial
//! Stop                                  ──►
//! Ping | Inspect                        ──►
//!                                       ◄──  Alive | Inspected
//! ```
//!
//! - **The connection is the heartbeat.** A worker ends, with everything that it started, when its input closes. It says
//!   that it is there every few seconds. One that is silent for too long is taken for lost.
//! - **Secrets travel in messages**, never in arguments, job scripts or files outside of a trial.
//! - **Archives are plain `tar`**: the suite goes once to each worker, unless its pool says where the suite is there, and
//!   the files of a trial come back ([`crate::tree::archive`]).
//! - A trial is run by the same code as a local one ([`crate::trial`]). The worker knows nothing of the journal, of retries
//!   or of limits: the scheduler sees slots ([`crate::run::slots`]), and is the one writer of truth.
//! - **At least once**: what a worker sends belongs to an attempt at a trial. An attempt that was taken for lost is over.

mod connection;
mod serve;
mod slot;
mod wire;

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;

use terca_core::plan::{Case, TrialSpec};
use terca_core::run::settings::RunSettings;

use crate::locked;
use crate::process::supervise::Launcher;
use crate::run::slots::{RemoteSlots, Slots};
use crate::run::start::PreparedRun;
use crate::run::trial_thread::{GivenUp, Message, SlotId};
use crate::tree::archive::Packer;
use crate::trial::Context;
pub use connection::{Call, Connection, Ending, STARTS_WORKER, WorkerError};
pub use serve::serve;
use slot::{Job, Link, Request, SlotThread};
use wire::Order;
pub use wire::{FromWorker, Hello, ToWorker, Variables};

/// The bytes of a trial's files beside what its agent may write.
const OF_TERCA: u64 = 64 << 20;

/// Returns the most bytes that come back of a trial: its workspace, its output, and what Terca adds.
fn most_bytes(case: &Case) -> u64 {
    let disk = case.limits.disk;
    disk.saturating_mul(2).saturating_add(OF_TERCA)
}

/// The reason why no worker of a run is ready.
#[derive(Debug)]
pub enum NoWorkers {
    /// The user has interrupted it.
    Interrupted,
    /// The suite could not be packed, or no thread be started.
    Io(io::Error),
    /// The last worker was given up, at this place.
    GivenUp(String, GivenUp),
}

/// Starts the workers of a run, if it has any, and waits until the first slot is ready.
pub fn connect(run: &mut PreparedRun<'_>) -> Result<(), NoWorkers> {
    if run.plan.workers.pools.is_empty() {
        return Ok(());
    }
    let request = Arc::new(request(run).map_err(NoWorkers::Io)?);
    let most = run.at_once().min(run.plan.order.len()).max(1);
    let local = run.plan.local_slots().min(most);
    let workers = Workers::start(&request, most - local).map_err(NoWorkers::Io)?;
    let (remote, news) = (workers.links.len(), run.mailbox.0.clone());
    let mut slots = Slots::new(Some(Box::new(workers)), remote, local, news);
    while !slots.has_idle() {
        match run.mailbox.1.recv() {
            Ok(Message::Slot(news)) => slots.hear(*news),
            Ok(Message::Signal) | Err(_) => return Err(NoWorkers::Interrupted),
            Ok(Message::Trial(_) | Message::Suspend { .. }) => {}
        }
        if slots.have_failed() {
            let given_up = slots.given_up.pop_last();
            let (place, reason) = given_up.ok_or(NoWorkers::Interrupted)?;
            return Err(NoWorkers::GivenUp(place, reason));
        }
    }
    let first = request.first.get().filter(|_| !run.plan.workers.is_local);
    run.use_slots(slots, first.cloned());
    Ok(())
}

/// Packs the suite, and returns everything that the slots need.
fn request(run: &PreparedRun<'_>) -> io::Result<Request> {
    let dir = run.context.work.new_dir()?;
    let archive = dir.join("suite.tar");
    let pools = run.plan.workers.pools.clone();
    let mut length = 0;
    if pools.iter().any(|pool| pool.dir.is_none()) {
        let file = io::BufWriter::new(fs_err::File::create_new(&archive)?);
        let mut packer = Packer::new(file, u64::MAX);
        run.context.sealed.pack(&mut packer)?;
        let (file, _) = packer.finish()?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        length = file.metadata()?.len();
    }
    Ok(Request {
        order: Order {
            suite_dir: run.plan.suite.root.clone(),
            archive: Some(length),
            settings: settings(run),
            variables: Variables(run.plan.variables_for_workers(&run.context.host)),
            fingerprints: run.fingerprints.clone(),
            rebuild_layers: run.options.rebuild_layers,
            settled: run.options.settled.clone(),
        },
        pools,
        archive,
        dir,
        launcher: Launcher::of_this_program(),
        ending: Ending::new(run.context.interrupt.clone(), false),
        local: (run.plan.workers.is_local).then(|| run.containment().sandboxes),
        first: OnceLock::new(),
        news: run.mailbox.0.clone(),
    })
}

/// Returns the settings with which a worker comes to the same plan.
fn settings(run: &PreparedRun<'_>) -> RunSettings {
    let mut settings = run.settled();
    settings.selection.seed = Some(run.plan.seed);
    // Only the files of these are sent.
    let trials = run.plan.plan.trials.iter();
    let evals: BTreeSet<String> = trials.map(|trial| trial.case.eval.name.clone()).collect();
    settings.selection.evals = evals.into_iter().collect();
    settings.on.clear();
    settings
}

/// The slots of all workers. They end with the value.
#[derive(Debug)]
struct Workers {
    links: Vec<Arc<Mutex<Link>>>,
    threads: Vec<JoinHandle<()>>,
    request: Arc<Request>,
}

impl Workers {
    /// Starts at most so many workers: one of each place, then another of each, so that few trials are spread over all
    /// nodes.
    fn start(request: &Arc<Request>, most: usize) -> io::Result<Self> {
        let mut workers = Workers {
            links: Vec::new(),
            threads: Vec::new(),
            request: request.clone(),
        };
        let pools = request.pools.iter().enumerate();
        let places = pools.flat_map(|(pool, of)| {
            let hosts = 0..of.places().len();
            hosts.flat_map(move |host| (0..of.slots).map(move |turn| (turn, pool, host)))
        });
        let mut places: Vec<(u32, usize, usize)> = places.collect();
        places.sort_unstable();
        for (slot, (_, pool, host)) in places.into_iter().take(most).enumerate() {
            let link = Arc::new(Mutex::new(Link::default()));
            let thread = SlotThread {
                slot,
                request: request.clone(),
                place: (pool, host),
                link: link.clone(),
            };
            workers.links.push(link);
            let thread = std::thread::Builder::new()
                .name(format!("slot {slot}"))
                .spawn(move || thread.run())?;
            workers.threads.push(thread);
        }
        Ok(workers)
    }
}

impl RemoteSlots for Workers {
    fn start(&self, slot: SlotId, trial: TrialSpec, attempt: u32, context: Arc<Context>) {
        let job = Job {
            trial,
            attempt,
            context,
            news: self.request.news.clone(),
            phases: 0,
        };
        locked(&self.links[slot]).start(job);
    }

    fn stop(&self) {
        for link in &self.links {
            locked(link).stop();
        }
    }
}

/// Ends all workers, side by side, and waits for that.
impl Drop for Workers {
    fn drop(&mut self) {
        self.request.ending.is_over.store(true, Ordering::Release);
        for link in &self.links {
            locked(link).hang_up();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
