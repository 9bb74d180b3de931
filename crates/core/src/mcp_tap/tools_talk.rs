//! Asks a server for its tools: the messages to it, in their order. The caller brings them there, and the answers back.

use serde_json::{Value, json};

use super::OfferedTool;

/// The number of the first question, which is the handshake.
const HANDSHAKE: u64 = 1;
/// The number of the last question for a page of the list.
const LAST_PAGE: u64 = 100;

/// A talk with a server: the handshake, and the list of its tools, page by page.
#[derive(Debug)]
pub struct ToolsTalk {
    /// The number of the question that waits for its answer.
    number: u64,
    tools: Vec<OfferedTool>,
}

/// The consequence of an answer.
#[derive(Debug, PartialEq)]
pub enum NextInTalk {
    /// These messages are sent. The last one is the next question.
    Send(Vec<Value>),
    /// The talk is over. These are the tools.
    Tools(Vec<OfferedTool>),
}

impl ToolsTalk {
    /// Begins a talk. Returns the first question, too.
    pub fn begin() -> (Self, Value) {
        let talk = ToolsTalk {
            number: HANDSHAKE,
            tools: Vec::new(),
        };
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "terca", "version": env!("CARGO_PKG_VERSION") },
        });
        let question = talk.question("initialize", params);
        (talk, question)
    }

    fn question(&self, method: &str, params: Value) -> Value {
        let mut question = json!({ "jsonrpc": "2.0", "id": self.number, "method": method });
        if !params.is_null() {
            question["params"] = params;
        }
        question
    }

    /// Returns whether a message answers the question that waits. Servers ask questions of their own, too.
    pub fn is_answer(&self, message: &Value) -> bool {
        message["id"] == self.number && message.get("method").is_none()
    }

    /// Reads the answer to the question. A server that refuses the handshake gives the reason; one that does not know the
    /// list has no tools.
    pub fn answered(&mut self, answer: &Value) -> Result<NextInTalk, String> {
        let result = &answer["result"];
        if self.number == HANDSHAKE {
            if !result.is_object() {
                let error = &answer["error"];
                let words = error["message"].as_str();
                let words = words.map_or_else(|| error.to_string(), str::to_owned);
                return Err(format!("it refused: {words}"));
            }
            self.number += 1;
            let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            let list = self.question("tools/list", Value::Null);
            return Ok(NextInTalk::Send(vec![ready, list]));
        }
        self.tools.extend(OfferedTool::list(result));
        let cursor = &result["nextCursor"];
        if cursor.is_null() || self.number >= LAST_PAGE {
            return Ok(NextInTalk::Tools(std::mem::take(&mut self.tools)));
        }
        self.number += 1;
        let list = self.question("tools/list", json!({ "cursor": cursor }));
        Ok(NextInTalk::Send(vec![list]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pages_are_asked_for() {
        let (mut talk, first) = ToolsTalk::begin();
        assert_eq!(
            (&first["id"], &first["method"]),
            (&json!(1), &json!("initialize"))
        );
        assert!(!talk.is_answer(&json!({"id": 1, "method": "ping"})));
        let ready = json!({"id": 1, "result": {}});
        assert!(talk.is_answer(&ready));
        let NextInTalk::Send(messages) = talk.answered(&ready).unwrap() else {
            panic!("{talk:?}")
        };
        assert_eq!(messages[1]["id"], 2);
        let page = json!({"id": 2, "result": {"tools": [{"name": "a"}], "nextCursor": "x"}});
        let NextInTalk::Send(messages) = talk.answered(&page).unwrap() else {
            panic!("{talk:?}")
        };
        assert_eq!(messages[0]["params"]["cursor"], "x");
        assert!(!talk.is_answer(&page));
        let page = json!({"id": 3, "result": {"tools": [{"name": "b"}]}});
        let NextInTalk::Tools(tools) = talk.answered(&page).unwrap() else {
            panic!("{talk:?}")
        };
        assert_eq!(tools.len(), 2);
    }

    #[test]
    fn a_refusal_ends_the_talk_and_an_unknown_list_is_empty() {
        let (mut talk, _) = ToolsTalk::begin();
        let refusal = json!({"id": 1, "error": {"message": "too old"}});
        assert_eq!(
            talk.answered(&refusal),
            Err("it refused: too old".to_owned())
        );
        talk.answered(&json!({"id": 1, "result": {}})).unwrap();
        let unknown = json!({"id": 2, "error": {"message": "no such method"}});
        assert_eq!(talk.answered(&unknown), Ok(NextInTalk::Tools(Vec::new())));
    }
}
