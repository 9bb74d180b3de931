//! `terca doctor`: which agents are here.

use terca_engine::host::doctor as engine;
use terca_engine::host::environment::Host;
use terca_engine::process::supervise::Launcher;
use terca_report::Painted;
use terca_report::{AgentRow, agents_table};

use crate::args::Common;
use crate::cli_error::{CliError, Outcome, TROUBLE};
use crate::screen;

pub(super) fn doctor(common: &Common) -> Outcome {
    let checkups = engine::examine(&Host::of_this_process(), &Launcher::of_this_program());
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
    Ok(0)
}
