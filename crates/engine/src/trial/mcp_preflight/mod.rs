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

mod program;

use std::time::Duration;

use terca_core::agent::mcp::McpServer;
use terca_core::config::suite::McpPreflight;
use terca_core::mcp_tap::OfferedTool;
use terca_core::plan::Case;
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;
use terca_gateway::NoAnswer;

use super::Context;
use super::attachments::network::{NetworkRequest, is_behind_plain_proxy};
use super::containment::{ContainedAgent, words_of};
use super::mcp_answers::ServerAnswer;

use super::running_service::ServiceAddress;
use super::stage_error::StageError;
use super::trial_run::TrialRun;
use crate::host::credentials;
use crate::host::environment::Variables;
use crate::sandbox::Words;
use crate::workspace::trial_dirs::TrialDirs;

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
        let hidden = case.variant.hide_tools.get(name);
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
            ServerAnswer::Ready(tools) => {
                let tools = tools.as_deref();
                let with =
                    tools.map(|tools| format!(", with {}", prose::count(tools.len(), "tool")));
                let with = with.unwrap_or_default();
                run.log.line(&format!("`{name}` answered{with}"))?;
                check_hidden(name, hidden, tools)?;
            }
            ServerAnswer::NotAsked(why) => {
                run.log.line(&format!("`{name}` was not asked: {why}"))?;
            }
            ServerAnswer::Failed(why) | ServerAnswer::Silent(why) => {
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

/// Reports a tool that is to be hidden and that the server does not offer: the variant is not what its author thinks.
fn check_hidden(
    server: &str,
    hidden: Option<&Vec<String>>,
    tools: Option<&[OfferedTool]>,
) -> Result<(), StageError> {
    let (Some(hidden), Some(tools)) = (hidden, tools) else {
        return Ok(());
    };
    let is_offered = |name: &&String| tools.iter().any(|tool| tool.name == **name);
    let Some(unknown) = hidden.iter().find(|name| !is_offered(name)) else {
        if tools.iter().any(|tool| !hidden.contains(&tool.name)) {
            return Ok(());
        }
        // Some agents take a server without tools for a broken one.
        let message = format!(
            "`hideTools` hides every tool of the MCP server `{server}`: leave out the server itself, with \
             `mcpServers: {{{server}: null}}`"
        );
        return Err(StageError::new(ErrorKind::Mcp, message));
    };
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let offers = match names.as_slice() {
        [] => "it offers none".to_owned(),
        names => format!("it offers {}", prose::quoted_list(names, "and")),
    };
    let message =
        format!("`hideTools`: the MCP server `{server}` has no tool `{unknown}`; {offers}");
    Err(StageError::new(ErrorKind::Mcp, message))
}

/// Asks the servers of a variant for their tools, each in an empty directory, before there is a trial.
pub fn offered_tools(
    context: &Context,
    case: &Case,
    server: &McpServer<String>,
) -> Result<Vec<OfferedTool>, String> {
    let limit = case.suite.mcp_preflight.0.or(McpPreflight::default().0);
    match ask_apart(context, case, server, &[], limit.unwrap_or_default()) {
        Ok(ServerAnswer::Ready(tools)) => {
            tools.ok_or_else(|| "a server by `sse` is not asked for them".to_owned())
        }
        Ok(ServerAnswer::NotAsked(why) | ServerAnswer::Failed(why) | ServerAnswer::Silent(why)) => {
            Err(why)
        }
        Err(StageError::Interrupted) => Err("it was interrupted".to_owned()),
        Err(StageError::Error(error)) => Err(error.message),
    }
}

fn ask(
    run: &TrialRun<'_>,
    case: &Case,
    server: &McpServer<String>,
    agent_env: &Variables,
    limit: Duration,
) -> Result<ServerAnswer, StageError> {
    let context = run.context;
    let services = run.service_addresses();
    let first = ask_apart(context, case, server, &services, limit)?;
    // Files that are missing end a program; they do not silence it.
    match (server, first) {
        (McpServer::Stdio { .. }, ServerAnswer::Failed(_)) => {
            let env = agent_env.clone();
            ask_program(context, case, server, &services, &run.dirs, env, limit)
        }
        (_, first) => Ok(first),
    }
}

/// Asks a server from outside of a trial: a program in an empty directory.
fn ask_apart(
    context: &Context,
    case: &Case,
    server: &McpServer<String>,
    services: &[ServiceAddress],
    limit: Duration,
) -> Result<ServerAnswer, StageError> {
    let profile = case.variant.agent.agent.profile();
    let scratch = context.work.trial_dirs()?;
    let env = credentials::environment(
        context.host_in(case.variant.sandbox.as_ref()),
        scratch.for_agent(),
        profile,
        case.variant.config.as_ref(),
        &case.env,
    );
    match server {
        McpServer::Stdio { .. } => {
            ask_program(context, case, server, services, &scratch, env, limit)
        }
        McpServer::Remote { url, .. } if is_behind_plain_proxy(url, &env) => {
            let why = "it may be behind an `http` proxy; only the agent can try it";
            Ok(ServerAnswer::NotAsked(why.to_owned()))
        }
        McpServer::Remote { .. } => ask_by_http(context, server, limit),
    }
}

/// Asks a server by HTTP, as the gateway will.
fn ask_by_http(
    context: &Context,
    server: &McpServer<String>,
    limit: Duration,
) -> Result<ServerAnswer, StageError> {
    let gateway = context.gateway.get(&context.host)?;
    let is_stopped = || context.interrupt.is_stop();
    Ok(match gateway.ask_tools(server, limit, &is_stopped) {
        Ok(tools) => ServerAnswer::Ready(tools),
        Err(NoAnswer::Stopped) => return Err(StageError::Interrupted),
        Err(NoAnswer::Silent) => ServerAnswer::Silent(silence(limit)),
        Err(NoAnswer::NotAsked(error)) => ServerAnswer::NotAsked(error.to_string()),
        Err(NoAnswer::Failed(why)) => ServerAnswer::Failed(why),
    })
}

/// Starts a server in these directories, contained as the agent is.
fn ask_program(
    context: &Context,
    case: &Case,
    server: &McpServer<String>,
    services: &[ServiceAddress],
    dirs: &TrialDirs,
    mut env: Variables,
    limit: Duration,
) -> Result<ServerAnswer, StageError> {
    let variant = &case.variant;
    let sandbox = variant.sandbox.as_ref();
    let words = words_of(None, &variant.mcp_servers);
    let words = Words {
        program: None,
        others: &words,
    };
    let network = variant.network_in(context.sandboxes.contained_by(sandbox));
    let asked = NetworkRequest {
        network: &network,
        allow: &variant.hosts_beside(&network, &context.package_hosts),
        sandbox,
        of_models: Vec::new(),
        needs_gateway: false,
        services,
    };
    let credentials = variant.agent.agent.profile().credential_variables;
    // A server gets the keys that it is given, and none of the agent's own.
    env.retain(|name, _| !credentials.contains(&name.as_str()) && !name.starts_with("TERCA_"));
    let network = asked.make(context)?;
    network.set_variables(&mut env);
    let contained = ContainedAgent {
        network: &network,
        sandbox,
        dirs: dirs.for_agent(),
        fixed_root: dirs.fixed_root.as_ref(),
        io: &dirs.io,
        env: &env,
        words,
    };
    let mut answer = program::ask(context, server, contained, limit)?;
    if let ServerAnswer::Failed(why) | ServerAnswer::Silent(why) = &mut answer
        && let Some(note) = network.report(true).and_then(|network| network.note(&[]))
    {
        *why = format!("{why}; {note}");
    }
    Ok(answer)
}
