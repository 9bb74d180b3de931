//! The tokens and the cost of requests.

use std::iter::Sum;

use serde_json::Value;

use crate::transcript::{Usage, total};

/// The names of input tokens, as agents spell them: one of them is there.
const INPUT: [&str; 4] = [
    "/input_tokens", "/inputTokens", "/input_token_count", "/input",
];
/// The names of tokens that were read from a cache.
const CACHED: [&str; 9] = [
    "/cached_input_tokens", "/cache_read_input_tokens", "/cacheReadInputTokens",
    "/cacheReadTokens", "/cached_content_token_count", "/cached", "/cacheRead", "/cache/read",
    "/cachedReadTokens",
];
/// The names of tokens that were written to a cache.
const WRITTEN: [&str; 5] = [
    "/cache_creation_input_tokens", "/cacheCreationInputTokens", "/cacheWrite", "/cache/write",
    "/cachedWriteTokens",
];
/// The names of output tokens, and of thoughts that are told apart from them.
const OUTPUT: [&str; 6] = [
    "/output_tokens", "/outputTokens", "/output_token_count", "/output", "/thoughts",
    "/thoughtTokens",
];

/// The tokens of one or more requests.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Tokens {
    /// All input, the cached tokens included.
    pub input: u64,
    pub cached: u64,
    /// All output, the reasoning included.
    pub output: u64,
    /// Their cost in dollars. Clients give the cost of a model without a price as 0, which means that it is not known.
    pub cost: f64,
}

impl Tokens {
    /// Reads the tokens of an object whose input includes the cached tokens.
    pub(super) fn read(object: &Value) -> Self {
        let sum = |names: &[&str]| {
            let figures = names.iter().map(|name| object.pointer(name));
            total(figures.filter_map(|figure| figure?.as_u64()))
        };
        Tokens {
            input: sum(&INPUT),
            cached: sum(&CACHED),
            output: sum(&OUTPUT),
            cost: 0.0,
        }
    }

    /// Reads the tokens of an object that has the cached tokens, read and written, apart from the other input.
    pub(super) fn read_apart(object: &Value) -> Self {
        let mut tokens = Tokens::read(object);
        let written = WRITTEN.iter().map(|name| object.pointer(name));
        let written = written.filter_map(|figure| figure?.as_u64());
        tokens.input = total(written.chain([tokens.input, tokens.cached]));
        tokens
    }

    /// Returns the tokens as figures of a session.
    pub(super) fn usage(self) -> Usage {
        Usage {
            input_tokens: Some(self.input),
            cached_input_tokens: Some(self.cached),
            output_tokens: Some(self.output),
            cost_usd: known_cost(self.cost),
            ..Usage::default()
        }
    }

    /// Returns whether they are the zeros of an answer that broke off, or of a service that gives no figures.
    pub(super) fn is_unknown(self) -> bool {
        self.input == 0 && self.output == 0
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, more: Tokens) {
        self.input = total([self.input, more.input]);
        self.cached = total([self.cached, more.cached]);
        self.output = total([self.output, more.output]);
        self.cost += more.cost;
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Tokens>>(all: I) -> Self {
        let mut sum = Tokens::default();
        for tokens in all {
            sum += tokens;
        }
        sum
    }
}

/// Returns a sum of costs without the digits that only adding up has brought in.
pub(super) fn known_cost(sum: f64) -> Option<f64> {
    let rounded = (sum * 1e9).round() / 1e9;
    (rounded > 0.0).then_some(rounded)
}
