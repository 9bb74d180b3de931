//! The slots that trials run in: those of this machine and those of workers are the same thing to the scheduler.
//!
//! A slot of a worker is a thread that starts the worker, keeps it alive, gives it one trial after another, and puts the
//! trial's files where a local trial would have them. It tells the scheduler when it is ready, so that no trial waits for
//! a machine that a queue has not given yet.

mod job;
mod slot;

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;

use camino::Utf8PathBuf;
use terca_core::plan::TrialSpec;
use terca_core::run::run_file::CaseSandbox;
use terca_core::worker_pool::WorkerPool;

use crate::process::open_file_limit::UNPACKED_AT_ONCE;
use crate::process::supervise::Launcher;
use crate::remote::message::Order;
use crate::remote::{Ending, OwnProgram, WorkerError};
use crate::run::trial_thread::{Message, SlotId, SlotNews, start};
use crate::trial::Context;
use job::Job;
use slot::{Input, SlotThread};

/// Everything that workers need of a run, and what is needed to start them.
#[derive(Debug)]
pub struct CrewRequest {
    /// The pools, in the order to use them.
    pub pools: Vec<WorkerPool>,
    /// The slots of this machine, if it takes part.
    pub local: Option<usize>,
    /// The most slots that are of use.
    pub most: usize,
    /// The run.
    pub order: Order,
    /// The parcel with the suite.
    pub parcel: Utf8PathBuf,
    /// A directory for files of the conversation.
    pub dir: Utf8PathBuf,
    /// The version of this program.
    pub version: String,
    /// The sandboxes of the cases, as the first worker has them: all others must have the same.
    pub sandboxes: OnceLock<Vec<CaseSandbox>>,
    /// The running program, if a pool wants it to be sent.
    pub own_program: Option<OwnProgram>,
    /// Starts the commands.
    pub launcher: Arc<Launcher>,
    /// Taken in turn by the slots: so few unpack the files of a trial at once that their open files are known.
    pub unpackers: [Mutex<()>; UNPACKED_AT_ONCE],
    /// Whether the run is about to end.
    pub ending: Ending,
}

enum Slot {
    /// A place on this machine.
    Local,
    /// A worker.
    Worker {
        to: Sender<Input>,
        thread: Option<JoinHandle<()>>,
    },
}

/// The slots of a run.
pub struct Crew {
    slots: Vec<Slot>,
    idle: VecDeque<(SlotId, Option<String>)>,
    /// The slots that may still become ready.
    alive: usize,
    news: Sender<Message>,
    /// The slots that were given up: their places, and the reasons.
    given_up: Vec<(String, WorkerError)>,
    ending: Ending,
}

impl std::fmt::Debug for Crew {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crew")
            .field("slots", &self.slots.len())
            .field("idle", &self.idle)
            .finish_non_exhaustive()
    }
}

impl Crew {
    /// Starts the workers. Each says when it is ready.
    pub fn start(request: CrewRequest, news: &Sender<Message>) -> std::io::Result<Self> {
        let mut crew = Crew {
            slots: Vec::new(),
            idle: VecDeque::new(),
            alive: 0,
            news: news.clone(),
            given_up: Vec::new(),
            ending: request.ending.clone(),
        };
        for _ in 0..request.local.unwrap_or(0).min(request.most) {
            crew.idle.push_back((crew.slots.len(), None));
            crew.slots.push(Slot::Local);
        }
        let request = Arc::new(request);
        // One of each place, then another of each: few trials are spread over all nodes.
        let places: Vec<(usize, usize, u32)> = request
            .pools
            .iter()
            .enumerate()
            .flat_map(|(pool, of)| {
                let hosts = of.places().len();
                (0..hosts).map(move |host| (pool, host, of.slots))
            })
            .collect();
        let deepest = places.iter().map(|(_, _, slots)| *slots).max().unwrap_or(0);
        for turn in 0..deepest {
            for (pool, host, slots) in &places {
                if turn < *slots && crew.slots.len() < request.most {
                    crew.add_worker(&request, *pool, *host)?;
                }
            }
        }
        crew.alive = crew.slots.len();
        Ok(crew)
    }

    fn add_worker(
        &mut self,
        request: &Arc<CrewRequest>,
        pool: usize,
        host: usize,
    ) -> std::io::Result<()> {
        let (to, inputs) = channel();
        let slot = self.slots.len();
        let thread = SlotThread::new(slot, request.clone(), (pool, host), self.news.clone());
        let own = to.clone();
        let thread = std::thread::Builder::new()
            .name(format!("slot {slot}"))
            .spawn(move || thread.run(&own, &inputs))?;
        self.slots.push(Slot::Worker {
            to,
            thread: Some(thread),
        });
        Ok(())
    }

    /// Takes note of something that happened to a slot.
    pub fn hear(&mut self, news: SlotNews) {
        match news {
            SlotNews::Ready { slot, node, .. } => self.idle.push_back((slot, node)),
            SlotNews::Gone { slot } => self.idle.retain(|(idle, _)| *idle != slot),
            SlotNews::Failed { slot, place, error } => {
                self.idle.retain(|(idle, _)| *idle != slot);
                self.alive = self.alive.saturating_sub(1);
                self.given_up.push((place, error));
            }
        }
    }

    /// Returns whether a trial can be started now.
    pub fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Returns why no trial will ever be started again.
    pub fn failure(&self) -> Option<&(String, WorkerError)> {
        self.given_up.last().filter(|_| self.alive == 0)
    }

    /// Returns the places of slots that were given up, each once, and the reasons.
    pub fn given_up(&self) -> BTreeMap<String, WorkerError> {
        self.given_up.iter().cloned().collect()
    }

    /// Returns the node that the next trial runs on.
    pub fn next_node(&self) -> Option<&str> {
        self.idle.front().and_then(|(_, node)| node.as_deref())
    }

    /// Starts a trial in an idle slot.
    pub fn start_trial(&mut self, trial: TrialSpec, attempt: u32, context: &Arc<Context>) {
        let Some((slot, _)) = self.idle.pop_front() else {
            return;
        };
        match self.slots.get(slot) {
            Some(Slot::Worker { to, .. }) => {
                // A slot that has left drops it, and so it is told.
                let job = Job::new(
                    trial,
                    attempt,
                    context.clone(),
                    self.news.clone(),
                    self.ending.clone(),
                );
                let _ = to.send(Input::Job(Box::new(job)));
            }
            Some(Slot::Local) | None => {
                start(trial, attempt, context.clone(), &self.news, Some(slot));
            }
        }
    }

    /// Passes an interrupt on.
    pub fn stop(&self) {
        self.ending.stop();
        self.tell(|| Input::Stop);
    }

    /// Ends everything at once.
    pub fn kill(&self) {
        self.ending.end();
        self.tell(|| Input::Kill);
    }

    fn tell(&self, input: impl Fn() -> Input) {
        for slot in &self.slots {
            if let Slot::Worker { to, .. } = slot {
                let _ = to.send(input());
            }
        }
    }
}

/// Ends all workers, side by side, and waits for that.
impl Drop for Crew {
    fn drop(&mut self) {
        self.ending.end();
        self.tell(|| Input::Quit);
        for slot in &mut self.slots {
            if let Slot::Worker { thread, .. } = slot
                && let Some(thread) = thread.take()
            {
                let _ = thread.join();
            }
        }
    }
}
