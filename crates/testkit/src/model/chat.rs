//! OpenAI Chat Completions: `POST /v1/chat/completions`.

use serde_json::{Value, json};

use super::wire::{Body, Reply, View, Wire, list, text, texts};

pub(super) struct Chat;

impl Wire for Chat {
    fn view(&self, _path: &str, body: &Value) -> View {
        let of = |role: &'static str| {
            list(body, "messages").filter(move |message| message["role"] == role)
        };
        View {
            model: text(body, "model"),
            said: of("user")
                .flat_map(|message| texts(&message["content"]))
                .collect(),
            results: of("tool").count(),
            tools: list(body, "tools")
                .map(|tool| text(&tool["function"], "name"))
                .collect(),
            aside: list(body, "tools").next().is_none(),
            stream: body["stream"] == true,
        }
    }

    fn reply(&self, reply: &Reply, stream: bool) -> Body {
        let usage = reply.usage;
        let usage = json!({
            "prompt_tokens": usage.input,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
            "completion_tokens": usage.output(),
            "completion_tokens_details": {"reasoning_tokens": usage.thoughts},
            "total_tokens": usage.total(),
        });
        let calls: Vec<Value> = reply
            .calls
            .iter()
            .enumerate()
            .map(|(index, call)| {
                json!({"index": index, "id": reply.call_id(index), "type": "function",
                   "function": {"name": call.name, "arguments": call.arguments.to_string()}})
            })
            .collect();
        let stop = if calls.is_empty() {
            "stop"
        } else {
            "tool_calls"
        };
        let frame = |kind: &str, choices: Value| {
            json!({"id": format!("chatcmpl-{}", reply.number), "object": kind, "created": 1_800_000_000,
                   "model": reply.model, "choices": choices})
        };
        if !stream {
            let mut message = json!({"role": "assistant", "content": reply.text});
            if !calls.is_empty() {
                message["tool_calls"] = json!(calls);
            }
            let mut whole = frame(
                "chat.completion",
                json!([{"index": 0, "message": message, "finish_reason": stop}]),
            );
            whole["usage"] = usage;
            return Body::Json(whole);
        }
        let chunk = |delta: Value, stop: Value| {
            frame(
                "chat.completion.chunk",
                json!([{"index": 0, "delta": delta, "finish_reason": stop}]),
            )
        };
        let mut chunks = vec![chunk(
            json!({"role": "assistant", "content": ""}),
            Value::Null,
        )];
        if !reply.text.is_empty() {
            chunks.push(chunk(json!({"content": reply.text}), Value::Null));
        }
        if !calls.is_empty() {
            chunks.push(chunk(json!({"tool_calls": calls}), Value::Null));
        }
        chunks.push(chunk(json!({}), json!(stop)));
        let mut last = frame("chat.completion.chunk", json!([]));
        last["usage"] = usage;
        chunks.push(last);
        let mut events: Vec<String> = chunks.iter().map(Body::data).collect();
        events.push("data: [DONE]\n\n".to_owned());
        Body::Events(events)
    }

    fn error(&self, status: u16, message: &str) -> Value {
        error(status, message)
    }

    fn overflow(&self) -> Value {
        overflow()
    }
}

/// The error for a conversation that is too long, in the form that all of OpenAI's protocols share.
pub(super) fn overflow() -> Value {
    let message = "This model's maximum context length is 400000 tokens. However, your messages resulted in 412345 tokens. Please reduce the length of the messages.";
    json!({"error": {"message": message, "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}})
}

/// An error in the form that all of OpenAI's protocols share.
pub(super) fn error(status: u16, message: &str) -> Value {
    let (kind, code) = match status {
        401 => ("invalid_request_error", "invalid_api_key"),
        404 => ("invalid_request_error", "model_not_found"),
        429 => ("rate_limit_error", "rate_limit_exceeded"),
        400..500 => ("invalid_request_error", "invalid_request"),
        _ => ("server_error", "server_error"),
    };
    // Some clients look for these words.
    let key = if status == 401 {
        "Incorrect API key provided: "
    } else {
        ""
    };
    json!({"error": {"message": format!("{key}{message}"), "type": kind, "param": null, "code": code}})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::wire::{example, parsed};

    #[test]
    fn a_conversation_is_understood() {
        let body = json!({
            "model": "x", "stream": true, "tools": [{"type": "function", "function": {"name": "shell"}}],
            "messages": [
                {"role": "system", "content": "scenario:wrong"},
                {"role": "user", "content": [{"type": "text", "text": "scenario:a"}]},
                {"role": "assistant", "tool_calls": []},
                {"role": "tool", "tool_call_id": "1", "content": "55"},
            ],
        });
        let view = Chat.view("/v1/chat/completions", &body);
        assert_eq!((view.results, view.aside, view.stream), (1, false, true));
        assert_eq!(
            (view.said, view.tools),
            (vec!["scenario:a".to_owned()], vec!["shell".to_owned()])
        );
    }

    #[test]
    fn an_answer_ends_with_its_usage() {
        let body = Chat.reply(&example(), true);
        let chunks = parsed(&body);
        assert_eq!(chunks[1]["choices"][0]["delta"]["content"], "Hello.");
        let calls = &chunks[2]["choices"][0]["delta"]["tool_calls"];
        assert_eq!(
            calls[0]["function"],
            json!({"name": "run", "arguments": r#"{"command":"ls"}"#})
        );
        assert_eq!(chunks[3]["choices"][0]["finish_reason"], "tool_calls");
        assert_eq!(chunks[4]["usage"]["completion_tokens"], 58);
        let Body::Events(events) = body else {
            panic!("no stream")
        };
        assert_eq!(events.last().map(String::as_str), Some("data: [DONE]\n\n"));

        let Body::Json(whole) = Chat.reply(&example(), false) else {
            panic!("a stream")
        };
        assert_eq!(
            whole["choices"][0]["message"]["tool_calls"][0]["id"],
            "call_1_0"
        );
        assert_eq!(whole["usage"]["prompt_tokens"], 1100);
    }
}
