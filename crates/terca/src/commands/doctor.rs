//! `terca doctor`: what is here, and on workers.

mod answer;

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgAction, Args};
use jiff::SignedDuration;
use terca_core::agent::{self, AgentChoice};
use terca_core::config::sandbox::ContainerEngine;
use terca_core::run::settings::RunSettings;
use terca_core::text::prose;
use terca_engine::host::agent_store::{AgentStore, Means};
use terca_engine::host::environment::Host;
use terca_engine::machine_check::{self, Findings, FoundAgent, RemoteFindings, RemoteMachines};
use terca_engine::process::interrupt::Interrupt;
use terca_engine::process::walls::Strength;
use terca_engine::run::load;
use terca_engine::workers::WorkerError;
use terca_engine::workspace::overlays::WorkspacesMade;
use terca_engine::workspace::trial_dirs::WorkDir;
use terca_report::agents_table;

use self::answer::{agent_rows, answer};
use crate::args::{Common, TableFormat};
use crate::cli_error::{CliError, INTERRUPTED, Outcome, TROUBLE};
use crate::run::output;
use crate::{VERSION, screen};

/// Clocks that are further apart than this are worth a warning.
const FAR_APART: SignedDuration = SignedDuration::from_secs(2);
/// Less than this is worth a warning: an agent's packages alone can take as much.
const LITTLE_SPACE: u64 = 1_000_000_000;

#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// Also check these workers of the suite (repeatable, comma-separated)
    #[arg(long, value_name = "NAME", action = ArgAction::Append, value_delimiter = ',')]
    on: Vec<String>,
    /// First install the versions of agents that the suite asks for
    #[arg(long, conflicts_with = "on")]
    install: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = TableFormat::Table, conflicts_with = "on")]
    format: TableFormat,
}

pub(super) fn doctor(args: &DoctorArgs, common: &Common) -> Outcome {
    let host = Host::of_this_process();
    let others = other_machines(&args.on, common, &host)?;
    let suite = SuiteAgents::of(common, &host);
    let no_work_dir = |error: io::Error| CliError::no_work_dir(TROUBLE, &error);
    let interrupt = Interrupt::new().map_err(no_work_dir)?;
    if args.install {
        suite.install(&host, &interrupt)?;
    }
    let store = suite.store.as_ref();
    let found = machine_check::examine(&host, &suite.own_programs, store, &interrupt);
    let found = found.map_err(no_work_dir)?;
    if args.install {
        say_what_to_write(&found, &suite.names);
    }
    if args.format == TableFormat::Json {
        output::json(&answer(&found, &suite.names))?;
        return Ok(u8::from(is_missing(&found, &suite.names)));
    }
    if others.is_some() {
        screen::out("this machine:");
    }
    show(&found, &suite.names, common, screen::short);
    match others {
        Some(others) => show_others(&others, &suite.names, &host, common),
        None => Ok(u8::from(is_missing(&found, &suite.names))),
    }
}

/// Tells whether an agent of the suite is not installed.
fn is_missing(found: &Findings, of_suite: &[&str]) -> bool {
    of_suite.iter().any(|name| {
        let rows = || found.agents.iter().filter(|agent| agent.agent == **name);
        let is_there = |row: &FoundAgent| row.program.is_some();
        let lacks = |row: &FoundAgent| row.asked.is_some() && row.program.is_none();
        rows().any(lacks) || (rows().next().is_some() && !rows().any(is_there))
    })
}

/// Says how the suite can ask for agents that are not installed.
fn say_what_to_write(found: &Findings, of_suite: &[&str]) {
    for name in of_suite {
        let mut rows = found.agents.iter().filter(|agent| agent.agent == **name);
        let has_package = agent::find(name).is_some_and(|agent| agent.profile().package.is_some());
        if has_package && rows.all(|row| row.program.is_none() && row.asked.is_none()) {
            screen::err(&format!(
                "{name}: not installed, and the suite asks for no version; write `agent: {{name: {name}, version: \
                 latest}}`, and Terca installs it"
            ));
        }
    }
}

/// Shortens a path, where it is one of this machine.
type Shorten = fn(&Utf8Path) -> &Utf8Path;

/// Shows the findings on one machine: the agents of the suite first.
fn show(found: &Findings, of_suite: &[&str], common: &Common, short: Shorten) {
    let rows = agent_rows(found, of_suite);
    let table = |of_suite: bool| {
        let rows = rows.iter().filter(|row| row.of_suite == of_suite);
        screen::out_view(&agents_table(rows, short), common);
    };
    if rows.iter().any(|row| row.of_suite) {
        screen::out("agents of this suite:");
        table(true);
        screen::out("other agents:");
    }
    table(false);
    screen::out(&containment(found, short));
    screen::out(&landlock(&found.landlock));
    for (engine, answer) in ContainerEngine::ALL.into_iter().zip(&found.engines) {
        screen::out(&containers(engine, answer, short));
    }
    screen::out(&found.limits);
    screen::out(&workspaces(&found.workspaces));
    screen::out(&space(found));
}

/// Says how much trials can write.
fn space(found: &Findings) -> String {
    let dir = &found.work_dir;
    match found.free_bytes {
        Some(free) if free < LITTLE_SPACE => format!(
            "! space: only {} free in {dir}, where trials run; choose another directory with `TERCA_WORK_DIR`",
            prose::bytes(free)
        ),
        Some(free) => format!(
            "✓ space: {} free in {dir}, where trials run",
            prose::bytes(free)
        ),
        None => format!("! space: the free space in {dir}, where trials run, is not known"),
    }
}

/// Says how workspaces are made.
fn workspaces(made: &WorkspacesMade) -> String {
    match made {
        WorkspacesMade::Mounted => {
            "✓ workspaces: large ones are mounted, so that a trial copies only what it changes"
                .to_owned()
        }
        WorkspacesMade::Copied { reason, by_reflink } => {
            let how = match by_reflink {
                true => "copied, and the copies share their blocks (reflink)",
                false => "copied for each trial",
            };
            format!("! workspaces: {how}; they cannot be mounted: {reason}")
        }
    }
}

/// Says whether an engine makes containers.
fn containers(
    engine: ContainerEngine,
    answer: &Result<(Utf8PathBuf, String), String>,
    short: Shorten,
) -> String {
    let word = engine.program();
    match answer {
        Ok((program, version)) => format!(
            "✓ sandbox: {} {version} works ({}); `--sandbox {word}:IMAGE` runs agents in containers",
            engine.title(),
            short(program)
        ),
        Err(error) => format!(
            "- sandbox: {error}; only `--sandbox {word}:IMAGE` and `sandbox: {{build: …}}` need it"
        ),
    }
}

/// Says whether agents can be contained.
fn containment(found: &Findings, short: Shorten) -> String {
    match &found.bwrap {
        Ok(program) => format!(
            "✓ sandbox: bubblewrap works ({}); agents run in a sandbox",
            short(program)
        ),
        Err(error) if found.landlock.is_ok() => {
            format!("! sandbox: {error}; agents run in a sandbox of Landlock instead")
        }
        Err(error) => format!(
            "! sandbox: {error}; agents run without a sandbox; `terca explain no-sandbox` explains how to get one"
        ),
    }
}

/// Says whether the kernel has rules that can take the place of a sandbox.
fn landlock(found: &Result<Strength, String>) -> String {
    let strength = match found {
        Ok(strength) => strength,
        Err(error) => return format!("! sandbox: no Landlock: {error}"),
    };
    let mut gaps = vec!["permissions of files", "the names of other processes"];
    if !strength.has_scopes {
        gaps.push("signals and abstract sockets");
    }
    if !strength.has_sockets {
        gaps.push("sockets in the file system");
    }
    format!(
        "✓ sandbox: Landlock works, for machines without user namespaces; it does not restrict {}",
        prose::list(&gaps, "and")
    )
}

/// The agents of the suite at hand, its judges included. Where there is no suite, or none that can be read, there are
/// none: `terca check` says what is wrong with it.
#[derive(Default)]
struct SuiteAgents {
    names: Vec<&'static str>,
    /// Those for which the suite names a program or a version of its own, and those that are listed in a suite alone.
    own_programs: Vec<AgentChoice>,
    /// Those that Terca has installed.
    store: Option<AgentStore>,
}

impl SuiteAgents {
    fn of(common: &Common, host: &Host) -> Self {
        let loaded = load::load(&common.dir, &RunSettings::default(), host);
        let plan = loaded.ok().and_then(|loaded| loaded.plan);
        let mut agents = SuiteAgents {
            store: (plan.as_ref())
                .map(|plan| AgentStore::of_suite(&plan.suite.root, BTreeMap::new())),
            ..SuiteAgents::default()
        };
        for case in plan.iter().flat_map(|plan| plan.plan.cases()) {
            let judges = case.judges().map(|(_, asked)| case.judge(asked));
            for choice in judges.chain([&case.variant.agent]) {
                let name = choice.agent.profile().name;
                if !agents.names.contains(&name) {
                    agents.names.push(name);
                }
                let is_listed = agent::profiles().any(|profile| profile.name == name);
                let is_own = choice.program.is_some() || choice.version.is_some() || !is_listed;
                if is_own && !agents.own_programs.contains(choice) {
                    agents.own_programs.push(choice.clone());
                }
            }
        }
        agents
    }

    /// Installs the versions that the suite asks for.
    fn install(&self, host: &Host, interrupt: &Interrupt) -> Result<(), CliError> {
        let work = WorkDir::create(host.get("TERCA_WORK_DIR"));
        let work = work.map_err(|error| CliError::no_work_dir(TROUBLE, &error))?;
        let means = Means {
            host,
            work: &work,
            interrupt,
            tell: Some(screen::err),
        };
        for choice in &self.own_programs {
            if let Some(store) = &self.store {
                store.get(choice, means)?;
            }
        }
        Ok(())
    }
}

/// Returns the machines of the workers of these names, or refuses names that the suite does not have.
fn other_machines(
    on: &[String],
    common: &Common,
    host: &Host,
) -> Result<Option<RemoteMachines>, CliError> {
    if on.is_empty() {
        return Ok(None);
    }
    let settings = RunSettings {
        on: on.to_vec(),
        ..RunSettings::default()
    };
    let plan = crate::suite::load::plan(&settings, common, host)?;
    Ok(Some(RemoteMachines::new(&plan, host)))
}

/// Starts the workers, and shows the findings of each place.
fn show_others(
    others: &RemoteMachines,
    of_suite: &[&str],
    host: &Host,
    common: &Common,
) -> Outcome {
    let places = others.places();
    if places.is_empty() {
        return Ok(0);
    }
    screen::err(&format!(
        "starting workers on {}",
        prose::list(&places, "and")
    ));
    let mut status = 0;
    let examined = others.examine(host, |place, found| match found {
        Ok(found) => {
            screen::out(&format!("\n{place}:"));
            show_worker(&found);
            show(&found.findings, of_suite, common, |path| path);
        }
        Err(WorkerError::Interrupted) => status = INTERRUPTED,
        Err(error) => {
            status = status.max(TROUBLE);
            screen::out(&format!("\n{place}:\n✗ worker: {error}"));
            if let Some(help) = error.help() {
                screen::out(&format!("    help: {help}"));
            }
        }
    });
    examined.map_err(|error| CliError::no_work_dir(TROUBLE, &error))?;
    Ok(status)
}

fn show_worker(found: &RemoteFindings) {
    screen::out(&format!(
        "✓ worker: Terca {VERSION} on {}, the same version as here",
        found.node
    ));
    screen::out(&format!(
        "✓ connection: started in {:.1} s, answers in {:.1} ms",
        found.start.as_secs_f64(),
        found.latency.as_secs_f64() * 1000.0
    ));
    screen::out(&clock(found.ahead));
}

fn clock(ahead: SignedDuration) -> String {
    let seconds = ahead.abs().as_secs_f64();
    if ahead.abs() <= FAR_APART {
        return format!("✓ clock: differs by {seconds:.1} s from this machine's");
    }
    let direction = match ahead.is_positive() {
        true => "ahead of",
        false => "behind",
    };
    format!(
        "! clock: {seconds:.1} s {direction} this machine's; the times of its trials are off by as much"
    )
}
