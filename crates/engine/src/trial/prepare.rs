//! The first stage: the workspace as the agent is to find it.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent::{Decoder, Inputs, Invocation, Launch, Stdin};
use terca_core::delivery::Installed;
use terca_core::outcome::ErrorKind;

use super::actions::{self, failed};
use super::bench::Bench;
use super::{Stop, layers, rules};
use crate::changes::Snapshot;
use crate::credentials;
use crate::environment::{Variables, find_program};
use crate::log::copy_masked;
use crate::tree::{self, Copied};

/// What the agent is given, for the report.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) rules: Vec<Installed>,
    pub(super) skills: Vec<Installed>,
    pub(super) agent_version: Option<String>,
}

/// A workspace that is ready, and how the agent is to be started in it.
pub(super) struct Prepared {
    pub(super) given: Given,
    pub(super) invocation: Invocation,
    pub(super) decoder: Box<dyn Decoder>,
    pub(super) env: Variables,
    /// The agent's program, where it is one.
    pub(super) program: Option<Utf8PathBuf>,
    pub(super) prompt_file: Utf8PathBuf,
    pub(super) snapshot: Snapshot,
}

pub(super) fn prepare(bench: &mut Bench<'_>) -> Result<Prepared, Stop> {
    let agent = bench.trial.case.variant.agent.agent;
    let mut env = bench.context.host.for_agent(bench.room.for_agent(), agent.profile(), bench.trial);
    let program = find_agent(bench, &env)?;
    let agent_version = program.as_ref().and_then(|program| {
        let (versions, probe) = (&bench.context.versions, bench.room.root.join("probe"));
        versions.of(agent.profile(), program, &env, &probe, &bench.context.interrupt)
    });
    let origins = build_workspace(bench)?;
    let rules = rules::install(bench)?;
    let skills = rules::install_skills(bench)?;
    tree::lay_over(&bench.room.home, &bench.room.agent_home)?;
    credentials::install(&bench.context.host, agent.profile(), &bench.room.agent_home)?;
    let (invocation, decoder, prompt_file) = place_agent_files(bench, &env)?;
    env.extend(invocation.env.iter().cloned());
    let snapshot = Snapshot::take(&bench.room.workspace, &origins, &bench.room.before)?;
    let given = Given { rules, skills, agent_version };
    Ok(Prepared { given, invocation, decoder, env, program, prompt_file, snapshot })
}

/// Looked for first: without the agent there is no point in setting anything up.
fn find_agent(bench: &Bench<'_>, env: &Variables) -> Result<Option<Utf8PathBuf>, Stop> {
    let profile = bench.trial.case.variant.agent.agent.profile();
    let Some(name) = profile.program else { return Ok(None) };
    let path = env.get("PATH").map(String::as_str).unwrap_or_default();
    match find_program(name, path) {
        Some(program) => Ok(Some(program)),
        None => {
            let message = format!("`{name}` is not installed (to get it: {})", profile.install);
            Err(Stop::error(ErrorKind::AgentMissing, message))
        }
    }
}

/// Layers, then actions, then the variant's command. Returns where unchanged files came from.
fn build_workspace(bench: &mut Bench<'_>) -> Result<Vec<Copied>, Stop> {
    let case = bench.trial.case.clone();
    let mut origins = Vec::new();
    for layer in layers::directories(bench, &case.layers)? {
        let laid = tree::lay_open(&layer, &bench.room.workspace);
        origins.extend(laid.map_err(|error| failed(&format!("the layer {layer}"), &error))?);
    }
    let env =
        |bench: &Bench<'_>, beside: &Utf8Path| bench.command_environment(bench.room.for_setup(), beside);
    for action in &case.actions {
        actions::carry_out(bench, "before", action, &env)?;
    }
    if let Some(command) = &case.variant.command {
        actions::run(bench, "command", command, &env)?;
    }
    Ok(origins)
}

/// The prompt, and the agent's own settings.
fn place_agent_files(
    bench: &Bench<'_>,
    env: &Variables,
) -> Result<(Invocation, Box<dyn Decoder>, Utf8PathBuf), Stop> {
    let case = &bench.trial.case;
    let variant = &case.variant;
    let prompt_file = bench.room.io.join("prompt.txt");
    fs_err::write(&prompt_file, &case.prompt)?;
    let variables: BTreeSet<String> = env.keys().cloned().collect();
    let inputs = Inputs {
        model: variant.model.as_deref(),
        mcp_servers: &variant.mcp_servers,
        config: variant.config.as_ref(),
        command: variant.agent.command.as_deref(),
        agent_home: &bench.room.agent_home,
        workspace: &bench.room.workspace,
        git: bench.room.workspace.join(".git").exists(),
        prompt: &case.prompt,
        session_id: &random_uuid(),
        superuser: rustix::process::geteuid().is_root(),
        prompt_file: &prompt_file,
        stats_file: &bench.room.io.join("stats.json"),
        variables: &variables,
    };
    let invocation = variant.agent.agent.invocation(&inputs);
    if let Stdin::Text(text) = &invocation.stdin {
        fs_err::write(bench.room.io.join("stdin.txt"), text)?;
    }
    for file in &invocation.files {
        fs_err::create_dir_all(file.path.parent().unwrap_or(&bench.room.agent_home))?;
        fs_err::write(&file.path, &file.content)?;
        copy_masked(file.content.as_bytes(), &bench.artifacts.join(file.artifact), &bench.context.mask)?;
    }
    if invocation.launch == Launch::LaySolution && !case.eval.has_solution() {
        let message = "the eval has no _solution/ directory for `oracle`";
        return Err(Stop::error(ErrorKind::Setup, message));
    }
    Ok((invocation, variant.agent.agent.decoder(&inputs), prompt_file.clone()))
}

/// Version 4: random, but for the six bits that say so.
fn random_uuid() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_names_are_uuids_of_version_4() {
        for _ in 0..100 {
            let name = random_uuid();
            let parts: Vec<usize> = name.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12]);
            assert_eq!(&name[14..15], "4");
            assert!("89ab".contains(&name[19..20]), "{name}");
        }
    }
}
