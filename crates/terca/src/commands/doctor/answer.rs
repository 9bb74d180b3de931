//! What `terca doctor` found on this machine, for programs.

use serde_json::{Value, json};
use terca_core::agent;
use terca_core::config::sandbox::ContainerEngine;
use terca_engine::machine_check::{Findings, FoundAgent};
use terca_engine::workspace::overlays::WorkspacesMade;
use terca_report::AgentRow;

/// Returns the answer.
pub(super) fn answer(found: &Findings, of_suite: &[&str]) -> Value {
    let kind = |sandbox: &str, reason: Option<&String>| json!({ "sandbox": sandbox, "works": reason.is_none(), "reason": reason });
    let mut sandboxes = vec![
        kind("bwrap", found.bwrap.as_ref().err()),
        kind("landlock", found.landlock.as_ref().err()),
    ];
    for (engine, answer) in ContainerEngine::ALL.into_iter().zip(&found.engines) {
        sandboxes.push(kind(engine.program(), answer.as_ref().err()));
    }
    json!({
        "agents": agent_rows(found, of_suite),
        "sandboxes": sandboxes,
        "workspaces": match &found.workspaces {
            WorkspacesMade::Mounted => "mounted",
            WorkspacesMade::Copied { by_reflink: true, .. } => "reflink",
            WorkspacesMade::Copied { .. } => "copied",
        },
        "limits": found.limits,
        "workDir": found.work_dir,
        "freeBytes": found.free_bytes,
    })
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
            install: match &found.asked {
                Some(version) => {
                    format!("`terca doctor --install` installs {version}, and so does the next run")
                }
                None => profile.map_or_else(String::new, agent::Profile::how_to_install),
            },
        }
    };
    // Of an agent that the suite has elsewhere, nothing is missing on `PATH`.
    let is_elsewhere = |it: &FoundAgent| {
        let mut others = found.agents.iter().filter(|other| other.agent == it.agent);
        others.any(|other| other.program.is_some() || other.asked.is_some())
    };
    let shown = |it: &&FoundAgent| it.program.is_some() || it.asked.is_some() || !is_elsewhere(it);
    let mut rows: Vec<AgentRow> = found.agents.iter().filter(shown).map(row).collect();
    rows.sort_by_key(|row| !row.of_suite);
    rows
}
