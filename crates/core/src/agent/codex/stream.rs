//! Reads the stream of Codex and the rollout files it keeps.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::wire::{Event, Failure, Item, McpResult, RolloutLine, What, WireTokens};
use crate::agent::errors::Patterns;
use crate::agent::mcp::ServerTool;
use crate::agent::session::{self, Protocol, Session, failed};
use crate::agent::{Decoder, Ending, Inputs};
use crate::process::Exit;
use crate::transcript::{Role, Usage};
use crate::trial_error::ErrorKind;

/// In this order: every refusal is an unexpected status too.
const ERRORS: Patterns = &[
    (
        ErrorKind::Mcp,
        &["required MCP servers failed to initialize"],
    ),
    // The agent itself ran out of room; no service is to blame.
    (
        ErrorKind::Agent,
        &[
            "context window", "context_length_exceeded", "input_too_large",
        ],
    ),
    (
        ErrorKind::RateLimit,
        &[
            "status: 429", "status 429", "too many requests", "rate limit", "quota", "usage limit",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "status 401", "status: 401", "status 403", "status: 403", "unauthorized", "api key",
            "missing environment variable", "not logged in", "log in again", "sign in again",
            "refresh token",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "unexpected status", "last status", "high demand", "overloaded", "at capacity",
            "stream disconnected", "waiting for network", "connection failed",
            "error sending request", "timed out", "timeout waiting",
        ],
    ),
];

pub(super) fn decoder(inputs: &Inputs<'_>, notes: Vec<String>) -> Box<dyn Decoder> {
    let stream = Stream {
        notes,
        ..Stream::default()
    };
    session::decoder(inputs, ERRORS, stream)
}

/// The end of the only turn of a session.
#[derive(Debug)]
enum Turn {
    Completed,
    Failed(String),
}

#[derive(Debug, Default)]
struct Stream {
    /// Notes from before the session.
    notes: Vec<String>,
    /// The calls that the stream shows.
    shown_calls: BTreeSet<String>,
    /// The calls that the model asked for, according to the rollout files.
    asked_calls: BTreeSet<String>,
    /// The tokens of the main thread, according to the stream.
    turn_tokens: Option<WireTokens>,
    has_begun: bool,
    turn: Option<Turn>,
    /// The error of the requests since the last sign of life.
    trouble: Option<String>,
}

/// A call of a tool, with its result once that is known.
struct Call {
    tool: String,
    input: Value,
    server: Option<ServerTool>,
    ok: bool,
    output: Option<String>,
}

impl Stream {
    fn event(&mut self, event: Event, session: &mut Session) {
        match event {
            Event::TurnStarted => self.has_begun = true,
            Event::TurnCompleted { usage } => {
                self.turn_tokens = usage.or(self.turn_tokens);
                self.turn = Some(Turn::Completed);
            }
            Event::TurnFailed { error } => {
                // Usually the same words have just come as an error.
                if self.trouble.as_ref() != Some(&error.message) {
                    session.error(error.message.clone());
                }
                self.turn = Some(Turn::Failed(error.message));
            }
            Event::ItemStarted { item } => self.item(item, false, session),
            Event::ItemCompleted { item } => self.item(item, true, session),
            Event::Error { message } => {
                self.trouble = Some(message.clone());
                if message.starts_with("Reconnecting") {
                    session.notice(message);
                } else {
                    session.error(message);
                }
            }
            Event::Other => {}
        }
    }

    fn item(&mut self, item: Item, completed: bool, session: &mut Session) {
        if let What::Error { message } = item.what {
            if !session.has_note(&message) {
                session.note(message.clone());
            }
            session.notice(message);
            return;
        }
        self.trouble = None;
        match item.what {
            What::AgentMessage { text } if completed => session.message(Role::Assistant, text),
            What::Reasoning { text } if completed => session.reasoning(text),
            what => {
                if let Some(call) = call(what) {
                    self.call(item.id, call, completed, session);
                }
            }
        }
    }

    /// Adds the call when it is first heard of, and its result when it is over.
    fn call(&mut self, id: String, call: Call, completed: bool, session: &mut Session) {
        if self.shown_calls.insert(id.clone()) {
            session.call(Some(id.clone()), call.tool, call.input, call.server);
        }
        if completed {
            session.result(Some(id), call.ok, call.output);
        }
    }
}

/// Returns the item as a call, if it is one. Calls without a name of their own are named after the kind of item.
fn call(what: What) -> Option<Call> {
    let plain = |tool: &str, input, ok| Call {
        tool: tool.to_owned(),
        input,
        server: None,
        ok,
        output: None,
    };
    Some(match what {
        What::CommandExecution {
            command,
            aggregated_output,
            exit_code,
        } => Call {
            output: Some(aggregated_output),
            ..plain(
                "command_execution",
                json!({ "command": command }),
                exit_code == Some(0),
            )
        },
        What::FileChange { changes, status } => plain(
            "file_change",
            json!({ "changes": changes }),
            status == "completed",
        ),
        What::McpToolCall {
            server,
            tool,
            arguments,
            result,
            error,
            status,
        } => Call {
            tool: format!("mcp__{server}__{tool}"),
            input: arguments,
            ok: error.is_none() && result.is_some() && status != "failed",
            output: mcp_output(result, error),
            server: Some(ServerTool { server, tool }),
        },
        What::WebSearch { query } => plain("web_search", json!({ "query": query }), true),
        What::CollabToolCall {
            tool,
            prompt,
            status,
        } => plain(&tool, json!({ "prompt": prompt }), status == "completed"),
        What::AgentMessage { .. } | What::Reasoning { .. } | What::Error { .. } | What::Other => {
            return None;
        }
    })
}

fn mcp_output(result: Option<McpResult>, error: Option<Failure>) -> Option<String> {
    if let Some(error) = error {
        return Some(error.message);
    }
    let contents = result?.content.into_iter();
    let texts: Vec<String> = contents.filter_map(|content| content.text).collect();
    Some(texts.join("\n"))
}

impl Protocol for Stream {
    fn line(&mut self, text: &str, session: &mut Session) {
        if let Ok(event) = serde_json::from_str(text) {
            self.event(event, session);
        }
    }

    /// Keeps the words that say why; otherwise how they began, for an error of the settings takes several lines.
    fn stderr(&mut self, text: &str, session: &mut Session) {
        if text.starts_with("WARNING") || text.starts_with("Reading ") {
            return;
        }
        if session.classify(text).is_some() {
            session.remember_last(text);
        } else {
            session.remember_more(text);
        }
    }

    fn side_line(&mut self, _label: &str, line: &str, session: &mut Session) {
        match serde_json::from_str(line) {
            Ok(RolloutLine::TokenUsageRecord { response_id, usage }) => {
                session.answers.insert(response_id, usage.tokens());
            }
            Ok(RolloutLine::ResponseItem(item)) => {
                if let "function_call" | "custom_tool_call" = item.kind.as_str() {
                    self.asked_calls.extend(item.call_id);
                }
            }
            Ok(RolloutLine::Other) | Err(_) => {}
        }
    }

    fn usage(&self, session: &Session) -> Usage {
        // The stream lacks the calls of subagents and refused calls, the rollout those of a script of the model's.
        let calls = session.tool_calls.max(self.asked_calls.len() as u64);
        let turn = self.turn_tokens.map(|tokens| tokens.tokens().usage());
        Usage {
            tool_calls: Some(calls),
            ..session.answers_usage().or(turn.unwrap_or_default())
        }
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        for note in std::mem::take(&mut self.notes) {
            session.final_note(note);
        }
        match self.turn.take() {
            Some(Turn::Completed) => return Ending::Completed,
            Some(Turn::Failed(words)) => {
                let kind = session.classify(&words).unwrap_or(ErrorKind::Agent);
                return failed(kind, words);
            }
            None => {}
        }
        // Words on standard error matter only when it never came to work.
        let words = match self.trouble.take() {
            Some(trouble) => trouble,
            None if self.has_begun => exit.describe(),
            None => session.last_words(exit),
        };
        let kind = session.classify(&words).unwrap_or(ErrorKind::Agent);
        failed(kind, format!("the session broke off: {words}"))
    }
}
