//! The exchanges with models as the gateway saw them, and the figures of a trial that follow from them.
//!
//! What an agent reports of itself is kept beside these figures. They do not depend on the agent: they are there for one
//! that reports nothing, and for one that was killed.

pub mod messages;
pub mod network;
pub mod recording;
pub mod sent_parts;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::stats::sample::median;
use crate::text::mask::Mask;
use crate::text::prose;
use crate::transcript::{Usage, total};
use crate::wire::sent_parts::{Seen, Sent, Sought};

/// A difference between the agent's figures and those of the wire that is worth a note, as a share.
const NOTABLE: f64 = 0.01;

/// The most names that are counted one by one: an agent can ask for models that there are not.
const MOST_NAMES: usize = 30;

/// The tokens of one answer. `None` means that the answer did not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WireTokens {
    /// Tokens sent, the cached ones included.
    pub input: Option<u64>,
    /// Those of the tokens sent that were read from the service's cache.
    pub cached: Option<u64>,
    /// Those of the tokens sent that were written to the service's cache.
    pub cache_write: Option<u64>,
    /// Those of the tokens written to the cache that stay there for an hour instead of some minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_hour: Option<u64>,
    /// Tokens that the model wrote, its thoughts included.
    pub output: Option<u64>,
    /// Those of the tokens written that are thoughts.
    pub thinking: Option<u64>,
}

/// The way an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ExchangeEnd {
    /// The whole answer was passed on.
    Whole,
    /// The service broke off in the middle of its answer.
    CutByService,
    /// The agent hung up, or was ended, before the answer was there as a whole.
    #[default]
    LeftByAgent,
    /// The service reported an error in an answer that had begun well.
    Refused,
    /// The service could not be reached.
    Unreachable,
}

/// The parameters of a request, as far as it names them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parameters {
    /// The number of tools that the model is offered.
    pub tools: u64,
    /// Their names, sorted. They are kept once for a session, in [`Wire::tools`].
    #[serde(skip)]
    pub tool_names: Arc<[String]>,
    /// The bytes of the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_bytes: Option<u64>,
    /// The temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The effort that the model is asked for, in the words of its service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The most tokens for thoughts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<i64>,
    /// The most tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
}

impl Parameters {
    /// Returns the names and values of those that may make a difference between two sessions of one agent.
    fn named(&self) -> Vec<(&'static str, String)> {
        let named = [
            (
                "temperature",
                self.temperature.map(|value| value.to_string()),
            ),
            ("effort", self.effort.clone()),
            (
                "thinkingBudget",
                self.thinking_budget.map(|value| value.to_string()),
            ),
            ("maxTokens", self.max_tokens.map(|value| value.to_string())),
        ];
        let named = named.into_iter();
        named
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}

/// Returns the requests that the task is about. Agents ask for titles and summaries without tools beside it.
pub fn of_task(exchanges: &[Exchange]) -> Vec<&Exchange> {
    let has_tools = |exchange: &Exchange| exchange.parameters.tools > 0;
    let some_have = exchanges.iter().any(has_tools);
    let of_task = exchanges.iter();
    of_task
        .filter(|exchange| !some_have || has_tools(exchange))
        .collect()
}

/// One request to a model and its answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exchange {
    /// The path of the request, without a query.
    pub path: String,
    /// The model that was asked for.
    pub model_asked: Option<String>,
    /// The model that the answer names.
    pub model_answered: Option<String>,
    /// The HTTP status of the answer; `None` if there was none.
    pub status: Option<u16>,
    /// The reason why the model stopped, in the words of its service.
    pub stop_reason: Option<String>,
    /// The parameters of the request.
    #[serde(default)]
    pub parameters: Parameters,
    /// The seconds after which the service asks to be asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// The tokens.
    pub tokens: WireTokens,
    /// True if it repeats a request that had failed.
    pub retry: bool,
    /// The time from the beginning of the session to this request, in milliseconds.
    pub started_ms: u64,
    /// The time from the request to the first byte of the answer, in milliseconds.
    pub first_byte_ms: Option<u64>,
    /// The time from the request to the end of the answer, in milliseconds.
    pub total_ms: u64,
    /// True if the answer came from a recording.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// The parts of the variant that were found in the request, where some were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    /// The way it ended.
    pub end: ExchangeEnd,
    /// The reason why the service could not be reached, or why the answer could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Exchange {
    /// Returns whether the model answered: a good status, and not cut off.
    pub fn is_answered(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
            && self.end == ExchangeEnd::Whole
    }
}

/// The figures of a session as the gateway saw them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wire {
    /// Requests to models, those that failed included.
    pub requests: u64,
    /// Requests that a model answered as a whole.
    pub answered: u64,
    /// Requests that repeat one that had failed.
    pub retries: u64,
    /// Requests beside the task: for titles, summaries and the like. They offer no tools, and others do.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub side_requests: u64,
    /// Requests whose answers came from a recording: their tokens were not spent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replayed: u64,
    /// Tokens sent, the cached ones included; `null` if no answer said.
    pub input_tokens: Option<u64>,
    /// Tokens read from the service's cache.
    pub cached_input_tokens: Option<u64>,
    /// Tokens written to the service's cache.
    pub cache_write_tokens: Option<u64>,
    /// Tokens that models wrote, their thoughts included.
    pub output_tokens: Option<u64>,
    /// Tokens that are thoughts.
    pub thinking_tokens: Option<u64>,
    /// The cost in US dollars, from tokens and prices; `null` if a part of it is not known.
    pub cost_usd: Option<f64>,
    /// Answers without figures: their tokens are in no sum.
    pub answers_without_tokens: u64,
    /// The number of requests by the requested model.
    pub models_asked: BTreeMap<String, u64>,
    /// The number of answers by the model that they name.
    pub models_answered: BTreeMap<String, u64>,
    /// The number of answers by the reason why the model stopped.
    pub stop_reasons: BTreeMap<String, u64>,
    /// The number of requests by HTTP status; `none` for those without an answer.
    pub statuses: BTreeMap<String, u64>,
    /// The number of requests by the parameters that they name, such as `effort`, and by their values. Requests without
    /// tools are left out, if others have some: they are for titles and the like.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, BTreeMap<String, u64>>,
    /// The names of the tools that the first request of the task offers, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The bytes of the system prompt of that request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt_bytes: Option<u64>,
    /// The time in which at least one request was on its way.
    pub model_seconds: f64,
    /// The time between an answer and the next request, in which the agent uses its tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_seconds: Option<f64>,
    /// The other time of the session: the start and the end of the agent, and waits after requests that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_seconds: Option<f64>,
    /// The median time to the first byte of an answer; `null` if there was none.
    pub first_byte_seconds: Option<f64>,
    /// The parts of the variant that were looked for in the requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<Sent>,
}

impl Wire {
    /// Adds up the exchanges of a session. Their cost is given, as far as it is known.
    pub fn of(exchanges: &[Exchange], cost_usd: Option<f64>) -> Self {
        let mut wire = Wire {
            cost_usd,
            ..Wire::default()
        };
        for exchange in exchanges {
            wire.requests += 1;
            wire.answered += u64::from(exchange.is_answered());
            wire.retries += u64::from(exchange.retry);
            wire.replayed += u64::from(exchange.replayed);
            let tokens = exchange.tokens;
            add(&mut wire.input_tokens, tokens.input);
            add(&mut wire.cached_input_tokens, tokens.cached);
            add(&mut wire.cache_write_tokens, tokens.cache_write);
            add(&mut wire.output_tokens, tokens.output);
            add(&mut wire.thinking_tokens, tokens.thinking);
            if exchange.is_answered() && tokens == WireTokens::default() {
                wire.answers_without_tokens += 1;
            }
            count(&mut wire.models_asked, exchange.model_asked.as_deref());
            count(
                &mut wire.models_answered,
                exchange.model_answered.as_deref(),
            );
            count(&mut wire.stop_reasons, exchange.stop_reason.as_deref());
            let status = exchange.status.map(|status| status.to_string());
            count(
                &mut wire.statuses,
                Some(status.as_deref().unwrap_or("none")),
            );
        }
        let of_task = of_task(exchanges);
        wire.side_requests = wire.requests - of_task.len() as u64;
        if let Some(first) = of_task.first() {
            wire.tools = first.parameters.tool_names.to_vec();
            wire.system_prompt_bytes = first.parameters.system_bytes;
        }
        for exchange in of_task {
            for (name, value) in exchange.parameters.named() {
                count(
                    wire.parameters.entry(name.to_owned()).or_default(),
                    Some(&value),
                );
            }
        }
        let first_bytes = exchanges
            .iter()
            .filter_map(|exchange| exchange.first_byte_ms);
        let first_bytes: Vec<f64> = first_bytes.map(|time| time as f64).collect();
        wire.first_byte_seconds = median(&first_bytes).map(|time| time / 1000.0);
        wire
    }

    /// Splits the time of a session. `has_ended` is false if something ended the agent: it was at work then.
    pub fn split_time(&mut self, exchanges: &[Exchange], session_seconds: f64, has_ended: bool) {
        let mut ordered: Vec<&Exchange> = exchanges.iter().collect();
        ordered.sort_by_key(|exchange| exchange.started_ms);
        let (mut models, mut tools, mut reached) = (0, 0, 0);
        let mut is_answered = false;
        for exchange in ordered {
            let start = exchange.started_ms;
            let end = total([start, exchange.total_ms]);
            if is_answered {
                tools += start.saturating_sub(reached);
            }
            models += end.saturating_sub(start.max(reached));
            if end >= reached {
                (reached, is_answered) = (end, exchange.is_answered());
            }
        }
        let seconds = |milliseconds: u64| milliseconds as f64 / 1000.0;
        let rounded = |seconds: f64| (seconds.max(0.0) * 1000.0).round() / 1000.0;
        let (models, mut tools) = (seconds(models), seconds(tools));
        if is_answered && !has_ended {
            tools += (session_seconds - seconds(reached)).max(0.0);
        }
        self.model_seconds = models;
        self.tool_seconds = Some(rounded(tools));
        self.rest_seconds = Some(rounded(session_seconds - models - tools));
    }

    /// Counts the requests that had these parts of the variant in them.
    pub fn look_for(&mut self, sought: &[Sought], exchanges: &[Exchange]) {
        let seen = exchanges
            .iter()
            .filter_map(|exchange| exchange.seen.as_ref());
        let seen: Vec<&Seen> = seen.collect();
        self.sent = sought.iter().filter_map(|part| part.sent(&seen)).collect();
    }

    /// Masks the secrets in names that the agent and the service have chosen.
    pub(crate) fn mask(&mut self, mask: &Mask) {
        let names = self.sent.iter_mut().map(|sent| &mut sent.name);
        for name in names.chain(&mut self.tools) {
            *name = mask.text(name);
        }
        let names = [
            &mut self.models_asked, &mut self.models_answered, &mut self.stop_reasons,
        ];
        for counts in names.into_iter().chain(self.parameters.values_mut()) {
            if counts.keys().any(|name| mask.hides(name.as_bytes())) {
                let named = std::mem::take(counts);
                for (name, number) in named {
                    *counts.entry(mask.text(&name)).or_default() += number;
                }
            }
        }
    }

    /// Returns the figures that an agent would report of the same session.
    pub fn usage(&self) -> Usage {
        // A sum that leaves answers out is no figure of the session.
        let is_complete = self.answers_without_tokens == 0;
        Usage {
            requests: Some(self.answered),
            input_tokens: self.input_tokens.filter(|_| is_complete),
            cached_input_tokens: self.cached_input_tokens.filter(|_| is_complete),
            output_tokens: self.output_tokens.filter(|_| is_complete),
            ..Usage::default()
        }
    }

    /// Returns the model that answered, if it was the same in all answers.
    pub fn model(&self) -> Option<&str> {
        let mut names = self.models_answered.keys();
        let first = names.next()?;
        names.next().is_none().then_some(first)
    }

    /// Adds the counts and the times of another session. The parts that were looked for and the time to the first
    /// byte stay.
    pub fn add(&mut self, other: &Wire) {
        self.requests += other.requests;
        self.answered += other.answered;
        self.retries += other.retries;
        self.answers_without_tokens += other.answers_without_tokens;
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.cached_input_tokens, other.cached_input_tokens);
        add(&mut self.cache_write_tokens, other.cache_write_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.thinking_tokens, other.thinking_tokens);
        self.side_requests += other.side_requests;
        self.model_seconds += other.model_seconds;
        for (sum, more) in [
            (&mut self.tool_seconds, other.tool_seconds),
            (&mut self.rest_seconds, other.rest_seconds),
        ] {
            *sum = more.map(|more| sum.unwrap_or(0.0) + more).or(*sum);
        }
        for (name, number) in &other.statuses {
            *self.statuses.entry(name.clone()).or_default() += number;
        }
    }

    /// Returns the times in words: `models took 41s, tools 12s, the rest 5.0s`.
    pub fn time_words(&self) -> String {
        let mut words = format!("models took {}", prose::duration(self.model_seconds));
        for (what, seconds) in [
            ("tools", self.tool_seconds),
            ("the rest", self.rest_seconds),
        ] {
            if let Some(seconds) = seconds {
                words += &format!(", {what} {}", prose::duration(seconds));
            }
        }
        words
    }

    /// Returns the tokens in words: `120k input tokens (80k cached), 3.1k output tokens`; `None` if no answer said.
    pub fn token_words(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(input) = self.input_tokens {
            let mut words = format!("{} input tokens", prose::compact(input));
            if let Some(cached @ 1..) = self.cached_input_tokens {
                words += &format!(" ({} cached)", prose::compact(cached));
            }
            parts.push(words);
        }
        if let Some(output) = self.output_tokens {
            parts.push(format!("{} output tokens", prose::compact(output)));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Returns the requests in words: `14 requests, 2 failed (429 ×2), 1 tried again, first byte after 0.8s`.
    pub fn words(&self) -> String {
        let mut words = prose::count(self.requests, "request");
        if self.side_requests > 0 {
            words += &format!(", {} beside the task", self.side_requests);
        }
        let failed = self.requests.saturating_sub(self.answered);
        if failed > 0 {
            words += &format!(", {failed} failed");
            let is_bad = |status: &str| !status.starts_with('2');
            let bad = self
                .statuses
                .iter()
                .filter(|(name, count)| is_bad(name) && **count > 0);
            let bad = bad.map(|(name, count)| match name.as_str() {
                "none" => format!("no answer ×{count}"),
                name => format!("{name} ×{count}"),
            });
            let bad: Vec<String> = bad.collect();
            if !bad.is_empty() {
                words += &format!(" ({})", bad.join(", "));
            }
        }
        if self.retries > 0 {
            words += &format!(", {} tried again", self.retries);
        }
        if self.replayed > 0 {
            words += &format!(", {} replayed", self.replayed);
        }
        if let Some(seconds) = self.first_byte_seconds {
            words += &format!(", first byte after {}", prose::duration(seconds));
        }
        words
    }

    /// Returns a note if the agent's figures differ from these by more than 1 %.
    pub fn difference(&self, reported: &Usage) -> Option<String> {
        let seen = self.usage();
        let figures = [
            ("request", reported.requests, seen.requests),
            ("input token", reported.input_tokens, seen.input_tokens),
            (
                "cached input token", reported.cached_input_tokens, seen.cached_input_tokens,
            ),
            ("output token", reported.output_tokens, seen.output_tokens),
        ];
        let mut different = Vec::new();
        if let (Some(reported), Some(seen)) = (reported.cost_usd, self.cost_usd)
            && (reported - seen).abs() > NOTABLE * seen
        {
            let [reported, seen] = [reported, seen].map(prose::dollars);
            different.push(format!("a cost of {reported} (the gateway counted {seen})"));
        }
        for (what, reported, seen) in figures {
            if let (Some(reported), Some(seen)) = (reported, seen)
                && is_notable(reported, seen)
            {
                let reported = prose::count(reported as usize, what);
                different.push(format!("{reported} (the gateway counted {seen})"));
            }
        }
        (!different.is_empty())
            .then(|| format!("the agent reported {}", prose::list(&different, "and")))
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_notable(reported: u64, seen: u64) -> bool {
    reported.abs_diff(seen) as f64 > NOTABLE * reported.max(seen) as f64
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(total([sum.unwrap_or(0), more]));
    }
}

fn count(counts: &mut BTreeMap<String, u64>, name: Option<&str>) {
    if let Some(name) = name {
        let is_known = counts.contains_key(name);
        let name = if is_known || counts.len() < MOST_NAMES {
            name
        } else {
            "others"
        };
        *counts.entry(name.to_owned()).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(started_ms: u64, total_ms: u64) -> Exchange {
        Exchange {
            path: "/v1/messages".into(),
            model_asked: Some("m".into()),
            model_answered: Some("m".into()),
            status: Some(200),
            stop_reason: Some("end_turn".into()),
            tokens: WireTokens {
                input: Some(100),
                cached: Some(40),
                cache_write: None,
                cache_write_hour: None,
                output: Some(10),
                thinking: None,
            },
            started_ms,
            first_byte_ms: Some(started_ms / 10),
            total_ms,
            end: ExchangeEnd::Whole,
            ..Exchange::default()
        }
    }

    #[test]
    fn exchanges_add_up_and_overlapping_ones_take_their_time_once() {
        let mut refused = exchange(5000, 10);
        refused.status = Some(429);
        refused.tokens = WireTokens::default();
        refused.model_answered = None;
        refused.stop_reason = None;
        let exchanges = [
            exchange(0, 1000),
            exchange(500, 1000),
            exchange(2000, 500),
            refused,
        ];
        let wire = Wire::of(&exchanges, None);
        assert_eq!((wire.requests, wire.answered), (4, 3));
        assert_eq!(
            (wire.input_tokens, wire.output_tokens, wire.thinking_tokens),
            (Some(300), Some(30), None)
        );
        assert_eq!(
            wire.statuses,
            BTreeMap::from([("200".into(), 3), ("429".into(), 1)])
        );
        assert_eq!(wire.first_byte_seconds, Some(0.125));
        assert_eq!(wire.model(), Some("m"));
        assert_eq!(
            wire.words(),
            "4 requests, 1 failed (429 ×1), first byte after 0.1s"
        );
    }

    #[test]
    fn the_time_of_a_session_is_split() {
        let mut refused = exchange(5000, 10);
        refused.status = Some(429);
        // Two overlap, then a tool, an answer, a tool, a refusal, a wait and the last answer.
        let exchanges = [
            exchange(100, 1000),
            exchange(600, 1000),
            exchange(2000, 500),
            refused,
            exchange(6010, 1000),
        ];
        let split = |has_ended| {
            let mut wire = Wire::of(&exchanges, None);
            wire.split_time(&exchanges, 8.0, has_ended);
            (wire.model_seconds, wire.tool_seconds, wire.rest_seconds)
        };
        assert_eq!(split(true), (3.01, Some(2.9), Some(2.09)));
        assert_eq!(
            split(false),
            (3.01, Some(3.89), Some(1.1)),
            "a tool was at work"
        );
    }

    #[test]
    fn requests_without_tools_are_beside_the_task() {
        let with_tools = || Exchange {
            parameters: Parameters {
                tools: 2,
                ..Parameters::default()
            },
            ..exchange(0, 1)
        };
        let beside = |exchanges: &[Exchange]| Wire::of(exchanges, None).side_requests;
        assert_eq!(beside(&[exchange(0, 1), with_tools(), with_tools()]), 1);
        assert_eq!(beside(&[exchange(0, 1), exchange(1, 1)]), 0);
    }

    #[test]
    fn an_answer_without_figures_leaves_the_sums_unknown() {
        let mut silent = exchange(0, 1);
        silent.tokens = WireTokens::default();
        let wire = Wire::of(&[exchange(0, 1), silent], None);
        assert_eq!(wire.usage().input_tokens, None);
        assert_eq!(wire.usage().requests, Some(2));
    }

    #[test]
    fn more_than_one_in_a_hundred_is_noted() {
        let wire = Wire::of(&[exchange(0, 1)], None);
        let mut reported = wire.usage();
        assert_eq!(wire.difference(&reported), None);
        reported.input_tokens = Some(101);
        assert_eq!(wire.difference(&reported), None, "1 % and no more");
        reported.input_tokens = Some(1500);
        reported.requests = None;
        assert_eq!(
            wire.difference(&reported).as_deref(),
            Some("the agent reported 1500 input tokens (the gateway counted 100)")
        );
    }
}
