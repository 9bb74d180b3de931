//! `terca doctor --on`: one worker is started at each place, and tells about its machine.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use jiff::{SignedDuration, Timestamp};
use terca_core::plan::workers::chosen_workers;
use terca_core::run::settings::RunSettings;
use terca_core::text::diagnostic::Diagnostics;
use terca_core::worker_pool::WorkerPool;

use crate::checkup::Findings;
use crate::host::environment::Host;
use crate::process::interrupt::Interrupt;
use crate::process::supervise::Launcher;
use crate::remote::message::{FromWorker, Hello, SentVariables, ToWorker};
use crate::remote::{Call, Connection, Ending, Heard, OwnProgram, WorkerError, unexpected};
use crate::run::load::RunPlan;
use crate::run::signals;
use crate::run::trial_thread::Message;
use crate::workspace::trial_dirs::WorkDir;

/// The facts about a worker and its machine.
#[derive(Debug)]
pub struct Visit {
    /// The worker's own words.
    pub hello: Hello,
    /// The time from the start of the command to these words.
    pub start: Duration,
    /// The time between a question and its answer.
    pub latency: Duration,
    /// The time by which the clock there is ahead of the one here.
    pub ahead: SignedDuration,
    /// The findings on its machine.
    pub findings: Findings,
}

/// The workers to visit.
#[derive(Debug)]
pub struct Round {
    pools: Vec<WorkerPool>,
    variables: SentVariables,
    version: String,
}

impl Round {
    /// Prepares the visits to the workers that the settings name.
    pub fn new(plan: &RunPlan, settings: &RunSettings, version: &str, host: &Host) -> Self {
        // Unknown names were reported when the plan was made.
        let mut known = Diagnostics::default();
        let chosen = chosen_workers(&plan.suite, &settings.on, &mut known);
        let pools = chosen.map_or_else(Vec::new, |chosen| chosen.pools);
        Round {
            pools: pools.into_iter().cloned().collect(),
            variables: SentVariables(plan.variables_for_workers(host)),
            version: version.to_owned(),
        }
    }

    /// Returns the names of the places.
    pub fn places(&self) -> Vec<String> {
        let places = self.pools.iter().flat_map(WorkerPool::places);
        places.map(|place| place.name()).collect()
    }

    /// Visits all places at once, and tells about each in their order. A signal ends all visits.
    pub fn make(
        &self,
        host: &Host,
        mut tell: impl FnMut(&str, Result<Visit, WorkerError>),
    ) -> io::Result<()> {
        let work = WorkDir::create(host.get("TERCA_WORK_DIR"))?;
        let dir = work.new_dir()?;
        let program = OwnProgram::for_pools(&self.pools)?;
        let launcher = Launcher::of_this_program();
        let places: Vec<_> = self.pools.iter().flat_map(WorkerPool::places).collect();
        let channels: Vec<_> = places.iter().map(|_| channel()).collect();
        let ending = Ending::default();
        let visits = channels.iter().map(|(to, _)| to.clone()).collect();
        pass_signals_to(visits, ending.clone())?;
        std::thread::scope(|scope| {
            let mut visits = Vec::new();
            for (place, (own, inputs)) in places.iter().zip(channels) {
                let call = Call {
                    launcher: &launcher,
                    place: *place,
                    program: program.as_ref(),
                    dir: Utf8Path::new(&dir),
                    version: &self.version,
                    ending: &ending,
                };
                visits.push(scope.spawn(move || visit(&call, &self.variables, own, &inputs)));
            }
            for (place, visit) in places.iter().zip(visits) {
                let gone = |_| Err(WorkerError::Closed("the visit broke off".to_owned()));
                tell(&place.name(), visit.join().unwrap_or_else(gone));
            }
        });
        Ok(())
    }
}

/// Something for a visit; `None` where it is to end.
type Input = Option<Heard>;

/// Tells all visits about a signal.
fn pass_signals_to(visits: Vec<Sender<Input>>, ending: Ending) -> io::Result<()> {
    let (sender, signals) = channel::<Message>();
    signals::forward(&sender, &Arc::new(Interrupt::new()?))?;
    std::thread::Builder::new()
        .name("visits".into())
        .spawn(move || {
            for message in signals {
                // A pause is over by itself when this is dropped.
                if !matches!(message, Message::Signal) {
                    continue;
                }
                ending.end();
                for visit in &visits {
                    let _ = visit.send(None);
                }
            }
        })?;
    Ok(())
}

fn visit(
    call: &Call<'_>,
    variables: &SentVariables,
    own: Sender<Input>,
    inputs: &Receiver<Input>,
) -> Result<Visit, WorkerError> {
    let hear = move |heard| {
        let _ = own.send(Some(heard));
    };
    let started = Instant::now();
    let (mut connection, hello) = call.make(hear, || next(inputs))?;
    let (start, here) = (started.elapsed(), Timestamp::now());
    // From now on it ends by itself, and removes what it has made.
    connection.set_ready();
    let asked = Instant::now();
    match ask(&mut connection, &ToWorker::Ping, inputs)? {
        FromWorker::Pong => {}
        other => return Err(unexpected(&other)),
    }
    let latency = asked.elapsed();
    let question = ToWorker::Inspect(variables.clone());
    let findings = match ask(&mut connection, &question, inputs)? {
        FromWorker::Inspected(findings) => *findings,
        FromWorker::Refused { reason, .. } => {
            let node = hello.node;
            return Err(WorkerError::NotInspected { node, reason });
        }
        other => return Err(unexpected(&other)),
    };
    // Its words were half of a round trip on their way.
    let on_the_way = SignedDuration::try_from(latency / 2).unwrap_or_default();
    let ahead = hello.now.duration_since(here) + on_the_way;
    Ok(Visit {
        hello,
        start,
        latency,
        ahead,
        findings,
    })
}

/// Asks the worker something, and returns its answer. Signs of life are none.
fn ask(
    connection: &mut Connection,
    question: &ToWorker,
    inputs: &Receiver<Input>,
) -> Result<FromWorker, WorkerError> {
    let sent = connection.send(question);
    sent.map_err(|error| WorkerError::Closed(error.to_string()))?;
    loop {
        match next(inputs)?.into_message()? {
            FromWorker::Beat => {}
            answer => return Ok(answer),
        }
    }
}

fn next(inputs: &Receiver<Input>) -> Result<Heard, WorkerError> {
    match inputs.recv() {
        Ok(Some(heard)) => Ok(heard),
        Ok(None) | Err(_) => Err(WorkerError::Interrupted),
    }
}
