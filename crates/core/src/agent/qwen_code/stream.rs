//! Reads what Qwen Code prints and the session file it keeps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::errors::classify;
use super::wire::{Block, Content, Event, Message, Outcome, SessionLine, System, Tokens};
use crate::agent::delivery::{McpDelivery, McpStatus};
use crate::agent::endings::no_end;
use crate::agent::mcp_tools::{self, server_of};
use crate::agent::{Aside, Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage, total};
use crate::trial_error::{ErrorKind, TrialError};

/// The exit statuses of a session that reached a limit: of turns, and of tool calls or time.
const LIMITS: [i32; 2] = [53, 55];

#[derive(Debug, Default)]
pub(super) struct Stream {
    servers: Vec<String>,
    line: u64,
    begun: bool,
    model: Option<String>,
    tool_calls: u64,
    server_calls: BTreeMap<String, u64>,
    failed_servers: BTreeSet<String>,
    /// What each answer used, as the stream tells it.
    answers: Vec<Tokens>,
    /// The same from the session file, which also knows of sub-agents.
    session: BTreeMap<String, Tokens>,
    result: Option<Outcome>,
    notes: Vec<String>,
    last_words: String,
}

impl Stream {
    pub(super) fn new(servers: Vec<String>) -> Self {
        Stream {
            servers,
            ..Stream::default()
        }
    }

    fn event(&mut self, event: Event) -> Vec<Step> {
        match event {
            Event::System(system) => self.begin(system),
            Event::Assistant { message } => self.message(Role::Assistant, message),
            Event::User { message } => self.message(Role::User, message),
            Event::Result(outcome) => {
                let text = outcome.error.as_ref().map(|error| error.message.clone());
                self.result = Some(outcome);
                text.map(|text| Step::Error { text }).into_iter().collect()
            }
            Event::Other => Vec::new(),
        }
    }

    fn begin(&mut self, system: System) -> Vec<Step> {
        if system.model.is_none() {
            return Vec::new();
        }
        self.begun = true;
        self.model = system.model;
        let broken = system
            .mcp_servers
            .into_iter()
            .filter(|server| server.status == "disconnected");
        self.failed_servers.extend(broken.map(|server| server.name));
        Vec::new()
    }

    fn message(&mut self, role: Role, message: Message) -> Vec<Step> {
        if role == Role::Assistant && message.usage != Tokens::default() {
            self.answers.push(message.usage);
            self.model = message.model.or(self.model.take());
        }
        match message.content {
            Content::Text(text) => vec![Step::Message { role, text }],
            Content::Blocks(blocks) => blocks
                .into_iter()
                .filter_map(|block| self.block(role, block))
                .collect(),
        }
    }

    fn block(&mut self, role: Role, block: Block) -> Option<Step> {
        match block {
            Block::Text { text } => Some(Step::Message { role, text }),
            Block::Thinking { thinking } => Some(Step::Reasoning { text: thinking }),
            Block::ToolUse { id, name, input } if role == Role::Assistant => {
                Some(self.tool_use(id, name, input))
            }
            Block::ToolResult {
                tool_use_id,
                is_error,
                content,
            } => Some(Step::ToolResult {
                id: tool_use_id,
                ok: !is_error,
                output: plain(content),
            }),
            Block::ToolUse { .. } | Block::Other => None,
        }
    }

    fn tool_use(&mut self, id: Option<String>, tool: String, input: Value) -> Step {
        self.tool_calls += 1;
        // Tools of MCP servers may be called by way of `tool_call`.
        let called = if tool == "tool_call" {
            input["name"].as_str().unwrap_or_default()
        } else {
            &tool
        };
        let server = self.server_of(called);
        if let Some(server) = &server {
            *self.server_calls.entry(server.clone()).or_default() += 1;
        }
        Step::ToolCall {
            id,
            tool,
            input,
            server,
        }
    }

    /// MCP tools are called `mcp__<server>__<tool>`.
    fn server_of(&self, tool: &str) -> Option<String> {
        server_of(&self.servers, tool.strip_prefix("mcp__")?, "__")
    }

    fn total_usage(&self) -> Usage {
        let answers: Vec<Tokens> = if self.session.is_empty() {
            self.answers.clone()
        } else {
            self.session.values().copied().collect()
        };
        let reported = self.result.as_ref().map(|result| result.usage);
        let reported = reported.filter(|tokens| *tokens != Tokens::default());
        let requests = (!answers.is_empty()).then_some(answers.len() as u64);
        let figures = reported.or_else(|| requests.map(|_| sum(&answers)));
        Usage {
            requests,
            input_tokens: figures.map(|tokens| tokens.input_tokens),
            cached_input_tokens: figures.map(|tokens| tokens.cache_read_input_tokens),
            output_tokens: figures.map(|tokens| tokens.output_tokens),
            tool_calls: Some(self.tool_calls),
            cost_usd: None,
        }
    }

    fn mcp_delivery(&self) -> BTreeMap<String, McpDelivery> {
        let status = |server: &String| {
            if self.failed_servers.contains(server) {
                return Some(McpStatus::Failed);
            }
            // The first event comes when all servers have connected or failed.
            self.begun.then_some(McpStatus::Connected)
        };
        mcp_tools::delivery(&self.servers, &self.server_calls, status)
    }

    fn ending(&mut self, exit: Exit) -> Ending {
        if let Some(server) = self
            .servers
            .iter()
            .find(|server| self.failed_servers.contains(*server))
        {
            let message = format!("the MCP server `{server}` did not connect");
            return Ending::Failed(TrialError::new(ErrorKind::Mcp, message));
        }
        let Some(result) = &self.result else {
            return self.without_result(exit);
        };
        if !result.is_error && result.subtype == "success" {
            if !result.permission_denials.is_empty() {
                let denied = result.permission_denials.len();
                self.notes
                    .push(format!("{denied} tool calls were not permitted"));
            }
            return Ending::Completed;
        }
        let message = match &result.error {
            Some(error) => error.message.clone(),
            None => format!("the session ended with `{}`", result.subtype),
        };
        Ending::Failed(TrialError::new(
            classify(&message).unwrap_or(ErrorKind::Agent),
            message,
        ))
    }

    fn without_result(&mut self, exit: Exit) -> Ending {
        if matches!(exit, Exit::Code(code) if LIMITS.contains(&code)) {
            let words = if self.last_words.is_empty() {
                exit.describe()
            } else {
                self.last_words.clone()
            };
            self.notes.push(words);
            return Ending::Completed;
        }
        no_end(&self.last_words, classify(&self.last_words), exit)
    }
}

fn sum(answers: &[Tokens]) -> Tokens {
    answers
        .iter()
        .fold(Tokens::default(), |sum, answer| Tokens {
            input_tokens: total([sum.input_tokens, answer.input_tokens]),
            output_tokens: total([sum.output_tokens, answer.output_tokens]),
            cache_read_input_tokens: total([
                sum.cache_read_input_tokens,
                answer.cache_read_input_tokens,
            ]),
        })
}

fn plain(content: Value) -> Option<String> {
    match content {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

impl Decoder for Stream {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        let steps = match line {
            Line::Text(text) => match serde_json::from_str::<Event>(text) {
                Ok(event) => self.event(event),
                Err(_) => Vec::new(),
            },
            Line::Oversized { bytes, .. } => {
                vec![Step::Notice {
                    text: format!("an event of {bytes} bytes was not decoded"),
                }]
            }
        };
        let line = self.line;
        steps
            .into_iter()
            .map(|step| Record {
                time: None,
                line,
                step,
            })
            .collect()
    }

    fn aside(&self, beginning: &[u8]) -> Option<Aside> {
        beginning
            .starts_with(br#"{"type":"user""#)
            .then_some(Aside::Output)
    }

    fn passed_over(&mut self, lines: u64) -> Vec<Record> {
        self.line += lines;
        Vec::new()
    }

    fn stderr(&mut self, line: Line<'_>) {
        let Line::Text(text) = line else { return };
        let text = text.trim();
        if let Some((_, names)) = text.split_once("MCP server(s) failed to start: ") {
            let names = names.split(". ").next().unwrap_or_default();
            self.failed_servers.extend(
                names
                    .split(", ")
                    .map(|name| name.trim_end_matches('.').to_owned()),
            );
        }
        let says_why = classify(text).is_some() || self.last_words.is_empty();
        if !text.is_empty() && says_why && !text.contains("Ripgrep") {
            self.last_words = text.chars().take(300).collect();
        }
    }

    fn side_line(&mut self, _label: &str, line: &str) {
        let Ok(SessionLine {
            uuid,
            system_payload,
        }) = serde_json::from_str(line)
        else {
            return;
        };
        if system_payload.ui_event.name == "qwen-code.api_response" {
            self.session.insert(uuid, system_payload.ui_event.tokens);
        }
    }

    fn usage(&self) -> Usage {
        self.total_usage()
    }

    fn finish(mut self: Box<Self>, exit: Exit) -> Reading {
        let ending = self.ending(exit);
        Reading {
            records: Vec::new(),
            usage: self.total_usage(),
            model: self.model.take(),
            mcp_servers: self.mcp_delivery(),
            ending,
            notes: std::mem::take(&mut self.notes),
        }
    }
}
