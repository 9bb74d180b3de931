//! Reads the session's file, and what is said on standard error.

use std::collections::BTreeMap;

use serde_json::Value;

use super::errors::classify;
use super::wire::{Document, Item, Report, Tokens, ToolCall};
use crate::agent::delivery::{McpDelivery, McpStatus};
use crate::agent::endings::no_end;
use crate::agent::{Decoder, Ending, Line, Reading};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage, total};
use crate::trial_error::{ErrorKind, TrialError};

/// Its own tools. Those of MCP servers have no sign of whose they are.
const OWN_TOOLS: [&str; 17] = [
    "Read",
    "Write",
    "List",
    "Bash",
    "Fetch",
    "Checklist",
    "CheckBackgroundJob",
    "AskQuestion",
    "Edit",
    "MultiEdit",
    "Exit",
    "Skills",
    "Search",
    "Status",
    "Subagent",
    "ReportFailure",
    "UploadArtifact",
];

#[derive(Debug)]
pub(super) struct Session {
    servers: Vec<String>,
    document: String,
    /// What it reported, in place of an answer.
    error: Option<String>,
    last_words: String,
}

impl Session {
    pub(super) fn new(servers: Vec<String>) -> Self {
        Session {
            servers,
            document: String::new(),
            error: None,
            last_words: String::new(),
        }
    }

    fn ending(&self, history: &[Item], exit: Exit) -> Ending {
        if let Some(error) = &self.error {
            return Ending::Failed(TrialError::new(classify(error), error.clone()));
        }
        // It exits with 0 when it is told to end, too.
        let last = history.last().map(|item| &item.message);
        let answered =
            last.is_some_and(|last| last.role == "assistant" && last.tool_calls.is_empty());
        if answered && exit == Exit::Code(0) {
            return Ending::Completed;
        }
        no_end(&self.last_words, None, exit)
    }

    /// The server of a tool, where there is but one that it can be of.
    fn server_of(&self, tool: &str) -> Option<&String> {
        match self.servers.as_slice() {
            [server] if !OWN_TOOLS.contains(&tool) => Some(server),
            _ => None,
        }
    }

    fn delivery(&self, history: &[Item]) -> BTreeMap<String, McpDelivery> {
        // Without all of them it does not begin.
        let failed = self
            .error
            .as_deref()
            .filter(|error| classify(error) == ErrorKind::Mcp);
        let asked = history.iter().any(|item| item.message.usage.is_some());
        let calls = calls(history)
            .filter(|call| self.server_of(&call.function.name).is_some())
            .count() as u64;
        let of = |server: &String| {
            let broken = failed.is_some_and(|error| error.contains(&format!("\n{server}: ")));
            let status = if broken {
                Some(McpStatus::Failed)
            } else {
                asked.then_some(McpStatus::Connected)
            };
            McpDelivery {
                status,
                calls: (self.servers.len() == 1).then_some(calls),
            }
        };
        self.servers
            .iter()
            .map(|server| (server.clone(), of(server)))
            .collect()
    }

    fn steps(&self, item: &Item) -> Vec<Step> {
        let said = text(&item.message.content);
        let role = match item.message.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => return Vec::new(),
        };
        let said = (!said.is_empty()).then_some(Step::Message { role, text: said });
        let call = |call: &ToolCall| Step::ToolCall {
            id: call.id.clone(),
            tool: call.function.name.clone(),
            input: serde_json::from_str(&call.function.arguments).unwrap_or(Value::Null),
            server: self.server_of(&call.function.name).cloned(),
        };
        let results = item
            .tool_call_states
            .iter()
            .filter(|state| !state.output.is_empty());
        let results = results.map(|state| {
            let output: Vec<&str> = state
                .output
                .iter()
                .map(|output| output.content.as_str())
                .collect();
            Step::ToolResult {
                id: state.tool_call_id.clone(),
                ok: state.status == "done",
                output: Some(output.join("\n")),
            }
        });
        said.into_iter()
            .chain(item.message.tool_calls.iter().map(call))
            .chain(results)
            .collect()
    }
}

fn calls(history: &[Item]) -> impl Iterator<Item = &ToolCall> {
    history.iter().flat_map(|item| &item.message.tool_calls)
}

fn usage(history: &[Item]) -> Usage {
    let answers: Vec<&Tokens> = history
        .iter()
        .filter_map(|item| item.message.usage.as_ref())
        .collect();
    // An answer without a figure makes the sum unknown.
    let sum = |figure: fn(&Tokens) -> Option<u64>| -> Option<u64> {
        let figures: Option<Vec<u64>> = answers.iter().map(|tokens| figure(tokens)).collect();
        figures.filter(|figures| !figures.is_empty()).map(total)
    };
    Usage {
        requests: (!answers.is_empty()).then_some(answers.len() as u64),
        input_tokens: sum(|tokens| tokens.prompt_tokens),
        cached_input_tokens: sum(|tokens| tokens.prompt_tokens_details.as_ref()?.cached_tokens),
        output_tokens: sum(|tokens| tokens.completion_tokens),
        tool_calls: (!history.is_empty()).then(|| calls(history).count() as u64),
        cost_usd: None,
    }
}

/// Content that is one text or a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

impl Decoder for Session {
    /// The last answer, which the session has too.
    fn stdout(&mut self, _line: Line<'_>) -> Vec<Record> {
        Vec::new()
    }

    fn stderr(&mut self, line: Line<'_>) {
        let Line::Text(text) = line else { return };
        match serde_json::from_str::<Report>(text) {
            Ok(report) if report.status == "error" => self.error = Some(report.message),
            _ if !text.trim().is_empty() => {
                self.last_words = text.trim().chars().take(300).collect()
            }
            _ => {}
        }
    }

    fn side_line(&mut self, _label: &str, line: &str) {
        self.document.push_str(line);
        self.document.push('\n');
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn finish(self: Box<Self>, exit: Exit) -> Reading {
        let mut notes = Vec::new();
        let history: Vec<Item> = match serde_json::from_str::<Document>(&self.document) {
            Ok(document) => document.history,
            Err(_) if self.document.is_empty() => Vec::new(),
            Err(error) => {
                notes.push(format!("the session of cn could not be read: {error}"));
                Vec::new()
            }
        };
        let record = |(index, item)| {
            let step = move |step| Record {
                time: None,
                line: index as u64 + 1,
                step,
            };
            self.steps(item).into_iter().map(step)
        };
        let model = |item: &Item| item.message.usage.as_ref()?.model.clone();
        Reading {
            records: history.iter().enumerate().flat_map(record).collect(),
            usage: usage(&history),
            model: history.iter().find_map(model),
            mcp_servers: self.delivery(&history),
            ending: self.ending(&history, exit),
            notes,
        }
    }
}
