//! Masks the secrets in a step. Only its words are masked: a secret such as `message` must not make it unreadable.

use serde_json::Value;

use crate::text::mask::Mask;
use crate::transcript::{Record, Step};

impl Record {
    /// Masks the secrets in a record.
    #[must_use]
    pub fn masked(mut self, mask: &Mask) -> Self {
        optional(&mut self.time, mask);
        match &mut self.step {
            Step::Message {
                role: _,
                text: words,
            }
            | Step::Reasoning { text: words }
            | Step::Notice { text: words }
            | Step::Error { text: words } => *words = mask.text(words),
            Step::ToolCall {
                id,
                tool,
                input,
                server,
                server_tool,
            } => {
                optional(id, mask);
                *tool = mask.text(tool);
                *input = value(std::mem::take(input), mask);
                optional(server, mask);
                optional(server_tool, mask);
            }
            Step::ToolResult { id, ok: _, output } => {
                optional(id, mask);
                optional(output, mask);
            }
            Step::Usage { .. } | Step::Omitted { .. } => {}
        }
        self
    }
}

fn optional(words: &mut Option<String>, mask: &Mask) {
    if let Some(words) = words {
        *words = mask.text(words);
    }
}

/// Masks the strings and the names in a document.
fn value(document: Value, mask: &Mask) -> Value {
    match document {
        Value::String(words) => Value::String(mask.text(&words)),
        Value::Array(items) => items.into_iter().map(|item| value(item, mask)).collect(),
        Value::Object(entries) => entries
            .into_iter()
            .map(|(name, entry)| (mask.text(&name), value(entry, mask)))
            .collect(),
        other => other,
    }
}
