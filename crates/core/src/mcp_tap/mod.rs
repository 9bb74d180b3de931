//! The talk between an agent and an MCP server as the tap between them saw it.
//!
//! An agent's own words about its servers are incomplete for most agents and wrong for some, so they are not read. The tap
//! does not depend on the agent: it sees the tools that a server offers, each call with its answer, and the end of the server.

mod conversation;
mod hidden_tools;
mod remote;
mod tools_talk;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::process::Exit;
use crate::text::excerpt::beginning;
use crate::text::mask::Mask;
use crate::text::tokens;
use crate::transcript::{Record, Step};

pub use conversation::{Conversation, Side, TapLine};
pub use hidden_tools::{HiddenTools, HidingStream, LONGEST_MESSAGE, MessageTooLong};
pub use remote::{RemoteRequest, RemoteTalk};
pub use tools_talk::ToolsTalk;

/// The longest name, method or message that is kept, in characters.
const LONGEST_NAME: usize = 300;
/// The most names of tools that are counted one by one: an agent can call tools that there are not.
const MOST_TOOLS: usize = 2000;
/// The most durations of a tool that are kept for the median of a run.
const MOST_DURATIONS: usize = 200;
/// The most ends of a server that are kept.
const MOST_DEATHS: usize = 20;
/// The most events of a server that are kept.
const MOST_EVENTS: usize = 5000;
/// The size of the events of a server from which on no more are kept.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// One thing that the tap saw. A line of `artifacts/mcp/NAME.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TapEvent {
    /// The time since the agent was started, in milliseconds.
    pub at_ms: u64,
    /// The number of the server's start, from 1: an agent may start a server several times.
    pub start: u32,
    /// The event itself.
    #[serde(flatten)]
    pub kind: TapEventKind,
}

/// The things that the tap tells apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "event",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum TapEventKind {
    /// The agent started the server, or began a session with it.
    Started,
    /// The server answered the first request, or refused it.
    Initialized {
        /// The name and version of the server, in its own words.
        server: Option<String>,
        /// The reason why it refused.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The time until its answer, in milliseconds.
        duration_ms: u64,
    },
    /// The server listed tools.
    Tools {
        /// The tools.
        tools: Vec<OfferedTool>,
    },
    /// The agent called a tool.
    Call(Box<ToolCall>),
    /// The agent asked for something else.
    Request {
        /// The method.
        method: String,
        /// The reason why it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The time until the answer, in milliseconds; `None` if there was none.
        duration_ms: Option<u64>,
    },
    /// A line that is not the protocol.
    NotProtocol {
        /// The side that it came from.
        from: Side,
        /// Its beginning.
        text: String,
        /// Its length.
        bytes: u64,
    },
    /// The server of an address could not be reached any more.
    Lost {
        /// The reason.
        reason: String,
    },
    /// More followed than is kept one by one.
    LeftOut,
    /// The server ended.
    Ended {
        /// Its exit; `None` if the tap was ended with it.
        exit: Option<Exit>,
        /// True if nobody had asked it to end.
        by_itself: bool,
    },
}

/// A tool that a server offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// An estimate of the tokens of its name, description and arguments, which most agents send with every request: a token
    /// for four bytes.
    pub estimated_tokens: u64,
}

impl OfferedTool {
    /// Returns the tools in the answer to `tools/list`.
    pub fn list(result: &Value) -> Vec<Self> {
        let tools = result["tools"].as_array().into_iter().flatten();
        tools.filter_map(OfferedTool::of).collect()
    }

    fn of(tool: &Value) -> Option<Self> {
        let name = beginning(tool["name"].as_str()?, LONGEST_NAME);
        let parts = ["name", "description", "inputSchema"].map(|key| &tool[key]);
        let bytes: u64 = parts
            .iter()
            .filter(|part| !part.is_null())
            .map(|part| part.to_string().len() as u64)
            .sum();
        Some(OfferedTool {
            name,
            estimated_tokens: tokens::estimated(bytes),
        })
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The tool's name at its server.
    pub tool: String,
    /// The arguments; a text that is cut where they are long.
    pub arguments: Value,
    /// The answer; a text that is cut where it is long. `None` if there was none.
    pub result: Option<Value>,
    /// The way it ended.
    pub end: CallEnd,
    /// The time until the answer, in milliseconds; `None` if there was none.
    pub duration_ms: Option<u64>,
}

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallEnd {
    /// The tool answered.
    Answered,
    /// The tool or the server answered with an error.
    Failed,
    /// The server ended before it answered.
    ServerEnded,
    /// The agent withdrew it, or the session ended before there was an answer.
    Unanswered,
}

impl CallEnd {
    /// Returns whether the server is to blame that there is no good answer.
    pub fn is_error(self) -> bool {
        matches!(self, CallEnd::Failed | CallEnd::ServerEnded)
    }
}

/// The figures of a server in a trial, as the tap saw them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerTap {
    /// The number of times that the agent started it.
    pub starts: u64,
    /// Those of the starts in which it answered the first request.
    pub connected: u64,
    /// Those of the starts in which it refused the first request.
    #[serde(default)]
    pub refused: u64,
    /// The exits of those that ended although nobody had asked them to; the reasons why those of an address could not be
    /// reached any more.
    pub deaths: Vec<String>,
    /// Lines that are not the protocol.
    pub lines_not_protocol: u64,
    /// Its tools by name: those that it offered and those that were called.
    pub tools: BTreeMap<String, ToolTap>,
}

/// The figures of a tool in a trial, as the tap saw them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolTap {
    /// An estimate of the tokens of its description; `null` if the server did not offer it.
    pub estimated_tokens: Option<u64>,
    /// The number of calls.
    pub calls: u64,
    /// Those of the calls that ended in an error.
    pub errors: u64,
    /// Those of the calls without an answer, since the session ended first.
    pub unanswered: u64,
    /// The times until the answers to the first calls, in milliseconds.
    pub durations_ms: Vec<u64>,
}

/// Everything that the taps of a server saw in a trial.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct ServerRecord {
    /// The figures.
    pub figures: ServerTap,
    /// The events, in the order in which they came in.
    pub events: Vec<TapEvent>,
    /// The time of what is seen next, in milliseconds since the agent was started.
    pub now_ms: u64,
    bytes: usize,
}

impl ServerRecord {
    /// Adds something that is seen now, after the start of this number.
    fn add(&mut self, start: u32, kind: TapEventKind) {
        self.figures.add(&kind);
        let is_full = self.events.len() >= MOST_EVENTS || self.bytes >= MOST_BYTES;
        let mut event = TapEvent {
            at_ms: self.now_ms,
            start,
            kind,
        };
        if is_full && !matches!(event.kind, TapEventKind::Ended { .. }) {
            event.kind = TapEventKind::LeftOut;
            let last = self.events.last().map(|last| &last.kind);
            if last == Some(&TapEventKind::LeftOut) {
                return;
            }
        }
        self.bytes += serde_json::to_string(&event).map_or(0, |text| text.len());
        self.events.push(event);
    }
}

impl ServerTap {
    fn add(&mut self, kind: &TapEventKind) {
        match kind {
            TapEventKind::Started => self.starts += 1,
            TapEventKind::Initialized { error: None, .. } => self.connected += 1,
            TapEventKind::Initialized { .. } => self.refused += 1,
            TapEventKind::Lost { reason } if self.deaths.len() < MOST_DEATHS => {
                self.deaths.push(reason.clone());
            }
            TapEventKind::Tools { tools } => {
                for offered in tools {
                    if let Some(tool) = self.tool(&offered.name) {
                        tool.estimated_tokens = Some(offered.estimated_tokens);
                    }
                }
            }
            TapEventKind::Call(call) => {
                if let Some(tool) = self.tool(&call.tool) {
                    tool.calls += 1;
                    tool.errors += u64::from(call.end.is_error());
                    tool.unanswered += u64::from(call.end == CallEnd::Unanswered);
                    if tool.durations_ms.len() < MOST_DURATIONS {
                        tool.durations_ms.extend(call.duration_ms);
                    }
                }
            }
            TapEventKind::NotProtocol { .. } => self.lines_not_protocol += 1,
            TapEventKind::Ended {
                exit,
                by_itself: true,
            } if self.deaths.len() < MOST_DEATHS => {
                let exit = exit.map_or_else(|| "unknown".to_owned(), Exit::describe);
                self.deaths.push(exit);
            }
            TapEventKind::Request { .. }
            | TapEventKind::Lost { .. }
            | TapEventKind::LeftOut
            | TapEventKind::Ended { .. } => {}
        }
    }

    fn tool(&mut self, name: &str) -> Option<&mut ToolTap> {
        if self.tools.len() >= MOST_TOOLS && !self.tools.contains_key(name) {
            return None;
        }
        Some(self.tools.entry(name.to_owned()).or_default())
    }

    /// Returns whether it was started, and refused to work or ended before it ever answered.
    pub fn is_broken(&self) -> bool {
        self.connected == 0 && (self.refused > 0 || !self.deaths.is_empty())
    }

    /// Returns the number of calls.
    pub fn calls(&self) -> u64 {
        self.tools.values().map(|tool| tool.calls).sum()
    }

    /// Returns the number of calls that ended in an error.
    pub fn errors(&self) -> u64 {
        self.tools.values().map(|tool| tool.errors).sum()
    }

    /// Masks the secrets in names that the server has chosen.
    pub(crate) fn mask(&mut self, mask: &Mask) {
        if self.tools.keys().any(|name| mask.hides(name.as_bytes())) {
            let named = std::mem::take(&mut self.tools);
            for (name, tool) in named {
                self.tools.insert(mask.text(&name), tool);
            }
        }
    }
}

/// Returns the steps of a transcript for the calls of a server that its agent does not show.
pub fn steps(server: &str, events: &[TapEvent]) -> Vec<Record> {
    let mut steps = Vec::new();
    let mut add = |at_ms: u64, step: Step| {
        let mut record = Record::without_line(step);
        record.at_ms = Some(at_ms);
        steps.push(record);
    };
    let mut calls = 0;
    for event in events {
        let TapEventKind::Call(call) = &event.kind else {
            continue;
        };
        // The event is noted when the call is over.
        let asked = event.at_ms.saturating_sub(call.duration_ms.unwrap_or(0));
        if calls == 0 {
            let text = format!(
                "the agent shows no call of the MCP server `{server}`; these are the calls that Terca saw"
            );
            add(asked, Step::Notice { text });
        }
        calls += 1;
        let id = Some(format!("{server}-{calls}"));
        let asks = Step::ToolCall {
            id: id.clone(),
            tool: call.tool.clone(),
            input: call.arguments.clone(),
            server: Some(server.to_owned()),
            server_tool: Some(call.tool.clone()),
        };
        add(asked, asks);
        if let Some(result) = &call.result {
            let answer = Step::ToolResult {
                id,
                ok: call.end == CallEnd::Answered,
                output: Some(text_of(result)),
            };
            add(event.at_ms, answer);
        }
    }
    steps
}

/// Returns the words of a tool's answer.
fn text_of(result: &Value) -> String {
    let content = result["content"].as_array();
    let texts: Vec<&str> = content
        .into_iter()
        .flatten()
        .filter_map(|part| part["text"].as_str())
        .collect();
    match result {
        Value::String(text) => text.clone(),
        _ if !texts.is_empty() => texts.join("\n"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded() {
        let mut record = ServerRecord::default();
        for _ in 0..2 * MOST_EVENTS {
            record.add(1, TapEventKind::Started);
        }
        Conversation::begin(&mut record).finish(None, false, &mut record);
        assert_eq!(record.figures.starts, 2 * MOST_EVENTS as u64 + 1);
        assert_eq!(record.events.len(), MOST_EVENTS + 2);
    }
}
