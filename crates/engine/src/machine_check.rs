//! `terca doctor`: the facts about this machine, and about those of workers.
//!
//! Agents, sandboxes, limits and space. Credentials are never read.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use terca_core::agent::{self, AgentChoice, Profile};
use terca_core::config::sandbox::ContainerEngine;
use terca_core::worker_pool::WorkerPool;

use crate::host::agent_store::AgentStore;
use crate::host::credentials;
use crate::host::environment::{Host, find_program};
use crate::host::version::{self, VersionQuestion};
use crate::process::interrupt::Interrupt;
use crate::process::supervise::Launcher;
use crate::process::walls::Strength;
use crate::run::load::RunPlan;
use crate::run::signals;
use crate::sandbox;
use crate::sandbox::limits;
use crate::workers::{Call, Connection, Ending, FromWorker, ToWorker, Variables, WorkerError};
use crate::workspace::overlays::{self, Overlays, Wish, WorkspacesMade};
use crate::workspace::trial_dirs::WorkDir;

/// The findings on one machine. A reason in words takes the place of what does not work.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Findings {
    /// The agents.
    pub agents: Vec<FoundAgent>,
    /// The program of bubblewrap.
    pub bwrap: Result<Utf8PathBuf, String>,
    /// The strength of Landlock.
    pub landlock: Result<Strength, String>,
    /// The program and version of each engine for containers, in the order of [`ContainerEngine::ALL`].
    pub engines: Vec<Result<(Utf8PathBuf, String), String>>,
    /// The way in which workspaces are made.
    pub workspaces: WorkspacesMade,
    /// How limits are kept, as a line.
    pub limits: String,
    /// The directory that trials work in.
    pub work_dir: Utf8PathBuf,
    /// The bytes that are free there.
    pub free_bytes: Option<u64>,
}

/// The state of one agent on a machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FoundAgent {
    /// The name of the agent.
    pub agent: String,
    /// The file of its program, if it is installed.
    pub program: Option<Utf8PathBuf>,
    /// The version that it reports.
    pub version: Option<String>,
    /// The version that the suite asks for.
    pub asked: Option<String>,
    /// The names of variables and files with credentials, never their values.
    pub credentials: Vec<String>,
}

/// Looks at this machine: at every agent that is a program, and at the programs and versions that a suite names in their place.
pub fn examine(
    host: &Host,
    own: &[AgentChoice],
    store: Option<&AgentStore>,
    interrupt: &Interrupt,
) -> io::Result<Findings> {
    let launcher = Launcher::of_this_program();
    let work = WorkDir::create(host.get("TERCA_WORK_DIR"))?;
    let profiles = agent::profiles().filter(|profile| profile.program.is_some());
    let look = |profile, program: Option<&str>| {
        find_agent(profile, program, host, &work, &launcher, interrupt)
    };
    let usual = profiles.map(|profile| look(profile, profile.program));
    let own = own.iter().map(|choice| {
        let profile = choice.agent.profile();
        let Some(asked) = &choice.version else {
            return look(profile, choice.program());
        };
        let installed = store.and_then(|store| store.program(choice));
        let found = look(profile, installed.as_deref().map(Utf8Path::as_str))?;
        Ok(FoundAgent {
            asked: Some(asked.clone()),
            ..found
        })
    });
    let agents = usual.chain(own).collect::<io::Result<_>>()?;
    let wish = Wish::read(host.get(overlays::VARIABLE)).map_err(io::Error::other)?;
    let work_dir = WorkDir::parent(host.get("TERCA_WORK_DIR"))?;
    let engines = ContainerEngine::ALL.into_iter();
    Ok(Findings {
        agents,
        bwrap: sandbox::try_out(host).map_err(in_words),
        landlock: sandbox::try_landlock(host).map_err(in_words),
        engines: engines
            .map(|engine| sandbox::try_engine(engine, host).map_err(in_words))
            .collect(),
        workspaces: Overlays::new(wish, launcher.clone()).made(&work),
        limits: limits::on_this_machine(),
        free_bytes: free_bytes(&work_dir),
        work_dir,
    })
}

fn in_words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Returns the bytes that this user can still write to the file system of a directory.
fn free_bytes(dir: &Utf8PathBuf) -> Option<u64> {
    let system = rustix::fs::statvfs(dir.as_std_path()).ok()?;
    system.f_bavail.checked_mul(system.f_frsize)
}

/// Returns the agents on this machine, and whether each looks signed in. Starts nothing, so that it is quick.
pub fn installed(host: &Host) -> Vec<(&'static Profile, bool)> {
    let path = host.get("PATH").unwrap_or_default();
    let mut installed = Vec::new();
    for profile in agent::profiles() {
        let is_here = profile
            .program
            .is_some_and(|name| find_program(name, path).is_some());
        if is_here {
            installed.push((profile, !credentials_of(profile, host).is_empty()));
        }
    }
    installed
}

fn credentials_of(profile: &'static Profile, host: &Host) -> Vec<String> {
    let variables = credentials::variables(host, profile);
    credentials::as_written(variables, &credentials::files(host, profile))
}

fn find_agent(
    profile: &'static Profile,
    program: Option<&str>,
    host: &Host,
    work: &WorkDir,
    launcher: &Arc<Launcher>,
    interrupt: &Interrupt,
) -> io::Result<FoundAgent> {
    let dirs = work.trial_dirs()?;
    let env = host.base(dirs.for_agent());
    let path = env.get("PATH").map(String::as_str).unwrap_or_default();
    let program = program.and_then(|name| find_program(name, path));
    let version = program.as_ref().and_then(|program| {
        let question = VersionQuestion {
            profile,
            program,
            image: None,
            env: &env,
            dir: &dirs.root.join("probe"),
        };
        version::ask(launcher, question, || None, interrupt)
    });
    Ok(FoundAgent {
        agent: profile.name.to_owned(),
        program,
        version,
        asked: None,
        credentials: credentials_of(profile, host),
    })
}

/// Looks at this machine for a coordinator.
pub fn inspect(host: &Host, interrupt: &Interrupt) -> io::Result<serde_json::Value> {
    Ok(serde_json::to_value(examine(host, &[], None, interrupt)?)?)
}

/// The facts about a worker and its machine.
#[derive(Debug)]
pub struct RemoteFindings {
    /// The name of the node.
    pub node: String,
    /// The time from the start of the command to the worker's first words.
    pub start: Duration,
    /// The time between a question and its answer.
    pub latency: Duration,
    /// The time by which the clock there is ahead of the one here.
    pub ahead: SignedDuration,
    /// The findings on its machine.
    pub findings: Findings,
}

/// The machines of workers.
#[derive(Debug)]
pub struct RemoteMachines {
    pools: Vec<WorkerPool>,
    variables: Variables,
}

impl RemoteMachines {
    /// Returns the machines of the workers of a plan.
    pub fn new(plan: &RunPlan, host: &Host) -> Self {
        RemoteMachines {
            pools: plan.workers.pools.clone(),
            variables: Variables(plan.variables_for_workers(host)),
        }
    }

    /// Returns the names of the places.
    pub fn places(&self) -> Vec<String> {
        let places = self.pools.iter().flat_map(WorkerPool::places);
        places.map(|place| place.name()).collect()
    }

    /// Starts one worker at each place, all at once, and tells about each in their order. A signal ends all of them.
    pub fn examine(
        &self,
        host: &Host,
        mut tell: impl FnMut(&str, Result<RemoteFindings, WorkerError>),
    ) -> io::Result<()> {
        let work = WorkDir::create(host.get("TERCA_WORK_DIR"))?;
        let dir = work.new_dir()?;
        let launcher = Launcher::of_this_program();
        let interrupt = Arc::new(Interrupt::new()?);
        // Nobody needs the messages: who waits looks at the interrupt.
        signals::forward(&channel().0, &interrupt)?;
        let ending = Ending::new(interrupt, true);
        let places = self.pools.iter().flat_map(WorkerPool::places);
        std::thread::scope(|scope| {
            let looks: Vec<_> = places
                .map(|place| {
                    let call = Call {
                        launcher: &launcher,
                        place,
                        dir: &dir,
                        ending: &ending,
                    };
                    (place, scope.spawn(move || self.look(call)))
                })
                .collect();
            for (place, look) in looks {
                let gone = |_| Err(WorkerError::Lost("the look broke off".to_owned()));
                tell(&place.name(), look.join().unwrap_or_else(gone));
            }
        });
        Ok(())
    }

    fn look(&self, call: Call<'_>) -> Result<RemoteFindings, WorkerError> {
        let started = Instant::now();
        let mut connection = Connection::start(call)?;
        let (start, here) = (started.elapsed(), Timestamp::now());
        // From now on it ends by itself, and removes what it has made.
        connection.set_ready();
        let asked = Instant::now();
        connection.send(&ToWorker::Ping)?;
        connection.receive_any()?;
        let latency = asked.elapsed();
        connection.send(&ToWorker::Inspect(self.variables.clone()))?;
        let findings = match connection.receive()? {
            FromWorker::Inspected(found) => {
                serde_json::from_value(found).map_err(io::Error::from)?
            }
            _ => return Err(WorkerError::unexpected()),
        };
        // Its words were half of a round trip on their way.
        let on_the_way = SignedDuration::try_from(latency / 2).unwrap_or_default();
        Ok(RemoteFindings {
            node: connection.hello.node.clone(),
            start,
            latency,
            ahead: connection.hello.now.duration_since(here) + on_the_way,
            findings,
        })
    }
}
