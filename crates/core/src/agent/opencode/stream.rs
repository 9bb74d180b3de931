//! Reads what opencode prints, and its log.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::errors::{classify, kind_of};
use super::log::Log;
use super::wire::{Event, Finish, Stamped, ToolPart};
use crate::agent::delivery::{McpDelivery, McpStatus};
use crate::agent::endings::{no_end, not_connected};
use crate::agent::mcp_tools::{self, server_of};
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage, total};
use crate::trial_error::{ErrorKind, TrialError};

#[derive(Debug)]
pub(super) struct Stream {
    servers: Vec<String>,
    line: u64,
    session: Option<String>,
    steps: Vec<Finish>,
    tool_calls: u64,
    server_calls: BTreeMap<String, u64>,
    /// The error that nothing has followed yet.
    failure: Option<TrialError>,
    /// What was not allowed.
    rejected: Option<String>,
    log: Log,
    notes: Vec<String>,
    last_words: String,
}

impl Stream {
    pub(super) fn new(servers: Vec<String>) -> Self {
        Stream {
            servers,
            line: 0,
            session: None,
            steps: Vec::new(),
            tool_calls: 0,
            server_calls: BTreeMap::new(),
            failure: None,
            rejected: None,
            log: Log::default(),
            notes: Vec::new(),
            last_words: String::new(),
        }
    }

    fn event(&mut self, event: Event) -> Vec<Step> {
        match event {
            Event::StepStart => {
                // It went on after all.
                self.notes
                    .extend(self.failure.take().map(|failure| failure.message));
                Vec::new()
            }
            Event::Text { part } => vec![Step::Message {
                role: Role::Assistant,
                text: part.text,
            }],
            Event::Reasoning { part } => vec![Step::Reasoning { text: part.text }],
            Event::ToolUse { part } => self.tool_use(part),
            Event::StepFinish { part } => {
                self.steps.push(part);
                Vec::new()
            }
            Event::Error { error } => {
                let said = if error.data.message.is_empty() {
                    &error.name
                } else {
                    &error.data.message
                };
                let text = match error.data.status_code {
                    Some(status) => format!("{said} (HTTP {status})"),
                    None => said.clone(),
                };
                self.failure = Some(TrialError::new(kind_of(&error), text.clone()));
                vec![Step::Error { text }]
            }
            Event::Other => Vec::new(),
        }
    }

    /// The call and its result come in one event.
    fn tool_use(&mut self, part: ToolPart) -> Vec<Step> {
        self.tool_calls += 1;
        let server = self.server_of(&part.tool);
        if let Some(server) = &server {
            *self.server_calls.entry(server.clone()).or_default() += 1;
        }
        let (id, state) = (part.call_id, part.state);
        if state
            .error
            .as_deref()
            .is_some_and(|error| error.contains("rejected permission"))
        {
            self.rejected = Some(format!(
                "the permission to use `{}` was rejected",
                part.tool
            ));
        }
        vec![
            Step::ToolCall {
                id: id.clone(),
                tool: part.tool,
                input: state.input,
                server,
            },
            Step::ToolResult {
                id,
                ok: state.status == "completed",
                output: state.output.or(state.error),
            },
        ]
    }

    /// MCP tools are called `<server>_<tool>`, with `_` for what a tool's name cannot have.
    fn server_of(&self, tool: &str) -> Option<String> {
        server_of(&self.servers, tool, "_")
    }

    fn total_usage(&self) -> Usage {
        let counted = Usage {
            tool_calls: Some(self.tool_calls),
            ..Usage::default()
        };
        if self.steps.is_empty() {
            let requests = Some(self.requests()).filter(|requests| *requests > 0);
            return Usage {
                requests,
                ..counted
            };
        }
        let sum = |figure: fn(&Finish) -> u64| Some(total(self.steps.iter().map(figure)));
        let cost: f64 = self.steps.iter().map(|step| step.cost).sum();
        // Without the digits that only adding up has brought in.
        let cost = (cost * 1e9).round() / 1e9;
        Usage {
            requests: Some(self.requests()),
            input_tokens: sum(|step| {
                let tokens = &step.tokens;
                total([tokens.input, tokens.cache.read, tokens.cache.write])
            }),
            cached_input_tokens: sum(|step| step.tokens.cache.read),
            output_tokens: sum(|step| total([step.tokens.output, step.tokens.reasoning])),
            // A model without a price costs 0 here, which is not known rather than free.
            cost_usd: (cost > 0.0).then_some(cost),
            ..counted
        }
    }

    /// Steps that are over, or what the log says, which also knows the one under way and those that failed.
    fn requests(&self) -> u64 {
        let own = match &self.session {
            Some(session) => self.log.requests.get(session).copied().unwrap_or(0),
            None => self.log.requests.values().sum(),
        };
        own.max(self.steps.len() as u64) + self.requests_of_others()
    }

    /// The requests of sub-agents, which are not in the stream.
    fn requests_of_others(&self) -> u64 {
        let Some(own) = &self.session else { return 0 };
        let others = self
            .log
            .requests
            .iter()
            .filter(|(session, _)| *session != own);
        others.map(|(_, requests)| requests).sum()
    }

    fn mcp_delivery(&self) -> BTreeMap<String, McpDelivery> {
        let status = |server: &String| {
            if self.log.unavailable.contains_key(server) {
                return Some(McpStatus::Failed);
            }
            // Servers are connected before the first request, so by then the log has named the broken ones.
            let asked = !self.log.requests.is_empty();
            (asked || self.server_calls.contains_key(server)).then_some(McpStatus::Connected)
        };
        mcp_tools::delivery(&self.servers, &self.server_calls, status)
    }

    fn ending(&mut self, exit: Exit) -> Ending {
        let broken = self
            .servers
            .iter()
            .find_map(|server| self.log.unavailable.get_key_value(server));
        if let Some((server, status)) = broken {
            return not_connected(server, status);
        }
        if let Some(failure) = self.failure.take() {
            return Ending::Failed(self.explained(failure));
        }
        let reason = self.steps.last().map(|step| step.reason.as_str());
        match (exit, reason, self.rejected.take()) {
            (Exit::Code(0), Some("stop"), _) => Ending::Completed,
            // Whatever was rejected, the turn is over.
            (Exit::Code(0), Some("tool-calls"), Some(rejected)) => {
                self.notes.push(rejected);
                Ending::Completed
            }
            (Exit::Code(0), Some(reason @ ("length" | "content-filter")), _) => {
                self.notes
                    .push(format!("the last answer was cut off: {reason}"));
                Ending::Completed
            }
            _ => self.no_end(exit),
        }
    }

    /// The stream says no more than "unexpected" of what went wrong inside opencode.
    fn explained(&self, failure: TrialError) -> TrialError {
        match &self.log.cause {
            Some(cause) if cause.contains("ModelNotFound") => {
                let message =
                    format!("{cause} (either there is no such model, or no key for its provider)");
                TrialError::new(ErrorKind::Agent, message)
            }
            Some(cause) if failure.kind == ErrorKind::Agent => {
                TrialError::new(failure.kind, cause.clone())
            }
            _ => failure,
        }
    }

    fn no_end(&self, exit: Exit) -> Ending {
        if let (true, Some(refused)) = (self.steps.is_empty(), &self.log.refused) {
            let kind = classify(refused).unwrap_or(ErrorKind::ModelApi);
            return Ending::Failed(TrialError::new(
                kind,
                format!("the model never answered: {refused}"),
            ));
        }
        no_end(&self.last_words, classify(&self.last_words), exit)
    }

    fn record(&self, time: Option<String>, step: Step) -> Record {
        Record {
            time,
            line: self.line,
            step,
        }
    }
}

impl Decoder for Stream {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        let text = match line.event() {
            Ok(text) => text,
            Err(notice) => return vec![self.record(None, notice)],
        };
        let Ok(Stamped {
            timestamp,
            session,
            event,
        }) = serde_json::from_str(text)
        else {
            return Vec::new();
        };
        self.session = self.session.take().or(session);
        let time = timestamp.and_then(|time| Timestamp::from_millisecond(time).ok());
        let time = time.map(|time| time.to_string());
        let steps = self.event(event);
        steps
            .into_iter()
            .map(|step| self.record(time.clone(), step))
            .collect()
    }

    fn stderr(&mut self, line: Line<'_>) {
        let Line::Text(text) = line else { return };
        let text = text.trim();
        if self.log.line(text) {
            return;
        }
        if text.contains("auto-rejecting") {
            self.rejected = Some(text.trim_start_matches("! ").to_owned());
        }
        let says_why = classify(text).is_some() || self.last_words.is_empty();
        if !text.is_empty() && says_why {
            self.last_words = text.chars().take(300).collect();
        }
    }

    fn usage(&self) -> Usage {
        self.total_usage()
    }

    fn finish(mut self: Box<Self>, exit: Exit) -> Reading {
        let ending = self.ending(exit);
        let others = self.requests_of_others();
        if others > 0 {
            self.notes.push(format!(
                "the tokens of {others} requests by sub-agents are not known"
            ));
        }
        let mut models = self.log.models.iter();
        Reading {
            records: Vec::new(),
            usage: self.total_usage(),
            // More than one is no answer to the question which.
            model: models.next().filter(|_| models.next().is_none()).cloned(),
            mcp_servers: self.mcp_delivery(),
            ending,
            notes: std::mem::take(&mut self.notes),
        }
    }
}
