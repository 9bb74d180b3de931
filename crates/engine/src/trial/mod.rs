//! One trial, from an empty directory to a report.
//!
//! ```text
//! prepare ─► Prepared ─► run_agent ─► AgentRun ─► grade ─► Graded ─► collect ─► TrialReport
//! ```
//!
//! One type and one module per stage. A stage that cannot go on returns a [`Stop`]; whatever happened, `collect`
//! saves what there is. A trial that fails is data: nothing here returns an `Err` to the scheduler.
//!
//! # Hermetic
//!
//! Two arms can be compared only if nothing differs but what the variant says. So a trial is built up from nothing,
//! and what comes out of one stage reaches the next through one door:
//!
//! - **In**: the layers of the suite, an environment of an allow-list (`crate::host::environment`), what the agent signs in
//!   with (`crate::host::credentials`), and nothing of the user's home. The room lies outside the suite and the home, on a
//!   path without names, below nothing that agents read (`crate::workspace::trial_dirs`): they look for rules, settings and git in
//!   every directory above.
//! - **Agent to tests**: its workspace, and nothing else. Every process is gone; the home of set-up and tests is
//!   another than the agent's, which began as a copy of it; so is the temporary directory. `_tests/` is laid over
//!   last and wins against whatever the agent put there.
//! - **Agent to what is saved**: its workspace is put aside before the tests run on a copy *in its place*, so that
//!   absolute paths still lead to the same things, and no test changes what is saved.
//! - **Out**: files with secrets masked. Output is read through the handle it was made with, under a name that cannot
//!   be foreseen.
//! - **The agent cannot tell where it is**: none of `TERCA_EVAL` and the like, a number for a path, and in `--aa` not
//!   even the commands of the suite are told which arm it is.
//!
//! What it is not is a wall: with `sandbox: none` the agent runs as the user and can read what the user can, the
//! suite's directory included, if it goes looking.
//!
//! Rejected:
//!
//! - *A container for every trial.* Not there on every machine, and credentials, proxies and toolchains have to be
//!   carried in by hand. It is a wall against malice; leaks by default are what spoils comparisons.
//! - *The workspace below `.terca/` of the suite.* Agents then read the suite's own `AGENTS.md`, `.git` and settings.
//! - *The user's home with a few variables unset.* Which files an agent reads there changes with every version: a
//!   list of what to hide is always one behind, a list of what to pass on is not.
//! - *Tests in the agent's own workspace.* What is saved would be what the tests left, and `regrade` would grade
//!   something else.
//! - *Copying the workspace before and after to compare it.* Identities of files are noted instead
//!   (`crate::workspace::changes`).

mod actions;
mod agent;
mod attempts;
mod bench;
mod cheat;
mod collect;
mod conduct;
mod gather;
mod grade;
mod headlines;
mod judge;
mod layers;
mod listener;
mod log;
mod prepare;
mod process;
mod regrade;
mod rules;
mod session;
mod solution;

use std::sync::Arc;
use std::time::Instant;

use camino::Utf8PathBuf;
use terca_core::plan::{PreparedLayer, TrialSpec};
use terca_core::run::event::{EventKind, Phase};
use terca_core::run::outcome::{Phases, Status, TrialReport};
use terca_core::run::settings::Keep;
use terca_core::text::mask::Mask;
use terca_core::trial_error::{ErrorKind, TrialError};

use crate::host::environment::Host;
pub use crate::host::version::Versions;
use crate::process::interrupt::Interrupt;
use crate::process::supervise::{Crew, SuperviseError};
use crate::workspace::layers::Cache;
use crate::workspace::trial_dirs::WorkDir;
use agent::AgentRun;
use bench::Bench;
use grade::Graded;
use prepare::Given;
pub use regrade::{Ungradable, is_gradable, regrade};

/// The keys of the layers that the plan names.
pub type LayerKeys = Vec<(Arc<PreparedLayer>, String)>;

/// What all trials of a run share.
#[derive(Debug)]
pub struct Context {
    pub suite_dir: Utf8PathBuf,
    pub run_dir: Utf8PathBuf,
    pub work: WorkDir,
    pub mask: Mask,
    pub host: Host,
    pub interrupt: Arc<Interrupt>,
    pub keep: Keep,
    pub versions: Versions,
    /// What `prepare` has made, and under which keys it is to be found.
    pub cache: Cache,
    pub layer_keys: LayerKeys,
    pub supervisors: Crew,
}

/// Why a trial did not go on to the next stage.
#[derive(Debug)]
pub enum Stop {
    Error(TrialError),
    Interrupted,
}

impl Stop {
    fn error(kind: ErrorKind, message: impl Into<String>) -> Self {
        Stop::Error(TrialError::new(kind, message))
    }
}

/// The machine refused: nobody's fault but ours to report.
impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Stop::error(ErrorKind::Internal, error.to_string())
    }
}

impl From<SuperviseError> for Stop {
    fn from(error: SuperviseError) -> Self {
        Stop::error(ErrorKind::Internal, error.to_string())
    }
}

/// How far a trial came.
#[derive(Debug, Default)]
struct Stages {
    given: Option<Given>,
    agent: Option<AgentRun>,
    graded: Option<Graded>,
    stop: Option<Stop>,
    phases: Phases,
}

/// Runs a trial to its end.
pub fn run(
    trial: &TrialSpec,
    attempt: u32,
    context: &Context,
    emit: &dyn Fn(EventKind),
) -> TrialReport {
    let started = Instant::now();
    let started_at = jiff::Timestamp::now();
    let mut report = match Bench::open(trial, attempt, context, emit) {
        Ok(mut bench) => {
            let mut stages = Stages::default();
            if let Err(stop) = go_through(&mut bench, &mut stages) {
                stages.stop = Some(stop);
            }
            bench.phase(Phase::Collect);
            collect::collect(bench, stages)
        }
        Err(error) => TrialReport {
            status: Status::Error,
            error: Some(TrialError::new(ErrorKind::Internal, error.to_string())),
            ..TrialReport::pending()
        },
    };
    report.attempts = attempt;
    report.started_at = Some(started_at);
    report.duration_seconds = rounded(started.elapsed().as_secs_f64());
    report
}

fn go_through(bench: &mut Bench<'_>, stages: &mut Stages) -> Result<(), Stop> {
    bench.phase(Phase::Setup);
    let prepared = timed(&mut stages.phases.setup, || prepare::prepare(bench))?;
    stages.given = Some(prepared.given.clone());
    bench.phase(Phase::Agent);
    let agent = timed(&mut stages.phases.agent, || {
        agent::run_agent(bench, prepared)
    })?;
    let agent = stages.agent.insert(agent);
    agent.may_be_judged()?;
    bench.phase(Phase::Tests);
    let conduct = agent.conduct();
    conduct.write(&bench.artifacts)?;
    let graded = timed(&mut stages.phases.tests, || grade::grade(bench, &conduct))?;
    stages.graded = Some(graded);
    Ok(())
}

fn timed<T>(seconds: &mut Option<f64>, stage: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = stage();
    *seconds = Some(rounded(started.elapsed().as_secs_f64()));
    result
}

/// Milliseconds are as much as a process can be timed by.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
