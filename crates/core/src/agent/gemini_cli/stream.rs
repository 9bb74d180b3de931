//! Reads what Gemini CLI prints and the session file it keeps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::errors::classify;
use super::wire::{Event, EventError, EventType, ResultStats, SessionLine, SessionTokens};
use crate::agent::delivery::{McpDelivery, McpStatus};
use crate::agent::mcp_tools::{self, server_of};
use crate::agent::{Aside, Decoder, Ending, LONGEST_MESSAGE, Line, Reading, note};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage, total};
use crate::trial_error::{ErrorKind, TrialError};

#[derive(Debug)]
pub(super) struct Stream {
    servers: Vec<String>,
    line: u64,
    /// Text that is still arriving in pieces.
    speaking: Option<Record>,
    tool_calls: u64,
    server_calls: BTreeMap<String, u64>,
    result: Option<(String, Option<EventError>, Option<ResultStats>)>,
    session: BTreeMap<String, (SessionTokens, Option<String>)>,
    mcp_trouble: Option<String>,
    failed_servers: BTreeSet<String>,
    notes: Vec<String>,
    last_words: String,
}

impl Stream {
    pub(super) fn new(servers: Vec<String>) -> Self {
        Stream {
            servers,
            line: 0,
            speaking: None,
            tool_calls: 0,
            server_calls: BTreeMap::new(),
            result: None,
            session: BTreeMap::new(),
            mcp_trouble: None,
            failed_servers: BTreeSet::new(),
            notes: Vec::new(),
            last_words: String::new(),
        }
    }

    /// `None` where what such an event must have is missing.
    fn event(&mut self, event: Event) -> Option<Vec<Record>> {
        let time = event.timestamp;
        let step = match event.kind {
            EventType::Message => {
                let (role, text) = (event.role?, event.content?);
                if event.delta && role == "assistant" {
                    return Some(self.speak(&text, time));
                }
                let role = if role == "user" {
                    Role::User
                } else {
                    Role::Assistant
                };
                Step::Message { role, text }
            }
            EventType::ToolUse => self.tool_use(event.tool_name?, event.tool_id, event.parameters),
            EventType::ToolResult => {
                let output = event.output.or(event.error.map(|error| error.message));
                Step::ToolResult {
                    id: event.tool_id,
                    ok: event.status? == "success",
                    output,
                }
            }
            EventType::Error => {
                let text = event.message?;
                note(&mut self.notes, &text);
                Step::Notice { text }
            }
            EventType::Result => {
                let text = event.error.as_ref().map(|error| error.message.clone());
                self.result = Some((event.status?, event.error, event.stats));
                match text {
                    Some(text) => Step::Error { text },
                    None => return Some(self.flush()),
                }
            }
            EventType::Other => return Some(self.flush()),
        };
        let mut records = self.flush();
        records.push(Record {
            time,
            line: self.line,
            step,
        });
        Some(records)
    }

    /// Joins the pieces of one message.
    fn speak(&mut self, piece: &str, time: Option<String>) -> Vec<Record> {
        match &mut self.speaking {
            Some(Record {
                step: Step::Message { text, .. },
                ..
            }) if text.len() < LONGEST_MESSAGE => {
                text.push_str(piece);
                Vec::new()
            }
            _ => {
                let step = Step::Message {
                    role: Role::Assistant,
                    text: piece.to_owned(),
                };
                let finished = self.flush();
                self.speaking = Some(Record {
                    time,
                    line: self.line,
                    step,
                });
                finished
            }
        }
    }

    fn flush(&mut self) -> Vec<Record> {
        self.speaking.take().into_iter().collect()
    }

    fn tool_use(&mut self, tool: String, id: Option<String>, input: Value) -> Step {
        self.tool_calls += 1;
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

    /// MCP tools are called `mcp_<server>_<tool>`.
    fn server_of(&self, tool: &str) -> Option<String> {
        server_of(&self.servers, tool.strip_prefix("mcp_")?, "_")
    }

    fn session_usage(&self) -> Usage {
        if self.session.is_empty() {
            return Usage::default();
        }
        let sum = |figure: fn(&SessionTokens) -> u64| {
            Some(total(
                self.session.values().map(|(tokens, _)| figure(tokens)),
            ))
        };
        Usage {
            requests: Some(self.session.len() as u64),
            input_tokens: sum(|tokens| tokens.input),
            cached_input_tokens: sum(|tokens| tokens.cached),
            output_tokens: sum(|tokens| total([tokens.output, tokens.thoughts])),
            ..Usage::default()
        }
    }

    /// The totals of the result event, unless they are the zeros of a session that failed.
    fn result_usage(&self) -> Usage {
        let Some((_, _, Some(stats))) = &self.result else {
            return Usage::default();
        };
        if stats.total_tokens == 0 {
            return Usage::default();
        }
        Usage {
            input_tokens: Some(stats.input_tokens),
            cached_input_tokens: Some(stats.cached),
            // What is neither input nor answer is thought, which is paid for as output.
            output_tokens: Some(
                stats
                    .total_tokens
                    .saturating_sub(stats.input_tokens)
                    .max(stats.output_tokens),
            ),
            tool_calls: Some(stats.tool_calls),
            ..Usage::default()
        }
    }

    fn total_usage(&self) -> Usage {
        let counted = Usage {
            tool_calls: Some(self.tool_calls),
            ..Usage::default()
        };
        self.result_usage().or(self.session_usage()).or(counted)
    }

    /// The model that did most of the work; a router may have used another.
    fn model(&self) -> Option<String> {
        if let Some((_, _, Some(stats))) = &self.result
            && let Some((model, used)) = stats
                .models
                .iter()
                .max_by_key(|(_, used)| used.total_tokens)
            && used.total_tokens > 0
        {
            return Some(model.clone());
        }
        self.session.values().find_map(|(_, model)| model.clone())
    }

    fn mcp_delivery(&self) -> BTreeMap<String, McpDelivery> {
        let status =
            |server: &String| match (&self.mcp_trouble, self.server_calls.contains_key(server)) {
                (_, true) => Some(McpStatus::Connected),
                (Some(_), _) if self.failed_servers.contains(server) || self.servers.len() == 1 => {
                    Some(McpStatus::Failed)
                }
                (Some(_), _) => None,
                (None, _) if self.result.is_some() => Some(McpStatus::Connected),
                (None, _) => None,
            };
        mcp_tools::delivery(&self.servers, &self.server_calls, status)
    }

    fn ending(&mut self, exit: Exit) -> Ending {
        if let Some(trouble) = &self.mcp_trouble {
            return Ending::Failed(TrialError::new(
                ErrorKind::Mcp,
                format!("an MCP server did not connect: {trouble}"),
            ));
        }
        let Some((status, error, _)) = &self.result else {
            let words = if self.last_words.is_empty() {
                exit.describe()
            } else {
                self.last_words.clone()
            };
            let kind = classify(&words).unwrap_or(ErrorKind::Agent);
            return Ending::Failed(TrialError::new(
                kind,
                format!("the session has no end: {words}"),
            ));
        };
        match error {
            None if status == "success" => Ending::Completed,
            Some(error) if error.kind == "FatalTurnLimitedError" => {
                self.notes.push(error.message.clone());
                Ending::Completed
            }
            Some(error) => {
                let kind = classify(&error.message).unwrap_or(ErrorKind::Agent);
                Ending::Failed(TrialError::new(kind, error.message.clone()))
            }
            None => Ending::Failed(TrialError::new(
                ErrorKind::Agent,
                format!("the session ended with status `{status}`"),
            )),
        }
    }
}

impl Decoder for Stream {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        let text = match line.event() {
            Ok(text) => text,
            Err(notice) => {
                let mut records = self.flush();
                records.push(Record {
                    time: None,
                    line: self.line,
                    step: notice,
                });
                return records;
            }
        };
        let event = serde_json::from_str::<Event>(text).ok();
        event
            .and_then(|event| self.event(event))
            .unwrap_or_default()
    }

    fn aside(&self, beginning: &[u8]) -> Option<Aside> {
        let rest = beginning.strip_prefix(br#"{"type":""#)?;
        if rest.starts_with(b"message\"") {
            Some(Aside::Words)
        } else {
            rest.starts_with(b"tool_result\"").then_some(Aside::Output)
        }
    }

    fn passed_over(&mut self, lines: u64) -> Vec<Record> {
        self.line += lines;
        self.flush()
    }

    fn stderr(&mut self, line: Line<'_>) {
        let Line::Text(text) = line else { return };
        let text = text.trim();
        if let Some(server) = text
            .split("MCP server '")
            .nth(1)
            .and_then(|rest| rest.split('\'').next())
        {
            self.failed_servers.insert(server.to_owned());
        }
        if text.contains("MCP issues detected") {
            self.mcp_trouble = Some(text.to_owned());
        }
        let says_why = classify(text).is_some() || self.last_words.is_empty();
        if !text.is_empty() && says_why && !text.contains("256-color") && !text.contains("Ripgrep")
        {
            self.last_words = text.chars().take(300).collect();
        }
    }

    fn side_line(&mut self, _label: &str, line: &str) {
        let Ok(SessionLine {
            id: Some(id),
            kind: Some(kind),
            model,
            tokens: Some(tokens),
        }) = serde_json::from_str(line)
        else {
            return;
        };
        if kind == "gemini" {
            self.session.insert(id, (tokens, model));
        }
    }

    fn usage(&self) -> Usage {
        self.total_usage()
    }

    fn finish(mut self: Box<Self>, exit: Exit) -> Reading {
        let ending = self.ending(exit);
        Reading {
            records: self.flush(),
            usage: self.total_usage(),
            model: self.model(),
            mcp_servers: self.mcp_delivery(),
            ending,
            notes: std::mem::take(&mut self.notes),
        }
    }
}
