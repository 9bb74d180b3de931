//! What `terca doctor` found on this machine, for programs.

use serde::Serialize;
use terca_core::agent;
use terca_core::config::sandbox::ContainerEngine;
use terca_engine::machine_check::{Findings, FoundAgent};
use terca_engine::workspace::overlays::WorkspacesMade;
use terca_report::AgentRow;

/// The answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DoctorAnswer<'a> {
    /// The agents, those of the suite first.
    agents: Vec<AgentRow>,
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
struct SandboxKind<'a> {
    sandbox: &'static str,
    works: bool,
    /// The reason why it does not work.
    reason: Option<&'a str>,
}

impl<'a> DoctorAnswer<'a> {
    pub(super) fn new(found: &'a Findings, of_suite: &[&str]) -> Self {
        let engines = ContainerEngine::ALL.into_iter().zip(&found.engines);
        let engines = engines.map(|(engine, answer)| kind(engine.program(), answer.as_ref().err()));
        let mut sandboxes = vec![
            kind("bwrap", found.bwrap.as_ref().err()),
            kind("landlock", found.landlock.as_ref().err()),
        ];
        sandboxes.extend(engines);
        DoctorAnswer {
            agents: agent_rows(found, of_suite),
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

/// Returns the agents, those of the suite first.
pub(super) fn agent_rows(found: &Findings, of_suite: &[&str]) -> Vec<AgentRow> {
    let row = |found: &FoundAgent| {
        let profile = agent::find(&found.agent).map(agent::Agent::profile);
        AgentRow {
            agent: found.agent.clone(),
            of_suite: of_suite.contains(&found.agent.as_str()),
            ready: found.version.is_some() && !found.credentials.is_empty(),
            program: found.program.as_ref().map(ToString::to_string),
            version: found.version.clone(),
            tested_version: profile.map(|profile| profile.tested_version),
            credentials: found.credentials.clone(),
            accepts: profile.map_or(&[], |profile| profile.credential_variables),
            install: profile.map_or_else(String::new, agent::Profile::how_to_install),
        }
    };
    let mut rows: Vec<AgentRow> = found.agents.iter().map(row).collect();
    rows.sort_by_key(|row| !row.of_suite);
    rows
}
