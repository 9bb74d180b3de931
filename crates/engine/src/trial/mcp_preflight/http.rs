//! Asks a server by HTTP: one request, of whose answer only the status matters, or for its tools.

use std::time::Duration;

use terca_core::agent::mcp::RemoteTransport;
use terca_gateway::{NoAnswer, Question, ToolsQuestion};

use super::{initialize, silence};
use crate::host::environment::Variables;
use crate::trial::context::Context;
use crate::trial::mcp_answers::Answer;
use crate::trial::plain_proxy::is_behind_plain_proxy;
use crate::trial::stage_error::StageError;

/// A server by HTTP.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remote<'a> {
    pub(super) url: &'a str,
    pub(super) headers: &'a [(String, String)],
    pub(super) transport: RemoteTransport,
}

/// Asks the server once, or for its tools. Those of a server by `sse` stay unknown: it answers in a stream of its own.
pub(super) fn ask(
    context: &Context,
    server: Remote<'_>,
    is_for_tools: bool,
    env: &Variables,
    limit: Duration,
) -> Result<Answer, StageError> {
    let Remote {
        url,
        headers,
        transport,
    } = server;
    if is_behind_plain_proxy(url, env) {
        return Ok(Answer::NotAsked(
            "it may be behind an `http` proxy; only the agent can try it",
        ));
    }
    if is_for_tools && transport == RemoteTransport::Http {
        return ask_tools(context, server, env, limit);
    }
    let (body, accept) = match transport {
        // The handshake of Streamable HTTP.
        RemoteTransport::Http => (
            Some(initialize().to_string()),
            "application/json, text/event-stream",
        ),
        RemoteTransport::Sse => (None, "text/event-stream"),
    };
    let mut all_headers = vec![("accept", accept)];
    if body.is_some() {
        all_headers.push(("content-type", "application/json"));
    }
    for (name, value) in headers {
        all_headers.push((name.as_str(), value.as_str()));
    }
    let question = Question {
        url,
        headers: all_headers,
        body,
        limit,
    };
    let variable = |name: &str| env.get(name).cloned();
    let is_stopped = || context.interrupt.is_stop();
    Ok(match question.ask(&variable, &is_stopped) {
        Ok(status @ (401 | 403)) => Answer::Failed(format!(
            "it refused the request (HTTP {status}): check its `headers`"
        )),
        Ok(404) => Answer::Failed("nothing was found at its address (HTTP 404)".to_owned()),
        Ok(status @ 500..) => Answer::Failed(format!("it failed (HTTP {status})")),
        Ok(status) => Answer::Ready {
            remark: format!("answered (HTTP {status})"),
            tools: None,
        },
        Err(NoAnswer::Stopped) => return Err(StageError::Interrupted),
        Err(NoAnswer::Silent) => Answer::Failed(silence(limit)),
        Err(error) => Answer::Failed(error.to_string()),
    })
}

fn ask_tools(
    context: &Context,
    server: Remote<'_>,
    env: &Variables,
    limit: Duration,
) -> Result<Answer, StageError> {
    let question = ToolsQuestion {
        url: server.url,
        headers: server.headers,
        initialize: initialize(),
        limit,
    };
    let variable = |name: &str| env.get(name).cloned();
    let is_stopped = || context.interrupt.is_stop();
    Ok(match question.ask(&variable, &is_stopped) {
        Ok(tools) => Answer::ready(tools),
        Err(NoAnswer::Stopped) => return Err(StageError::Interrupted),
        Err(NoAnswer::Silent) => Answer::Silent(silence(limit)),
        Err(error) => Answer::Failed(error.to_string()),
    })
}
