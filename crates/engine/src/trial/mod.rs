//! One trial, from an empty directory to a report.
//!
//! ```text
//! setup ─► AgentSession ─► agent ─► AgentWork ─► grading ─► collect ─► TrialReport
//! ```
//!
//! One module per stage; each adds what it knows to the report, and a stage that cannot go on returns a `StageError`. `collect`
//! keeps what there is. A trial that fails is data: nothing here returns an `Err` to the scheduler.
//!
//! # Hermetic
//!
//! Two arms can be compared only if nothing differs but the variant. So a trial starts from nothing, and each stage
//! passes on one thing only:
//!
//! - **In**: the layers of the suite, an environment from an allow-list (`crate::host::environment`), the agent's
//!   credentials (`crate::host::credentials`), and nothing of the user's home. The trial's directories are outside
//!   the suite and the home, on a path without names, and nothing above them is of interest to agents
//!   (`crate::workspace::trial_dirs`), which look for rules, settings and git in every directory above.
//! - **Agent to tests**: its workspace, and nothing else. Every process is gone. The home as set-up left it, and the
//!   files that changes are compared with, are put away while the agent works; what was put away takes the place of the
//!   agent's home, and the tests' temporary directory is made then (`crate::workspace::trial_dirs`). `_tests/` is
//!   copied last and replaces files that the agent put there.
//! - **Test to test**: before each test, workspace, home and temporary directory are made what they were before the first
//!   (`grading::ground`). `$TERCA_WORK` runs the work where it cannot read the tests (`crate::process::work_command`).
//! - **Agent against its trial**: the agent runs as the user, and can remove its directories, kill its supervisor, or look
//!   for what was put away. All of that is judged, never an error that would be tried again: missing directories are made
//!   anew, a supervisor is replaced, and an agent that changed what was put away, or keeps its directories from being
//!   moved, fails every test (`AgentWork::breach`), and so does one that fills the disk (`room`). What it changes of the suite's
//!   sealed copy is restored. Machines are in trouble too: a disk that is full without it, a failing one, or the loss of the
//!   whole run's directory stay errors.
//! - **Agent to saved files**: its workspace is put aside before the tests run on a copy *in its place*, so that
//!   absolute paths still lead to the same things, and no test changes what is saved.
//! - **Out**: files with secrets masked. Output is read through the handle it was made with, under a name that cannot
//!   be foreseen.
//! - **The agent does not know which trial it is in**: it gets no `TERCA_EVAL` and the like, its path has no names
//!   that mean anything, and with `--aa` not even the commands of the suite know the arm.
//!
//! This is no wall: with `sandbox: none` the agent runs as the user and can read everything that the user can, the
//! suite's directory included, if it goes looking. A sandbox is one (`crate::sandbox`), around each command.
//!
//! Rejected:
//!
//! - *A container for every trial.* Not every machine has one, and credentials, proxies and toolchains have to be
//!   carried in by hand. It is a wall against malice; comparisons are spoiled by leaks that happen by default.
//! - *The workspace below `.terca/` of the suite.* Agents then read the suite's own `AGENTS.md`, `.git` and settings.
//! - *The user's home with a few variables unset.* The files that an agent reads there change with every version: a
//!   list of what to hide is always one behind, a list of what to pass on is not.
//! - *Tests in the agent's own workspace.* The tests would change what is saved, and `regrade` would grade that.
//! - *Copying the workspace before and after to compare it.* Identities of files are noted instead
//!   (`crate::workspace::changes`).

pub mod acp_client;
mod agent;
mod agent_request;
mod agent_work;
mod attachments;
mod attempts;
mod collect;
mod command;
mod containment;
mod context;
pub(crate) mod evidence;
mod folder;
mod grading;
mod log;
mod mcp_answers;
mod mcp_preflight;
mod model_source;
mod output;
mod regrade;
mod room;
mod running_service;
mod services;
mod session;
mod setup;
mod stage_error;
mod timing;
mod trial_run;

use terca_core::plan::TrialSpec;
use terca_core::run::event::{EventKind, Phase};
use terca_core::run::outcome::{Phases, Status, TrialReport};
use terca_core::trial_error::{ErrorKind, TrialError};

use crate::host::steady_clock;
pub use crate::host::version::Versions;
use crate::process::pause::Stopwatch;
pub use attempts::clear as clear_folder;
pub use context::Context;
pub use mcp_answers::Preflights;
pub use mcp_preflight::offered_tools;
pub use model_source::{ReplaySource, RunGateway};
pub use regrade::{Ungradable, is_gradable, regrade};
use room::Room;
pub use running_service::RunServices;
pub(crate) use setup::cached_steps;
use stage_error::StageError;
use timing::{rounded, timed};
use trial_run::TrialRun;

/// Runs a trial to its end.
pub fn run(
    spec: &TrialSpec,
    attempt: u32,
    context: &Context,
    emit: &dyn Fn(EventKind),
) -> TrialReport {
    let started = Stopwatch::start();
    let started_at = steady_clock::now();
    let mut report = match TrialRun::open(spec, attempt, context, emit) {
        Ok(mut run) => {
            let mut phases = Phases::default();
            let result = run_stages(&mut run, &mut phases);
            run.report.phases = phases;
            services::end(&mut run);
            run.progress.phase(Phase::Collect);
            collect::collect(run, result)
        }
        Err(error) => TrialReport {
            status: Status::Error,
            error: Some(TrialError::new(ErrorKind::Internal, error.to_string())),
            ..TrialReport::pending()
        },
    };
    report.attempts = attempt;
    let contained_by = context
        .sandboxes
        .contained_by(spec.case.variant.sandbox.as_ref());
    report.contained_by = Some(contained_by);
    report.image = (context.sandboxes)
        .image_id(spec.case.variant.sandbox.as_ref())
        .map(str::to_owned);
    report.limits_kept_by =
        (context.limits).kept_by(&spec.case.limits, contained_by.is_container());
    report.started_at = Some(started_at);
    report.duration_seconds = rounded(started.elapsed().as_secs_f64());
    report
}

fn run_stages(run: &mut TrialRun<'_>, phases: &mut Phases) -> Result<(), StageError> {
    run.progress.phase(Phase::Setup);
    let (session, snapshot) = timed(&mut phases.setup, || setup::prepare(run))?;
    let room = Room::before(run, &snapshot);
    run.progress.phase(Phase::Agent);
    let work = timed(&mut phases.agent, || {
        agent::run_agent(run, session, snapshot)
    });
    let judged = work.and_then(|work| {
        run.progress.phase(Phase::Tests);
        timed(&mut phases.tests, || grading::grade(run, None, &work))
    });
    match (judged, room) {
        (Err(error), Some(room)) => room.judge(run, error),
        (judged, _) => judged,
    }
}
