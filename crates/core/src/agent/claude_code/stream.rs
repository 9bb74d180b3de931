//! Reads what Claude Code prints and the transcripts it keeps.

use std::collections::BTreeMap;

use serde_json::Value;

use super::ending;
use super::errors::classify;
use super::figures::{Figures, plain};
use super::wire::{Block, Event, Message, SessionResult, Stamped, System};
use crate::agent::delivery::{McpDelivery, McpStatus};
use crate::agent::mcp_tools::{self, server_of};
use crate::agent::{Aside, Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage};
use crate::trial_error::{ErrorKind, TrialError};

#[derive(Debug, Default)]
pub(super) struct Stream {
    servers: Vec<String>,
    line: u64,
    figures: Figures,
    server_calls: BTreeMap<String, u64>,
    /// What the first event says about each server.
    server_states: BTreeMap<String, String>,
    started: bool,
    /// The model that it says it will use.
    announced: Option<String>,
    /// There may be several; the last one counts.
    result: Option<SessionResult>,
    /// What the requests since the last answer failed for.
    trouble: Option<(ErrorKind, String)>,
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
            Event::System(system) => self.system(system).into_iter().collect(),
            Event::Assistant { message } => self.answer(message),
            Event::User { message } => message
                .content
                .into_blocks()
                .into_iter()
                .filter_map(|block| self.said_to_it(block))
                .collect(),
            Event::Result(result) => {
                let text = result.errors_for_people();
                let step = (!text.is_empty()).then_some(Step::Error { text });
                self.result = Some(result);
                step.into_iter().collect()
            }
            Event::Other => Vec::new(),
        }
    }

    fn system(&mut self, system: System) -> Option<Step> {
        match system.subtype.as_str() {
            "init" => {
                self.announced = system.model.or(self.announced.take());
                // A second one comes when background work has ended; what was connected at the start counts.
                if !self.started {
                    self.started = true;
                    self.server_states = system
                        .mcp_servers
                        .into_iter()
                        .map(|state| (state.name, state.status))
                        .collect();
                }
                None
            }
            "api_retry" => Some(self.retry(&system)),
            _ => None,
        }
    }

    fn retry(&mut self, system: &System) -> Step {
        let error = match &system.error {
            Some(Value::String(error)) => error.clone(),
            Some(error) => error.to_string(),
            None => "no answer".to_owned(),
        };
        let why = match system.error_status {
            Some(status) => format!("{status} {error}"),
            None => error,
        };
        // Without a status there was no answer at all.
        let kind = classify(system.error_status, &why).unwrap_or(ErrorKind::ModelApi);
        let text = format!(
            "a request failed and is tried again, {}/{}: {why}",
            system.attempt, system.max_retries
        );
        self.trouble = Some((kind, why));
        Step::Notice { text }
    }

    fn answer(&mut self, message: Message) -> Vec<Step> {
        if !message.is_from_a_model() {
            return vec![Step::Error {
                text: message.content.text(),
            }];
        }
        self.trouble = None;
        self.figures.answer(&message);
        message
            .content
            .into_blocks()
            .into_iter()
            .filter_map(|block| self.said_by_it(block))
            .collect()
    }

    fn said_by_it(&mut self, block: Block) -> Option<Step> {
        match block {
            Block::Text { text } if !text.is_empty() => Some(Step::Message {
                role: Role::Assistant,
                text,
            }),
            Block::Thinking { thinking } if !thinking.is_empty() => {
                Some(Step::Reasoning { text: thinking })
            }
            Block::ToolUse { id, name, input } => self.tool_use(id, name, input),
            _ => None,
        }
    }

    fn said_to_it(&self, block: Block) -> Option<Step> {
        match block {
            Block::Text { text } => Some(Step::Message {
                role: Role::User,
                text,
            }),
            Block::ToolResult {
                tool_use_id,
                content,
                is_error,
            } => Some(Step::ToolResult {
                id: Some(tool_use_id),
                ok: !is_error.unwrap_or(false),
                output: content.map(|content| content.text()),
            }),
            _ => None,
        }
    }

    fn tool_use(&mut self, id: String, tool: String, input: Value) -> Option<Step> {
        if !self.figures.tool_call(&id) {
            return None;
        }
        let server = self.server_of(&tool);
        if let Some(server) = &server {
            *self.server_calls.entry(server.clone()).or_default() += 1;
        }
        Some(Step::ToolCall {
            id: Some(id),
            tool,
            input,
            server,
        })
    }

    /// MCP tools are called `mcp__<server>__<tool>`, with `_` for what may not stand in such a name.
    fn server_of(&self, tool: &str) -> Option<String> {
        server_of(&self.servers, tool.strip_prefix("mcp__")?, "__")
    }

    fn server_status(&self, server: &str) -> Option<McpStatus> {
        match self.server_states.get(server).map(String::as_str) {
            Some("connected") => Some(McpStatus::Connected),
            Some(_) => Some(McpStatus::Failed),
            None => self.started.then_some(McpStatus::Failed),
        }
    }

    fn mcp_delivery(&self) -> BTreeMap<String, McpDelivery> {
        mcp_tools::delivery(&self.servers, &self.server_calls, |server| {
            self.server_status(server)
        })
    }

    /// The servers that were not there when the session began.
    fn missing_servers(&self) -> Option<TrialError> {
        let missing: Vec<String> = self
            .servers
            .iter()
            .filter(|server| self.server_status(server) == Some(McpStatus::Failed))
            .map(|server| {
                let status = self
                    .server_states
                    .get(server)
                    .map_or("not known", String::as_str);
                format!("`{server}` ({status})")
            })
            .collect();
        let message = format!("an MCP server did not connect: {}", missing.join(", "));
        (!missing.is_empty()).then(|| TrialError::new(ErrorKind::Mcp, message))
    }

    fn ending(&self, exit: Exit) -> (Ending, Vec<String>) {
        if let Some(error) = self.missing_servers() {
            return (Ending::Failed(error), Vec::new());
        }
        if let Some(result) = &self.result {
            return ending::ending(result);
        }
        let (kind, words) = match &self.trouble {
            Some((kind, words)) => (*kind, words.clone()),
            None if self.last_words.is_empty() => (ErrorKind::Agent, exit.describe()),
            None => {
                let kind = classify(None, &self.last_words).unwrap_or(ErrorKind::Agent);
                (kind, self.last_words.clone())
            }
        };
        (
            Ending::Failed(TrialError::new(
                kind,
                format!("the session has no end: {words}"),
            )),
            Vec::new(),
        )
    }
}

impl Decoder for Stream {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        let number = self.line;
        let text = match line.event() {
            Ok(text) => text,
            Err(notice) => {
                return vec![Record {
                    time: None,
                    line: number,
                    step: notice,
                }];
            }
        };
        let Ok(event) = serde_json::from_str::<Event>(text) else {
            return Vec::new();
        };
        let time = serde_json::from_str::<Stamped>(text)
            .ok()
            .and_then(|stamped| stamped.timestamp);
        let record = |step| Record {
            time: time.clone(),
            line: number,
            step,
        };
        self.event(event).into_iter().map(record).collect()
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
        let says_why = classify(None, text).is_some() || self.last_words.is_empty();
        if !text.is_empty() && says_why {
            self.last_words = text.chars().take(300).collect();
        }
    }

    fn side_line(&mut self, _label: &str, line: &str) {
        if let Ok(Event::Assistant { message }) = serde_json::from_str(line) {
            self.figures.recorded(message);
        }
    }

    fn usage(&self) -> Usage {
        self.figures.usage(self.result.as_ref())
    }

    fn finish(self: Box<Self>, exit: Exit) -> Reading {
        let (ending, notes) = self.ending(exit);
        let announced = || self.announced.as_deref().map(plain);
        Reading {
            records: Vec::new(),
            usage: self.usage(),
            model: self.figures.model(self.result.as_ref()).or_else(announced),
            mcp_servers: self.mcp_delivery(),
            ending,
            notes,
        }
    }
}
