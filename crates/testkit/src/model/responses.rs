//! OpenAI Responses: `POST /v1/responses`.

use serde_json::{Value, json};

use super::wire::{Body, Reply, View, Wire, list, text, texts};

pub(super) struct Responses;

impl Wire for Responses {
    fn view(&self, _path: &str, body: &Value) -> View {
        let kind = |item: &Value| text(item, "type");
        let said = match &body["input"] {
            Value::String(text) => vec![text.clone()],
            _ => list(body, "input").flat_map(said_in).collect(),
        };
        // Some models are told of their tools in the conversation instead.
        let told = list(body, "input").any(|item| kind(item) == "additional_tools");
        View {
            model: text(body, "model"),
            said,
            results: list(body, "input")
                .filter(|item| kind(item).ends_with("_call_output"))
                .count(),
            tools: list(body, "tools").flat_map(names).collect(),
            aside: list(body, "tools").next().is_none() && !told,
            stream: body["stream"] == true,
        }
    }

    fn reply(&self, reply: &Reply, stream: bool) -> Body {
        let mut output = Vec::new();
        if !reply.text.is_empty() {
            output.push(json!({
                "type": "message", "id": format!("msg_{}", reply.number), "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
            }));
        }
        output.extend((0..reply.calls.len()).map(|index| call(reply, index)));
        let usage = reply.usage;
        let response = json!({
            "id": format!("resp_{}", reply.number), "object": "response", "created_at": 1_800_000_000,
            "status": "completed", "model": reply.model, "output": output,
            "usage": {
                "input_tokens": usage.input,
                "input_tokens_details": {"cached_tokens": usage.cached},
                "output_tokens": usage.output(),
                "output_tokens_details": {"reasoning_tokens": usage.thoughts},
                "total_tokens": usage.total(),
            },
        });
        if !stream {
            return Body::Json(response);
        }
        let mut begun = response.clone();
        begun["status"] = json!("in_progress");
        begun["output"] = json!([]);
        begun["usage"] = Value::Null;
        let mut events = vec![json!({"type": "response.created", "response": begun})];
        for (index, item) in output.iter().enumerate() {
            events.extend(in_pieces(index, item));
        }
        events.push(json!({"type": "response.completed", "response": response}));
        for (number, event) in events.iter_mut().enumerate() {
            event["sequence_number"] = json!(number);
        }
        Body::Events(
            events
                .iter()
                .map(|event| Body::event(&text(event, "type"), event))
                .collect(),
        )
    }

    fn error(&self, status: u16, message: &str) -> Value {
        super::chat::error(status, message)
    }

    fn overflow(&self) -> Value {
        super::chat::overflow()
    }
}

/// What the user says in an item, or, to a sub-agent, the agent that has started it.
fn said_in(item: &Value) -> Vec<String> {
    if item["type"] == "agent_message" {
        // Only services of the maker encrypt it.
        let parts = list(item, "content").filter_map(|part| part["encrypted_content"].as_str());
        return parts.map(str::to_owned).collect();
    }
    if item["role"] == "user" {
        texts(&item["content"])
    } else {
        Vec::new()
    }
}

/// A tool, or a namespace of tools.
fn names(tool: &Value) -> Vec<String> {
    let name = text(tool, "name");
    if tool["type"] == "namespace" {
        list(tool, "tools")
            .map(|inner| format!("{name}/{}", text(inner, "name")))
            .collect()
    } else {
        vec![name]
    }
}

fn call(reply: &Reply, index: usize) -> Value {
    let call = &reply.calls[index];
    let id = reply.call_id(index);
    let item = format!("item_{id}");
    if let Value::String(input) = &call.arguments {
        return json!({"type": "custom_tool_call", "id": item, "call_id": id, "name": call.name, "input": input,
                      "status": "completed"});
    }
    let mut value = json!({"type": "function_call", "id": item, "call_id": id, "name": call.name,
                           "arguments": call.arguments.to_string(), "status": "completed"});
    if let Some(namespace) = &call.namespace {
        value["namespace"] = json!(namespace);
    }
    value
}

/// An item is added, filled if it is a message or a function call, and done.
fn in_pieces(index: usize, item: &Value) -> Vec<Value> {
    let id = &item["id"];
    let mut begun = item.clone();
    begun["status"] = json!("in_progress");
    let mut pieces = Vec::new();
    match item["type"].as_str() {
        Some("message") => {
            begun["content"] = json!([]);
            let part = &item["content"][0];
            let empty = json!({"type": "output_text", "text": "", "annotations": []});
            let at = json!({"item_id": id, "output_index": index, "content_index": 0});
            for (kind, key, value) in [
                ("response.content_part.added", "part", &empty),
                ("response.output_text.delta", "delta", &part["text"]),
                ("response.output_text.done", "text", &part["text"]),
                ("response.content_part.done", "part", part),
            ] {
                let mut piece = at.clone();
                piece["type"] = json!(kind);
                piece[key] = value.clone();
                pieces.push(piece);
            }
        }
        Some("function_call") => {
            begun["arguments"] = json!("");
            for (kind, key) in [
                ("response.function_call_arguments.delta", "delta"),
                ("response.function_call_arguments.done", "arguments"),
            ] {
                pieces.push(
                    json!({"type": kind, "item_id": id, "output_index": index, key: item["arguments"]}),
                );
            }
        }
        _ => {}
    }
    pieces.insert(
        0,
        json!({"type": "response.output_item.added", "output_index": index, "item": begun}),
    );
    pieces.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::wire::{example, parsed};

    #[test]
    fn a_conversation_is_understood() {
        let body = json!({
            "model": "gpt-x", "stream": true,
            "tools": [{"type": "function", "name": "exec_command"},
                      {"type": "namespace", "name": "mcp__tiny", "tools": [{"name": "magic"}]}],
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "scenario:a"}]},
                {"type": "function_call", "call_id": "1", "name": "exec_command", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "1", "output": "55"},
                {"type": "custom_tool_call_output", "call_id": "2", "output": "ok"},
            ],
        });
        let view = Responses.view("/v1/responses", &body);
        assert_eq!((view.results, view.aside, view.stream), (2, false, true));
        assert_eq!(view.tools, ["exec_command", "mcp__tiny/magic"]);
        assert_eq!(view.said, ["scenario:a"]);
        let in_code_mode = json!({"input": [{"type": "additional_tools"}]});
        assert!(!Responses.view("/v1/responses", &in_code_mode).aside);
    }

    #[test]
    fn an_answer_ends_with_the_whole_response() {
        let events = parsed(&Responses.reply(&example(), true));
        assert_eq!(events[0]["type"], "response.created");
        let done: Vec<_> = events
            .iter()
            .filter(|event| event["type"] == "response.output_item.done")
            .collect();
        assert_eq!(done[0]["item"]["content"][0]["text"], "Hello.");
        assert_eq!(done[1]["item"]["arguments"], r#"{"command":"ls"}"#);
        assert_eq!(
            (&done[2]["item"]["type"], &done[2]["item"]["input"]),
            (&json!("custom_tool_call"), &json!("free text"))
        );
        let last = &events[events.len() - 1];
        assert_eq!(last["type"], "response.completed");
        assert_eq!(
            last["response"]["usage"]["input_tokens_details"]["cached_tokens"],
            410
        );
        assert_eq!(last["response"]["usage"]["output_tokens"], 58);
    }
}
