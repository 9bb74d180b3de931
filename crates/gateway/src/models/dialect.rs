//! The protocols in which models are asked, and where each has its figures.

use serde_json::Value;
use terca_core::transcript::total;
use terca_core::wire::{Exchange, ExchangeEnd, Parameters, WireTokens};

use crate::models::asked::{Asked, set};

/// Takes the message of an error, if it is one.
fn set_error(answer: &mut Exchange, error: &Value) {
    let message = if error["message"].is_string() {
        &error["message"]
    } else {
        error
    };
    set(&mut answer.error, message);
}

/// A protocol in which models are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
    /// Gemini's `generateContent` and `streamGenerateContent`.
    Gemini,
}

impl Dialect {
    /// Returns the protocol of a request; `None` for one that asks no model, such as for a list of models.
    pub(crate) fn of(method: &str, path: &str) -> Option<Self> {
        let ends = [
            ("/messages", Dialect::Anthropic),
            ("/chat/completions", Dialect::Chat),
            ("/responses", Dialect::Responses),
            (":generateContent", Dialect::Gemini),
            (":streamGenerateContent", Dialect::Gemini),
        ];
        let mut ends = ends.into_iter().filter(|_| method == "POST");
        let (_, dialect) = ends.find(|(end, _)| path.ends_with(end))?;
        Some(dialect)
    }

    /// Returns the model that a request asks for, and its parameters.
    pub(crate) fn asked(self, path: &str, body: &[u8]) -> (Option<String>, Parameters) {
        let (model, parameters) = Asked::read(body);
        if self == Dialect::Gemini {
            let name = path.rsplit_once('/').map(|(_, name)| name);
            let model = name.and_then(|name| name.split_once(':'));
            return (model.map(|(model, _)| model.to_owned()), parameters);
        }
        (model, parameters)
    }

    /// Reads an event of a stream, or a whole answer.
    pub(crate) fn read(self, event: &Value, answer: &mut Exchange) {
        match self {
            Dialect::Anthropic => anthropic(event, answer),
            Dialect::Responses => responses(event, answer),
            Dialect::Chat => chat(event, answer),
            Dialect::Gemini => gemini(event, answer),
        }
    }
}

fn anthropic(event: &Value, answer: &mut Exchange) {
    match event["type"].as_str() {
        Some("message_start") => {
            let message = &event["message"];
            set(&mut answer.model_answered, &message["model"]);
            anthropic_usage(&message["usage"], answer);
        }
        Some("message_delta") => {
            set(&mut answer.stop_reason, &event["delta"]["stop_reason"]);
            anthropic_usage(&event["usage"], answer);
        }
        Some("message_stop") => answer.end = ExchangeEnd::Whole,
        Some("message") => {
            set(&mut answer.model_answered, &event["model"]);
            set(&mut answer.stop_reason, &event["stop_reason"]);
            anthropic_usage(&event["usage"], answer);
            answer.end = ExchangeEnd::Whole;
        }
        _ => set_error(answer, &event["error"]),
    }
}

/// Adds figures, which replace those of an earlier event: they count from the beginning.
fn anthropic_usage(usage: &Value, answer: &mut Exchange) {
    let newer = |name: &str, known: Option<u64>| usage[name].as_u64().or(known);
    let of_cache = |seen: &WireTokens| total(seen.cached.into_iter().chain(seen.cache_write));
    let seen = &mut answer.tokens;
    let known = seen.input.map(|input| input.saturating_sub(of_cache(seen)));
    let fresh = newer("input_tokens", known);
    seen.cache_write = newer("cache_creation_input_tokens", seen.cache_write);
    seen.cached = newer("cache_read_input_tokens", seen.cached);
    seen.input = fresh.map(|fresh| total([fresh, of_cache(seen)]));
    let for_an_hour = usage["cache_creation"]["ephemeral_1h_input_tokens"].as_u64();
    seen.cache_write_hour = for_an_hour
        .filter(|tokens| *tokens > 0)
        .or(seen.cache_write_hour);
    seen.output = newer("output_tokens", seen.output);
}

fn chat(event: &Value, answer: &mut Exchange) {
    set_error(answer, &event["error"]);
    set(&mut answer.model_answered, &event["model"]);
    for choice in event["choices"].as_array().into_iter().flatten() {
        set(&mut answer.stop_reason, &choice["finish_reason"]);
    }
    // The figures follow in an event of their own.
    if answer.stop_reason.is_some() {
        answer.end = ExchangeEnd::Whole;
    }
    openai_usage(&event["usage"], ["prompt", "completion"], answer);
}

/// Takes the figures of OpenAI's protocols, which have two names for what is sent and what is written.
fn openai_usage(usage: &Value, [sent, written]: [&str; 2], answer: &mut Exchange) {
    if usage.is_object() {
        let figure = |name: &str| usage[format!("{name}_tokens")].as_u64();
        let details = |name: &str| &usage[format!("{name}_tokens_details")];
        answer.tokens = WireTokens {
            input: figure(sent),
            cached: details(sent)["cached_tokens"]
                .as_u64()
                .or(usage["prompt_cache_hit_tokens"].as_u64()),
            cache_write: details(sent)["cache_write_tokens"].as_u64(),
            output: figure(written),
            thinking: details(written)["reasoning_tokens"].as_u64(),
            ..WireTokens::default()
        };
    }
}

fn responses(event: &Value, answer: &mut Exchange) {
    let response = if event["object"] == "response" {
        event
    } else {
        &event["response"]
    };
    set_error(answer, &event["error"]);
    set_error(answer, &response["error"]);
    if event["type"] == "error" {
        set_error(answer, event);
    }
    set(&mut answer.model_answered, &response["model"]);
    let status = response["status"].as_str().unwrap_or_default();
    if !matches!(status, "completed" | "incomplete") {
        return;
    }
    set(&mut answer.stop_reason, &response["status"]);
    set(
        &mut answer.stop_reason,
        &response["incomplete_details"]["reason"],
    );
    answer.end = ExchangeEnd::Whole;
    openai_usage(&response["usage"], ["input", "output"], answer);
}

fn gemini(event: &Value, answer: &mut Exchange) {
    // Without `alt=sse`, a stream is one list.
    if let Value::Array(events) = event {
        for event in events {
            gemini(event, answer);
        }
        return;
    }
    set_error(answer, &event["error"]);
    set(&mut answer.model_answered, &event["modelVersion"]);
    for candidate in event["candidates"].as_array().into_iter().flatten() {
        set(&mut answer.stop_reason, &candidate["finishReason"]);
    }
    set(
        &mut answer.stop_reason, &event["promptFeedback"]["blockReason"],
    );
    if answer.stop_reason.is_some() {
        answer.end = ExchangeEnd::Whole;
    }
    let usage = &event["usageMetadata"];
    if usage.is_object() {
        // A figure that is 0 is left out.
        let figure = |name: &str| usage[name].as_u64().unwrap_or(0);
        let thinking = figure("thoughtsTokenCount");
        answer.tokens = WireTokens {
            input: Some(
                figure("promptTokenCount").saturating_add(figure("toolUsePromptTokenCount")),
            ),
            cached: Some(figure("cachedContentTokenCount")),
            output: Some(figure("candidatesTokenCount").saturating_add(thinking)),
            thinking: Some(thinking),
            ..WireTokens::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_a_model_is_known_by_its_path() {
        for (method, path, dialect) in [
            ("POST", "/v1/messages", Some(Dialect::Anthropic)),
            ("POST", "/v1/messages/count_tokens", None),
            ("POST", "/openai/v1/chat/completions", Some(Dialect::Chat)),
            ("POST", "/v1/responses", Some(Dialect::Responses)),
            ("GET", "/v1/responses", None),
            (
                "POST",
                "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
                Some(Dialect::Gemini),
            ),
            ("POST", "/v1beta/models/gemini-2.5-pro:countTokens", None),
            ("GET", "/v1/models", None),
        ] {
            assert_eq!(Dialect::of(method, path), dialect, "{path}");
        }
        let path = "/v1beta/models/gemini-2.5-pro:generateContent";
        let (asked, _) = Dialect::Gemini.asked(path, b"{}");
        assert_eq!(asked.as_deref(), Some("gemini-2.5-pro"));
        let (asked, _) = Dialect::Chat.asked("/x", br#"{"messages": [], "model": "m"}"#);
        assert_eq!(asked.as_deref(), Some("m"));
        let nothing = (None, Parameters::default());
        assert_eq!(Dialect::Chat.asked("/x", b"no JSON"), nothing);
        assert_eq!(
            Dialect::Chat.asked("/x", br#"{"model": 7, "tools": {}}"#),
            nothing
        );
    }
}
