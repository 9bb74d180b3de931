//! Which agents are here, and whether they look signed in. The values of credentials are never looked at.

use std::io;
use std::sync::Arc;

use camino::Utf8PathBuf;
use terca_core::agent::{self, Profile};

use crate::host::credentials;
use crate::host::environment::{Host, find_program};
use crate::host::version;
use crate::process::interrupt::Interrupt;
use crate::process::supervise::Launcher;
use crate::workspace::trial_dirs::WorkDir;

/// What was found out about one agent.
#[derive(Debug)]
pub struct Checkup {
    pub profile: &'static Profile,
    pub program: Option<Utf8PathBuf>,
    pub version: Option<String>,
    /// Names of variables and files, never what is in them.
    pub credentials: Vec<String>,
}

/// Looks for every agent that is a program, and asks each for its version.
pub fn examine(host: &Host, launcher: &Arc<Launcher>) -> io::Result<Vec<Checkup>> {
    let work = WorkDir::create(host.get("TERCA_WORK_DIR"))?;
    let interrupt = Interrupt::new()?;
    let profiles = agent::profiles().filter(|profile| profile.program.is_some());
    profiles
        .zip(1..)
        .map(|(profile, number)| check_up(profile, number, host, &work, launcher, &interrupt))
        .collect()
}

/// The agents whose programs are on this machine, and whether each looks signed in. Starts nothing, so that it is
/// quick.
pub fn installed(host: &Host) -> Vec<(&'static Profile, bool)> {
    let path = host.get("PATH").unwrap_or_default();
    let is_here = |profile: &&Profile| {
        profile
            .program
            .is_some_and(|name| find_program(name, path).is_some())
    };
    let signed_in = |profile: &'static Profile| {
        !credentials::variables(host, profile).is_empty()
            || !credentials::files(host, profile).is_empty()
    };
    agent::profiles()
        .filter(is_here)
        .map(|profile| (profile, signed_in(profile)))
        .collect()
}

fn check_up(
    profile: &'static Profile,
    number: u32,
    host: &Host,
    work: &WorkDir,
    launcher: &Arc<Launcher>,
    interrupt: &Interrupt,
) -> io::Result<Checkup> {
    let dirs = work.trial_dirs(number)?;
    let env = host.base(dirs.for_agent());
    let path = env.get("PATH").map(String::as_str).unwrap_or_default();
    let program = profile.program.and_then(|name| find_program(name, path));
    let version = program.as_ref().and_then(|program| {
        version::ask(
            launcher,
            profile,
            program,
            &env,
            &dirs.root.join("probe"),
            interrupt,
        )
    });
    let variables = credentials::variables(host, profile)
        .into_iter()
        .map(|name| format!("${name}"));
    let files = credentials::files(host, profile)
        .into_iter()
        .map(|(file, _)| format!("~/{file}"));
    Ok(Checkup {
        profile,
        program,
        version,
        credentials: variables.chain(files).collect(),
    })
}
