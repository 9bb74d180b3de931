//! Asks a server for its tools. The caller brings the messages there, and the answers back.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::OfferedTool;

/// The number of the first question, which is the handshake.
const HANDSHAKE: u64 = 1;
/// The number of the last question for a page of the list.
const LAST_PAGE: u64 = 100;

/// A talk with a server: the handshake, and the list of its tools, page by page.
#[derive(Debug)]
pub struct ToolsTalk {
    /// The messages that are still to be sent.
    pub to_send: VecDeque<Value>,
    /// The version of the protocol that the server has chosen.
    pub version: Option<String>,
    /// The tools, or the reason why there are none, once the talk is over.
    pub outcome: Option<Result<Vec<OfferedTool>, String>>,
    /// The number of the question that waits for its answer.
    number: u64,
    tools: Vec<OfferedTool>,
}

impl ToolsTalk {
    /// Begins a talk.
    pub fn begin() -> Self {
        let mut talk = ToolsTalk {
            to_send: VecDeque::new(),
            version: None,
            outcome: None,
            number: 0,
            tools: Vec::new(),
        };
        let client = json!({ "name": "terca", "version": env!("CARGO_PKG_VERSION") });
        talk.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        );
        talk
    }

    fn ask(&mut self, method: &str, params: &Value) {
        self.number += 1;
        let id = self.number;
        let question = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.to_send.push_back(question);
    }

    /// Reads a message. All but the answer to the question that waits are passed over: servers ask questions of their
    /// own, too. Returns whether it is a message at all.
    pub fn read(&mut self, message: &[u8]) -> bool {
        let Ok(message) = serde_json::from_slice::<Value>(message) else {
            return false;
        };
        let is_answer = message["id"] == self.number && message.get("method").is_none();
        if is_answer && self.outcome.is_none() {
            self.answered(&message);
        }
        true
    }

    /// Reads the answer to the question. A server that does not know the list has no tools.
    fn answered(&mut self, answer: &Value) {
        let result = &answer["result"];
        if self.number == HANDSHAKE {
            if !result.is_object() {
                let error = &answer["error"];
                let words = error["message"].as_str();
                let words = words.map_or_else(|| error.to_string(), str::to_owned);
                self.outcome = Some(Err(format!("it refused: {words}")));
                return;
            }
            self.version = result["protocolVersion"].as_str().map(str::to_owned);
            let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            self.to_send.push_back(ready);
            self.ask("tools/list", &json!({}));
            return;
        }
        self.tools.extend(OfferedTool::list(result));
        let cursor = &result["nextCursor"];
        if cursor.is_null() || self.number >= LAST_PAGE {
            self.outcome = Some(Ok(std::mem::take(&mut self.tools)));
        } else {
            self.ask("tools/list", &json!({ "cursor": cursor }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(talk: &mut ToolsTalk, message: &Value) -> Vec<Value> {
        assert!(talk.read(message.to_string().as_bytes()));
        talk.to_send.drain(..).collect()
    }

    #[test]
    fn all_pages_are_asked_for() {
        let mut talk = ToolsTalk::begin();
        let first = talk.to_send.pop_front().unwrap();
        assert_eq!(
            (&first["id"], &first["method"]),
            (&json!(1), &json!("initialize"))
        );
        assert!(!talk.read(b"garbage"));
        assert!(read(&mut talk, &json!({"id": 1, "method": "ping"})).is_empty());
        let messages = read(&mut talk, &json!({"id": 1, "result": {}}));
        assert_eq!(messages[1]["id"], 2);
        let page = json!({"id": 2, "result": {"tools": [{"name": "a"}], "nextCursor": "x"}});
        let messages = read(&mut talk, &page);
        assert_eq!(messages[0]["params"]["cursor"], "x");
        assert!(read(&mut talk, &page).is_empty(), "it is answered already");
        let page = json!({"id": 3, "result": {"tools": [{"name": "b"}]}});
        assert!(read(&mut talk, &page).is_empty());
        assert_eq!(talk.outcome.unwrap().unwrap().len(), 2);
    }

    #[test]
    fn a_refusal_ends_the_talk_and_an_unknown_list_is_empty() {
        let mut talk = ToolsTalk::begin();
        read(
            &mut talk,
            &json!({"id": 1, "error": {"message": "too old"}}),
        );
        assert_eq!(talk.outcome, Some(Err("it refused: too old".to_owned())));
        let mut talk = ToolsTalk::begin();
        read(&mut talk, &json!({"id": 1, "result": {}}));
        read(
            &mut talk,
            &json!({"id": 2, "error": {"message": "no such method"}}),
        );
        assert_eq!(talk.outcome, Some(Ok(Vec::new())));
    }
}
