//! Values as they are typed.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, StringValueParser, TypedValueParser};
use serde::de::DeserializeOwned;
use terca_core::config::sandbox::Sandbox;
use terca_core::config::verdict::margin_of_points;
use terca_core::run::settings::{Keep, check_budget, check_seconds, check_share};
use terca_core::wire::network::Network;

/// Parses a whole number in a range.
pub fn within(range: RangeInclusive<u32>) -> impl TypedValueParser<Value = u32> {
    StringValueParser::new().try_map(move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        let (first, last) = (range.start(), range.end());
        number.ok_or_else(|| format!("expected a whole number from {first} to {last}"))
    })
}

/// Parses one of some words, as a document of Terca has them.
pub fn one_of<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word| serde_json::from_value(word.into()))
}

/// Parses the workspaces that stay on disk.
pub fn keep() -> impl TypedValueParser<Value = Keep> {
    one_of(&["changed", "all", "failed", "none"])
}

/// Parses a time limit.
pub fn seconds(text: &str) -> Result<f64, String> {
    Ok(check_seconds(number(text))?)
}

/// Parses a sum of money.
pub fn usd(text: &str) -> Result<f64, String> {
    Ok(check_budget(number(text))?)
}

/// Parses a share.
pub fn share(text: &str) -> Result<f64, String> {
    Ok(check_share(number(text))?)
}

/// Parses a difference in points; returns it as a share.
pub fn points(text: &str) -> Result<f64, String> {
    Ok(margin_of_points(number(text))?)
}

/// Parses the word for a sandbox.
pub fn sandbox(text: &str) -> Result<Sandbox, String> {
    text.parse()
}

/// Parses a network: a word, or hosts between commas.
pub fn network(text: &str) -> Result<Network, String> {
    if let Some(network) = Network::of_word(text) {
        return Ok(network);
    }
    let mut hosts = Vec::new();
    for host in text.split(',').map(str::trim) {
        // A word that has no dot is more likely a slip than a host.
        if !host.contains(['.', ':']) {
            return Err(
                "expected off, model, open, or hosts such as example.com,localhost:5432".to_owned(),
            );
        }
        hosts.push(host.parse().map_err(|error| format!("`{host}`: {error}"))?);
    }
    Ok(Network::Hosts(hosts))
}

/// A text that is no number is not a number, and out of every range.
fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// Parses an age.
pub fn age(text: &str) -> Result<Duration, String> {
    let expected = || "expected a number and a unit, such as 12h, 30d, 8w or 1y".to_owned();
    let unit = text.chars().next_back().ok_or_else(expected)?;
    let number: u64 = text[..text.len() - unit.len_utf8()]
        .parse()
        .map_err(|_| expected())?;
    let hours = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 24 * 7,
        'y' => 24 * 365,
        _ => return Err(expected()),
    };
    Ok(Duration::from_secs(number.saturating_mul(hours * 3600)))
}
