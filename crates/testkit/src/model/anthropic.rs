//! Anthropic Messages: `POST /v1/messages`.

use serde_json::{Value, json};

use super::wire::{Body, Reply, View, Wire, list, text, texts};

pub(super) struct Anthropic;

impl Wire for Anthropic {
    fn view(&self, _path: &str, body: &Value) -> View {
        let of_user = |message: &&Value| message["role"] == "user";
        let blocks = list(body, "messages").flat_map(|message| list(message, "content"));
        View {
            model: text(body, "model"),
            said: list(body, "messages")
                .filter(of_user)
                .flat_map(|message| texts(&message["content"]))
                .collect(),
            results: blocks
                .filter(|block| block["type"] == "tool_result")
                .count(),
            tools: list(body, "tools").map(|tool| text(tool, "name")).collect(),
            aside: list(body, "tools").next().is_none(),
            stream: body["stream"] == true,
        }
    }

    fn reply(&self, reply: &Reply, stream: bool) -> Body {
        let mut blocks = Vec::new();
        if !reply.text.is_empty() {
            blocks.push(json!({"type": "text", "text": reply.text}));
        }
        for (index, call) in reply.calls.iter().enumerate() {
            let id = format!("toolu_{}", reply.call_id(index));
            blocks.push(
                json!({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments}),
            );
        }
        let stop = if reply.calls.is_empty() {
            "end_turn"
        } else {
            "tool_use"
        };
        let message = |content: &[Value], stop: Value, output: u64| {
            let usage = json!({
                "input_tokens": reply.usage.input - reply.usage.cached,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": reply.usage.cached,
                "output_tokens": output,
            });
            json!({"id": format!("msg_{}", reply.number), "type": "message", "role": "assistant", "model": reply.model,
                   "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage})
        };
        let output = reply.usage.output();
        if !stream {
            return Body::Json(message(&blocks, json!(stop), output));
        }
        let mut events =
            vec![json!({"type": "message_start", "message": message(&[], Value::Null, 1)})];
        for (index, block) in blocks.iter().enumerate() {
            events.extend(in_pieces(index, block));
        }
        events.push(
            json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
                           "usage": {"output_tokens": output}}),
        );
        events.push(json!({"type": "message_stop"}));
        Body::Events(
            events
                .iter()
                .map(|event| Body::event(&text(event, "type"), event))
                .collect(),
        )
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let name = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        json!({"type": "error", "error": {"type": name, "message": message}})
    }

    fn overflow(&self) -> Value {
        self.error(400, "prompt is too long: 212345 tokens > 200000 maximum")
    }

    fn aside(&self) -> &'static str {
        r#"{"title": "A title"}"#
    }
}

/// A block begins empty and is filled.
fn in_pieces(index: usize, block: &Value) -> [Value; 3] {
    let mut empty = block.clone();
    let delta = if block["type"] == "text" {
        empty["text"] = json!("");
        json!({"type": "text_delta", "text": block["text"]})
    } else {
        empty["input"] = json!({});
        json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
    };
    [
        json!({"type": "content_block_start", "index": index, "content_block": empty}),
        json!({"type": "content_block_delta", "index": index, "delta": delta}),
        json!({"type": "content_block_stop", "index": index}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::wire::{example, parsed};

    #[test]
    fn a_conversation_is_understood() {
        let body = json!({
            "model": "claude-x", "stream": true, "tools": [{"name": "Bash"}],
            "messages": [
                {"role": "user", "content": "scenario:a"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "Bash", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "55"}]},
                    {"type": "text", "text": "reminder"},
                ]},
            ],
        });
        let view = Anthropic.view("/v1/messages?beta=true", &body);
        assert_eq!((view.results, view.aside, view.stream), (1, false, true));
        assert_eq!(view.said, ["scenario:a", "reminder"]);
    }

    #[test]
    fn an_answer_is_streamed_block_by_block() {
        let events = parsed(&Anthropic.reply(&example(), true));
        let kinds: Vec<_> = events
            .iter()
            .filter_map(|event| event["type"].as_str())
            .collect();
        let block = [
            "content_block_start", "content_block_delta", "content_block_stop",
        ];
        let expected = [
            &["message_start"],
            &block[..],
            &block,
            &block,
            &["message_delta", "message_stop"],
        ];
        assert_eq!(kinds, expected.concat());
        let usage = &events[0]["message"]["usage"];
        assert_eq!(
            (&usage["input_tokens"], &usage["cache_read_input_tokens"]),
            (&json!(690), &json!(410))
        );
        assert_eq!(events[5]["delta"]["partial_json"], r#"{"command":"ls"}"#);
        assert_eq!(events[10]["delta"]["stop_reason"], "tool_use");
        assert_eq!(events[10]["usage"]["output_tokens"], 58);
    }
}
