//! A slot of a worker: a thread that keeps one worker alive, and the trial that the worker runs.

use std::fs::File;
use std::io::{self, Read};
use std::process::ChildStdin;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use terca_core::plan::TrialSpec;
use terca_core::run::event::{EventKind, TrialHead};
use terca_core::run::outcome::{Evidence, Status, TrialReport};
use terca_core::run::run_file::CaseSandbox;
use terca_core::trial_error::{ErrorKind, TrialError};
use terca_core::worker_pool::WorkerPool;

use super::connection::{Call, Connection, Ending, TrialTime, WorkerError, shown};
use super::most_bytes;
use super::wire::{self, FromWorker, Order, ToWorker};
use crate::locked;
use crate::process::pause::Stopwatch;
use crate::process::supervise::Launcher;
use crate::run::start::Containment;
use crate::run::trial_thread::{GivenUp, Message, SlotId, SlotNews, internal_error, tell_end};
use crate::tree::{Dir, Options, archive};
use crate::trial::evidence::evidence;
use crate::trial::{self, Context};

/// The number of failed starts in a row after which a slot is given up.
const MOST_FAILURES: u32 = 3;
/// The pause after the first failure. It doubles with each.
const PAUSE: Duration = Duration::from_secs(1);
/// The time between two looks at a run that may have ended meanwhile.
const LOOK: Duration = Duration::from_millis(100);
/// The bytes in a second of the slowest network.
const SLOWEST: u64 = 64 << 10;
/// The most phases of a trial that a worker tells: each is a line in the journal.
const MOST_PHASES: u32 = 100;

/// Everything that the slots of a run need.
#[derive(Debug)]
pub(super) struct Request {
    pub pools: Vec<WorkerPool>,
    /// The run, for workers that the suite is sent to.
    pub order: Order,
    /// The archive with the suite.
    pub archive: Utf8PathBuf,
    /// A directory for the errors of commands.
    pub dir: Utf8PathBuf,
    pub launcher: Arc<Launcher>,
    pub ending: Arc<Ending>,
    /// The sandboxes of this machine, if it takes part.
    pub local: Option<Vec<CaseSandbox>>,
    /// How agents are contained by the first worker: all others must do the same.
    pub first: OnceLock<Containment>,
    pub news: Sender<Message>,
}

/// The worker's input and its trial, for the scheduler and for the thread of the slot.
#[derive(Debug, Default)]
pub(super) struct Link {
    input: Option<ChildStdin>,
    job: Option<Job>,
    /// The time for the trial, and the part of it that is beside the trial's own limits.
    time: TrialTime,
    grace: Duration,
}

impl Link {
    /// Gives the worker a trial.
    pub(super) fn start(&mut self, job: Job) {
        let message = ToWorker::Run {
            trial: Box::new(TrialHead::of(&job.trial)),
            attempt: job.attempt,
        };
        match &mut self.input {
            Some(input) => {
                let most = job.trial.case.time_limits().saturating_add(self.grace);
                *locked(&self.time) = Some((Stopwatch::start(), most));
                let sent = wire::send(input, &message);
                self.job = Some(job);
                if sent.is_err() {
                    // The thread of the slot hears its end.
                    self.input = None;
                }
            }
            None => job.lost(None, "it has ended before the trial began"),
        }
    }

    /// Asks the agent to end.
    pub(super) fn stop(&mut self) {
        if let (Some(input), Some(_)) = (&mut self.input, &self.job) {
            let _ = wire::send(input, &ToWorker::Stop);
        }
    }

    /// Closes the input, which ends the worker.
    pub(super) fn hang_up(&mut self) {
        self.input = None;
    }
}

/// A trial that a worker runs. Its result is told in any case.
#[derive(Debug)]
pub(super) struct Job {
    pub trial: TrialSpec,
    pub attempt: u32,
    pub context: Arc<Context>,
    pub news: Sender<Message>,
    /// The phases that were told.
    pub phases: u32,
}

impl Job {
    /// Tells the result of the trial.
    fn tell(self, mut report: TrialReport, node: Option<&str>) {
        report.attempts = self.attempt;
        report.ran_on = node.map(str::to_owned);
        // Let go before the end is told: after the last end the work directory may be removed.
        drop(self.context);
        tell_end(&self.news, self.trial.id, report);
    }

    /// Tells that the trial is lost, or interrupted where the run is about to end.
    fn lost(self, node: Option<&str>, words: &str) {
        let mut report = TrialReport::pending();
        if self.context.interrupt.is_stop() {
            report.status = Status::Interrupted;
        } else {
            let on = node.map_or_else(String::new, |node| format!(" on {node}"));
            let message = format!("the worker{on} was lost: {words}");
            report.status = Status::Error;
            report.error = Some(TrialError::new(ErrorKind::Lost, message));
        }
        self.tell(report, node);
    }

    /// Returns whether a worker may tell this: it knows nothing but how far its own trial is.
    fn may_tell(&mut self, kind: &EventKind) -> bool {
        let about = match kind {
            EventKind::PhaseStarted { trial, .. } if self.phases < MOST_PHASES => {
                self.phases += 1;
                *trial
            }
            EventKind::Progress { trial, .. } | EventKind::StepMade { trial, .. } => *trial,
            _ => return false,
        };
        about == self.trial.id
    }

    /// Returns whether a report can be one of this trial.
    fn is_possible(&self, report: &TrialReport) -> bool {
        let has_ended = match report.status {
            Status::Pending => false,
            Status::Interrupted => self.context.interrupt.is_stop(),
            status => status.is_done() || status == Status::Error,
        };
        has_ended && report.has_possible_figures()
    }

    /// Puts the files of the trial into its folder, as if it had run here. Returns their hashes: those of the worker are of
    /// all files, and some may have had no room in the archive.
    fn take_files(&self, archive: &mut dyn Read) -> io::Result<Evidence> {
        let run_dir = Dir::open_no_link(&self.context.run_dir)?;
        trial::clear_folder(&run_dir, &self.trial.dir, self.attempt)?;
        let folder = run_dir.create_dir_all(&self.trial.dir, 0o777)?;
        archive::unpack(archive, &folder, most_bytes(&self.trial.case))?;
        // An interrupt does not stop it: the trial has ended.
        let options = Options::default();
        Ok(evidence(&folder, &options)?)
    }

    /// Removes the files that were taken.
    fn lose_files(&self) {
        // What stays is replaced by the next attempt.
        let _ = Dir::open_no_link(&self.context.run_dir).and_then(|run_dir| {
            run_dir.remove_tree(self.trial.dir.as_std_path(), &Options::default())
        });
    }
}

/// The thread of a slot.
#[derive(Debug)]
pub(super) struct SlotThread {
    pub slot: SlotId,
    pub request: Arc<Request>,
    /// The positions of its pool, and of its host in the pool.
    pub place: (usize, usize),
    pub link: Arc<Mutex<Link>>,
}

impl SlotThread {
    /// Keeps a worker alive until the run is over.
    pub(super) fn run(&self) {
        let mut failures = 0;
        loop {
            let error = match self.connect() {
                Ok(mut connection) => {
                    failures = 0;
                    let error = self.converse(&mut connection);
                    self.leave(&connection.hello.node, &error);
                    if matches!(error, WorkerError::Lost(_)) {
                        connection.kill();
                    }
                    error
                }
                Err(error) => {
                    failures += 1;
                    error
                }
            };
            if self.request.ending.has_come(false) {
                return;
            }
            if failures >= MOST_FAILURES || !error.may_pass() {
                let (pool, host) = self.place;
                return self.tell(SlotNews::Failed {
                    place: self.request.pools[pool].places()[host].name(),
                    reason: GivenUp {
                        help: error.help(),
                        reason: error.to_string(),
                    },
                });
            }
            let pause = PAUSE * 2_u32.saturating_pow(failures.saturating_sub(1));
            let until = Instant::now() + pause;
            while Instant::now() < until && !self.request.ending.has_come(false) {
                std::thread::sleep(LOOK);
            }
        }
    }

    fn tell(&self, news: SlotNews) {
        // The loop has left when this fails.
        let _ = self.request.news.send(Message::Slot(Box::new(news)));
    }

    fn ready(&self, node: &str) {
        self.tell(SlotNews::Ready {
            slot: self.slot,
            node: Some(node.to_owned()),
        });
    }

    /// Starts the worker and tells it about the run.
    fn connect(&self) -> Result<Connection, WorkerError> {
        let (pool, host) = self.place;
        let request = &*self.request;
        let place = request.pools[pool].places()[host];
        let mut connection = Connection::start(Call {
            launcher: &request.launcher,
            place,
            dir: &request.dir,
            ending: &request.ending,
        })?;
        let mut order = request.order.clone();
        let mut file = None;
        match &place.pool.dir {
            Some(dir) => (order.suite_dir, order.archive) = (dir.clone(), None),
            None => {
                let archive = File::open(&request.archive)?;
                file = order.archive.map(|length| (archive, length));
            }
        }
        let order = ToWorker::Open(Box::new(order));
        connection.send_beside(order, file)?;
        match connection.receive()? {
            FromWorker::Opened(opened) => self.check_sandboxes(&connection.hello.node, opened)?,
            _ => return Err(WorkerError::unexpected()),
        }
        connection.set_ready();
        let input = connection.input.take();
        // From now on it is given one line at a time. A worker that has no room for that reads nothing.
        if let Some(input) = &input {
            let flags = fcntl_getfl(input).map_err(io::Error::from)?;
            fcntl_setfl(input, flags | OFlags::NONBLOCK).map_err(io::Error::from)?;
        }
        let mut link = locked(&self.link);
        link.time = connection.trial_time();
        link.grace = place.pool.grace;
        link.input = input;
        drop(link);
        self.ready(&connection.hello.node);
        Ok(connection)
    }

    /// Trials in different sandboxes cannot be compared: all workers have those of the first one.
    fn check_sandboxes(&self, node: &str, mut opened: Containment) -> Result<(), WorkerError> {
        opened.not_contained = opened.not_contained.as_deref().map(shown);
        opened.networks = opened.networks.iter().map(|words| shown(words)).collect();
        if opened.sandboxes.len() != self.request.order.fingerprints.len() {
            let words = "it does not say which sandbox agents have there";
            return Err(WorkerError::Lost(words.to_owned()));
        }
        let first = self.request.first.get_or_init(|| opened.clone());
        let expected = self.request.local.as_ref().unwrap_or(&first.sandboxes);
        let mut both = expected.iter().zip(&opened.sandboxes);
        let Some((expected, found)) = both.find(|(expected, found)| expected != found) else {
            return Ok(());
        };
        let name = |sandbox: &CaseSandbox| sandbox.contained_by.program().unwrap_or("nothing");
        Err(WorkerError::Refused {
            node: node.to_owned(),
            reason: format!(
                "the sandbox of agents would be {} there, and is {} elsewhere in this run",
                name(found),
                name(expected)
            ),
            help: Some(
                "install the same on all machines, or name a sandbox with `--sandbox`".to_owned(),
            ),
        })
    }

    /// Hears the worker until it is gone. Returns the reason.
    fn converse(&self, connection: &mut Connection) -> WorkerError {
        loop {
            let heard = match connection.receive() {
                Ok(FromWorker::Event(kind)) => {
                    let mut link = locked(&self.link);
                    if link.job.as_mut().is_some_and(|job| job.may_tell(&kind)) {
                        let _ = self.request.news.send(Message::Trial(kind));
                    }
                    Ok(())
                }
                Ok(FromWorker::Ended {
                    trial,
                    attempt,
                    report,
                    archive,
                }) => self.ended(connection, (trial, attempt), *report, archive),
                Ok(_) => Err(WorkerError::unexpected()),
                Err(error) => Err(error),
            };
            if let Err(error) = heard {
                return error;
            }
        }
    }

    /// Takes the files of a trial that has ended, and tells its result.
    fn ended(
        &self,
        connection: &mut Connection,
        ended: (u32, u32),
        mut report: TrialReport,
        archive: u64,
    ) -> Result<(), WorkerError> {
        let is_ended = |job: &mut Job| (job.trial.id, job.attempt) == ended;
        let job = locked(&self.link).job.take_if(is_ended);
        let job = job.ok_or_else(|| WorkerError::Lost("it ended another trial".to_owned()))?;
        let node = connection.hello.node.clone();
        // Its files have a time of their own: that of a slow network.
        let time = connection.trial_time();
        let grace = self.request.pools[self.place.0].grace;
        let to_send = Duration::from_secs(archive / SLOWEST).saturating_add(grace);
        *locked(&time) = Some((Stopwatch::start(), to_send));
        let most = most_bytes(&job.trial.case);
        let taken = if !job.is_possible(&report) {
            Err(WorkerError::Lost("its report makes no sense".to_owned()))
        } else if archive > most {
            let words = format!("it sends {archive} bytes of files, and {most} are allowed");
            Err(WorkerError::Lost(words))
        } else {
            connection.receive_bytes(archive, |bytes| job.take_files(bytes))
        };
        match taken {
            Err(error) => {
                job.lost(Some(&node), &error.to_string());
                return Err(error);
            }
            Ok(Err(error)) => {
                // A worker leaves out what has no room, and says so.
                if error.kind() == io::ErrorKind::QuotaExceeded {
                    job.lose_files();
                    job.lost(Some(&node), &error.to_string());
                    return Err(error.into());
                }
                let message = format!("the trial's files could not be kept: {error}");
                report = internal_error(message, job.attempt);
            }
            Ok(Ok(evidence)) => report.evidence = evidence,
        }
        *locked(&time) = None;
        job.tell(report, Some(&node));
        self.ready(&node);
        Ok(())
    }

    /// Takes note that the worker is gone, and its trial is lost.
    fn leave(&self, node: &str, error: &WorkerError) {
        let mut link = locked(&self.link);
        link.hang_up();
        if let Some(job) = link.job.take() {
            job.lost(Some(node), &error.to_string());
        }
        drop(link);
        self.tell(SlotNews::Gone { slot: self.slot });
    }
}
