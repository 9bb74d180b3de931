//! OpenAI's chat format, in which mini-swe-agent and Continue keep their sessions.

use serde::Deserialize;
use serde_json::Value;

use super::mcp::ServerTool;
use super::session::Session;
use crate::transcript::{Usage, total};

/// A call that the model asks for.
#[derive(Debug, Deserialize)]
pub(super) struct ToolCall {
    pub(super) id: Option<String>,
    pub(super) function: Function,
}

/// The tool of a call.
#[derive(Debug, Deserialize)]
pub(super) struct Function {
    #[serde(default)]
    pub(super) name: String,
    /// JSON in a text.
    #[serde(default)]
    arguments: String,
}

impl ToolCall {
    /// Adds the call to the session.
    pub(super) fn add(&self, server: Option<ServerTool>, session: &mut Session) {
        let input = serde_json::from_str(&self.function.arguments).unwrap_or(Value::Null);
        session.call(self.id.clone(), self.function.name.clone(), input, server);
    }
}

/// The tokens of one answer. Input includes the cached tokens.
#[derive(Debug, Default, Deserialize)]
pub(super) struct AnswerTokens {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

/// Returns the figures of all answers.
pub(super) fn usage(answers: &[&AnswerTokens]) -> Usage {
    Usage {
        requests: (!answers.is_empty()).then_some(answers.len() as u64),
        input_tokens: sum(answers, |tokens| tokens.prompt_tokens),
        cached_input_tokens: sum(answers, |tokens| {
            tokens.prompt_tokens_details.as_ref()?.cached_tokens
        }),
        output_tokens: sum(answers, |tokens| tokens.completion_tokens),
        ..Usage::default()
    }
}

/// An answer without a figure makes the sum unknown.
fn sum(answers: &[&AnswerTokens], figure: fn(&AnswerTokens) -> Option<u64>) -> Option<u64> {
    let figures: Option<Vec<u64>> = answers.iter().map(|tokens| figure(tokens)).collect();
    figures.filter(|figures| !figures.is_empty()).map(total)
}

/// Returns the text of content that is one text or a list of parts.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
