//! What a trial left to read (its transcript, its changes, its log), as much of it as was asked for.
//!
//! Agents write as much as they like. Whoever shows it says how much there may be, and gets the beginning, the end,
//! and how much stood between.

use crate::text::prose;
use crate::transcript::{Record, Step};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bodies {
    pub transcript: Session,
    pub changes: Excerpt,
    pub log: Excerpt,
}

/// A text, or its beginning and its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Excerpt {
    pub head: String,
    /// Bytes between the two.
    pub left_out: u64,
    pub tail: String,
}

/// A transcript, or its beginning and its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session {
    pub head: Vec<Record>,
    /// Steps between the two.
    pub left_out: usize,
    pub tail: Vec<Record>,
}

impl Excerpt {
    pub fn whole(text: impl Into<String>) -> Self {
        Excerpt {
            head: text.into(),
            ..Excerpt::default()
        }
    }

    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }
}

impl Session {
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }
}

/// At most about `limit` bytes of a text: its beginning, a remark, and its end.
pub fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let boundary = |at: usize| {
        (0..=at)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0)
    };
    let (head, tail) = (
        &text[..boundary(limit / 4 * 3)],
        &text[boundary(text.len() - limit / 4)..],
    );
    let left_out = (text.len() - head.len() - tail.len()) as u64;
    format!(
        "{head}\n… {} bytes left out …\n{tail}",
        prose::compact(left_out)
    )
}

/// The record with no text longer than that.
pub fn with_short_texts(record: Record, limit: usize) -> Record {
    let short = |text: String| {
        if text.len() > limit {
            shortened(&text, limit)
        } else {
            text
        }
    };
    let step = match record.step {
        Step::Message { role, text } => Step::Message {
            role,
            text: short(text),
        },
        Step::Reasoning { text } => Step::Reasoning { text: short(text) },
        Step::ToolCall {
            id,
            tool,
            input,
            server,
        } => Step::ToolCall {
            id,
            tool: short(tool),
            input: short_value(input, limit),
            server,
        },
        Step::ToolResult { id, ok, output } => Step::ToolResult {
            id,
            ok,
            output: output.map(short),
        },
        Step::Notice { text } => Step::Notice { text: short(text) },
        Step::Error { text } => Step::Error { text: short(text) },
        short @ (Step::Usage { .. } | Step::Omitted { .. }) => short,
    };
    Record { step, ..record }
}

/// An input that is too long in all becomes the beginning and the end of its JSON.
fn short_value(value: serde_json::Value, limit: usize) -> serde_json::Value {
    let text = value.to_string();
    if text.len() <= limit {
        value
    } else {
        serde_json::Value::String(shortened(&text, limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_keep_their_ends() {
        assert_eq!(shortened("short", 10), "short");
        let text = format!("begin{}end", "x".repeat(5_000_000));
        let short = shortened(&text, 1000);
        assert!(
            short.len() < 1100 && short.starts_with("beginx") && short.ends_with("xend"),
            "{short}"
        );
        assert!(short.contains("… 5.0M bytes left out …"), "{short}");
        let wide = "日本".repeat(1000);
        for limit in 10..40 {
            assert!(shortened(&wide, limit).starts_with("日"));
        }
    }
}
