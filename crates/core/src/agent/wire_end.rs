//! The rule by which the requests of a session tell why it ended, for every agent.
//!
//! The last request decides. If a model answered it as a whole, the rest is the agent's doing, and its work is judged. If
//! the service refused it, broke off or could not be reached, the session has ended by the service's fault, however the agent
//! puts it. A request that the agent left itself says nothing, unless its trial ran out of time with it.
//!
//! An agent could make its last request one that must fail, and so void a trial that it would fail. Once a model has answered,
//! a request therefore counts only if it fails in a way that no agent chooses: [`is_of_agent`] is the rule.

use std::time::Duration;

use super::errors::{classify, is_context_overflow, is_wrong_model};
use crate::text::prose;
use crate::trial_error::{ErrorKind, TrialError};
use crate::wire::{Exchange, ExchangeEnd, of_task};

/// The end of a session by its requests.
#[derive(Debug, Clone, PartialEq)]
pub enum WireEnd {
    /// There was no request.
    NoRequest,
    /// A model answered the last request, or the agent has left it soon or made it too long for the model. The work is judged.
    Answered,
    /// The service is at fault.
    Fault(TrialError),
    /// The agent has left its last request.
    Left,
}

/// A request that was left sooner says nothing about the service. No agent waits for an answer so shortly.
const SHORT: Duration = Duration::from_secs(30);

impl WireEnd {
    /// Reads the requests of a session. `limit` is set if the time limit ended it, and `has_ended` if the agent came to an end
    /// that it calls proper.
    pub fn of(exchanges: &[Exchange], limit: Option<Duration>, has_ended: bool) -> Self {
        let mut exchanges = of_task(exchanges);
        exchanges.sort_by_key(|exchange| exchange.started_ms.saturating_add(exchange.total_ms));
        let exchanges = without_those_of_agent(&exchanges);
        let Some(last) = exchanges.last() else {
            return WireEnd::NoRequest;
        };
        let answered = exchanges.iter().rfind(|exchange| exchange.is_answered());
        // A session whose model said its last word is over. Agents ask for suggestions or titles after it.
        let has_last_word = has_ended && answered.is_some_and(|exchange| is_last_word(exchange));
        if last.is_answered() || has_last_word {
            return WireEnd::Answered;
        }
        match (last.end, limit) {
            (ExchangeEnd::LeftByAgent, None) => {
                let is_short = Duration::from_millis(last.total_ms) < SHORT;
                match answered {
                    Some(_) if is_short => WireEnd::Answered,
                    _ => WireEnd::Left,
                }
            }
            (ExchangeEnd::LeftByAgent, Some(limit)) => {
                let waited = Duration::from_millis(last.total_ms);
                if answered.is_some() && waited < limit / 2 {
                    return WireEnd::Left;
                }
                let waited = prose::duration(waited.as_secs_f64());
                let message = format!(
                    "out of time after {waited} in which the model did not answer a request"
                );
                WireEnd::Fault(TrialError::new(ErrorKind::ModelApi, message))
            }
            _ => fault(last).map_or(WireEnd::Answered, WireEnd::Fault),
        }
    }
}

/// Returns whether the model ends its turn with this answer, and calls no tool. Not every protocol says so.
fn is_last_word(exchange: &Exchange) -> bool {
    matches!(exchange.stop_reason.as_deref(), Some("end_turn" | "stop"))
}

/// Leaves out the requests after the first answer that failed by the agent's own doing.
fn without_those_of_agent<'a>(exchanges: &[&'a Exchange]) -> Vec<&'a Exchange> {
    let mut answered: Vec<&Exchange> = Vec::new();
    let mut kept = Vec::new();
    for exchange in exchanges {
        if exchange.is_answered() {
            answered.push(exchange);
        } else if !answered.is_empty() && is_of_agent(exchange, &answered) {
            continue;
        }
        kept.push(*exchange);
    }
    kept
}

/// Returns whether a request failed for a reason that its agent chooses: the service finds the request itself wrong, or refuses
/// a model that has not answered before. A key that runs out, money, limits, and a service that is down or breaks off are no agent's
/// choice.
fn is_of_agent(failed: &Exchange, answered: &[&Exchange]) -> bool {
    let status = failed.status.unwrap_or_default();
    if !(400..500).contains(&status) {
        return false;
    }
    let is_known = |exchange: &&Exchange| exchange.model_asked == failed.model_asked;
    let is_of_account = [401, 402, 403, 408, 429].contains(&status)
        || fault(failed).is_some_and(|error| error.kind == ErrorKind::Credit);
    !is_of_account || !answered.iter().any(is_known)
}

/// Returns the fault of the service; `None` if the agent has sent more than the model takes.
fn fault(exchange: &Exchange) -> Option<TrialError> {
    let said = exchange.error.as_deref().unwrap_or_default();
    let status = exchange.status;
    if is_context_overflow(said) {
        return None;
    }
    let is_good = status.is_some_and(|status| (200..300).contains(&status));
    let of_status = status.filter(|_| !is_good);
    let kind = if is_wrong_model(said) {
        ErrorKind::Model
    } else {
        let kind = classify(of_status, said);
        kind.filter(|kind| *kind != ErrorKind::Mcp)
            .unwrap_or(ErrorKind::ModelApi)
    };
    let what = match (exchange.end, of_status) {
        (ExchangeEnd::Unreachable, _) => "the model's service could not be reached".to_owned(),
        (_, Some(status)) => format!("the model's service answered with status {status}"),
        (ExchangeEnd::Refused, _) => "the model's service reported an error".to_owned(),
        _ => "the model's service broke off its answer".to_owned(),
    };
    let said = match said {
        "" => String::new(),
        said => format!(": {said}"),
    };
    let again = match exchange.retry_after {
        Some(seconds) => format!(" (try again in {seconds}s)"),
        None => String::new(),
    };
    Some(TrialError::new(kind, format!("{what}{said}{again}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Parameters;

    /// One request for each word: its status or end, the model that it asks for, and the tools that it offers.
    fn session(words: &str) -> Vec<Exchange> {
        let words = words.split_whitespace().zip(0..);
        let exchange = |(word, number): (&str, u64)| {
            let (word, model) = match word.strip_prefix("other:") {
                Some(word) => (word, "other"),
                None => (word, "small"),
            };
            let (word, tools) = match word.strip_prefix("title:") {
                Some(word) => (word, 0),
                None => (word, 3),
            };
            let (end, status) = match word {
                "ok" | "call" | "STOP" => (ExchangeEnd::Whole, Some(200)),
                "cut" => (ExchangeEnd::CutByService, Some(200)),
                "refused" => (ExchangeEnd::Refused, Some(200)),
                "none" => (ExchangeEnd::Unreachable, None),
                "poor" => (ExchangeEnd::Whole, Some(400)),
                "left" | "hung" => (ExchangeEnd::LeftByAgent, None),
                status => (ExchangeEnd::Whole, status.parse().ok()),
            };
            let stop = match word {
                "ok" => Some("stop"),
                "call" => Some("tool_calls"),
                "STOP" => Some("STOP"),
                _ => None,
            };
            let error = match word {
                "404" => Some("The model `x` does not exist"),
                "400" => Some("prompt is too long: 9 tokens > 8 maximum"),
                "refused" => Some("Overloaded"),
                "poor" => Some("Your credit balance is too low"),
                _ => None,
            };
            Exchange {
                status,
                end,
                model_asked: Some(model.to_owned()),
                stop_reason: stop.map(str::to_owned),
                error: error.map(str::to_owned),
                started_ms: number * 10_000,
                total_ms: if word == "hung" { 40_000 } else { 9_000 },
                parameters: Parameters {
                    tools,
                    ..Parameters::default()
                },
                ..Exchange::default()
            }
        };
        words.map(exchange).collect()
    }

    #[test]
    fn the_last_request_tells_why_a_session_ended() {
        use ErrorKind::{Auth, Credit, Model, ModelApi, RateLimit};
        for (words, limit, has_ended, expected) in [
            ("", None, true, Err("no request")),
            ("ok", None, true, Err("answered")),
            ("401", None, true, Ok(Auth)),
            ("403 403", None, false, Ok(Auth)),
            ("429", None, true, Ok(RateLimit)),
            ("404", None, true, Ok(Model)),
            ("500 500", Some(60), false, Ok(ModelApi)),
            ("none", None, true, Ok(ModelApi)),
            ("refused", None, true, Ok(ModelApi)),
            ("500 call ok", None, true, Err("answered")),
            ("call cut", None, true, Ok(ModelApi)),
            ("STOP cut", None, true, Ok(ModelApi)),
            ("call 400", None, false, Err("answered")),
            ("call left", None, false, Err("answered")),
            ("call hung", None, false, Err("left")),
            ("left", None, false, Err("left")),
            ("left", Some(60), false, Ok(ModelApi)),
            ("call left", Some(12), false, Ok(ModelApi)),
            ("call left", Some(60), false, Err("left")),
            ("call title:500", None, true, Err("answered")),
            ("title:ok 401", None, true, Ok(Auth)),
            ("call ok 429", None, true, Err("answered")),
            ("call ok 429", None, false, Ok(RateLimit)),
            // An agent can make requests that must fail, and gains nothing by it.
            ("call 404", None, false, Err("answered")),
            ("call other:404", None, false, Err("answered")),
            ("call other:403", None, false, Err("answered")),
            ("call other:429", None, false, Err("answered")),
            ("call 422 404", None, false, Err("answered")),
            ("call 400", Some(60), false, Err("answered")),
            // One that meets trouble of the service asks for other models too.
            ("call 500 other:404", None, false, Ok(ModelApi)),
            ("call 500 404", None, false, Ok(ModelApi)),
            ("call other:500", None, false, Ok(ModelApi)),
            ("call other:ok other:429", None, false, Ok(RateLimit)),
            ("call 401", None, false, Ok(Auth)),
            ("call 529", None, false, Ok(ModelApi)),
            ("call none", None, false, Ok(ModelApi)),
            ("call poor", None, false, Ok(Credit)),
            ("other:404", None, false, Ok(Model)),
            ("422", None, false, Ok(ModelApi)),
        ] {
            let limit = limit.map(Duration::from_secs);
            let end = match WireEnd::of(&session(words), limit, has_ended) {
                WireEnd::NoRequest => Err("no request"),
                WireEnd::Answered => Err("answered"),
                WireEnd::Left => Err("left"),
                WireEnd::Fault(error) => Ok(error.kind),
            };
            assert_eq!(end, expected, "{words} {limit:?}");
        }
    }

    /// A title that fails while the model works says nothing about the session.
    #[test]
    fn answers_count_in_the_order_in_which_they_end() {
        let mut exchanges = session("call 500");
        exchanges[0].total_ms = 30_000;
        assert_eq!(WireEnd::of(&exchanges, None, false), WireEnd::Answered);
    }
}
