//! `terca worker`: runs trials for a coordinator, which talks to it over standard input and output.
//!
//! Everything ends when the input closes, or when a signal comes.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Seek, Stdin, Write};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use jiff::Timestamp;
use terca_core::plan::TrialSpec;
use terca_core::plan::fingerprint::{CaseFingerprint, VARIABLES, differences};
use terca_core::run::event::{EventKind, TrialHead};
use terca_core::run::outcome::TrialReport;
use terca_core::text::diagnostic::Severity;

use super::most_bytes;
use super::wire::{self, FromWorker, Hello, Order, ToWorker};
use crate::VERSION;
use crate::host::agent_store::AGENTS;
use crate::host::environment::{Host, Variables};
use crate::locked;
use crate::process::interrupt::Interrupt;
use crate::run::load::{TrialName, load_extent, trial_name};
use crate::run::start::{PreparedRun, StartOptions};
use crate::run::trial_thread::{GivenUp, Message, start};
use crate::suite::discover::Extent;
use crate::tree::archive::{self, Packer};
use crate::tree::{Dir, Options};
use crate::trial::Context;
use crate::workspace::own_dirs::own_dir;
use crate::workspace::trial_dirs::WorkDir;

/// The time between two signs of life.
const BEAT: Duration = Duration::from_secs(3);
/// The time for a trial to see its processes dead before the worker leaves anyway.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// The variable with the directory that trials work in.
const WORK_DIR: &str = "TERCA_WORK_DIR";

/// Looks at this machine, for `terca doctor`.
pub type Inspect = fn(&Host, &Interrupt) -> io::Result<serde_json::Value>;

/// Sends a message, as a whole.
fn send(message: &FromWorker) -> io::Result<()> {
    wire::send(&mut io::stdout().lock(), message)
}

/// Serves a coordinator until it hangs up.
pub fn serve(inspect: Inspect) -> u8 {
    match converse(inspect) {
        Ok(()) => 0,
        Err(error) => {
            let _ = writeln!(io::stderr(), "terca worker: {error}");
            1
        }
    }
}

fn converse(inspect: Inspect) -> io::Result<()> {
    let hello = Hello {
        node: node_name(),
        now: Timestamp::now(),
    };
    wire::greet(&mut io::stdout().lock(), VERSION, &hello)?;
    beat()?;
    let mut input = BufReader::new(io::stdin());
    let mut work: Option<Arc<Work>> = None;
    let interrupt = &Interrupt::new()?;
    std::thread::scope(|scope| {
        let mut listen = || -> io::Result<()> {
            while let Some(message) = wire::receive(&mut input)? {
                match (message, &mut work) {
                    (ToWorker::Ping, _) => send(&FromWorker::Alive)?,
                    (ToWorker::Inspect(variables), _) => {
                        scope.spawn(move || look(variables.0, inspect, interrupt));
                    }
                    (ToWorker::Open(order), None) => match Work::open(&order, &mut input) {
                        Ok(new) => work = Some(new),
                        Err(refusal) => return send(&FromWorker::Refused(refusal)),
                    },
                    (ToWorker::Run { trial, attempt }, Some(work)) => work.run(&trial, attempt)?,
                    (ToWorker::Stop, Some(work)) => work.context.interrupt.stop(),
                    (ToWorker::Stop, None) => return Ok(()),
                    (ToWorker::Open(_) | ToWorker::Run { .. }, _) => {
                        return Err(io::Error::other("a message came at the wrong time"));
                    }
                }
            }
            Ok(())
        };
        let heard = listen();
        // Looks at this machine are ended, and leave nothing.
        interrupt.kill();
        heard
    })?;
    if let Some(work) = work {
        work.leave();
    }
    Ok(())
}

/// Looks at this machine while the worker listens, and tells the findings.
fn look(variables: Variables, inspect: Inspect, interrupt: &Interrupt) {
    let found = host_of(variables).and_then(|host| inspect(&host, interrupt));
    // Nobody listens any more when this fails.
    let _ = send(&match found {
        Ok(findings) => FromWorker::Inspected(findings),
        Err(error) => FromWorker::Refused(no_dir(&error)),
    });
}

/// Says every few seconds that this worker is there. A connection that is gone is noticed by who reads.
fn beat() -> io::Result<()> {
    let beats = std::thread::Builder::new().name("beat".into());
    beats.spawn(|| {
        loop {
            std::thread::sleep(BEAT);
            if send(&FromWorker::Alive).is_err() {
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

/// Returns the environment of this machine, with the variables that the coordinator sent, and a directory that nobody
/// but this user has access to.
fn host_of(mut sent: Variables) -> io::Result<Host> {
    let here = Host::of_this_process();
    let named = |name| here.get(name).filter(|dir| !dir.is_empty());
    // `TMPDIR` of a job is on the node's own disk, and gone with the job.
    let base = named(WORK_DIR).or_else(|| named("TMPDIR"));
    let dir = own_dir(base.map_or(Utf8Path::new("/var/tmp"), Utf8Path::new))?;
    sent.insert(WORK_DIR.to_owned(), dir.into_string());
    Ok(here.with(sent))
}

/// Refuses a machine that has no directory for a worker.
fn no_dir(error: &io::Error) -> GivenUp {
    GivenUp {
        reason: error.to_string(),
        help: Some(
            "fix it, or name another directory with `TERCA_WORK_DIR` on that machine".to_owned(),
        ),
    }
}

/// The run that this worker works for.
struct Work {
    context: Arc<Context>,
    /// The trials of the suite by their names, as this worker has planned them.
    trials: HashMap<TrialName, TrialSpec>,
    sender: Sender<Message>,
    /// The trial that runs now, and the number of its attempt.
    current: Mutex<Option<(TrialSpec, u32)>>,
    /// The directory with the suite that was sent.
    suite: WorkDir,
}

impl Work {
    /// Prepares this machine for the trials of a run, and says that they can be run.
    fn open(order: &Order, input: &mut BufReader<Stdin>) -> Result<Arc<Self>, GivenUp> {
        let host = host_of(order.variables.0.clone()).map_err(|error| no_dir(&error))?;
        let suite = WorkDir::create(host.get(WORK_DIR))?;
        let root = suite.new_dir()?;
        let (suite_dir, extent) = match order.archive {
            Some(length) => {
                let into = Dir::open_no_link(&root)?;
                wire::receive_bytes(input, length, |bytes| {
                    archive::unpack(bytes, &into, u64::MAX)
                })??;
                let inside = order.suite_dir.strip_prefix("/");
                (root.join(inside.unwrap_or(&order.suite_dir)), Extent::Part)
            }
            None => (order.suite_dir.clone(), Extent::Whole),
        };
        let loaded = load_extent(&suite_dir, extent, &order.settings, &host)?;
        let mut problems = loaded.problems.iter();
        let problem = problems.find(|problem| problem.severity == Severity::Error);
        let plan = loaded.plan.ok_or_else(|| match problem {
            Some(problem) => GivenUp {
                reason: problem.message.clone(),
                help: problem.help.first().cloned(),
            },
            None => GivenUp::from("the suite cannot be loaded"),
        })?;
        let options = StartOptions {
            rebuild_layers: order.rebuild_layers,
            files_below: order.archive.map(|_| root.as_path()),
            keeps_whole: true,
            settled: order.settled.clone(),
            tell: None,
            // All workers of this machine share it, and later runs too.
            agents_dir: order
                .archive
                .and(host.get(WORK_DIR))
                .map(|dir| Utf8Path::new(dir).join(AGENTS)),
        };
        let prepared = PreparedRun::new(&plan, &order.settings, options, host)?;
        prepared.install_agents()?;
        check_files(&order.fingerprints, &prepared.fingerprints)?;
        let opened = prepared.containment();
        let run_dir = prepared.context.work.new_dir()?;
        let (context, _, (sender, receiver)) = prepared.into_context(&run_dir);
        let work = Arc::new(Work {
            trials: (plan.trials.iter())
                .map(|trial| (trial_name(&TrialHead::of(trial)), trial.clone()))
                .collect(),
            context,
            sender,
            current: Mutex::new(None),
            suite,
        });
        let reporter = work.clone();
        let reports = std::thread::Builder::new().name("reports".into());
        reports.spawn(move || reporter.report(&receiver))?;
        send(&FromWorker::Opened(opened))?;
        Ok(work)
    }

    /// Starts a trial.
    fn run(&self, head: &TrialHead, attempt: u32) -> io::Result<()> {
        let planned = self.trials.get(&trial_name(head));
        let planned = planned.ok_or_else(|| io::Error::other("the plan here has no such trial"))?;
        let trial = TrialSpec {
            id: head.id,
            dir: head.dir.clone(),
            ..planned.clone()
        };
        *locked(&self.current) = Some((trial.clone(), attempt));
        start(trial, attempt, self.context.clone(), &self.sender, None);
        Ok(())
    }
}

/// Checks that the files of the suite are those of the coordinator.
fn check_files(expected: &[CaseFingerprint], found: &[CaseFingerprint]) -> Result<(), GivenUp> {
    // Variables were sent as they are. Their fingerprint differs where one has the suite's directory in it.
    let without_variables = |cases: &[CaseFingerprint]| {
        let mut cases = cases.to_vec();
        for case in &mut cases {
            case.fingerprint.remove(VARIABLES);
        }
        cases
    };
    let changes = differences(&without_variables(expected), &without_variables(found));
    if changes.is_empty() {
        return Ok(());
    }
    Err(GivenUp {
        reason: format!("the suite differs there: {}", changes.join(", ")),
        help: Some(
            "name all files of the suite by relative paths, so that they are sent; where the pool has `dir`, bring the \
             suite there up to date"
                .to_owned(),
        ),
    })
}

impl Work {
    /// Passes on what happens to trials.
    fn report(self: &Arc<Self>, receiver: &Receiver<Message>) {
        let mut is_leaving = false;
        for message in receiver {
            let sent = match message {
                Message::Trial(kind) => match *kind {
                    EventKind::TrialFinished { report, .. } => {
                        match locked(&self.current).take() {
                            Some((trial, attempt)) if !is_leaving => {
                                self.send_result(&trial, attempt, report)
                            }
                            // A trial that was cut because this worker leaves is lost, and its report is nobody's.
                            _ => Ok(()),
                        }
                    }
                    kind => send(&FromWorker::Event(Box::new(kind))),
                },
                // The machine's owner wants it back. The trial is lost, and is run elsewhere.
                Message::Signal => {
                    is_leaving = true;
                    let work = self.clone();
                    std::thread::spawn(move || {
                        work.leave();
                        std::process::exit(1);
                    });
                    Ok(())
                }
                Message::Slot(_) | Message::Suspend { .. } => Ok(()),
            };
            if sent.is_err() {
                // Nobody listens: the input is closed too, or soon will be.
                self.context.interrupt.kill();
            }
        }
    }

    /// Ends everything, and waits for that a moment. Processes end with their supervisors, which end with this process at
    /// the latest.
    fn leave(&self) {
        self.context.interrupt.kill();
        let until = Instant::now() + LAST_WAIT;
        while locked(&self.current).is_some() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.context.services.end();
        self.context.work.remove();
        self.suite.remove();
    }

    /// Sends the result of a trial and its files.
    fn send_result(
        &self,
        trial: &TrialSpec,
        attempt: u32,
        mut report: Box<TrialReport>,
    ) -> io::Result<()> {
        let (files, left_out) = self.files(trial)?;
        if !left_out.is_empty() {
            report.notes.push(format!(
                "not kept, because the trial's files are too large for the limit on disk space: {}",
                left_out.join(", ")
            ));
        }
        let archive = files.metadata()?.len();
        let ended = FromWorker::Ended {
            trial: trial.id,
            attempt,
            report,
            archive,
        };
        let mut output = io::stdout().lock();
        wire::send(&mut output, &ended)?;
        wire::send_bytes(&mut output, files, archive)
    }

    /// Packs the folder of a trial, and removes it. Returns the entries that had no room.
    fn files(&self, trial: &TrialSpec) -> io::Result<(File, Vec<String>)> {
        let run_dir = Dir::open_no_link(&self.context.run_dir)?;
        let place = self.context.work.new_dir()?.join("files.tar");
        let file = File::options()
            .create_new(true)
            .read(true)
            .write(true)
            .open(&place)?;
        fs_err::remove_file(&place)?;
        let mut packer = Packer::new(io::BufWriter::new(file), most_bytes(&trial.case));
        // A trial that could not even begin has no folder.
        if let Ok(folder) = run_dir.open_dir(&trial.dir) {
            packer.add_tree(&folder, Utf8Path::new(""))?;
        }
        let (file, left_out) = packer.finish()?;
        let _left = run_dir.remove_tree(trial.dir.as_std_path(), &Options::default())?;
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        let names = left_out.iter().map(|path| path.display().to_string());
        Ok((file, names.collect()))
    }
}
