//! What `terca doctor` found on this machine, for programs.

use serde::Serialize;
use terca_core::agent;
use terca_core::config::sandbox::ContainerEngine;
use terca_engine::machine_check::{Findings, FoundAgent};
use terca_engine::workspace::overlays::WorkspacesMade;

/// The answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DoctorAnswer<'a> {
    /// The agents, those of the suite first.
    agents: Vec<Agent<'a>>,
    /// The ways to contain agents.
    sandboxes: Vec<SandboxKind<'a>>,
    /// The way in which workspaces are made: `mounted`, `reflink` or `copied`.
    workspaces: &'static str,
    /// How limits are kept, as a line.
    limits: &'a str,
    /// The directory that trials work in.
    work_dir: &'a str,
    /// The bytes that are free there, where that is known.
    free_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Agent<'a> {
    agent: &'a str,
    of_suite: bool,
    /// It is installed, says its version, and has something to sign in with.
    ready: bool,
    program: Option<&'a str>,
    version: Option<&'a str>,
    tested_version: Option<&'static str>,
    /// The names of what it signs in with, never their values.
    credentials: &'a [String],
    /// The variables that it can sign in with.
    accepts: &'static [&'static str],
    install: String,
}

#[derive(Debug, Serialize)]
struct SandboxKind<'a> {
    sandbox: &'static str,
    works: bool,
    /// The reason why it does not work.
    reason: Option<&'a str>,
}

impl<'a> DoctorAnswer<'a> {
    pub(super) fn new(found: &'a Findings, of_suite: &[&str]) -> Self {
        let mut agents: Vec<Agent<'a>> = found
            .agents
            .iter()
            .map(|found| Agent::new(found, of_suite))
            .collect();
        agents.sort_by_key(|agent| !agent.of_suite);
        let engines = ContainerEngine::ALL.into_iter().zip(&found.engines);
        let engines = engines.map(|(engine, answer)| kind(engine.program(), answer.as_ref().err()));
        let mut sandboxes = vec![
            kind("bwrap", found.bwrap.as_ref().err()),
            kind("landlock", found.landlock.as_ref().err()),
        ];
        sandboxes.extend(engines);
        DoctorAnswer {
            agents,
            sandboxes,
            workspaces: match &found.workspaces {
                WorkspacesMade::Mounted => "mounted",
                WorkspacesMade::Copied {
                    by_reflink: true, ..
                } => "reflink",
                WorkspacesMade::Copied { .. } => "copied",
            },
            limits: &found.limits,
            work_dir: found.work_dir.as_str(),
            free_bytes: found.free_bytes,
        }
    }
}

fn kind<'a>(sandbox: &'static str, error: Option<&'a String>) -> SandboxKind<'a> {
    SandboxKind {
        sandbox,
        works: error.is_none(),
        reason: error.map(String::as_str),
    }
}

impl<'a> Agent<'a> {
    fn new(found: &'a FoundAgent, of_suite: &[&str]) -> Self {
        let profile = agent::find(&found.agent).map(agent::AgentRef::profile);
        Agent {
            agent: &found.agent,
            of_suite: of_suite.contains(&found.agent.as_str()),
            ready: found.version.is_some() && !found.credentials.is_empty(),
            program: found.program.as_ref().map(|path| path.as_str()),
            version: found.version.as_deref(),
            tested_version: profile.map(|profile| profile.tested_version),
            credentials: &found.credentials,
            accepts: profile.map_or(&[], |profile| profile.credential_variables),
            install: profile.map_or_else(String::new, terca_core::agent::Profile::how_to_install),
        }
    }
}
