//! `terca worker`: runs trials for a coordinator, which talks to it over standard input and output.
//!
//! See [`crate::remote`] for the conversation. Everything ends when the input closes, or when a signal comes.

mod inspection;

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Stdin, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use terca_core::plan::TrialSpec;
use terca_core::plan::fingerprint::{CaseFingerprint, VARIABLES, differences};
use terca_core::run::event::{EventKind, TrialHead};
use terca_core::run::outcome::TrialReport;
use terca_core::text::diagnostic::Severity;

use crate::host::environment::{Host, Variables};
use crate::remote::frame::{self, Frame};
use crate::remote::message::{FromWorker, Hello, Opened, Order, ToWorker};
use crate::remote::suite_cache::{self, HeldSuite, SuiteCache};
use crate::run::load::{self, RunPlan};
use crate::run::start::{PreparedRun, Program, SuiteFiles};
use crate::run::trial_thread::{Message, internal_error, start};
use crate::suite::discover::Extent;
use crate::tree::{Dir, Options};
use crate::trial::Context;
use crate::workspace::trial_dirs::WorkDir;
use inspection::Inspection;

/// The time between two signs of life.
const BEAT: Duration = Duration::from_secs(3);
/// The time for a trial to see its processes dead before the worker leaves anyway.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// The directory of suites, beside the directories of runs.
const SUITES: &str = "suites";

/// The output of the process: frames, each of them whole.
#[derive(Debug, Clone)]
struct Output(Arc<Mutex<Stdout>>);

impl Output {
    fn lock(&self) -> MutexGuard<'_, Stdout> {
        locked(&self.0)
    }

    fn send(&self, message: &FromWorker) -> io::Result<()> {
        frame::send(&mut *self.lock(), message)
    }
}

/// Serves a coordinator until it hangs up.
pub fn serve(version: &str) -> u8 {
    let output = Output(Arc::new(Mutex::new(io::stdout())));
    match converse(version, &output) {
        Ok(()) => 0,
        Err(error) => {
            let _ = writeln!(io::stderr(), "terca worker: {error}");
            1
        }
    }
}

fn converse(version: &str, output: &Output) -> io::Result<()> {
    frame::greet(&mut *output.lock())?;
    output.send(&FromWorker::Hello(Box::new(Hello {
        version: version.to_owned(),
        node: node_name(),
        now: Timestamp::now(),
    })))?;
    beat(output.clone())?;
    let mut input = BufReader::new(io::stdin());
    let mut work: Option<Work> = None;
    let mut inspections = Vec::new();
    while let Some(frame) = frame::receive(&mut input)? {
        let Frame::Message(message) = frame else {
            return Err(io::Error::other("data came that nobody asked for"));
        };
        match (message, &mut work) {
            (ToWorker::Ping, _) => output.send(&FromWorker::Pong)?,
            (ToWorker::Inspect(variables), _) => {
                inspections.push(Inspection::start(&variables, output.clone())?);
            }
            (ToWorker::Open(order), None) => match open(&order, version, &mut input, output) {
                Ok((opened, new)) => {
                    work = Some(new);
                    output.send(&FromWorker::Opened(opened))?;
                }
                Err(refusal) => output.send(&FromWorker::Refused {
                    reason: refusal.reason,
                    help: refusal.help,
                })?,
            },
            (ToWorker::Run { trial, attempt }, Some(work)) => work.run(&trial, attempt),
            (ToWorker::Stop, Some(work)) => work.context.interrupt.stop(),
            (ToWorker::Kill, Some(work)) => work.context.interrupt.kill(),
            (ToWorker::Stop | ToWorker::Kill, None) => return Ok(()),
            (ToWorker::Open(_), Some(_)) => return Err(io::Error::other("a second run came")),
            (ToWorker::Run { .. }, None) => {
                return Err(io::Error::other("a trial came before its run"));
            }
        }
    }
    if let Some(work) = work {
        leave(&work.context, &work.current);
    }
    Ok(())
}

/// Says every few seconds that this worker is there. A connection that is gone is noticed by who reads.
fn beat(output: Output) -> io::Result<()> {
    std::thread::Builder::new()
        .name("beat".into())
        .spawn(move || {
            loop {
                std::thread::sleep(BEAT);
                if output.send(&FromWorker::Beat).is_err() {
                    return;
                }
            }
        })?;
    Ok(())
}

/// Returns the name of this machine. Slurm gives its nodes names of their own.
fn node_name() -> String {
    if let Ok(name) = std::env::var("SLURMD_NODENAME") {
        return name;
    }
    let system = rustix::system::uname();
    system.nodename().to_string_lossy().into_owned()
}

/// A reason why this worker cannot run the suite.
struct Refusal {
    reason: String,
    help: Option<String>,
}

impl<E: std::fmt::Display> From<E> for Refusal {
    fn from(error: E) -> Self {
        Refusal {
            reason: error.to_string(),
            help: None,
        }
    }
}

/// The run that this worker works for.
struct Work {
    context: Arc<Context>,
    /// The trials of the suite by their names, as this worker has planned them.
    trials: HashMap<(String, String, String, u32), TrialSpec>,
    sender: Sender<Message>,
    /// The trial that runs now.
    current: Arc<Mutex<Option<Current>>>,
}

/// The trial that runs.
#[derive(Debug, Clone)]
struct Current {
    trial: u32,
    attempt: u32,
    /// Its folder, relative to the run's.
    dir: Utf8PathBuf,
}

/// Prepares this machine for the trials of a run.
fn open(
    order: &Order,
    version: &str,
    input: &mut BufReader<Stdin>,
    output: &Output,
) -> Result<(Opened, Work), Refusal> {
    let host = host_of(&order.variables);
    let parent = WorkDir::parent(host.get("TERCA_WORK_DIR"))?;
    let limit = host.get(suite_cache::LIMIT_VARIABLE);
    let cache = SuiteCache::open(parent.join(SUITES), limit)?;
    let mut fetch = |to: &mut std::fs::File| {
        output.send(&FromWorker::Wanted)?;
        receive_parcel(input, to)
    };
    let mut held = cache.get(&order.suite, &mut fetch)?;
    let mut changes = changed_files(order, &held, &host)?;
    if !changes.is_empty() {
        // Somebody has changed the files in the cache. Another copy is asked for, once.
        cache.forget(held)?;
        held = cache.get(&order.suite, &mut fetch)?;
        changes = changed_files(order, &held, &host)?;
    }
    if !changes.is_empty() {
        return Err(Refusal {
            reason: format!("the suite differs there: {}", changes.join(", ")),
            help: Some(
                "name all files of the suite by relative paths, so that they are sent to workers"
                    .to_owned(),
            ),
        });
    }
    prepare(order, version, host, held, output)
}

/// Returns the environment of this machine, with the variables that the coordinator sent.
fn host_of(sent: &Variables) -> Host {
    let here = Host::of_this_process();
    let mut variables: Variables = here
        .all()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    // Of a job: on the node's own disk, and gone with the job.
    if let Some(dir) = here.get("TMPDIR").filter(|dir| !dir.is_empty()) {
        variables
            .entry("TERCA_WORK_DIR".to_owned())
            .or_insert_with(|| format!("{dir}/terca-work"));
    }
    variables.extend(
        sent.iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    Host::new(variables)
}

/// Receives the pieces of a parcel until the empty one.
fn receive_parcel(input: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    loop {
        match frame::receive::<ToWorker>(input)? {
            Some(Frame::Data(piece)) if piece.is_empty() => return Ok(()),
            Some(Frame::Data(piece)) => to.write_all(&piece)?,
            Some(Frame::Message(_)) | None => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// Returns the place of the suite in the cache.
fn suite_dir(order: &Order, held: &HeldSuite) -> Utf8PathBuf {
    let inside = order.suite_dir.strip_prefix("/");
    held.root.join(inside.unwrap_or(&order.suite_dir))
}

fn plan(order: &Order, suite_dir: &Utf8Path, host: &Host) -> Result<RunPlan, Refusal> {
    let loaded = load::load_extent(suite_dir, Extent::Part, &order.settings, host)?;
    loaded.plan.ok_or_else(|| {
        let mut problems = loaded.problems.iter();
        let first = problems.find(|problem| problem.severity == Severity::Error);
        match first {
            Some(problem) => Refusal {
                reason: problem.message.clone(),
                help: problem.help.first().cloned(),
            },
            None => Refusal::from("it cannot be loaded"),
        }
    })
}

/// Returns how the files of the suite differ from those of the coordinator.
fn changed_files(order: &Order, held: &HeldSuite, host: &Host) -> Result<Vec<String>, Refusal> {
    let plan = plan(order, &suite_dir(order, held), host)?;
    let mask = plan.mask(host);
    // Variables were sent as they are. Their fingerprint differs where one has the suite's directory in it.
    let without_variables = |mut cases: Vec<CaseFingerprint>| {
        for case in &mut cases {
            case.fingerprint.remove(VARIABLES);
        }
        cases
    };
    Ok(differences(
        &without_variables(order.fingerprints.clone()),
        &without_variables(plan.fingerprints_below(&held.root, &mask)),
    ))
}

fn prepare(
    order: &Order,
    version: &str,
    host: Host,
    held: HeldSuite,
    output: &Output,
) -> Result<(Opened, Work), Refusal> {
    let plan = plan(order, &suite_dir(order, &held), &host)?;
    let mut settings = order.settings.clone();
    settings.on.clear();
    let program = Program {
        version,
        rebuild_layers: order.rebuild_layers,
        suite_files: SuiteFiles::InPlace(&held.root),
    };
    let prepared = PreparedRun::with_sandboxes(&plan, &settings, program, host, &order.settled)?;
    let opened = prepared.opened();
    let run_dir = prepared.new_dir()?;
    let (context, (sender, receiver)) = prepared.into_context(&run_dir);
    let current = Arc::new(Mutex::new(None));
    let work = Work {
        trials: (plan.trials.iter())
            .map(|trial| (names_of(&TrialHead::of(trial)), trial.clone()))
            .collect(),
        context: context.clone(),
        sender,
        current: current.clone(),
    };
    let report = Reporter {
        context,
        output: output.clone(),
        current,
        is_leaving: AtomicBool::new(false),
        _suite: held,
    };
    std::thread::Builder::new()
        .name("reports".into())
        .spawn(move || report.run(&receiver))?;
    Ok((opened, work))
}

/// Returns the names by which a trial is known on all machines.
fn names_of(head: &TrialHead) -> (String, String, String, u32) {
    let TrialHead {
        eval,
        environment,
        experiment,
        repetition,
        ..
    } = head.clone();
    (eval, environment, experiment, repetition)
}

impl Work {
    /// Starts a trial.
    fn run(&self, head: &TrialHead, attempt: u32) {
        *locked(&self.current) = Some(Current {
            trial: head.id,
            attempt,
            dir: head.dir.clone(),
        });
        match self.trials.get(&names_of(head)) {
            Some(trial) => {
                let trial = TrialSpec {
                    id: head.id,
                    dir: head.dir.clone(),
                    ..trial.clone()
                };
                start(trial, attempt, self.context.clone(), &self.sender, None);
            }
            None => {
                let message = "the plan of the worker has no such trial".to_owned();
                let report = internal_error(message, attempt);
                let _ = self
                    .sender
                    .send(Message::Trial(Box::new(EventKind::TrialFinished {
                        trial: head.id,
                        report: Box::new(report),
                    })));
            }
        }
    }
}

/// Passes on what happens to trials.
struct Reporter {
    context: Arc<Context>,
    output: Output,
    current: Arc<Mutex<Option<Current>>>,
    /// A signal came: nothing more is sent.
    is_leaving: AtomicBool,
    /// Stays in the cache as long as trials may use it.
    _suite: HeldSuite,
}

impl Reporter {
    fn run(&self, receiver: &Receiver<Message>) {
        for message in receiver {
            let sent = match message {
                Message::Trial(kind) => match *kind {
                    EventKind::TrialFinished { trial, report } => self.ended(trial, report),
                    kind => self.output.send(&FromWorker::Event(Box::new(kind))),
                },
                // The machine's owner wants it back. The trial is lost, and is run elsewhere.
                Message::Signal => {
                    self.is_leaving.store(true, Ordering::Release);
                    let (context, current) = (self.context.clone(), self.current.clone());
                    std::thread::spawn(move || {
                        leave(&context, &current);
                        std::process::exit(1);
                    });
                    Ok(())
                }
                Message::Slot(_) | Message::Late { .. } | Message::Suspend { .. } => Ok(()),
            };
            if sent.is_err() {
                // Nobody listens: the input is closed too, or soon will be.
                self.context.interrupt.kill();
            }
        }
    }

    /// Sends the files of a trial and its result.
    fn ended(&self, trial: u32, report: Box<TrialReport>) -> io::Result<()> {
        let ended = locked(&self.current).clone();
        let Some(Current { attempt, dir, .. }) = ended.filter(|current| current.trial == trial)
        else {
            return Ok(());
        };
        // A trial that was cut because this worker leaves is lost, and its report is nobody's.
        let sent = if self.is_leaving.load(Ordering::Acquire) {
            Ok(())
        } else {
            self.send_result(trial, attempt, &dir, report)
        };
        // The next one may have begun: the coordinator has the result by now.
        let is_ended = |current: &Current| (current.trial, current.attempt) == (trial, attempt);
        locked(&self.current).take_if(|current| is_ended(current));
        sent
    }

    fn send_result(
        &self,
        trial: u32,
        attempt: u32,
        dir: &Utf8Path,
        report: Box<TrialReport>,
    ) -> io::Result<()> {
        let mut files = self.files(dir)?;
        // Nothing comes between: the coordinator takes the files that came before the result.
        let mut output = self.output.lock();
        frame::send_all(&mut *output, &mut files)?;
        frame::send(
            &mut *output,
            &FromWorker::Ended {
                trial,
                attempt,
                report,
            },
        )
    }

    /// Packs the folder of the trial, and removes it.
    fn files(&self, dir: &Utf8Path) -> io::Result<std::fs::File> {
        let run_dir = Dir::open_no_link(&self.context.run_dir)?;
        let place = self.context.work.new_dir()?.join("files");
        suite_cache::write_parcel(&place, |packer| match run_dir.open_dir(dir) {
            Ok(folder) => packer.add_tree(&folder, Utf8Path::new("")),
            // A trial that could not even begin has none.
            Err(_) => Ok(()),
        })?;
        let _left = run_dir.remove_tree(dir.as_std_path(), &Options::default())?;
        let file = std::fs::File::open(&place)?;
        fs_err::remove_file(&place)?;
        Ok(file)
    }
}

/// Ends everything, and waits for that a moment. Processes end with their supervisors, which end with this process at the
/// latest.
fn leave(context: &Context, current: &Mutex<Option<Current>>) {
    context.interrupt.kill();
    let until = Instant::now() + LAST_WAIT;
    while locked(current).is_some() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    context.work.remove();
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
