//! The figures that ACP agents tell: those of the protocol, and those that some put into `_meta`.

use crate::agent::prelude::*;

use crate::agent::tokens::known_cost;

/// Returns the figures of the answer to a prompt.
pub(super) fn of_prompt(end: &Value) -> Usage {
    of_protocol(&end["usage"]).or(of_quota(&end["meta"]))
}

/// Reads `usage` of the protocol. Agents differ in whether cached and reasoning tokens are part of the others: the total
/// tells.
fn of_protocol(usage: &Value) -> Usage {
    let mut tokens = Tokens::read_apart(usage);
    if usage.number("totalTokens") < total([tokens.input, tokens.output]) {
        tokens.input = usage.number("inputTokens");
        tokens.output = usage.number("outputTokens");
    }
    Usage {
        // What is not told is not 0.
        cached_input_tokens: usage["cachedReadTokens"].as_u64(),
        ..tokens.known_usage()
    }
}

/// Reads `_meta.quota` of Gemini CLI, which does not tell cached tokens. The models there are those that were asked for.
fn of_quota(meta: &Value) -> Usage {
    Usage {
        cached_input_tokens: None,
        ..Tokens::read(&meta["quota"]["token_count"]).known_usage()
    }
}

/// Returns the cost of a session in dollars.
pub(super) fn cost(cost: &Value) -> Option<f64> {
    let is_dollars = cost["currency"].as_str() == Some("USD");
    cost["amount"]
        .as_f64()
        .filter(|_| is_dollars)
        .and_then(known_cost)
}
