//! The smaller settings of a suite: `repetitions`, `concurrency`, `mcpPreflight`, `prices` and `allowWarnings`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use crate::agent;
use crate::config::adaptive::Adaptive;
use crate::config::names::unique;
use crate::prices::{Price, Prices, Rates};
use crate::reader::{
    Entries, Fields, Kind, Patch, Reader, count, map_of, not_negative, object, one_or_more, or_map,
    seconds, word,
};
use crate::text::{Code, Diagnostic, Located, prose};

/// The repetitions of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetitions {
    /// This many.
    Fixed(u32),
    /// As many as it takes to decide the comparisons, within these bounds.
    Adaptive(Adaptive),
}

impl Default for Repetitions {
    fn default() -> Self {
        Repetitions::Fixed(1)
    }
}

impl Repetitions {
    /// Returns the largest number of repetitions that there can be.
    pub fn most(self) -> u32 {
        match self {
            Repetitions::Fixed(number) => number,
            Repetitions::Adaptive(bounds) => bounds.max,
        }
    }

    /// Returns the bounds of adaptive repetitions.
    pub fn adaptive(self) -> Option<Adaptive> {
        match self {
            Repetitions::Fixed(_) => None,
            Repetitions::Adaptive(bounds) => Some(bounds),
        }
    }
}

pub(super) fn repetitions() -> Kind<Repetitions> {
    let bounds = object("repetitions", "`repetitions`", bounds)
        .linked("[map](terca-yaml.md#as-many-repetitions-as-it-takes)")
        .kind();
    or_map(
        count().map(|number| Repetitions::Fixed(number.value)),
        bounds,
    )
}

fn bounds(fields: &mut Fields<'_, '_>) -> Option<Repetitions> {
    let min = fields.optional("min", count(), "The fewest repetitions (default 1).");
    let max = fields.required("max", count(), "The most repetitions.");
    fields.required(
        "until",
        word([("conclusive", ())], None),
        "When to stop: as soon as every comparison is decided.",
    );
    let max = max?;
    if let Some(min) = min.as_ref().filter(|min| min.value > max.value) {
        fields.reader.problems.push(upside_down(min, &max));
    }
    Some(Repetitions::Adaptive(Adaptive {
        min: min.map_or(1, |min| min.value),
        max: max.value,
    }))
}

fn upside_down(min: &Located<u32>, max: &Located<u32>) -> Diagnostic {
    Diagnostic::error(
        Code::OutOfRange,
        format!(
            "`repetitions`: `min` is {}, but `max` is only {}",
            min.value, max.value
        ),
    )
    .at(max.place, "`max` is smaller than `min`")
    .beside(min.place, "`min` is here")
}

/// The number of trials in flight at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Concurrency {
    /// The number for all agents that are not named together; `None` is the number of CPUs.
    pub others: Option<u32>,
    /// The number for each agent that is named.
    pub agents: BTreeMap<String, u32>,
}

/// The key for all agents that are not named.
const OTHERS: &str = "default";

pub(super) fn concurrency() -> Kind<Concurrency> {
    let names: Vec<&str> = std::iter::once(OTHERS)
        .chain(agent::names_and_aliases())
        .collect();
    let overall = count().map(|number| Concurrency {
        others: Some(number.value),
        agents: BTreeMap::new(),
    });
    let by_agent = map_of(count().value())
        .with("propertyNames", json!({ "enum": names }))
        .then(by_agent);
    or_map(overall, by_agent)
}

fn by_agent(entries: Entries<u32>, reader: &mut Reader<'_>) -> Option<Concurrency> {
    let mut concurrency = Concurrency::default();
    for (name, number) in entries {
        let Patch::Set(number) = number else { continue };
        if name.value == OTHERS {
            concurrency.others = Some(number);
        } else if let Some(agent) = agent::find(&name.value) {
            let name = agent.profile().name.to_owned();
            concurrency.agents.insert(name, number);
        } else {
            reader.problems.push(unknown_agent(&name));
        }
    }
    Some(concurrency)
}

fn unknown_agent(name: &Located<String>) -> Diagnostic {
    let names: Vec<&str> = std::iter::once(OTHERS).chain(agent::names()).collect();
    let problem = Diagnostic::error(
        Code::UnknownAgent,
        format!("`concurrency`: unknown agent `{}`", name.value),
    )
    .at(
        name.place,
        format!("expected one of {}", prose::quoted_list(&names, "or")),
    );
    problem.help(
        prose::meant(&name.value, names)
            .unwrap_or_else(|| format!("`{OTHERS}` is for all agents that are not named")),
    )
}

/// The time for an answer if none is written. Servers that are downloaded at their start take their time.
const ANSWER: Duration = Duration::from_secs(60);

/// The time that each MCP server has to answer before an agent is started with it. There is none if servers are not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpPreflight(pub Option<Duration>);

impl Default for McpPreflight {
    fn default() -> Self {
        McpPreflight(Some(ANSWER))
    }
}

/// `mcpPreflight`.
pub(super) fn mcp_preflight() -> Kind<McpPreflight> {
    let words = [("true", Some(ANSWER)), ("false", None)];
    let help = "a time in seconds is written as `{timeoutSeconds: 120}`";
    let switch = word(words, Some(help))
        .with("enum", json!([true, false]))
        .called("`true`, `false`")
        .map(|limit| McpPreflight(limit.value));
    let limit = object("mcpPreflight", "`mcpPreflight`", preflight)
        .linked("[map](terca-yaml.md#preflight-check)")
        .kind();
    or_map(switch, limit)
}

fn preflight(fields: &mut Fields<'_, '_>) -> Option<McpPreflight> {
    let limit = fields.optional(
        "timeoutSeconds",
        seconds(),
        "The time that a server has to answer. Default: `60`.",
    );
    Some(McpPreflight(Some(limit.unwrap_or(ANSWER))))
}

/// `prices`. A model with `null` has no price.
pub(super) fn prices() -> Kind<Prices> {
    let price = object("price", "the price of a model", price_fields)
        .about("The price of a model, in US dollars per million tokens.")
        .example("{input: 1.25, cachedInput: 0.125, output: 10}")
        .linked("[price](terca-yaml.md#prices)")
        .kind();
    map_of(price).then(|entries: Entries<Price>, reader| {
        let names: Vec<_> = entries.iter().map(|(name, _)| name.clone()).collect();
        unique(&names, "model", str::to_lowercase, reader);
        let priced = entries.into_iter().map(|(name, price)| match price {
            Patch::Set(price) => (name.value, Some(price)),
            Patch::Keep | Patch::Remove => (name.value, None),
        });
        Some(Prices::new(priced))
    })
}

fn price_fields(fields: &mut Fields<'_, '_>) -> Option<Price> {
    let input = fields.required("input", not_negative(), "Tokens that are sent.");
    let cached_input = fields.optional(
        "cachedInput",
        not_negative().value(),
        "Tokens sent that the service reads from its cache. Default: as `input`.",
    );
    let cache_write = fields.optional(
        "cacheWrite",
        not_negative().value(),
        "Tokens sent that the service writes to its cache. Default: as `input`.",
    );
    let output = fields.required(
        "output",
        not_negative(),
        "Tokens that the model writes, its thoughts included.",
    );
    let rates = Rates {
        input: input?.value,
        cached_input,
        cache_write,
        cache_write_hour: None,
        output: output?.value,
    };
    Some(Price { rates, long: None })
}

/// The text of the reference.
pub(super) const ABOUT: &str =
    "[Codes of warnings](terca-yaml.md#warnings) that are not shown, such as `skipped-eval`.";

/// One or more codes of warnings.
pub(super) fn allowed_warnings() -> Kind<Vec<Code>> {
    let words = Code::ALLOWABLE.iter().map(|code| (code.as_str(), *code));
    one_or_more(word(words, None).value().called("code"))
}
