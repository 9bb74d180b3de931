//! Gemini: `POST /v1beta/models/<model>:streamGenerateContent?alt=sse`, or `:generateContent`.

use serde_json::{Value, json};

use super::wire::{Body, Reply, View, Wire, list, text, texts};

pub(super) struct Gemini;

impl Wire for Gemini {
    fn view(&self, path: &str, body: &Value) -> View {
        let of_user = |content: &&Value| content["role"] == "user";
        let parts = || list(body, "contents").flat_map(|content| list(content, "parts"));
        let name = path.rsplit('/').next().unwrap_or_default();
        View {
            model: name.split(':').next().unwrap_or_default().to_owned(),
            said: list(body, "contents")
                .filter(of_user)
                .flat_map(|content| texts(&content["parts"]))
                .collect(),
            results: parts()
                .filter(|part| part.get("functionResponse").is_some())
                .count(),
            tools: list(body, "tools")
                .flat_map(|tool| list(tool, "functionDeclarations"))
                .map(|tool| text(tool, "name"))
                .collect(),
            aside: list(body, "tools").next().is_none(),
            stream: path.contains(":streamGenerateContent"),
        }
    }

    fn reply(&self, reply: &Reply, stream: bool) -> Body {
        let said = (!reply.text.is_empty()).then(|| json!({"text": reply.text}));
        let calls = reply
            .calls
            .iter()
            .map(|call| json!({"functionCall": {"name": call.name, "args": call.arguments}}));
        let usage = reply.usage;
        let chunk = |parts: Vec<Value>, end: Option<&str>| {
            let content = json!({"role": "model", "parts": parts});
            let mut candidate = json!({"content": content, "index": 0});
            if let Some(end) = end {
                candidate["finishReason"] = json!(end);
            }
            json!({
                "candidates": [candidate],
                "usageMetadata": {
                    "promptTokenCount": usage.input,
                    "cachedContentTokenCount": usage.cached,
                    "candidatesTokenCount": usage.answer,
                    "thoughtsTokenCount": usage.thoughts,
                    "totalTokenCount": usage.total(),
                },
                "modelVersion": reply.model,
            })
        };
        if !stream {
            return Body::Json(chunk(said.into_iter().chain(calls).collect(), Some("STOP")));
        }
        // The text comes first, so that there is a middle in which a stream can break off.
        let mut chunks: Vec<Value> = said
            .map(|said| chunk(vec![said], None))
            .into_iter()
            .collect();
        chunks.push(chunk(calls.collect(), Some("STOP")));
        Body::Events(chunks.iter().map(Body::data).collect())
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let name = match status {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            _ => "INTERNAL",
        };
        json!({"error": {"code": status, "message": message, "status": name}})
    }

    fn overflow(&self) -> Value {
        let message = "The input token count (1212345) exceeds the maximum number of tokens allowed (1048576).";
        self.error(400, message)
    }

    /// What the router that chooses a model wants to hear.
    fn aside(&self) -> &'static str {
        r#"{"complexity_reasoning": "A simple task.", "complexity_score": 10}"#
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::wire::{example, parsed};

    #[test]
    fn a_conversation_is_understood() {
        let body = json!({
            "contents": [
                {"role": "user", "parts": [{"text": "context"}, {"text": "scenario:a"}]},
                {"role": "model", "parts": [{"text": "no"}, {"functionCall": {"name": "t", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {"output": "x"}}}]},
            ],
            "tools": [{"functionDeclarations": [{"name": "t"}, {"name": "u"}]}],
        });
        let view = Gemini.view(
            "/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
            &body,
        );
        let expected = View {
            model: "gemini-x".into(),
            said: vec!["context".into(), "scenario:a".into()],
            results: 1,
            tools: vec!["t".into(), "u".into()],
            aside: false,
            stream: true,
        };
        assert_eq!(view, expected);
        assert!(
            Gemini
                .view("/v1beta/models/g:generateContent", &json!({"contents": []}))
                .aside
        );
    }

    #[test]
    fn an_answer_ends_with_its_calls_and_its_usage() {
        let chunks = parsed(&Gemini.reply(&example(), true));
        let first = &chunks[0]["candidates"][0];
        assert_eq!(first["content"]["parts"], json!([{"text": "Hello."}]));
        assert_eq!(first["finishReason"], Value::Null);
        let last = &chunks[1]["candidates"][0];
        assert_eq!(
            last["content"]["parts"][0]["functionCall"],
            json!({"name": "run", "args": {"command": "ls"}})
        );
        assert_eq!((chunks.len(), &last["finishReason"]), (2, &json!("STOP")));
        let usage = &chunks[1]["usageMetadata"];
        assert_eq!(
            (&usage["promptTokenCount"], &usage["totalTokenCount"]),
            (&json!(1100), &json!(1158))
        );
        let Body::Json(whole) = Gemini.reply(&example(), false) else {
            panic!("a stream")
        };
        let parts = whole["candidates"][0]["content"]["parts"].as_array();
        assert_eq!(parts.map(Vec::len), Some(3));
    }
}
