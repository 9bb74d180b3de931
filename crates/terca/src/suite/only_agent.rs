//! The agent of a suite that names none: the one on this machine, or the one that the user chooses.

use std::io;

use terca_core::config::Suite;
use terca_core::run::settings::SelectionSettings;
use terca_core::text::{Code, prose};
use terca_engine::host::environment::Host;
use terca_engine::machine_check;
use terca_engine::suite::discover;

use crate::args::Common;
use crate::ask::{self, Asker};
use crate::cli_error::{CliError, INTERRUPTED};
use crate::screen;

/// Chooses the agent of every variant, if neither the suite nor the command line names one. Where this machine has none,
/// the plan says so.
pub fn settle(
    selection: &mut SelectionSettings,
    common: &Common,
    host: &Host,
) -> Result<(), CliError> {
    if selection.agent.is_some() {
        return Ok(());
    }
    let variable = |name: &str| host.get(name).map(str::to_owned);
    let suite = discover::load(&common.dir, &variable)?.suite;
    if suite.is_none_or(|suite| names_agent(&suite)) {
        return Ok(());
    }
    let installed = machine_check::installed(host).into_iter();
    let names: Vec<&str> = installed.map(|(profile, _)| profile.name).collect();
    let name = match names.as_slice() {
        [] => return Ok(()),
        [name] => {
            screen::err(&format!(
                "agent: {name}, the only one on this machine; name it in terca.yaml: {}",
                line(name)
            ));
            name
        }
        several if ask::is_possible() => {
            let asker = Asker::new(screen::colour(common.color, &io::stderr()));
            let items: Vec<String> = several.iter().map(|name| (*name).to_owned()).collect();
            let question = "The suite names no agent. Which one?";
            let chosen = asker.choice(question, &items);
            let chosen = chosen.map_err(|_| CliError::shown(INTERRUPTED))?;
            several.get(chosen).unwrap_or(&several[0])
        }
        several => {
            let text = format!(
                "the suite names no agent, and this machine has {}",
                prose::list(several, "and")
            );
            return Err(CliError::misuse(Code::NoAgent, text).help(format!(
                "choose one in terca.yaml: {}; or for this run: `--agent {}`",
                line(several[0]),
                several[0]
            )));
        }
    };
    selection.agent = Some((*name).to_owned());
    Ok(())
}

/// Returns the line of terca.yaml that names an agent.
fn line(name: &str) -> String {
    format!("`environments: [{{name: {name}, agent: {name}}}]`")
}

/// Tells whether a suite says something about its agents. Where that is wrong, the plan says so, with the place.
fn names_agent(suite: &Suite) -> bool {
    let mut environments = suite.environments.iter();
    let mut experiments = suite.experiments.iter();
    environments.any(|setup| setup.place.is_some())
        || experiments.any(|setup| setup.agent.set().is_some())
}
