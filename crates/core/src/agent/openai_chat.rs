//! OpenAI's chat format, in which mini-swe-agent and Continue keep their sessions.

use super::prelude::*;

/// Adds a call that the model asks for.
pub(super) fn add_call(call: &Value, server: Option<ServerTool>, session: &mut Session) {
    let function = &call["function"];
    // JSON in a text.
    let input = serde_json::from_str(function.text("arguments")).unwrap_or(Value::Null);
    session.call(call.owned("id"), function.text("name"), input, server);
}

/// Returns the figures of all answers. Input includes the cached tokens.
pub(super) fn usage(answers: &[&Value]) -> Usage {
    // An answer without a figure makes the sum unknown.
    let sum = |name: &str| {
        let figures = answers.iter().map(|tokens| tokens.pointer(name)?.as_u64());
        let figures: Option<Vec<u64>> = figures.collect();
        figures.filter(|figures| !figures.is_empty()).map(total)
    };
    Usage {
        requests: (!answers.is_empty()).then_some(answers.len() as u64),
        input_tokens: sum("/prompt_tokens"),
        cached_input_tokens: sum("/prompt_tokens_details/cached_tokens"),
        output_tokens: sum("/completion_tokens"),
        ..Usage::default()
    }
}
