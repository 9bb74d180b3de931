//! `terca doctor`: which agents are here.

use clap::{ArgAction, Args};
use terca_core::agent::AgentChoice;
use terca_core::config::sandbox::ContainerEngine;
use terca_core::run::settings::RunSettings;
use terca_core::text::prose;
use terca_engine::host::doctor as engine;
use terca_engine::host::environment::Host;
use terca_engine::limits;
use terca_engine::process::supervise::Launcher;
use terca_engine::run::load;
use terca_engine::sandbox;
use terca_engine::sandbox::Strength;
use terca_report::Painted;
use terca_report::{AgentRow, agents_table};

use crate::args::Common;
use crate::cli_error::{CliError, Outcome, TROUBLE};
use crate::screen;

#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// Look at these workers of the suite, too (repeatable, comma-separated)
    #[arg(long, value_name = "NAME", action = ArgAction::Append, value_delimiter = ',')]
    on: Vec<String>,
}

pub(super) fn doctor(args: &DoctorArgs, common: &Common) -> Outcome {
    let host = Host::of_this_process();
    check_names(args, common, &host)?;
    let own = own_programs(common, &host);
    let checkups = engine::examine(&host, &Launcher::of_this_program(), &own);
    let checkups = checkups.map_err(|error| CliError::no_work_dir(TROUBLE, &error))?;
    let rows: Vec<AgentRow> = checkups
        .into_iter()
        .map(|checkup| AgentRow {
            agent: checkup.profile.name.to_owned(),
            program: checkup.program.map(|path| screen::short(&path).to_string()),
            version: checkup.version,
            proved_with: checkup.profile.tested_version.to_owned(),
            credentials: checkup.credentials,
            accepted: checkup
                .profile
                .credential_variables
                .iter()
                .map(|name| format!("${name}"))
                .collect(),
            install: checkup.profile.how_to_install(),
        })
        .collect();
    let palette = screen::out_palette(common.color);
    screen::out_painted(&Painted::by_view(agents_table(&rows, palette)));
    screen::out(&containment(&host));
    screen::out(&landlock());
    for engine in ContainerEngine::ALL {
        screen::out(&containers(engine, &host));
    }
    screen::out(&limits::on_this_machine());
    Ok(0)
}

/// Refuses workers that the suite does not have.
fn check_names(args: &DoctorArgs, common: &Common, host: &Host) -> Result<(), CliError> {
    let on = args.on.clone();
    if on.is_empty() {
        return Ok(());
    }
    let settings = RunSettings {
        on,
        ..RunSettings::default()
    };
    crate::load::plan(&settings, common, host).map(|_| ())
}

/// Says whether an engine makes containers.
fn containers(engine: ContainerEngine, host: &Host) -> String {
    let word = engine.program();
    match sandbox::try_engine(engine, host) {
        Ok((program, version)) => format!(
            "✓ sandbox: {} {version} answers ({}); `--sandbox {word}:IMAGE` contains agents in containers of an image",
            engine.title(),
            screen::short(&program)
        ),
        Err(error) => format!("- sandbox: {error}; only `--sandbox {word}:IMAGE` needs it"),
    }
}

/// Says whether agents can be contained.
fn containment(host: &Host) -> String {
    match sandbox::try_out(host) {
        Ok(program) => format!(
            "✓ sandbox: bubblewrap works ({}); agents are contained",
            screen::short(&program)
        ),
        Err(error) if sandbox::try_out_landlock().is_ok() => {
            format!("! sandbox: {error}; agents are contained by Landlock instead")
        }
        Err(error) => format!(
            "! sandbox: {error}; agents are not contained; `terca explain no-sandbox` says what to do"
        ),
    }
}

/// Says whether the kernel has rules that can take the place of a sandbox.
fn landlock() -> String {
    let Strength {
        has_scopes,
        has_sockets,
    } = match sandbox::try_out_landlock() {
        Ok(strength) => strength,
        Err(error) => return format!("! sandbox: no Landlock: {error}"),
    };
    let mut gaps = vec!["UDP", "the names of other processes"];
    if !has_scopes {
        gaps.push("signals and abstract sockets");
    }
    if !has_sockets {
        gaps.push("sockets in the file system");
    }
    format!(
        "✓ sandbox: Landlock works, for where namespaces are forbidden; it does not keep away {}",
        prose::list(&gaps, "and")
    )
}

/// Returns the agents for which the suite at hand names a program of its own. Where there is no suite, or none that can be
/// read, there are none: `terca check` says what is wrong with it.
fn own_programs(common: &Common, host: &Host) -> Vec<AgentChoice> {
    let loaded = load::load(&common.dir, &RunSettings::default(), host);
    let plan = loaded.ok().and_then(|loaded| loaded.plan);
    let mut own: Vec<AgentChoice> = Vec::new();
    for case in plan.iter().flat_map(|plan| plan.plan.cases()) {
        let judges = case.judges().map(|(_, asked)| case.judge(asked));
        for choice in judges.chain([&case.variant.agent]) {
            if choice.program.is_some() && !own.contains(choice) {
                own.push(choice.clone());
            }
        }
    }
    own
}
