//! The fields of the JSON that agents write. A field that is missing, or of another kind, is empty: an event of another
//! version of an agent is read as far as it goes.

use std::ops::Index;

use crate::text::prose;
use serde_json::Value;

/// The fields of an object.
pub(super) trait Fields: Index<&'static str, Output = Value> {
    /// Returns a text; empty if there is none.
    fn text(&self, name: &'static str) -> &str {
        self[name].as_str().unwrap_or_default()
    }

    /// Returns a text, if there is one.
    fn owned(&self, name: &'static str) -> Option<String> {
        self[name].as_str().map(str::to_owned)
    }

    /// Returns a number; 0 if there is none.
    fn number(&self, name: &'static str) -> u64 {
        self[name].as_u64().unwrap_or(0)
    }

    /// Returns the HTTP status of an answer, if there is one.
    fn status(&self, name: &'static str) -> Option<u16> {
        u16::try_from(self[name].as_u64()?).ok()
    }

    /// Returns the entries of a list; none if there is no list.
    fn list(&self, name: &'static str) -> &[Value] {
        self[name].as_array().map_or(&[], Vec::as_slice)
    }
}

impl Fields for Value {}

/// Returns the text of a message or a result: one text, or a list of parts. Parts without a text, such as images, are
/// left out.
pub(super) fn text_of(content: &Value) -> Option<String> {
    if let Value::Array(parts) = content {
        return Some(prose::joined(parts.iter().filter_map(plain_text), "\n"));
    }
    plain_text(content).or_else(|| (!content.is_null()).then(|| content.to_string()))
}

fn plain_text(part: &Value) -> Option<String> {
    if let Value::String(text) = part {
        return Some(text.clone());
    }
    let mut names = ["text", "result", "error"].iter();
    let named = names.find_map(|name| part.owned(name));
    named.or_else(|| part.get("content").and_then(text_of))
}
