//! The preflight of MCP servers: each server of the plan is asked once per run, before an agent is paid for.
//!
//! An agent without a server of its variant is not tested, and most agents only say so after a session that was paid for,
//! without a reason. So the first trial that needs a server starts it, does the handshake, and the others use the answer.
//! A server that does not answer makes their trials errors, with the reason and the end of its standard error.
//!
//! A program is first started in an empty directory, so that it cannot change a trial. If it fails there, it is started
//! again in the trial's workspace: it may need files of the suite or of `before`. A server by HTTP is asked once. One
//! behind a proxy for plain `http` is left to the agent, and `run.log` says so.
//!
//! Rejected: asking all servers before the first trial. Workspaces, and services that `before` starts, are not there then.

mod http;
mod stdio;

use std::time::Duration;

use terca_core::agent::mcp::McpServer;
use terca_core::config::suite::McpPreflight;
use terca_core::plan::Case;
use terca_core::trial_error::ErrorKind;

use super::containment::{ContainedAgent, words_of};
use super::mcp_answers::Answer;
use super::network::{AgentNetwork, NetworkRequest};
use super::stage_error::StageError;
use super::trial_run::TrialRun;
use crate::host::environment::Variables;
use crate::sandbox::Words;

/// Asks the servers of a trial that have not been asked in this run. Returns an error if one of them does not answer.
pub(super) fn check(
    run: &mut TrialRun<'_>,
    case: &Case,
    agent_env: &Variables,
) -> Result<(), StageError> {
    let servers = &case.variant.mcp_servers;
    let McpPreflight(Some(limit)) = case.suite.mcp_preflight else {
        return Ok(());
    };
    if servers.is_empty() {
        return Ok(());
    }
    run.log.section("MCP servers")?;
    for (name, server) in servers {
        // Another attempt asks again: the server may have been slow.
        let key = format!("{} {:?} {server:?}", run.attempt, case.env);
        let slot = run.context.preflights.slot(key);
        let mut slot = slot
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let answer = match &*slot {
            Some(answer) => answer.clone(),
            None => {
                run.doing(&format!("asking the MCP server {name}"), Default::default());
                let answer = ask(run, case, server, agent_env, limit)?;
                *slot = Some(answer.clone());
                answer
            }
        };
        drop(slot);
        match answer {
            Answer::Ready(remark) => run.log.line(&format!("`{name}` {remark}"))?,
            Answer::NotAsked(why) => run.log.line(&format!("`{name}` was not asked: {why}"))?,
            Answer::Failed(why) | Answer::Silent(why) => {
                let message = format!("the MCP server `{name}` did not start: {why}");
                return Err(StageError::new(ErrorKind::Mcp, message));
            }
        }
    }
    Ok(())
}

/// The message about a server that was silent, with what to do about it.
fn silence(limit: Duration) -> String {
    format!(
        "it did not answer within {} s; give a slow server more time with `mcpPreflight: {{timeoutSeconds: …}}`",
        limit.as_secs_f64()
    )
}

fn ask(
    run: &TrialRun<'_>,
    case: &Case,
    server: &McpServer<String>,
    agent_env: &Variables,
    limit: Duration,
) -> Result<Answer, StageError> {
    let context = run.context;
    match server {
        McpServer::Stdio { .. } => {
            let profile = case.variant.agent.agent.profile();
            let scratch = context.work.trial_dirs()?;
            let env = context.host_in(case.variant.sandbox.as_ref()).for_agent(
                scratch.for_agent(),
                profile,
                &case.env,
            );
            let servers = &case.variant.mcp_servers;
            let words = words_of(None, servers);
            let words = Words {
                program: None,
                others: &words,
            };
            let contained_by = context
                .sandboxes
                .contained_by(case.variant.sandbox.as_ref());
            let network = case.variant.network_in(contained_by);
            let asked = NetworkRequest {
                network: &network,
                allow: &case.variant.hosts_beside(&network, &context.package_hosts),
                mcp_servers: &[],
                is_by_port: context.is_network_by_port(case.variant.sandbox.as_ref()),
            };
            let mut env = without_credentials(env, profile.credential_variables);
            let network = asked.make(context, None)?;
            network.set_variables(&mut env);
            let contained = ContainedAgent {
                network: &network,
                sandbox: case.variant.sandbox.as_ref(),
                dirs: scratch.for_agent(),
                io: &scratch.io,
                env: &env,
                words,
            };
            let first = stdio::ask(context, server, contained, limit)?;
            // Files that are missing end a program; they do not silence it.
            if matches!(first, Answer::Ready(_) | Answer::Silent(_)) {
                return Ok(with_refusals(first, &network));
            }
            let mut env = without_credentials(agent_env.clone(), profile.credential_variables);
            let network = asked.make(context, None)?;
            network.set_variables(&mut env);
            let contained = ContainedAgent {
                network: &network,
                dirs: run.dirs.for_agent(),
                io: &run.dirs.io,
                env: &env,
                ..contained
            };
            let answer = stdio::ask(context, server, contained, limit)?;
            Ok(with_refusals(answer, &network))
        }
        McpServer::Remote {
            url,
            headers,
            transport,
        } => http::ask(context, url, headers, *transport, agent_env, limit),
    }
}

/// Adds the connections that a server was refused to the reason why it does not answer.
fn with_refusals(answer: Answer, network: &AgentNetwork) -> Answer {
    let Some(note) = network.report(true).and_then(|network| network.note()) else {
        return answer;
    };
    match answer {
        Answer::Failed(why) => Answer::Failed(format!("{why}; {note}")),
        Answer::Silent(why) => Answer::Silent(format!("{why}; {note}")),
        Answer::Ready(_) | Answer::NotAsked(_) => answer,
    }
}

/// Takes the agent's own keys away: a server gets those that it is given.
fn without_credentials(mut env: Variables, names: &[&str]) -> Variables {
    env.retain(|name, _| !names.contains(&name.as_str()) && !name.starts_with("TERCA_"));
    env
}

/// The first message to a server.
fn initialize() -> serde_json::Value {
    serde_json::json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "terca", "version": env!("CARGO_PKG_VERSION") },
        },
    })
}
