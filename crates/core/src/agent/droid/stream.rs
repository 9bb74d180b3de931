//! Reads what Droid prints, and its log.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use super::LOG;
use super::wire::{Event, Reloaded, Stamped, Totals};
use crate::agent::delivery::{McpDelivery, McpStatus};
use crate::agent::endings::{no_end, not_connected};
use crate::agent::mcp_tools::{self, server_of};
use crate::agent::pi::errors::{classify, of_request};
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage};
use crate::trial_error::{ErrorKind, TrialError};

#[derive(Debug, Default)]
pub(super) struct Stream {
    servers: Vec<String>,
    line: u64,
    model: Option<String>,
    /// The messages of the model, each an answer.
    answers: BTreeSet<String>,
    tool_calls: u64,
    server_calls: BTreeMap<String, u64>,
    /// Whether work was given to sub-agents, whose requests are not in the stream.
    delegated: bool,
    connected: BTreeSet<String>,
    /// MCP servers that did not connect, and why.
    broken: BTreeMap<String, String>,
    /// The error that nothing has followed yet.
    failure: Option<TrialError>,
    complete: Option<(Option<u64>, Totals)>,
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

    fn event(&mut self, event: Event) -> Option<Step> {
        match event {
            Event::System { model } => {
                self.model = self.model.take().or(model);
                None
            }
            Event::Message { role, id, text } => {
                let role = if role == "user" {
                    Role::User
                } else {
                    Role::Assistant
                };
                if role == Role::Assistant {
                    self.answered(id);
                }
                Some(Step::Message { role, text })
            }
            Event::Reasoning { text } => Some(Step::Reasoning { text }),
            Event::ToolCall {
                id,
                message_id,
                tool_name,
                parameters,
            } => {
                self.answered(message_id);
                Some(self.tool_call(id, tool_name, parameters))
            }
            Event::ToolResult {
                id,
                is_error,
                value,
                error,
            } => {
                let said = if is_error { &error["message"] } else { &value };
                let output = said
                    .as_str()
                    .map_or_else(|| said.to_string(), str::to_owned);
                Some(Step::ToolResult {
                    id,
                    ok: !is_error,
                    output: Some(output),
                })
            }
            Event::Error { source, message } => {
                let message = message.trim_start_matches("Error: ").to_owned();
                let kind = if source.as_deref() == Some("agent_loop") {
                    of_request(&message)
                } else {
                    classify(&message).unwrap_or(ErrorKind::Agent)
                };
                // That it failed is said once more at the end, without a reason.
                self.failure
                    .get_or_insert(TrialError::new(kind, message.clone()));
                Some(Step::Error { text: message })
            }
            Event::Completion { num_turns, usage } => {
                self.complete = Some((num_turns, usage));
                self.overcome();
                None
            }
            Event::Other => None,
        }
    }

    fn answered(&mut self, id: Option<String>) {
        self.answers.extend(id);
        self.overcome();
    }

    /// It went on after all.
    fn overcome(&mut self) {
        self.notes
            .extend(self.failure.take().map(|failure| failure.message));
    }

    fn tool_call(&mut self, id: Option<String>, tool: String, input: Value) -> Step {
        self.tool_calls += 1;
        self.delegated |= tool == "Task";
        let server = self.server_of(&tool);
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

    /// MCP tools are called `<server>___<tool>`, with `_` for what a tool's name cannot have.
    fn server_of(&self, tool: &str) -> Option<String> {
        server_of(&self.servers, tool, "___")
    }

    fn total_usage(&self) -> Usage {
        let turns = self
            .complete
            .and_then(|(turns, _)| turns)
            .unwrap_or(self.answers.len() as u64);
        let counted = Usage {
            requests: (turns > 0 && !self.delegated).then_some(turns),
            tool_calls: Some(self.tool_calls),
            ..Usage::default()
        };
        let Some((_, totals)) = self.complete else {
            return counted;
        };
        let input = totals.input_tokens
            + totals.cache_read_input_tokens
            + totals.cache_creation_input_tokens;
        // The zeros of a service that gives no figures are none.
        if input + totals.output_tokens == 0 {
            return counted;
        }
        Usage {
            input_tokens: Some(input),
            cached_input_tokens: Some(totals.cache_read_input_tokens),
            output_tokens: Some(totals.output_tokens),
            ..counted
        }
    }

    fn mcp_delivery(&self) -> BTreeMap<String, McpDelivery> {
        let status = |server: &String| {
            if self.broken.contains_key(server) {
                return Some(McpStatus::Failed);
            }
            let works = self.connected.contains(server) || self.server_calls.contains_key(server);
            works.then_some(McpStatus::Connected)
        };
        mcp_tools::delivery(&self.servers, &self.server_calls, status)
    }

    fn ending(&mut self, exit: Exit) -> Ending {
        if let Some((server, why)) = self
            .servers
            .iter()
            .find_map(|server| self.broken.get_key_value(server))
        {
            return not_connected(server, why);
        }
        if let Some(failure) = self.failure.take() {
            return Ending::Failed(failure);
        }
        if self.complete.is_some() {
            return Ending::Completed;
        }
        no_end(&self.last_words, classify(&self.last_words), exit)
    }
}

impl Decoder for Stream {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        let text = match line.event() {
            Ok(text) => text,
            Err(notice) => {
                return vec![Record {
                    time: None,
                    line: self.line,
                    step: notice,
                }];
            }
        };
        let Ok(Stamped { timestamp, event }) = serde_json::from_str(text) else {
            return Vec::new();
        };
        let time = timestamp.and_then(|time| Timestamp::from_millisecond(time).ok());
        let time = time.map(|time| time.to_string());
        let step = self.event(event);
        step.into_iter()
            .map(|step| Record {
                time: time.clone(),
                line: self.line,
                step,
            })
            .collect()
    }

    fn stderr(&mut self, line: Line<'_>) {
        let Line::Text(text) = line else { return };
        let text = text.trim();
        // The first that says why: what follows is advice.
        let says_more = classify(&self.last_words).is_none() && classify(text).is_some();
        if !text.is_empty() && (says_more || self.last_words.is_empty()) {
            self.last_words = text.chars().take(300).collect();
        }
    }

    /// `[…] INFO: MCP servers reload completed | Context: {"mcpServersStarted":["a"],…}`
    fn side_line(&mut self, label: &str, line: &str) {
        if label != LOG || !line.contains("MCP servers reload completed") {
            return;
        }
        let context = line
            .split_once("| Context: ")
            .and_then(|(_, json)| serde_json::from_str(json).ok());
        if let Some(Reloaded {
            mcp_servers_started,
            mcp_server_errors,
        }) = context
        {
            self.connected.extend(mcp_servers_started);
            self.broken.extend(mcp_server_errors);
        }
    }

    fn usage(&self) -> Usage {
        self.total_usage()
    }

    fn finish(mut self: Box<Self>, exit: Exit) -> Reading {
        let ending = self.ending(exit);
        if self.delegated {
            self.notes
                .push("what its sub-agents used may not be counted".to_owned());
        }
        Reading {
            records: Vec::new(),
            usage: self.total_usage(),
            model: Some(self.model.clone())
                .filter(|_| !self.answers.is_empty())
                .flatten(),
            mcp_servers: self.mcp_delivery(),
            ending,
            notes: std::mem::take(&mut self.notes),
        }
    }
}
