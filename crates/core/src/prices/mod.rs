//! Prices of models, and the cost of a session that follows from them.
//!
//! Some agents report a cost, many do not. A cost that Terca works out is marked as such, and is there only where it can be
//! right: a model without a price, an answer without figures, or tokens whose price is not known leave it unknown.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::agent::models;
use crate::transcript::Usage;
use crate::wire::{Exchange, WireTokens};

/// Digits behind the point that only adding up has brought in are left out.
const MOST_DOLLARS: f64 = 1e6;
const DIGITS: f64 = 1e9;

/// The prices of a model.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Price {
    /// The prices of a request that is not long.
    #[serde(flatten)]
    pub rates: Rates,
    /// The prices of a long request.
    pub long: Option<LongPrice>,
}

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rates {
    /// Tokens sent.
    pub input: f64,
    /// Tokens read from the service's cache; `None` if they cost what others do.
    pub cached_input: Option<f64>,
    /// Tokens written to the service's cache; `None` if they cost what others do.
    pub cache_write: Option<f64>,
    /// Tokens written to the service's cache for an hour; `None` if they cost what others written there do.
    pub cache_write_hour: Option<f64>,
    /// Tokens that the model writes, its thoughts included.
    pub output: f64,
}

/// The prices of a request with more tokens than a limit.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct LongPrice {
    /// The most tokens, the cached ones included, of a request that is not long.
    pub above: u64,
    /// Its prices.
    #[serde(flatten)]
    pub rates: Rates,
}

impl Price {
    /// Returns the cost of one request.
    fn of_request(&self, tokens: WireTokens) -> Option<f64> {
        let input = tokens.input?;
        let long = self.long.filter(|long| input > long.above);
        Some(long.map_or(self.rates, |long| long.rates).of_tokens(tokens))
    }
}

impl Rates {
    /// Returns the cost of tokens, however they are divided into requests.
    fn of_tokens(&self, tokens: WireTokens) -> f64 {
        let written = tokens.cache_write.unwrap_or(0);
        let for_an_hour = tokens.cache_write_hour.unwrap_or(0).min(written);
        let cached = tokens.cached.unwrap_or(0);
        let fresh = tokens
            .input
            .unwrap_or(0)
            .saturating_sub(cached)
            .saturating_sub(written);
        let write = self.cache_write.unwrap_or(self.input);
        let dollars = fresh as f64 * self.input
            + cached as f64 * self.cached_input.unwrap_or(self.input)
            + (written - for_an_hour) as f64 * write
            + for_an_hour as f64 * self.cache_write_hour.unwrap_or(write)
            + tokens.output.unwrap_or(0) as f64 * self.output;
        dollars / 1e6
    }
}

#[derive(Debug, Default, Deserialize)]
struct Table {
    date: String,
    models: BTreeMap<String, Price>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    // A test reads it.
    let mut table: Table = serde_json::from_str(include_str!("table.json")).unwrap_or_default();
    let models = std::mem::take(&mut table.models).into_iter();
    table.models = models
        .map(|(name, price)| (models::plain(&name), price))
        .collect();
    table
});

/// Returns the day of the table that Terca ships, as `2026-11-16`.
pub fn date() -> &'static str {
    &TABLE.date
}

/// The prices of a suite: its own, and those that Terca ships.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prices {
    /// The suite's own, by the name of the model. A model without a price is left unknown.
    own: BTreeMap<String, Option<Price>>,
}

impl Prices {
    /// Returns the prices of a suite. `None` takes the price of a model away.
    pub fn new(own: impl IntoIterator<Item = (String, Option<Price>)>) -> Self {
        Prices {
            own: own
                .into_iter()
                .map(|(name, price)| (name.to_lowercase(), price))
                .collect(),
        }
    }

    /// Returns the price of a model. A provider in front of its name and a date behind it do not matter, unless there is
    /// a price for the name with them.
    pub fn of(&self, model: &str) -> Option<Price> {
        let written = model.to_lowercase();
        let plain = models::plain(model);
        let (undated, _) = models::without_date(&plain);
        if let Some(own) = self.own.get(&written) {
            return *own;
        }
        let of = |name: &str| self.own.iter().find(|(own, _)| models::plain(own) == name);
        if let Some((_, price)) = of(&plain).or_else(|| of(undated)) {
            return *price;
        }
        let shipped = &TABLE.models;
        shipped
            .get(&plain)
            .or_else(|| shipped.get(undated))
            .copied()
    }

    /// Returns the cost of a session's requests.
    pub fn of_exchanges(&self, exchanges: &[Exchange]) -> Option<f64> {
        let mut sum = 0.0;
        let mut is_any = false;
        for exchange in exchanges {
            // Answers of a recording cost nothing.
            is_any |= exchange.replayed;
            if exchange.replayed {
                continue;
            }
            if exchange.tokens == WireTokens::default() {
                if exchange.is_answered() {
                    return None;
                }
                // Requests that were refused cost nothing.
                continue;
            }
            // A service may name its model in a way of its own.
            let names = [&exchange.model_answered, &exchange.model_asked];
            let mut known = names.into_iter().flatten();
            let price = known.find_map(|name| self.of(name))?;
            sum += price.of_request(exchange.tokens)?;
            is_any = true;
        }
        is_any.then(|| plausible(sum)).flatten()
    }

    /// Returns the cost of a session by the figures that its agent reports. Agents do not say how many tokens were
    /// written to a cache, so it is not known where these have a price of their own.
    pub fn of_session(&self, model: &str, usage: &Usage) -> Option<f64> {
        let price = self.of(model)?.rates;
        let tokens = WireTokens {
            input: Some(usage.input_tokens?),
            cached: usage.cached_input_tokens,
            output: Some(usage.output_tokens?),
            ..WireTokens::default()
        };
        let is_split = tokens.cached.is_some() || price.cached_input.is_none();
        let is_known = is_split && price.cache_write.is_none_or(|write| write == price.input);
        is_known
            .then(|| plausible(price.of_tokens(tokens)))
            .flatten()
    }
}

/// Returns a cost without digits that nobody needs. One that no trial has is a mistake in a price, and sums of it would
/// have no end.
fn plausible(dollars: f64) -> Option<f64> {
    let rounded = (dollars * DIGITS).round() / DIGITS;
    (rounded < MOST_DOLLARS).then_some(rounded)
}

#[cfg(test)]
mod tests;
