//! Reads what goose prints.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use super::errors::{classify, gives_up};
use super::wire::{Content, Event, Inference, Message, Totals};
use crate::agent::delivery::{McpDelivery, McpStatus};
use crate::agent::endings::{no_end, not_connected};
use crate::agent::mcp_tools;
use crate::agent::{Decoder, Ending, LONGEST_MESSAGE, Line, Reading, note};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage};
use crate::trial_error::{ErrorKind, TrialError};

#[derive(Debug, Default)]
pub(super) struct Stream {
    servers: Vec<String>,
    line: u64,
    /// Text or thought that is still arriving in pieces.
    speaking: Option<Record>,
    /// The answer that is arriving: its id, where it has one.
    answer: Option<Option<String>>,
    answers: u64,
    model: Option<String>,
    tool_calls: u64,
    server_calls: BTreeMap<String, u64>,
    /// Whether work was given to sub-agents, whose requests are not in the stream.
    delegated: bool,
    failed_servers: BTreeMap<String, String>,
    /// What goose gave up with.
    failure: Option<TrialError>,
    complete: Option<Totals>,
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

    fn event(&mut self, event: Event) -> Vec<Record> {
        match event {
            Event::Message { message } => self.message(message),
            Event::Error { error } => {
                let kind = classify(&error).unwrap_or(ErrorKind::Agent);
                self.failure
                    .get_or_insert(TrialError::new(kind, error.clone()));
                self.then(None, Step::Error { text: error })
            }
            Event::Complete(totals) => {
                self.complete = Some(totals);
                self.flush()
            }
            Event::Other => Vec::new(),
        }
    }

    fn message(&mut self, message: Message) -> Vec<Record> {
        let time = message
            .created
            .and_then(|time| Timestamp::from_second(time).ok());
        let time = time.map(|time| time.to_string());
        let role = if message.role == "user" {
            Role::User
        } else {
            Role::Assistant
        };
        let by_model = message.metadata.inference.is_some();
        if let Some(inference) = message.metadata.inference {
            self.heard_from(inference, message.id);
        }
        let mut records = Vec::new();
        for content in message.content {
            records.extend(match content {
                Content::Text { text } if role == Role::Assistant && !by_model => {
                    self.own_words(time.clone(), text)
                }
                Content::Text { text } => self.speak(time.clone(), Step::Message { role, text }),
                Content::Thinking { thinking } => {
                    self.speak(time.clone(), Step::Reasoning { text: thinking })
                }
                Content::ToolRequest {
                    id,
                    tool_call,
                    meta,
                } => {
                    let step = self.tool_request(id, &tool_call["value"], &meta);
                    self.then(time.clone(), step)
                }
                Content::ToolResponse { id, tool_result } => {
                    self.answer = None;
                    self.then(time.clone(), tool_response(id, &tool_result))
                }
                Content::Error { kind, message } => {
                    self.give_up(&kind, &message);
                    Vec::new()
                }
                Content::Other => Vec::new(),
            });
        }
        records
    }

    /// An answer comes in many messages. A new one has another id, or follows the result of a tool.
    fn heard_from(&mut self, inference: Inference, id: Option<String>) {
        if self.answer.as_ref() != Some(&id) {
            self.answers += 1;
            self.answer = Some(id);
        }
        if let (Some(provider), Some(model)) = (inference.provider, inference.requested_model) {
            self.model = Some(format!("{provider}/{model}"));
        }
        // It went on after all.
        self.notes
            .extend(self.failure.take().map(|failure| failure.message));
    }

    /// What goose itself says in the model's place.
    fn own_words(&mut self, time: Option<String>, text: String) -> Vec<Record> {
        if gives_up(&text) {
            self.give_up("", &text);
            return self.then(time, Step::Error { text });
        }
        note(&mut self.notes, &text);
        self.then(time, Step::Notice { text })
    }

    fn give_up(&mut self, kind: &str, message: &str) {
        let kind = match kind {
            "authentication" => Some(ErrorKind::Auth),
            _ => classify(message),
        };
        // The advice that follows is for people at a keyboard.
        let message = message.split("\n\n").next().unwrap_or(message);
        self.failure = Some(TrialError::new(
            kind.unwrap_or(ErrorKind::ModelApi),
            message,
        ));
    }

    /// Joins the pieces of one message.
    fn speak(&mut self, time: Option<String>, step: Step) -> Vec<Record> {
        match (self.speaking.as_mut().map(|record| &mut record.step), &step) {
            (
                Some(Step::Message { role, text }),
                Step::Message {
                    role: same,
                    text: piece,
                },
            ) if role == same && text.len() < LONGEST_MESSAGE => {
                text.push_str(piece);
            }
            (Some(Step::Reasoning { text }), Step::Reasoning { text: piece })
                if text.len() < LONGEST_MESSAGE =>
            {
                text.push_str(piece);
            }
            _ => {
                let finished = self.flush();
                self.speaking = Some(Record {
                    time,
                    line: self.line,
                    step,
                });
                return finished;
            }
        }
        Vec::new()
    }

    fn flush(&mut self) -> Vec<Record> {
        self.speaking.take().into_iter().collect()
    }

    fn then(&mut self, time: Option<String>, step: Step) -> Vec<Record> {
        let mut records = self.flush();
        records.push(Record {
            time,
            line: self.line,
            step,
        });
        records
    }

    fn tool_request(&mut self, id: Option<String>, call: &Value, meta: &Value) -> Step {
        self.tool_calls += 1;
        let tool = call["name"].as_str().unwrap_or("unknown").to_owned();
        self.delegated |= tool == "delegate";
        let extension = meta["goose_extension"]
            .as_str()
            .or_else(|| Some(tool.split_once("__")?.0));
        let named = |server: &&String| extension == Some(&key(server));
        let server = self.servers.iter().find(named).cloned();
        if let Some(server) = &server {
            *self.server_calls.entry(server.clone()).or_default() += 1;
        }
        Step::ToolCall {
            id,
            tool,
            input: call["arguments"].clone(),
            server,
        }
    }

    fn total_usage(&self) -> Usage {
        let known = self.answers > 0 && !self.delegated;
        let counted = Usage {
            requests: known.then_some(self.answers),
            tool_calls: Some(self.tool_calls),
            ..Usage::default()
        };
        // The zeros of a session that failed are no figures.
        let Some(totals) = self
            .complete
            .filter(|totals| totals.total_tokens.is_some_and(|total| total > 0))
        else {
            return counted;
        };
        Usage {
            input_tokens: totals.input_tokens,
            cached_input_tokens: totals.cache_read_input_tokens,
            output_tokens: totals.output_tokens,
            cost_usd: totals.cost_usd,
            ..counted
        }
    }

    fn mcp_delivery(&self) -> BTreeMap<String, McpDelivery> {
        let failed: BTreeSet<&String> = self.broken().map(|(server, _)| server).collect();
        // All extensions are started before the model is asked.
        let asked = self.answers > 0 || self.complete.is_some();
        let status = |server: &String| {
            if failed.contains(server) {
                Some(McpStatus::Failed)
            } else {
                asked.then_some(McpStatus::Connected)
            }
        };
        mcp_tools::delivery(&self.servers, &self.server_calls, status)
    }

    /// The servers that did not connect, and why.
    fn broken(&self) -> impl Iterator<Item = (&String, &String)> {
        let why = |server: &String| {
            self.failed_servers
                .iter()
                .find(|(name, _)| key(name) == key(server))
                .map(|(_, why)| why)
        };
        self.servers
            .iter()
            .filter_map(move |server| Some((server, why(server)?)))
    }

    fn ending(&self, exit: Exit) -> Ending {
        if let Some((server, why)) = self.broken().next() {
            return not_connected(server, why);
        }
        if let Some(failure) = &self.failure {
            return Ending::Failed(failure.clone());
        }
        if self.complete.is_some() {
            return Ending::Completed;
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

    /// `⚠ Failed to start extension 'bad' (why), continuing without it`, or `Warning: 'old': SSE is unsupported…`
    fn extension_trouble(&mut self, text: &str) {
        let mut quoted = text.split('\'');
        let (Some(before), Some(name), Some(why)) = (quoted.next(), quoted.next(), quoted.next())
        else {
            return;
        };
        if before.contains("Failed to start extension") || why.contains("SSE is unsupported") {
            let why = why
                .trim_start_matches(':')
                .trim()
                .trim_end_matches(", continuing without it");
            let why = why
                .strip_prefix('(')
                .and_then(|why| why.strip_suffix(')'))
                .unwrap_or(why);
            self.failed_servers.insert(name.to_owned(), why.to_owned());
        }
    }
}

/// How goose spells the name of an extension among its tools.
fn key(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
            c
        } else {
            '_'
        }
    };
    name.chars()
        .filter(|c| !c.is_whitespace())
        .map(plain)
        .collect::<String>()
        .to_lowercase()
}

fn tool_response(id: Option<String>, result: &Value) -> Step {
    let value = &result["value"];
    let ok = result["status"] == "success" && value["isError"] != true;
    let texts: Vec<&str> = value["content"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|content| content["text"].as_str())
        .collect();
    let output = if texts.is_empty() {
        result["error"].as_str().map(str::to_owned)
    } else {
        Some(texts.join("\n"))
    };
    Step::ToolResult { id, ok, output }
}

impl Decoder for Stream {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.line += 1;
        match line {
            Line::Text(text) => match serde_json::from_str::<Event>(text) {
                Ok(event) => self.event(event),
                Err(_) => {
                    // Why it does not even start, it says in plain words.
                    if let Some(why) = text.trim().strip_prefix("error: ") {
                        self.remember(why);
                    }
                    Vec::new()
                }
            },
            Line::Oversized { bytes, .. } => {
                let text = format!("an event of {bytes} bytes was not decoded");
                self.then(None, Step::Notice { text })
            }
        }
    }

    fn stderr(&mut self, line: Line<'_>) {
        let Line::Text(text) = line else { return };
        let text = text.trim();
        self.extension_trouble(text);
        self.remember(text);
    }

    fn usage(&self) -> Usage {
        self.total_usage()
    }

    fn finish(mut self: Box<Self>, exit: Exit) -> Reading {
        Reading {
            ending: self.ending(exit),
            records: self.flush(),
            usage: self.total_usage(),
            model: self.model.clone(),
            mcp_servers: self.mcp_delivery(),
            notes: std::mem::take(&mut self.notes),
        }
    }
}
