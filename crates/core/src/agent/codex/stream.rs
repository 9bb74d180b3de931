//! Reads what Codex prints and the rollout files it keeps.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::errors::classify;
use super::figures::Figures;
use super::wire::{Event, Failure, Item, McpResult, What};
use crate::agent::delivery::{McpDelivery, McpStatus};
use crate::agent::mcp_tools;
use crate::agent::{Decoder, Ending, Line, Reading, note};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage};
use crate::trial_error::{ErrorKind, TrialError};

/// What it says, before the servers' names and reasons, when a required server is not there.
const MCP_FAILURE: &str = "required MCP servers failed to initialize: ";

/// How the only turn of a session ended.
#[derive(Debug)]
enum Turn {
    Completed,
    Failed(String),
}

#[derive(Debug, Default)]
pub(super) struct Stream {
    servers: Vec<String>,
    line: u64,
    figures: Figures,
    server_calls: BTreeMap<String, u64>,
    started: bool,
    turn: Option<Turn>,
    /// What the requests since the last sign of life failed for.
    trouble: Option<String>,
    mcp_trouble: Option<String>,
    notes: Vec<String>,
    last_words: String,
}

/// A call of a tool, as an item of the stream tells it.
struct Call {
    tool: String,
    input: Value,
    server: Option<String>,
    ok: bool,
    output: Option<String>,
}

impl Stream {
    pub(super) fn new(servers: Vec<String>, notes: Vec<String>) -> Self {
        Stream {
            servers,
            notes,
            ..Stream::default()
        }
    }

    fn event(&mut self, event: Event) -> Vec<Step> {
        match event {
            Event::TurnStarted => self.started = true,
            Event::TurnCompleted { usage } => {
                self.figures.turn(usage);
                self.turn = Some(Turn::Completed);
            }
            Event::TurnFailed { error } => {
                // The same words have just come as an error.
                let said = self.trouble.as_ref() == Some(&error.message);
                let step = Step::Error {
                    text: error.message.clone(),
                };
                self.turn = Some(Turn::Failed(error.message));
                return if said { Vec::new() } else { vec![step] };
            }
            Event::ItemStarted { item } => return self.item(item, false),
            Event::ItemCompleted { item } => return self.item(item, true),
            Event::Error { message } => return vec![self.failed_request(message)],
            Event::Other => {}
        }
        Vec::new()
    }

    fn failed_request(&mut self, message: String) -> Step {
        self.trouble = Some(message.clone());
        if message.starts_with("Reconnecting") {
            Step::Notice { text: message }
        } else {
            Step::Error { text: message }
        }
    }

    fn item(&mut self, item: Item, completed: bool) -> Vec<Step> {
        let step = match item.what {
            What::Error { message } => {
                if !self.notes.contains(&message) {
                    note(&mut self.notes, &message);
                }
                return vec![Step::Notice { text: message }];
            }
            What::AgentMessage { text } => Step::Message {
                role: Role::Assistant,
                text,
            },
            What::Reasoning { text } => Step::Reasoning { text },
            what => {
                self.trouble = None;
                return call(what)
                    .map_or_else(Vec::new, |call| self.tool(item.id, call, completed));
            }
        };
        self.trouble = None;
        if completed { vec![step] } else { Vec::new() }
    }

    /// The call when it is first heard of, and its result when it is over.
    fn tool(&mut self, id: String, call: Call, completed: bool) -> Vec<Step> {
        let mut steps = Vec::new();
        let Call {
            tool,
            input,
            server,
            ok,
            output,
        } = call;
        if self.figures.tool_call(&id) {
            if let Some(server) = &server {
                *self.server_calls.entry(server.clone()).or_default() += 1;
            }
            steps.push(Step::ToolCall {
                id: Some(id.clone()),
                tool,
                input,
                server,
            });
        }
        if completed {
            steps.push(Step::ToolResult {
                id: Some(id),
                ok,
                output,
            });
        }
        steps
    }

    /// Keeps what says why; otherwise how it began, for an error of the settings takes several lines.
    fn hear(&mut self, text: &str) {
        const LONGEST: usize = 300;
        if text.is_empty() || text.starts_with("WARNING") || text.starts_with("Reading ") {
            return;
        }
        if classify(text).is_some() {
            self.last_words.clear();
        } else if !self.last_words.is_empty() {
            self.last_words.push(' ');
        }
        let room = LONGEST.saturating_sub(self.last_words.chars().count());
        self.last_words.extend(text.chars().take(room));
    }

    /// All servers are required: where a turn has begun, they are there.
    fn mcp_delivery(&self) -> BTreeMap<String, McpDelivery> {
        let status = |server: &String| match &self.mcp_trouble {
            _ if self.started => Some(McpStatus::Connected),
            Some(trouble) if trouble.contains(server.as_str()) || self.servers.len() == 1 => {
                Some(McpStatus::Failed)
            }
            _ => None,
        };
        mcp_tools::delivery(&self.servers, &self.server_calls, status)
    }

    fn ending(&self, exit: Exit) -> Ending {
        let failed = |kind, message: String| Ending::Failed(TrialError::new(kind, message));
        match (&self.turn, &self.mcp_trouble) {
            (Some(Turn::Completed), _) => Ending::Completed,
            (Some(Turn::Failed(words)), _) => {
                failed(classify(words).unwrap_or(ErrorKind::Agent), words.clone())
            }
            (None, Some(trouble)) => failed(
                ErrorKind::Mcp,
                format!("an MCP server did not connect: {trouble}"),
            ),
            (None, None) => {
                // What it logged on the way matters only when it never came to work.
                let logged =
                    Some(&self.last_words).filter(|words| !self.started && !words.is_empty());
                let words = self.trouble.as_ref().or(logged);
                let kind = words
                    .and_then(|words| classify(words))
                    .unwrap_or(ErrorKind::Agent);
                let words = words.cloned().unwrap_or_else(|| exit.describe());
                failed(kind, format!("the session has no end: {words}"))
            }
        }
    }
}

/// The item as a call, if it is one. Those without a name of their own are named after the kind of item.
fn call(what: What) -> Option<Call> {
    let call = |tool: &str, input, ok| Call {
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
            ..call(
                "command_execution",
                json!({ "command": command }),
                exit_code == Some(0),
            )
        },
        What::FileChange { changes, status } => call(
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
        } => Call {
            tool: format!("mcp__{server}__{tool}"),
            input: arguments,
            ok: error.is_none() && result.is_some(),
            output: mcp_output(result, error),
            server: Some(server),
        },
        What::WebSearch { query } => call("web_search", json!({ "query": query }), true),
        What::CollabToolCall {
            tool,
            prompt,
            status,
        } => call(&tool, json!({ "prompt": prompt }), status == "completed"),
        What::AgentMessage { .. } | What::Reasoning { .. } | What::Error { .. } | What::Other => {
            return None;
        }
    })
}

fn mcp_output(result: Option<McpResult>, error: Option<Failure>) -> Option<String> {
    let texts = |result: McpResult| -> Vec<String> {
        result
            .content
            .into_iter()
            .filter_map(|content| content.text)
            .collect()
    };
    error
        .map(|error| error.message)
        .or(result.map(|result| texts(result).join("\n")))
}

impl Decoder for Stream {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        let line_number = self.line;
        let record = |step| Record {
            time: None,
            line: line_number,
            step,
        };
        let text = match line.event() {
            Ok(text) => text,
            Err(notice) => return vec![record(notice)],
        };
        let Ok(event) = serde_json::from_str::<Event>(text) else {
            return Vec::new();
        };
        self.event(event).into_iter().map(record).collect()
    }

    fn stderr(&mut self, line: Line<'_>) {
        let Line::Text(text) = line else { return };
        let text = text.trim();
        if let Some((_, trouble)) = text.split_once(MCP_FAILURE) {
            self.mcp_trouble = Some(trouble.trim_end_matches(" (code -32603)").to_owned());
        }
        self.hear(text);
    }

    fn side_line(&mut self, _label: &str, line: &str) {
        if let Ok(line) = serde_json::from_str(line) {
            self.figures.recorded(line);
        }
    }

    fn usage(&self) -> Usage {
        self.figures.usage()
    }

    fn finish(mut self: Box<Self>, exit: Exit) -> Reading {
        Reading {
            records: Vec::new(),
            usage: self.usage(),
            model: self.figures.model(),
            mcp_servers: self.mcp_delivery(),
            ending: self.ending(exit),
            notes: std::mem::take(&mut self.notes),
        }
    }
}
