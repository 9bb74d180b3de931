//! The facts that an answer tells.

use serde_json::Value;
use terca_core::text::excerpt::beginning;
use terca_core::wire::WireTokens;

/// The longest name or message that is kept, in characters.
pub(crate) const LONGEST_TEXT: usize = 300;

/// The facts that an answer has told so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Answer {
    pub(crate) model: Option<String>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) tokens: WireTokens,
    /// The protocol's own end was seen.
    pub(crate) has_ended: bool,
    pub(crate) error: Option<String>,
}

impl Answer {
    pub(crate) fn set_model(&mut self, value: &Value) {
        set(&mut self.model, value);
    }

    pub(crate) fn set_stop(&mut self, value: &Value) {
        set(&mut self.stop_reason, value);
    }

    /// Takes the message of an error, if it is one.
    pub(crate) fn set_error(&mut self, error: &Value) {
        let message = if error["message"].is_string() {
            &error["message"]
        } else {
            error
        };
        set(&mut self.error, message);
    }
}

fn set(text: &mut Option<String>, value: &Value) {
    if let Some(value) = value.as_str().filter(|value| !value.is_empty()) {
        *text = Some(beginning(value, LONGEST_TEXT));
    }
}
