//! Hides tools of an MCP server from an agent.
//!
//! The server's list of tools passes without them. A call of one of them passes under a name that no server has, so the
//! server refuses it in its own words, and by the way that its answers take. Nothing else of a message changes: not even
//! the order of keys, which a model may see in the arguments of a tool.

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};
use thiserror::Error;

use super::Side;
use crate::wire::messages::{Framing, MessagePieces, Piece};

/// The name of the tool that is asked for in the place of a hidden one.
const NO_TOOL: &str = "tool-not-offered";
/// The longest message that is searched. A list of tools is never so long.
pub const LONGEST_MESSAGE: usize = 64 * 1024 * 1024;

type Object = BTreeMap<String, Box<RawValue>>;

/// The names of tools that an agent is not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenTools(Vec<String>);

impl HiddenTools {
    /// Returns these names; `None` if there are none.
    pub fn new(names: &[String]) -> Option<Self> {
        (!names.is_empty()).then(|| HiddenTools(names.to_vec()))
    }

    /// Returns a message as the other side gets it; `None` if it stays as it is.
    pub fn changed(&self, from: Side, message: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(message);
        let change = |message: &RawValue| match from {
            Side::Agent => self.without_call(message),
            Side::Server => self.without_tools(message),
        };
        if !text.trim_start().starts_with('[') {
            let message: &RawValue = serde_json::from_str(&text).ok()?;
            return change(message).map(|changed| changed.get().to_owned());
        }
        let mut batch: Vec<Box<RawValue>> = serde_json::from_str(&text).ok()?;
        let mut is_changed = false;
        for message in &mut batch {
            if let Some(changed) = change(message) {
                *message = changed;
                is_changed = true;
            }
        }
        is_changed.then(|| serde_json::to_string(&batch).ok())?
    }

    /// Returns the piece of a stream as the other side gets it.
    fn passed(&self, from: Side, piece: Piece) -> Result<Vec<u8>, MessageTooLong> {
        if !piece.is_whole {
            return Err(MessageTooLong);
        }
        let changed = self.changed(from, piece.message().data.as_bytes());
        Ok(piece.changed(changed.as_deref()))
    }

    fn without_call(&self, message: &RawValue) -> Option<Box<RawValue>> {
        let mut request = object(message)?;
        if string(request.get("method")?)? != "tools/call" {
            return None;
        }
        let mut params = object(request.get("params")?)?;
        let tool = string(params.get("name")?)?;
        if !self.0.contains(&tool) {
            return None;
        }
        params.insert("name".to_owned(), to_raw_value(NO_TOOL).ok()?);
        request.insert("params".to_owned(), to_raw_value(&params).ok()?);
        to_raw_value(&request).ok()
    }

    fn without_tools(&self, message: &RawValue) -> Option<Box<RawValue>> {
        let mut answer = object(message)?;
        let mut result = object(answer.get("result")?)?;
        let mut tools: Vec<Box<RawValue>> =
            serde_json::from_str(result.get("tools")?.get()).ok()?;
        let offered = tools.len();
        tools.retain(|tool| !self.is_hidden(tool));
        if tools.len() == offered {
            return None;
        }
        result.insert("tools".to_owned(), to_raw_value(&tools).ok()?);
        answer.insert("result".to_owned(), to_raw_value(&result).ok()?);
        to_raw_value(&answer).ok()
    }

    fn is_hidden(&self, tool: &RawValue) -> bool {
        let name = object(tool).and_then(|tool| string(tool.get("name")?));
        name.is_some_and(|name| self.0.contains(&name))
    }
}

fn object(value: &RawValue) -> Option<Object> {
    serde_json::from_str(value.get()).ok()
}

fn string(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// A message that is too long to be searched.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("a message has more than {LONGEST_MESSAGE} bytes, so that it cannot be searched")]
pub struct MessageTooLong;

/// Changes the messages of one side. Without hidden tools, bytes pass as they come.
#[derive(Debug)]
pub struct HidingStream {
    hidden: Option<HiddenTools>,
    from: Side,
    pieces: MessagePieces,
}

impl HidingStream {
    /// Begins to read the lines of one side.
    pub fn new(hidden: Option<HiddenTools>, from: Side) -> Self {
        HidingStream {
            hidden,
            from,
            pieces: MessagePieces::new(Framing::Lines, LONGEST_MESSAGE),
        }
    }

    /// Takes bytes. Returns those for the other side.
    pub fn pass(&mut self, bytes: &[u8]) -> Result<Vec<u8>, MessageTooLong> {
        let Some(hidden) = &self.hidden else {
            return Ok(bytes.to_vec());
        };
        let pieces = self.pieces.feed(bytes).into_iter();
        let passed: Result<Vec<Vec<u8>>, _> = pieces
            .map(|piece| hidden.passed(self.from, piece))
            .collect();
        Ok(passed?.concat())
    }

    /// Returns the last message, which has no end.
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = self.hidden.as_ref().zip(self.pieces.finish());
        let passed = rest.map(|(hidden, piece)| hidden.passed(self.from, piece));
        passed.and_then(Result::ok).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn hidden() -> HiddenTools {
        HiddenTools::new(&["search".to_owned()]).unwrap()
    }

    fn changed(from: Side, message: &str) -> Option<Value> {
        let changed = hidden().changed(from, message.as_bytes())?;
        Some(serde_json::from_str(&changed).unwrap())
    }

    #[test]
    fn a_list_passes_without_them_and_otherwise_as_it_is() {
        let list = r#"{"jsonrpc":"2.0","id":7,"result":{"nextCursor":"x","tools":[{"name":"search"},{"name":"fetch","z":1,"a":1e2}]}}"#;
        let passed = hidden().changed(Side::Server, list.as_bytes()).unwrap();
        assert!(
            passed.contains(r#"{"name":"fetch","z":1,"a":1e2}"#),
            "{passed}"
        );
        let passed: Value = serde_json::from_str(&passed).unwrap();
        assert_eq!(passed["result"]["tools"].as_array().unwrap().len(), 1);
        assert_eq!(
            (&passed["id"], &passed["result"]["nextCursor"]),
            (&json!(7), &json!("x"))
        );
        // Escapes and bytes that are no text hide nothing from the search.
        let escaped = r#"{"id":1,"result":{"tools":[{"name":"s\u0065arch"}]}}"#;
        assert_eq!(
            changed(Side::Server, escaped).unwrap()["result"]["tools"],
            json!([])
        );
        let broken =
            b"{\"id\":1,\"result\":{\"tools\":[{\"name\":\"search\",\"description\":\"\xff\"}]}}";
        assert!(
            !hidden()
                .changed(Side::Server, broken)
                .unwrap()
                .contains("search")
        );
    }

    #[test]
    fn a_call_asks_for_a_tool_that_there_is_not() {
        let call =
            r#"{"id":1,"method":"tools/call","params":{"name":"search","arguments":{"q":1}}}"#;
        let passed = changed(Side::Agent, call).unwrap();
        assert_eq!(
            passed["params"],
            json!({"name": NO_TOOL, "arguments": {"q": 1}})
        );
        let batch = format!("[{{\"id\":2,\"method\":\"tools/list\"}},{call}]");
        let passed = changed(Side::Agent, &batch).unwrap();
        assert_eq!(passed[0]["method"], "tools/list");
        assert_eq!(passed[1]["params"]["name"], NO_TOOL);
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for (from, message) in [
            (
                Side::Agent,
                r#"{"id":1,"method":"tools/call","params":{"name":"fetch"}}"#,
            ),
            (
                Side::Agent,
                r#"{"id":1,"method":"prompts/get","params":{"name":"search"}}"#,
            ),
            (
                Side::Agent,
                r#"{"id":1,"result":{"tools":[{"name":"search"}]}}"#,
            ),
            (
                Side::Server,
                r#"{"id":1,"result":{"tools":[{"name":"fetch"}]}}"#,
            ),
            (
                Side::Server,
                r#"{"id":1,"result":{"content":[{"name":"search"}]}}"#,
            ),
            (
                Side::Server,
                r#"{"method":"notifications/tools/list_changed"}"#,
            ),
            (Side::Server, "search"),
            (Side::Server, "[1, 2"),
            (Side::Server, ""),
        ] {
            assert_eq!(changed(from, message), None, "{message}");
        }
    }

    #[test]
    fn lines_are_whole_in_pieces_of_any_length() {
        let text = b"noise\n{\"id\":1,\"result\":{\"tools\":[{\"name\":\"search\"}]}}\r\n{\"id\":2,\"result\":{\"tools\":[{\"name\":\"search\"}]}}";
        for piece in 1..text.len() {
            let mut lines = HidingStream::new(Some(hidden()), Side::Server);
            let mut passed = Vec::new();
            for bytes in text.chunks(piece) {
                passed.extend(lines.pass(bytes).unwrap());
            }
            passed.extend(lines.finish());
            let passed = String::from_utf8(passed).unwrap();
            let lines: Vec<&str> = passed.lines().collect();
            assert_eq!(lines.len(), 3, "{passed}");
            assert_eq!(lines[0], "noise");
            assert!(
                !passed.contains("search") && lines[2].contains("\"id\":2"),
                "{passed}"
            );
        }
        let mut lines = HidingStream::new(Some(hidden()), Side::Server);
        let mut long = vec![b'x'; LONGEST_MESSAGE];
        long.push(b'\n');
        assert_eq!(lines.pass(&long), Err(MessageTooLong));
        let mut plain = HidingStream::new(None, Side::Server);
        assert_eq!(plain.pass(b"sea").unwrap(), b"sea");
    }

    const LIST: &str = r#"{"id":2,"result":{"tools":[{"name":"search"},{"name":"fetch"}]}}"#;

    fn passed(framing: Framing, text: &str, piece: usize) -> String {
        let mut pieces = MessagePieces::new(framing, LONGEST_MESSAGE);
        let chunks = text.as_bytes().chunks(piece);
        let mut found: Vec<Piece> = chunks.flat_map(|bytes| pieces.feed(bytes)).collect();
        found.extend(pieces.finish());
        let passed = found
            .into_iter()
            .map(|piece| hidden().passed(Side::Server, piece).unwrap());
        String::from_utf8(passed.collect::<Vec<_>>().concat()).unwrap()
    }

    #[test]
    fn a_document_passes_without_them() {
        for piece in [1, 7, 1000] {
            let passed = passed(Framing::Document, LIST, piece);
            assert!(
                passed.contains("fetch") && !passed.contains("search"),
                "{passed}"
            );
        }
        assert_eq!(
            passed(Framing::Document, "search, please", 3),
            "search, please"
        );
    }

    #[test]
    fn events_pass_without_them_and_others_as_they_are() {
        let other = ": hi\r\n\r\nevent: ping\r\ndata: search\r\n\r\n";
        let stream = format!("{other}event: message\r\nid: 7\r\ndata: {LIST}\r\n\r\ndata:{LIST}");
        for piece in 1..stream.len() {
            let passed = passed(Framing::Events, &stream, piece);
            let rest = passed
                .strip_prefix(other)
                .unwrap_or_else(|| panic!("{piece}: {passed}"));
            assert!(rest.starts_with("event: message\nid: 7\ndata: {"), "{rest}");
            assert_eq!(rest.matches("fetch").count(), 2, "{rest}");
            assert!(!rest.contains("search"), "{rest}");
        }
    }
}
