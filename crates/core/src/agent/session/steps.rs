//! The steps of a session's transcript.

use jiff::Timestamp;
use serde_json::Value;

use super::Session;
use crate::agent::mcp::{ServerTool, server_of};
use crate::transcript::{Record, Role, Step};

/// A message that arrives in pieces is handed on in parts when it grows beyond this many bytes, so that memory stays
/// flat.
pub(super) const LONGEST_MESSAGE: usize = 1024 * 1024;

impl Session {
    /// Returns the server of a tool that is called `mcp__<server>__<tool>`.
    pub fn mcp_server_of(&self, tool: &str) -> Option<ServerTool> {
        self.server_of(tool.strip_prefix("mcp__")?, "__")
    }

    /// Returns the server that the name of a tool begins with.
    pub fn server_of(&self, tool: &str, separator: &str) -> Option<ServerTool> {
        server_of(&self.servers, tool, separator)
    }

    /// Sets the time of the steps that follow, in milliseconds since 1970.
    pub fn at_millisecond(&mut self, time: Option<i64>) {
        let time = time.and_then(|time| Timestamp::from_millisecond(time).ok());
        self.time = time.map(|time| time.to_string());
    }

    /// Adds a message, unless it is empty.
    pub fn message(&mut self, role: Role, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.push(Step::Message { role, text });
        }
    }

    /// Adds a thought, unless it is empty.
    pub fn reasoning(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.push(Step::Reasoning { text });
        }
    }

    /// Adds a remark of the agent's program.
    pub fn notice(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.push(Step::Notice { text });
    }

    /// Adds an error message.
    pub fn error(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.push(Step::Error { text });
    }

    /// Adds the result of a tool.
    pub fn result(&mut self, id: Option<String>, ok: bool, output: Option<String>) {
        self.tool_at_work(id.as_deref().unwrap_or_default(), false);
        self.push(Step::ToolResult { id, ok, output });
    }

    /// Adds and counts a call of a tool.
    pub fn call(
        &mut self,
        id: Option<String>,
        tool: impl Into<String>,
        input: Value,
        at_server: Option<ServerTool>,
    ) {
        let tool = tool.into();
        self.tool_calls += 1;
        self.answered();
        self.tool_at_work(id.as_deref().unwrap_or_default(), true);
        if self.skill_tool == Some(tool.as_str()) {
            self.skill_used(&input);
        }
        let (server, server_tool) = at_server
            .map(|ServerTool { server, tool }| (server, tool))
            .unzip();
        self.push(Step::ToolCall {
            id,
            tool,
            input,
            server,
            server_tool,
        });
    }

    fn skill_used(&mut self, input: &Value) {
        let names = ["skill", "name", "skill_name", "command"];
        if let Some(skill) = names.iter().find_map(|name| input[name].as_str()) {
            *self.skill_uses.entry(skill.to_owned()).or_default() += 1;
        }
    }

    /// Adds a piece of a message or thought. Pieces of the same kind become one step.
    pub fn piece(&mut self, step: Step) {
        self.hear(&step);
        let unfinished = self.unfinished.as_mut().map(|record| &mut record.step);
        match (unfinished, &step) {
            (
                Some(Step::Message { role, text }),
                Step::Message {
                    role: same,
                    text: piece,
                },
            ) if role == same && text.len() < LONGEST_MESSAGE => text.push_str(piece),
            (Some(Step::Reasoning { text }), Step::Reasoning { text: piece })
                if text.len() < LONGEST_MESSAGE =>
            {
                text.push_str(piece);
            }
            _ => {
                self.flush();
                self.unfinished = Some(self.record(self.line, step));
            }
        }
    }

    /// Ends the message that arrives in pieces.
    pub fn flush(&mut self) {
        self.records.extend(self.unfinished.take());
    }

    /// Adds a step.
    pub fn push(&mut self, step: Step) {
        self.push_at(self.line, step);
    }

    /// Adds a step that began at an earlier line.
    pub fn push_at(&mut self, line: u64, step: Step) {
        self.hear(&step);
        self.flush();
        let record = self.record(line, step);
        if self.records.is_empty() {
            // Most lines have one step, and there may be millions of lines.
            self.records.reserve_exact(1);
        }
        self.records.push(record);
    }

    /// Notes the words and thoughts of the model as answers.
    fn hear(&mut self, step: &Step) {
        let is_answer = match step {
            Step::Message { role, text } => *role == Role::Assistant && !text.is_empty(),
            Step::Reasoning { text } => !text.is_empty(),
            _ => false,
        };
        if is_answer {
            self.answered();
        }
    }

    fn record(&self, line: u64, step: Step) -> Record {
        Record {
            time: self.time.clone(),
            at_ms: None,
            line,
            step,
        }
    }
}
