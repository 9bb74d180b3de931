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
    let input = ["inputTokens", "cachedReadTokens", "cachedWriteTokens"];
    let output = ["outputTokens", "thoughtTokens"];
    let sum = |names: &[&'static str]| total(names.iter().map(|name| usage.number(name)));
    let is_apart = usage.number("totalTokens") >= total([sum(&input), sum(&output)]).max(1);
    let first = |names: &[&'static str]| {
        if is_apart {
            sum(names)
        } else {
            sum(&names[..1])
        }
    };
    let tokens = Tokens {
        input: first(&input),
        output: first(&output),
        ..Tokens::default()
    };
    Usage {
        // What is not told is not 0.
        cached_input_tokens: usage["cachedReadTokens"].as_u64(),
        ..tokens.known_usage()
    }
}

/// Reads `_meta.quota` of Gemini CLI, which does not tell cached tokens. The models there are those that were asked for.
fn of_quota(meta: &Value) -> Usage {
    let count = &meta["quota"]["token_count"];
    let known = |name: &str| count[name].as_u64().filter(|tokens| *tokens > 0);
    Usage {
        input_tokens: known("input_tokens"),
        output_tokens: known("output_tokens"),
        ..Usage::default()
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
