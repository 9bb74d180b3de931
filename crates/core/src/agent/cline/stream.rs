//! Reads what Cline prints, and its log.

use std::collections::BTreeMap;

use serde_json::Value;

use super::errors::{classify, kind_of};
use super::log::Log;
use super::wire::{Content, Event, Failure, RunResult, Stamped, Used, Written};
use crate::agent::delivery::{McpDelivery, McpStatus};
use crate::agent::endings::{no_end, not_connected};
use crate::agent::mcp_tools::{self, server_of};
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage, total};
use crate::trial_error::{ErrorKind, TrialError};

#[derive(Debug, Default)]
pub(super) struct Stream {
    servers: Vec<String>,
    line: u64,
    /// Whether a model was asked and nothing has come back yet.
    waiting: bool,
    /// What each answered request used, those of sub-agents too.
    used: Vec<Used>,
    cost: f64,
    tool_calls: u64,
    server_calls: BTreeMap<String, u64>,
    /// The last error that ended an agent, as Cline classes it.
    failure: Option<Failure>,
    result: Option<RunResult>,
    log: Log,
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

    fn written(&mut self, line: Written) -> Vec<Step> {
        match line {
            Written::AgentEvent { event } => self.event(event),
            Written::RunResult(result) => {
                self.result = Some(result);
                Vec::new()
            }
            Written::Error { message } => {
                self.remember(&message);
                vec![Step::Error { text: message }]
            }
            Written::Other => Vec::new(),
        }
    }

    fn event(&mut self, event: Event) -> Vec<Step> {
        self.waiting = matches!(event, Event::IterationStart);
        match event {
            Event::ContentStart(content) if content.content_type == "tool" => {
                vec![self.tool_start(content)]
            }
            Event::ContentEnd(content) => content_end(content).into_iter().collect(),
            Event::Usage(used) => {
                self.used.push(used);
                Vec::new()
            }
            Event::Done { usage } => {
                self.cost += usage.total_cost;
                Vec::new()
            }
            Event::Error(failure) => {
                let text = message(&failure.error);
                if !failure.recoverable {
                    self.failure = Some(failure);
                }
                vec![Step::Error { text }]
            }
            Event::IterationStart | Event::ContentStart(_) | Event::Other => Vec::new(),
        }
    }

    fn tool_start(&mut self, content: Content) -> Step {
        self.tool_calls += 1;
        let tool = content.tool_name.unwrap_or_else(|| "unknown".to_owned());
        let server = self.server_of(&tool);
        if let Some(server) = &server {
            *self.server_calls.entry(server.clone()).or_default() += 1;
        }
        Step::ToolCall {
            id: content.tool_call_id,
            tool,
            input: content.input,
            server,
        }
    }

    /// MCP tools are called `<server>__<tool>`, with `_` for what a tool's name cannot have.
    fn server_of(&self, tool: &str) -> Option<String> {
        server_of(&self.servers, tool, "__")
    }

    fn total_usage(&self) -> Usage {
        let counted = Usage {
            tool_calls: Some(self.tool_calls),
            ..Usage::default()
        };
        if self.used.is_empty() {
            return counted;
        }
        let sum = |figure: fn(&Used) -> u64| Some(total(self.used.iter().map(figure)));
        // Without the digits that only adding up has brought in.
        let cost = (self.cost * 1e9).round() / 1e9;
        Usage {
            requests: Some(self.used.len() as u64),
            input_tokens: sum(|used| used.input_tokens),
            cached_input_tokens: sum(|used| used.cache_read_tokens),
            output_tokens: sum(|used| used.output_tokens),
            // A model without a price costs 0 here, which is not known rather than free.
            cost_usd: (cost > 0.0).then_some(cost),
            ..counted
        }
    }

    fn mcp_delivery(&self) -> BTreeMap<String, McpDelivery> {
        let status = |server: &String| {
            if self.log.unavailable.contains_key(server) {
                return Some(McpStatus::Failed);
            }
            // Servers are connected before the first request, so by then the log has named the broken ones.
            (!self.used.is_empty()).then_some(McpStatus::Connected)
        };
        mcp_tools::delivery(&self.servers, &self.server_calls, status)
    }

    fn ending(&mut self, exit: Exit) -> Ending {
        let broken = self
            .servers
            .iter()
            .find_map(|server| self.log.unavailable.get_key_value(server));
        if let Some((server, why)) = broken {
            return not_connected(server, why);
        }
        let Some(result) = &self.result else {
            return self.no_end(exit);
        };
        match result.finish_reason.as_str() {
            "completed" => Ending::Completed,
            reason @ ("max_iterations" | "mistake_limit") => {
                self.notes
                    .push(format!("the session was cut off: {reason}"));
                Ending::Completed
            }
            "error" => Ending::Failed(self.failed(&result.text)),
            _ => self.no_end(exit),
        }
    }

    /// The stream has the words of the service and the log its status.
    fn failed(&self, text: &str) -> TrialError {
        let said = self.failure.as_ref().map(|failure| message(&failure.error));
        let said = said
            .filter(|said| !said.is_empty())
            .unwrap_or_else(|| text.to_owned());
        let class = self
            .failure
            .as_ref()
            .map_or("", |failure| failure.error_class.as_str());
        let status = self.log.refused.as_ref().and_then(|(status, _)| *status);
        // What no service has refused is Cline's own trouble.
        let otherwise = if self.log.refused.is_some() {
            ErrorKind::ModelApi
        } else {
            ErrorKind::Agent
        };
        let kind = kind_of(status, class, &said).unwrap_or(otherwise);
        match status {
            Some(status) => TrialError::new(kind, format!("{said} (HTTP {status})")),
            None => TrialError::new(kind, said),
        }
    }

    fn no_end(&self, exit: Exit) -> Ending {
        if let (true, Some((status, said))) = (self.used.is_empty(), &self.log.refused) {
            let kind = kind_of(*status, "", said).unwrap_or(ErrorKind::ModelApi);
            return Ending::Failed(TrialError::new(
                kind,
                format!("the model never answered: {said}"),
            ));
        }
        // A service that cannot be reached is tried for longer than most trials last, without a word.
        if let (true, true, Exit::Signal(_)) = (self.used.is_empty(), self.waiting, exit) {
            return Ending::Failed(TrialError::new(
                ErrorKind::ModelApi,
                "the model never answered",
            ));
        }
        no_end(&self.last_words, classify(&self.last_words), exit)
    }

    /// The last words, unless earlier ones say more.
    fn remember(&mut self, text: &str) {
        let says_why = classify(text).is_some() || self.last_words.is_empty();
        if !text.is_empty() && says_why {
            self.last_words = text.chars().take(300).collect();
        }
    }

    fn record(&self, time: Option<String>, step: Step) -> Record {
        Record {
            time,
            line: self.line,
            step,
        }
    }
}

fn content_end(content: Content) -> Option<Step> {
    match content.content_type.as_str() {
        "tool" => {
            let output = content
                .error
                .clone()
                .or_else(|| output_text(&content.output));
            let ok = content.error.is_none() && !has_failed(&content.output);
            Some(Step::ToolResult {
                id: content.tool_call_id,
                ok,
                output,
            })
        }
        "text" if !content.text.is_empty() => Some(Step::Message {
            role: Role::Assistant,
            text: content.text,
        }),
        "reasoning" => {
            let text = if content.reasoning.is_empty() {
                content.text
            } else {
                content.reasoning
            };
            (!text.is_empty()).then_some(Step::Reasoning { text })
        }
        _ => None,
    }
}

/// Tools that do several things at once have a result for each.
fn has_failed(output: &Value) -> bool {
    match output {
        Value::Array(results) => results.iter().any(has_failed),
        _ => output["success"] == false || output["isError"] == true,
    }
}

fn output_text(output: &Value) -> Option<String> {
    match output {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(results) => Some(
            results
                .iter()
                .filter_map(output_text)
                .collect::<Vec<_>>()
                .join("\n"),
        ),
        _ => {
            let named = ["result", "error", "text"]
                .iter()
                .find_map(|key| output[key].as_str());
            let content = output.get("content").and_then(output_text);
            named
                .map(str::to_owned)
                .or(content)
                .or_else(|| Some(output.to_string()))
        }
    }
}

fn message(error: &Value) -> String {
    error["message"]
        .as_str()
        .or(error.as_str())
        .unwrap_or_default()
        .to_owned()
}

impl Decoder for Stream {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        let text = match line.event() {
            Ok(text) => text,
            Err(notice) => return vec![self.record(None, notice)],
        };
        let Ok(Stamped { time, line }) = serde_json::from_str(text) else {
            return Vec::new();
        };
        self.written(line)
            .into_iter()
            .map(|step| self.record(time.clone(), step))
            .collect()
    }

    fn stderr(&mut self, line: Line<'_>) {
        let Line::Text(text) = line else { return };
        match serde_json::from_str(text) {
            Ok(Stamped {
                line: Written::Error { message },
                ..
            }) => self.remember(&message),
            Ok(_) => {}
            // Warnings of a library, each with the places in its code.
            Err(_) if text.contains("AI SDK Warning") || text.trim_start().starts_with("at ") => {}
            Err(_) => self.remember(text.trim()),
        }
    }

    fn side_line(&mut self, _label: &str, line: &str) {
        self.log.line(line);
    }

    fn usage(&self) -> Usage {
        self.total_usage()
    }

    fn finish(mut self: Box<Self>, exit: Exit) -> Reading {
        let ending = self.ending(exit);
        let model = self.result.take().and_then(|result| result.model);
        Reading {
            records: Vec::new(),
            usage: self.total_usage(),
            model: model.map(|model| format!("{}/{}", model.provider, model.id)),
            mcp_servers: self.mcp_delivery(),
            ending,
            notes: std::mem::take(&mut self.notes),
        }
    }
}
