//! OpenAI's chat format, in which mini-swe-agent and Continue keep their sessions.

use super::prelude::*;

/// Adds a call that the model asks for.
pub(super) fn add_call(call: &Value, server: Option<ServerTool>, session: &mut Session) {
    let function = &call["function"];
    // JSON in a text.
    let input = serde_json::from_str(function.text("arguments")).unwrap_or(Value::Null);
    session.call(call.owned("id"), function.text("name"), input, server);
}
