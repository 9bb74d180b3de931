//! A slot of a worker: a thread that keeps one worker alive and gives it trials.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use terca_core::run::event::TrialHead;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::run::run_file::CaseSandbox;
use terca_core::worker_pool::WorkerPlace;

use super::CrewRequest;
use super::job::{Job, Running, failed, new_file, take_files};
use crate::process::pause::Stopwatch;
use crate::remote::message::{FromWorker, Opened, ToWorker};
use crate::remote::{Call, Connection, Heard, WorkerError, unexpected};
use crate::run::trial_thread::{Message, SlotId, SlotNews};

/// The time between two looks at the command that started a worker.
const LOOK: Duration = Duration::from_secs(1);
/// The number of failed starts in a row after which a slot is given up.
const MOST_FAILURES: u32 = 3;
/// The pause after the first failure. It doubles with each.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A message to the thread of a slot.
#[derive(Debug)]
pub(super) enum Input {
    /// Heard on the connection of this number.
    Heard(u32, Heard),
    /// A trial to run.
    Job(Box<Job>),
    /// The agent is to be asked to end.
    Stop,
    /// Everything is to be ended at once.
    Kill,
    /// The run is over.
    Quit,
}

/// The thread of a slot.
pub(super) struct SlotThread {
    slot: SlotId,
    request: Arc<CrewRequest>,
    /// The positions of its pool, and of its host in the pool.
    place: (usize, usize),
    news: Sender<Message>,
    /// The number of the connection.
    generation: u32,
    /// The worker has greeted. Until then, it may be in a queue.
    has_greeted: bool,
}

/// The reason why a conversation ends.
enum End {
    /// The slot is to be left.
    Leave,
    /// The worker is gone.
    Lost(String),
}

impl SlotThread {
    pub(super) fn new(
        slot: SlotId,
        request: Arc<CrewRequest>,
        place: (usize, usize),
        news: Sender<Message>,
    ) -> Self {
        SlotThread {
            slot,
            request,
            place,
            news,
            generation: 0,
            has_greeted: false,
        }
    }

    /// Keeps a worker alive until the run is over.
    pub(super) fn run(mut self, own: &Sender<Input>, inputs: &Receiver<Input>) {
        let mut failures = 0;
        loop {
            self.generation += 1;
            let error = match self.connect(own, inputs) {
                Ok((mut connection, node, opened)) => {
                    failures = 0;
                    self.tell(SlotNews::Ready {
                        slot: self.slot,
                        node: Some(node.clone()),
                        opened: Some(opened),
                    });
                    match self.converse(&mut connection, &node, inputs) {
                        End::Leave => return,
                        End::Lost(words) => {
                            self.tell(SlotNews::Gone { slot: self.slot });
                            WorkerError::Closed(words)
                        }
                    }
                }
                Err(WorkerError::Interrupted) => return,
                Err(error) => {
                    failures += 1;
                    error
                }
            };
            if failures >= MOST_FAILURES || !error.may_pass() {
                self.tell(SlotNews::Failed {
                    slot: self.slot,
                    place: self.place(|place| place.name()),
                    error,
                });
                return;
            }
            if self.is_stopping() || !self.pause(failures, inputs) {
                return;
            }
        }
    }

    fn place<T>(&self, use_it: impl FnOnce(WorkerPlace<'_>) -> T) -> T {
        let (pool, host) = self.place;
        use_it(self.request.pools[pool].places()[host])
    }

    fn tell(&self, news: SlotNews) {
        // The loop has left when this fails.
        let _ = self.news.send(Message::Slot(Box::new(news)));
    }

    fn is_stopping(&self) -> bool {
        self.request.ending.is_stopping()
    }

    /// Waits before the next start. Returns whether there is to be one.
    fn pause(&self, failures: u32, inputs: &Receiver<Input>) -> bool {
        let pause = PAUSE * 2_u32.saturating_pow(failures.saturating_sub(1));
        let until = Instant::now() + pause.min(LONGEST_PAUSE);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match inputs.recv_timeout(left) {
                Ok(Input::Stop | Input::Kill | Input::Quit)
                | Err(RecvTimeoutError::Disconnected) => return false,
                // A job that is dropped here is told as lost.
                Ok(Input::Heard(..) | Input::Job(_)) => {}
                Err(RecvTimeoutError::Timeout) => return true,
            }
        }
    }

    /// Starts the worker and tells it about the run.
    fn connect(
        &mut self,
        own: &Sender<Input>,
        inputs: &Receiver<Input>,
    ) -> Result<(Connection, String, Opened), WorkerError> {
        self.has_greeted = false;
        let (own, generation) = (own.clone(), self.generation);
        let hear = move |heard| {
            let _ = own.send(Input::Heard(generation, heard));
        };
        let closed = |error: io::Error| WorkerError::Closed(error.to_string());
        let (pool, host) = self.place;
        let request = self.request.clone();
        let call = Call {
            launcher: &request.launcher,
            place: request.pools[pool].places()[host],
            program: request.own_program.as_ref(),
            dir: &request.dir,
            version: &request.version,
            ending: &request.ending,
        };
        let (mut connection, hello) = call.make(hear, || self.next(inputs))?;
        let node = hello.node;
        let order = ToWorker::Open(Box::new(self.request.order.clone()));
        connection.send(&order).map_err(closed)?;
        loop {
            match self.next_message(inputs)? {
                FromWorker::Wanted => match connection.send_parcel(&self.request.parcel) {
                    // It has ended, and has said why: its disk may be full.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                    sent => sent.map_err(closed)?,
                },
                FromWorker::Opened(opened) => {
                    self.check_sandboxes(&node, &opened)?;
                    connection.set_ready();
                    return Ok((connection, node, opened));
                }
                FromWorker::Refused { reason, help } => {
                    return Err(WorkerError::Refused { node, reason, help });
                }
                FromWorker::Beat => {}
                other => return Err(unexpected(&other)),
            }
        }
    }

    /// Trials in different sandboxes cannot be compared: all workers have those of the first one.
    fn check_sandboxes(&self, node: &str, opened: &Opened) -> Result<(), WorkerError> {
        if opened.sandboxes.len() != self.request.order.fingerprints.len() {
            let words = "it does not say how agents are contained there";
            return Err(WorkerError::Closed(words.to_owned()));
        }
        let first = self
            .request
            .sandboxes
            .get_or_init(|| opened.sandboxes.clone());
        let mut both = first.iter().zip(&opened.sandboxes);
        let Some((expected, found)) = both.find(|(first, own)| first != own) else {
            return Ok(());
        };
        let name = |sandbox: &CaseSandbox| sandbox.contained_by.program().unwrap_or("nothing");
        Err(WorkerError::Refused {
            node: node.to_owned(),
            reason: format!(
                "agents would be contained by {} there, and are by {} elsewhere in this run",
                name(found),
                name(expected)
            ),
            help: Some(
                "install the same on all machines, or name a sandbox with `--sandbox`".to_owned(),
            ),
        })
    }

    /// Returns what is heard next, before there is a trial. A queue may keep it waiting for days, a worker may not.
    fn next(&mut self, inputs: &Receiver<Input>) -> Result<Heard, WorkerError> {
        let silence = self.place(|place| place.pool.silence);
        loop {
            let input = match self.has_greeted {
                true => inputs.recv_timeout(silence),
                false => inputs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match input {
                Ok(Input::Heard(generation, heard)) if generation == self.generation => {
                    self.has_greeted |= matches!(heard, Heard::Greeting(_));
                    return Ok(heard);
                }
                Ok(Input::Heard(..) | Input::Job(_)) => {}
                Ok(Input::Stop | Input::Kill | Input::Quit)
                | Err(RecvTimeoutError::Disconnected) => return Err(WorkerError::Interrupted),
                Err(RecvTimeoutError::Timeout) => return Err(WorkerError::Closed(silent(silence))),
            }
        }
    }

    fn next_message(&mut self, inputs: &Receiver<Input>) -> Result<FromWorker, WorkerError> {
        self.next(inputs)?.into_message()
    }

    /// Gives the worker trials until one of both leaves.
    fn converse(
        &mut self,
        connection: &mut Connection,
        node: &str,
        inputs: &Receiver<Input>,
    ) -> End {
        let mut running: Option<Running> = None;
        let mut last_heard = Stopwatch::start();
        let silence = self.place(|place| place.pool.silence);
        loop {
            let left = silence.saturating_sub(last_heard.elapsed());
            let end = match inputs.recv_timeout(left.min(LOOK)) {
                Ok(Input::Heard(generation, _)) if generation != self.generation => None,
                Ok(Input::Heard(_, heard)) => {
                    last_heard = Stopwatch::start();
                    if matches!(heard, Heard::Data(_)) {
                        connection.done_with_piece();
                    }
                    self.hear(heard, node, &mut running)
                }
                Ok(Input::Job(job)) => self.begin(job, connection, &mut running),
                Ok(Input::Stop) => match running {
                    Some(_) => lost(connection.send(&ToWorker::Stop)),
                    None => Some(End::Leave),
                },
                Ok(Input::Kill) => {
                    connection.kill();
                    Some(End::Lost("the run was ended".to_owned()))
                }
                Ok(Input::Quit) | Err(RecvTimeoutError::Disconnected) => Some(End::Leave),
                Err(RecvTimeoutError::Timeout) if connection.has_ended() => Some(End::Lost(
                    "the command that started it has ended".to_owned(),
                )),
                Err(RecvTimeoutError::Timeout) if last_heard.elapsed() < silence => None,
                Err(RecvTimeoutError::Timeout) => {
                    // As long again for a result that is late, then it is started again.
                    last_heard = Stopwatch::start();
                    is_silent(node, silence, &mut running)
                }
            };
            if let Some(end) = end {
                if let (End::Lost(words), Some(mut running)) = (&end, running.take()) {
                    running.give_up(node, words);
                }
                if matches!(end, End::Lost(_)) {
                    connection.kill();
                }
                return end;
            }
        }
    }

    fn begin(
        &self,
        mut job: Box<Job>,
        connection: &mut Connection,
        running: &mut Option<Running>,
    ) -> Option<End> {
        let (trial, attempt) = (Box::new(TrialHead::of(&job.trial)), job.attempt);
        let files = match new_file(&self.request.dir) {
            Ok(files) => files,
            Err(error) => {
                job.tell(failed(error.to_string()));
                return None;
            }
        };
        *running = Some(Running::new(job, files));
        lost(connection.send(&ToWorker::Run { trial, attempt }))
    }

    fn hear(&mut self, heard: Heard, node: &str, running: &mut Option<Running>) -> Option<End> {
        match heard {
            Heard::Closed(words) => return Some(End::Lost(words)),
            Heard::Greeting(_) | Heard::ProgramWanted | Heard::ProgramHere => {
                return Some(End::Lost("it greeted twice".to_owned()));
            }
            Heard::Data(piece) => {
                if let Some(running) = running
                    && let Err(error) = running.files.write_all(&piece)
                {
                    return Some(End::Lost(format!("its files cannot be kept: {error}")));
                }
            }
            Heard::Message(message) => match *message {
                FromWorker::Event(kind) => {
                    if running
                        .as_mut()
                        .is_some_and(|running| running.may_tell(&kind))
                    {
                        let _ = self.news.send(Message::Trial(kind));
                    }
                }
                FromWorker::Ended {
                    trial,
                    attempt,
                    report,
                } => {
                    let ended = running.take_if(|running| {
                        running.job.trial.id == trial && running.job.attempt == attempt
                    });
                    match ended {
                        Some(mut ended) if !self.is_sound(&report) => {
                            let words = "its report makes no sense";
                            ended.give_up(node, words);
                            return Some(End::Lost(words.to_owned()));
                        }
                        Some(ended) => self.end(ended, *report, node),
                        None => return Some(End::Lost("it ended another trial".to_owned())),
                    }
                    if self.is_stopping() {
                        return Some(End::Leave);
                    }
                }
                FromWorker::Beat | FromWorker::Pong => {}
                other => {
                    let WorkerError::Closed(words) = unexpected(&other) else {
                        return Some(End::Lost(String::new()));
                    };
                    return Some(End::Lost(words));
                }
            },
        }
        None
    }

    /// Returns whether a report can be one of a trial that has ended.
    fn is_sound(&self, report: &TrialReport) -> bool {
        let has_ended = match report.status {
            Status::Pending => false,
            Status::Interrupted => self.is_stopping(),
            Status::Passed | Status::Partial | Status::Failed | Status::Error => true,
        };
        has_ended && report.has_possible_figures()
    }

    /// Takes the files of a trial that has ended, and tells its result.
    fn end(&self, ended: Running, mut report: TrialReport, node: &str) {
        let Running {
            mut job,
            files,
            is_given_up,
            ..
        } = ended;
        report.ran_on = Some(node.to_owned());
        if is_given_up {
            let _ = self.news.send(Message::Late {
                trial: job.trial.id,
                attempt: job.attempt,
                node: node.to_owned(),
            });
            self.ready(node);
            return;
        }
        let taken = {
            let unpackers = &self.request.unpackers;
            let turn = unpackers[self.slot % unpackers.len()].lock();
            let _turn = turn.unwrap_or_else(PoisonError::into_inner);
            take_files(&job, files)
        };
        if let Err(error) = taken {
            let message = format!("the trial's files could not be kept: {error}");
            report = failed(message);
        }
        job.tell(report);
        self.ready(node);
    }

    fn ready(&self, node: &str) {
        if !self.is_stopping() {
            self.tell(SlotNews::Ready {
                slot: self.slot,
                node: Some(node.to_owned()),
                opened: None,
            });
        }
    }
}

/// Acts on a worker that has said nothing for too long.
fn is_silent(node: &str, silence: Duration, running: &mut Option<Running>) -> Option<End> {
    match running {
        Some(running) if !running.is_given_up => {
            running.give_up(node, &silent(silence));
            running.is_given_up = true;
            None
        }
        Some(_) | None => Some(End::Lost("it says nothing any more".to_owned())),
    }
}

fn lost(sent: io::Result<()>) -> Option<End> {
    sent.err().map(|error| End::Lost(error.to_string()))
}

/// Returns the words about a worker that is silent.
fn silent(silence: Duration) -> String {
    format!("it has said nothing for {} seconds", silence.as_secs())
}
