//! Messages in the format of Anthropic's service, in which Claude Code and Qwen Code print their sessions.

use super::prelude::*;
use std::collections::BTreeSet;

/// The messages of a session so far.
#[derive(Debug, Default)]
pub(super) struct Messages {
    calls: BTreeSet<String>,
}

impl Messages {
    /// Adds the content of a message: one text, or a list of blocks.
    pub(super) fn add(&mut self, role: Role, content: &Value, session: &mut Session) {
        if let Value::String(text) = content {
            session.message(role, text.as_str());
        }
        for block in content.as_array().into_iter().flatten() {
            match block.text("type") {
                "text" => session.message(role, block.text("text")),
                "thinking" => session.reasoning(block.text("thinking")),
                "tool_use" if role == Role::Assistant => self.call(block, session),
                "tool_result" => {
                    let output = text_of(&block["content"]);
                    let ok = block["is_error"] != true;
                    session.result(block.owned("tool_use_id"), ok, output);
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, block: &Value, session: &mut Session) {
        let id = block.owned("id");
        // An answer may come once for each of its parts.
        if id.as_ref().is_some_and(|id| !self.calls.insert(id.clone())) {
            return;
        }
        let input = &block["input"];
        let (tool, input) = match (block.text("name"), input["name"].as_str()) {
            // Qwen Code calls tools of MCP servers in this way too.
            ("tool_call", Some(called)) => (called, input.get("arguments").unwrap_or(input)),
            (tool, _) => (tool, input),
        };
        let server = session.mcp_server_of(tool);
        session.call(id, tool, input.clone(), server);
    }
}
