//! Masks the secrets in a step. Only its words are masked: a secret such as `message` must not make it unreadable.

use serde_json::Value;

use crate::text::mask::Mask;
use crate::transcript::Record;

impl Record {
    /// Masks the secrets in a record.
    #[must_use]
    pub fn masked(mut self, mask: &Mask) -> Self {
        let (texts, input) = self.step.texts_mut();
        for text in texts.into_iter().chain(&mut self.time) {
            *text = mask.text(text);
        }
        if let Some(input) = input {
            *input = value(std::mem::take(input), mask);
        }
        self
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
