//! `terca doctor`: which agents are here.

use terca_core::agent::AgentChoice;
use terca_core::config::sandbox::ContainerEngine;
use terca_core::run::settings::RunSettings;
use terca_engine::host::doctor as engine;
use terca_engine::host::environment::Host;
use terca_engine::limits;
use terca_engine::process::supervise::Launcher;
use terca_engine::run::load;
use terca_engine::sandbox;
use terca_report::Painted;
use terca_report::{AgentRow, agents_table};

use crate::args::Common;
use crate::cli_error::{CliError, Outcome, TROUBLE};
use crate::screen;

pub(super) fn doctor(common: &Common) -> Outcome {
    let host = Host::of_this_process();
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
    for engine in ContainerEngine::ALL {
        screen::out(&containers(engine, &host));
    }
    screen::out(&limits::on_this_machine());
    Ok(0)
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
        Err(error) => format!(
            "! sandbox: {error}; agents are not contained; `terca explain no-sandbox` says what to do"
        ),
    }
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
