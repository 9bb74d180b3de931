//! Finds the agents on this machine, and whether they look signed in. Credentials are never read.

use std::io;
use std::sync::Arc;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use terca_core::agent::{self, AgentChoice, Profile};

use crate::host::credentials;
use crate::host::environment::{Host, find_program};
use crate::host::version::{self, VersionQuestion};
use crate::process::interrupt::Interrupt;
use crate::process::supervise::Launcher;
use crate::workspace::trial_dirs::WorkDir;

/// The state of one agent on this machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Checkup {
    /// The name of the agent.
    pub agent: String,
    /// The file of its program, if it is installed.
    pub program: Option<Utf8PathBuf>,
    /// The version that it reports.
    pub version: Option<String>,
    /// The names of variables and files with credentials, never their values.
    pub credentials: Vec<String>,
}

/// Looks for every agent that is a program, and for the programs that a suite names in their place, and asks each for its
/// version.
pub fn examine(
    host: &Host,
    launcher: &Arc<Launcher>,
    own: &[AgentChoice],
    interrupt: &Interrupt,
) -> io::Result<Vec<Checkup>> {
    let work = WorkDir::create(host.get("TERCA_WORK_DIR"))?;
    let profiles = agent::profiles().filter(|profile| profile.program.is_some());
    let usual = profiles.map(|profile| (profile, profile.program));
    let own = own.iter();
    let own = own.map(|choice| (choice.agent.profile(), choice.program()));
    usual
        .chain(own)
        .map(|(profile, program)| check_up(profile, program, host, &work, launcher, interrupt))
        .collect()
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
            let is_signed_in = !credentials::variables(host, profile).is_empty()
                || !credentials::files(host, profile).is_empty();
            installed.push((profile, is_signed_in));
        }
    }
    installed
}

fn check_up(
    profile: &'static Profile,
    program: Option<&str>,
    host: &Host,
    work: &WorkDir,
    launcher: &Arc<Launcher>,
    interrupt: &Interrupt,
) -> io::Result<Checkup> {
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
        version::ask(launcher, question, None, interrupt)
    });
    let variables = credentials::variables(host, profile)
        .into_iter()
        .map(|name| format!("${name}"));
    let files = credentials::files(host, profile)
        .into_iter()
        .map(|(file, _)| format!("~/{file}"));
    Ok(Checkup {
        agent: profile.name.to_owned(),
        program,
        version,
        credentials: variables.chain(files).collect(),
    })
}
