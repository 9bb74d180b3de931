//! Reads the messages between an agent and an MCP server: JSON-RPC, one message a line.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{CallEnd, LONGEST_NAME, OfferedTool, ServerRecord, TapEventKind, ToolCall};
use crate::process::Exit;
use crate::text::excerpt::{beginning, without_middle};

/// The most requests that may be open at once.
const MOST_OPEN: usize = 1000;
/// The longest arguments, and the longest answer, in bytes.
const LONGEST_TEXT: usize = 16 * 1024;
/// The most lines that are not the protocol, of one start.
const MOST_OTHER_LINES: usize = 20;

/// The method of the first request.
const INITIALIZE: &str = "initialize";

/// The two sides of the tap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Side {
    /// The agent.
    Agent,
    /// The server.
    Server,
}

/// A line of one side. Keys in it must be masked.
#[derive(Debug, Clone, Copy)]
pub struct TapLine<'a> {
    /// The line without its end, or the beginning of it.
    pub text: &'a str,
    /// The length of the line.
    pub bytes: u64,
    /// All of it is in the text.
    pub is_whole: bool,
}

/// Reads the talk with a server from its start to its end.
#[derive(Debug)]
pub struct Conversation {
    start: u32,
    open: Vec<OpenRequest>,
    other_lines: usize,
}

/// A request of the agent's without an answer.
#[derive(Debug)]
struct OpenRequest {
    id: Value,
    at_ms: u64,
    method: String,
    /// The tool that is called, and its arguments.
    call: Option<(String, Value)>,
}

impl Conversation {
    /// Begins to read the talk after a start of the server.
    pub fn begin(record: &mut ServerRecord) -> Self {
        let start = u32::try_from(record.figures.starts + 1).unwrap_or(u32::MAX);
        record.add(start, TapEventKind::Started);
        Conversation {
            start,
            open: Vec::new(),
            other_lines: 0,
        }
    }

    /// Reads a line. One that is too long to hold is the answer to the only request that it can answer: to the one of
    /// these that were `asked`, if it is known, or to the only one that is open.
    pub fn line(
        &mut self,
        from: Side,
        line: TapLine<'_>,
        asked: &[Value],
        record: &mut ServerRecord,
    ) {
        if line.text.trim().is_empty() {
            return;
        }
        if let Some(messages) = messages_of(line) {
            for message in &messages {
                match from {
                    Side::Agent => self.read_agent(message, record),
                    Side::Server => self.read_server(message, record),
                }
            }
            return;
        }
        let only = match (asked, self.open.as_slice()) {
            ([id], _) | ([], [OpenRequest { id, .. }]) => Some(id.clone()),
            _ => None,
        };
        let is_answer = from == Side::Server && !line.is_whole && line.text.starts_with('{');
        let open = only
            .filter(|_| is_answer)
            .and_then(|id| self.take_open(&id));
        match open {
            Some(open) => {
                let is_error =
                    line.text.contains("\"isError\":true") || line.text.contains("\"error\":{");
                // Never its end: half a key that was cut there has no mask.
                let result = Value::String(beginning(line.text, LONGEST_NAME));
                self.answered(open, result, is_error, record);
            }
            None => self.other(from, line, record),
        }
    }

    /// Returns whether a request has no answer yet.
    pub(super) fn is_open(&self, id: &Value) -> bool {
        self.open.iter().any(|open| open.id == *id)
    }

    /// Reads the refusal of these requests by something else than an answer.
    pub(super) fn refused(&mut self, ids: &[Value], reason: &str, record: &mut ServerRecord) {
        for id in ids {
            if let Some(open) = self.take_open(id) {
                self.answered(open, json!({"message": reason}), true, record);
            }
        }
    }

    /// Reads that the server is gone, so that no open request will have an answer.
    pub(super) fn lost(&mut self, reason: &str, record: &mut ServerRecord) {
        for open in std::mem::take(&mut self.open) {
            if open.method == INITIALIZE {
                self.answered(open, json!({"message": reason}), true, record);
            } else {
                self.close(open, None, CallEnd::ServerEnded, record);
            }
        }
    }

    /// Notes something that was seen of the server.
    pub(super) fn note(&self, kind: TapEventKind, record: &mut ServerRecord) {
        record.add(self.start, kind);
    }

    fn other(&mut self, from: Side, line: TapLine<'_>, record: &mut ServerRecord) {
        self.other_lines += 1;
        if self.other_lines > MOST_OTHER_LINES {
            if self.other_lines == MOST_OTHER_LINES + 1 {
                self.note(TapEventKind::LeftOut, record);
            }
            return;
        }
        let text = beginning(line.text, LONGEST_NAME);
        let bytes = line.bytes;
        self.note(TapEventKind::NotProtocol { from, text, bytes }, record);
    }

    fn read_agent(&mut self, message: &Value, record: &mut ServerRecord) {
        let Some(method) = message["method"].as_str() else {
            return;
        };
        let params = &message["params"];
        if method == "notifications/cancelled" {
            if let Some(open) = self.take_open(&params["requestId"]) {
                self.close(open, None, CallEnd::Unanswered, record);
            }
            return;
        }
        let id = message["id"].clone();
        if id.is_null() {
            return;
        }
        let call = (method == "tools/call").then(|| {
            let tool = params["name"].as_str().unwrap_or_default();
            let arguments = short(params["arguments"].clone());
            (beginning(tool, LONGEST_NAME), arguments)
        });
        if self.open.len() >= MOST_OPEN {
            // Nobody waits for the answer to the oldest of so many any more.
            let oldest = self.open.remove(0);
            self.close(oldest, None, CallEnd::Unanswered, record);
        }
        self.open.push(OpenRequest {
            id,
            at_ms: record.now_ms,
            method: beginning(method, LONGEST_NAME),
            call,
        });
    }

    fn read_server(&mut self, message: &Value, record: &mut ServerRecord) {
        // A request of the server's own has an id too.
        if message.get("method").is_some() {
            return;
        }
        if let Some(open) = self.take_open(&message["id"]) {
            let (error, result) = (&message["error"], &message["result"]);
            if error.is_null() {
                let is_error = result["isError"] == true;
                self.answered(open, result.clone(), is_error, record);
            } else {
                self.answered(open, error.clone(), true, record);
            }
        }
    }

    fn take_open(&mut self, id: &Value) -> Option<OpenRequest> {
        let index = self.open.iter().position(|open| open.id == *id)?;
        Some(self.open.remove(index))
    }

    fn answered(
        &self,
        open: OpenRequest,
        result: Value,
        is_error: bool,
        record: &mut ServerRecord,
    ) {
        let end = match is_error {
            true => CallEnd::Failed,
            false => CallEnd::Answered,
        };
        self.close(open, Some(result), end, record);
    }

    /// Notes the end of a request: its answer, or that there is none.
    fn close(
        &self,
        open: OpenRequest,
        result: Option<Value>,
        end: CallEnd,
        record: &mut ServerRecord,
    ) {
        let OpenRequest { method, call, .. } = open;
        let duration = record.now_ms.saturating_sub(open.at_ms);
        let duration_ms = result.is_some().then_some(duration);
        let error = result.as_ref().filter(|_| end.is_error()).map(words_of);
        let kind = match (call, method.as_str(), result) {
            (Some((tool, arguments)), _, result) => TapEventKind::Call(Box::new(ToolCall {
                tool,
                arguments,
                result: result.map(short),
                end,
                duration_ms,
            })),
            (_, INITIALIZE, Some(result)) => TapEventKind::Initialized {
                server: server_name(&result["serverInfo"]),
                error,
                duration_ms: duration,
            },
            (_, "tools/list", Some(result)) if error.is_none() => TapEventKind::Tools {
                tools: OfferedTool::list(&result),
            },
            _ => TapEventKind::Request {
                method,
                error,
                duration_ms,
            },
        };
        self.note(kind, record);
    }

    /// Reads the end of the server. `exit` is `None` if the tap was ended with it.
    pub fn finish(mut self, exit: Option<Exit>, by_itself: bool, record: &mut ServerRecord) {
        let end = if by_itself {
            CallEnd::ServerEnded
        } else {
            CallEnd::Unanswered
        };
        for open in std::mem::take(&mut self.open) {
            self.close(open, None, end, record);
        }
        self.note(TapEventKind::Ended { exit, by_itself }, record);
    }
}

/// Returns the messages of a line: one, or several in a list. A line that is not the protocol is `None`.
pub(super) fn messages_of(line: TapLine<'_>) -> Option<Vec<Value>> {
    match serde_json::from_str(line.text)
        .ok()
        .filter(|_| line.is_whole)?
    {
        Value::Array(messages) => Some(messages),
        message @ Value::Object(_) => Some(vec![message]),
        _ => None,
    }
}

/// Returns a value as it is, or a text of its beginning and its end where it is long.
fn short(value: Value) -> Value {
    let text = value.to_string();
    if text.len() <= LONGEST_TEXT {
        return value;
    }
    Value::String(without_middle(&text, LONGEST_TEXT))
}

fn server_name(info: &Value) -> Option<String> {
    let name = info["name"].as_str()?;
    let version = info["version"].as_str().unwrap_or_default();
    let both = format!("{name} {version}");
    Some(beginning(both.trim_end(), LONGEST_NAME))
}

/// Returns the words of an error.
fn words_of(error: &Value) -> String {
    let words = error["message"].as_str().map(str::to_owned);
    beginning(&words.unwrap_or_else(|| error.to_string()), LONGEST_NAME)
}

#[cfg(test)]
mod tests {
    use super::super::steps;
    use super::*;
    use crate::transcript::Step;

    /// Reads messages, a second apart.
    fn read(messages: &[(Side, Value)]) -> (Conversation, ServerRecord) {
        let mut record = ServerRecord::default();
        let mut conversation = Conversation::begin(&mut record);
        for (index, (from, message)) in messages.iter().enumerate() {
            record.now_ms = 1000 * index as u64;
            conversation.line(*from, whole(&message.to_string()), &[], &mut record);
        }
        (conversation, record)
    }

    fn whole(text: &str) -> TapLine<'_> {
        TapLine {
            text,
            bytes: text.len() as u64,
            is_whole: true,
        }
    }

    fn too_long(text: &str) -> TapLine<'_> {
        TapLine {
            text,
            bytes: 1 << 30,
            is_whole: false,
        }
    }

    #[test]
    fn a_tool_that_is_called_has_a_place_among_many_that_are_not() {
        let mut tools: Vec<Value> = (0..600)
            .map(|number| json!({"name": format!("t{number:04}"), "description": "x".repeat(10)}))
            .collect();
        tools.push(json!({"name": "n".repeat(100_000)}));
        let list = json!({ "tools": tools });
        let (_, record) = read(&[
            (Side::Agent, json!({"id": 1, "method": "tools/list"})),
            (Side::Server, json!({"id": 1, "result": list})),
            call(&json!(2), "t0599"),
            answer(&json!(2), false),
        ]);
        let figures = record.figures;
        assert_eq!((figures.calls(), figures.tools["t0599"].calls), (1, 1));
        assert!(figures.tools.keys().all(|name| name.len() < 1000));
    }

    /// Shapes that a careless client sends, and that a hostile one would.
    #[test]
    fn odd_messages_hide_no_call() {
        let mut messages = Vec::new();
        for odd in [
            json!({"id": 4, "method": "tools/call", "params": ["look"]}),
            json!({"id": 5, "method": "tools/call", "params": "look"}),
            json!({"id": {"a": 1}, "method": "tools/call"}),
            json!({"method": "notifications/cancelled", "params": "x"}),
            json!({"method": "notifications/cancelled", "params": [1]}),
            json!({"id": 6, "method": 7}),
            json!([[1], "x", null, {"id": []}]),
            json!({"id": 4, "result": "text"}),
            json!({"id": 5, "error": "text"}),
            json!({"id": {"a": 1}, "result": [1]}),
        ] {
            messages.push((Side::Agent, odd.clone()));
            messages.push((Side::Server, odd));
        }
        for number in 0..2 * MOST_OPEN {
            messages.push((
                Side::Agent,
                json!({"id": format!("open-{number}"), "method": "ping"}),
            ));
        }
        messages.push(call(&json!(100), "look"));
        messages.push(answer(&json!(100), false));
        let (_, record) = read(&messages);
        assert_eq!(record.figures.tools["look"].calls, 1);
    }

    fn call(id: &Value, tool: &str) -> (Side, Value) {
        let params = json!({"name": tool, "arguments": {"word": "a"}});
        (
            Side::Agent,
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}),
        )
    }

    fn answer(id: &Value, is_error: bool) -> (Side, Value) {
        let result = json!({"content": [{"type": "text", "text": "so"}], "isError": is_error});
        (Side::Server, json!({"id": id, "result": result}))
    }

    fn hello() -> [(Side, Value); 4] {
        let tools = json!([
            {"name": "look", "description": "Looks.", "inputSchema": {"type": "object"}},
            {"name": "idle", "description": "x".repeat(400)},
        ]);
        [
            (Side::Agent, json!({"id": 0, "method": "initialize"})),
            (
                Side::Server,
                json!({"id": 0, "result": {"serverInfo": {"name": "docs", "version": "1"}}}),
            ),
            (Side::Agent, json!({"id": "l", "method": "tools/list"})),
            (Side::Server, json!({"id": "l", "result": {"tools": tools}})),
        ]
    }

    #[test]
    fn calls_find_their_answers_in_any_order() {
        let mut messages = hello().to_vec();
        messages.extend([
            call(&json!(1), "look"),
            call(&json!("1"), "look"),
            // A request of the server's own, with an id that the agent uses too.
            (Side::Server, json!({"id": 1, "method": "roots/list"})),
            answer(&json!("1"), true),
            answer(&json!(1), false),
            answer(&json!(77), false),
            call(&json!(2), "look"),
            (
                Side::Server,
                json!({"id": 2, "error": {"code": -1, "message": "no"}}),
            ),
        ]);
        let (conversation, mut record) = read(&messages);
        record.now_ms = 20_000;
        conversation.finish(Some(Exit::Code(0)), false, &mut record);
        let tap = record.figures;
        assert_eq!((tap.starts, tap.connected), (1, 1));
        assert_eq!(tap.deaths, [""; 0]);
        let look = &tap.tools["look"];
        assert_eq!((look.calls, look.errors, look.unanswered), (3, 2, 0));
        assert_eq!(look.durations_ms, [2000, 4000, 1000]);
        assert_eq!(look.estimated_tokens, Some(8));
        let idle = &tap.tools["idle"];
        assert_eq!((idle.calls, idle.estimated_tokens), (0, Some(102)));
    }

    #[test]
    fn a_call_of_a_server_that_dies_is_an_error_and_one_of_a_killed_agent_is_not() {
        let mut messages = hello().to_vec();
        messages.push(call(&json!(1), "look"));
        for (by_itself, errors, unanswered, deaths) in
            [(true, 1, 0, vec!["exit status 4"]), (false, 0, 1, vec![])]
        {
            let (conversation, mut record) = read(&messages);
            record.now_ms = 9000;
            conversation.finish(Some(Exit::Code(4)), by_itself, &mut record);
            let tap = record.figures;
            let look = &tap.tools["look"];
            assert_eq!((look.errors, look.unanswered), (errors, unanswered));
            assert_eq!(tap.deaths, deaths);
        }
    }

    #[test]
    fn a_withdrawn_call_is_no_error() {
        let mut messages = hello().to_vec();
        messages.push(call(&json!(1), "look"));
        let params = json!({"requestId": 1});
        messages.push((
            Side::Agent,
            json!({"method": "notifications/cancelled", "params": params}),
        ));
        let (conversation, mut record) = read(&messages);
        record.now_ms = 9000;
        conversation.finish(None, true, &mut record);
        let look = &record.figures.tools["look"];
        assert_eq!((look.calls, look.errors, look.unanswered), (1, 0, 1));
    }

    #[test]
    fn what_is_not_the_protocol_is_bounded() {
        let mut record = ServerRecord::default();
        let mut conversation = Conversation::begin(&mut record);
        for text in ["garbage", "\u{fffd}\u{fffd}", "[]", "12", "", "{"] {
            conversation.line(Side::Server, whole(text), &[], &mut record);
        }
        assert_eq!(record.figures.lines_not_protocol, 4);
        let text = "x".repeat(10_000);
        for _ in 0..1000 {
            conversation.line(Side::Server, too_long(&text), &[], &mut record);
        }
        assert_eq!(record.events.len(), 22);
        assert!(serde_json::to_string(&record.events).unwrap().len() < 20_000);
    }

    #[test]
    fn long_values_are_cut_and_answers_that_are_too_long_are_counted() {
        let mut messages = hello().to_vec();
        let text = json!([{"type": "text", "text": "y".repeat(100_000)}]);
        messages.push(call(&json!(1), "look"));
        messages.push((Side::Server, json!({"id": 1, "result": {"content": text}})));
        messages.push(call(&json!(2), "look"));
        let (mut conversation, mut record) = read(&messages);
        // The end of what is held may be the first half of a key, which has no mask.
        let text = format!("{{\"result\":{{\"content\":[{}sk-half", "z".repeat(20_000));
        conversation.line(Side::Server, too_long(&text), &[], &mut record);
        let look = &record.figures.tools["look"];
        assert_eq!((look.calls, look.errors), (2, 0));
        let text = serde_json::to_string(&record.events).unwrap();
        assert!(text.len() < 40_000 && !text.contains("sk-half"));
    }

    #[test]
    fn a_transcript_gets_the_calls_with_their_answers() {
        let mut messages = hello().to_vec();
        messages.extend([call(&json!(1), "look"), answer(&json!(1), true)]);
        let (_, record) = read(&messages);
        let steps: Vec<Step> = steps("docs", &record.events)
            .into_iter()
            .map(|record| record.step)
            .collect();
        assert_eq!(steps.len(), 3);
        assert!(
            matches!(&steps[1], Step::ToolCall { server: Some(server), tool, .. } if server == "docs" && tool == "look")
        );
        assert!(
            matches!(&steps[2], Step::ToolResult { ok: false, output: Some(text), .. } if text == "so")
        );
        assert_eq!(super::super::steps("docs", &[]), []);
    }
}
