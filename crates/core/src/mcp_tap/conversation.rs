//! Reads the messages between an agent and an MCP server: JSON-RPC, one message a line.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{CallEnd, LONGEST_NAME, OfferedTool, TapEvent, TapEventKind, ToolCall};
use crate::process::Exit;
use crate::text::excerpt::{beginning, without_middle};

/// The most requests that may be open at once.
const MOST_OPEN: usize = 1000;
/// The longest arguments, and the longest answer, in bytes.
const LONGEST_TEXT: usize = 16 * 1024;
/// The most lines that are not the protocol, of one start.
const MOST_OTHER_LINES: usize = 20;

/// The two sides of the tap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Side {
    /// The agent.
    Agent,
    /// The server.
    Server,
}

/// A line of one side.
#[derive(Debug, Clone, Copy)]
pub enum TapLine<'a> {
    /// A whole line, without its end.
    Whole(&'a str),
    /// A line that is too long to hold.
    TooLong {
        /// The first bytes of the line.
        beginning: &'a str,
        /// The length of the line.
        bytes: u64,
    },
}

/// Reads the talk with a server from its start to its end.
#[derive(Debug)]
pub struct Conversation {
    start: u32,
    open: Vec<Open>,
    other_lines: usize,
}

/// A request of the agent's without an answer.
#[derive(Debug)]
struct Open {
    id: Value,
    at_ms: u64,
    asked: Asked,
}

#[derive(Debug)]
enum Asked {
    Initialize,
    ListTools,
    Call { tool: String, arguments: Value },
    Other(String),
}

impl Conversation {
    /// Begins to read the talk with a server after its start of this number.
    pub fn new(start: u32) -> Self {
        Conversation {
            start,
            open: Vec::new(),
            other_lines: 0,
        }
    }

    pub(super) fn event(&self, at_ms: u64, kind: TapEventKind) -> TapEvent {
        TapEvent {
            at_ms,
            start: self.start,
            kind,
        }
    }

    /// Returns the first event.
    pub fn started(&self, at_ms: u64) -> TapEvent {
        self.event(at_ms, TapEventKind::Started)
    }

    /// Reads a line. Keys in it must be masked.
    pub fn line(&mut self, from: Side, at_ms: u64, line: TapLine<'_>) -> Vec<TapEvent> {
        let text = match line {
            TapLine::Whole(text) => text,
            TapLine::TooLong { beginning, bytes } => {
                return self.too_long(from, at_ms, beginning, bytes);
            }
        };
        if text.trim().is_empty() {
            return Vec::new();
        }
        match messages_of(text) {
            Some(messages) => messages
                .iter()
                .filter_map(|message| self.message(from, at_ms, message))
                .collect(),
            None => self.other(from, at_ms, text, text.len() as u64),
        }
    }

    /// Reads a line that is too long to hold. It is the answer to the only open request, if there is just one.
    fn too_long(&mut self, from: Side, at_ms: u64, head: &str, bytes: u64) -> Vec<TapEvent> {
        let looks_like_message = head.trim_start().starts_with('{');
        if from == Side::Server
            && looks_like_message
            && let [open] = self.open.as_slice()
        {
            let id = open.id.clone();
            return self.long_answer(&id, at_ms, head);
        }
        self.other(from, at_ms, head, bytes)
    }

    /// Reads the beginning of an answer that is too long to hold.
    pub(super) fn long_answer(&mut self, id: &Value, at_ms: u64, head: &str) -> Vec<TapEvent> {
        let open = self.take_open(id);
        let is_error = head.contains("\"isError\":true") || head.contains("\"error\":{");
        let result = Value::String(without_middle(head, LONGEST_TEXT));
        open.map(|open| self.answered(open, at_ms, result, is_error))
            .into_iter()
            .collect()
    }

    /// Returns whether a request has no answer yet.
    pub(super) fn is_open(&self, id: &Value) -> bool {
        self.open.iter().any(|open| open.id == *id)
    }

    /// Reads the refusal of these requests by something else than an answer.
    pub(super) fn refused(&mut self, ids: &[Value], at_ms: u64, reason: &str) -> Vec<TapEvent> {
        let mut events = Vec::new();
        for id in ids {
            if let Some(open) = self.take_open(id) {
                let error = json!({"message": reason});
                events.push(self.answered(open, at_ms, error, true));
            }
        }
        events
    }

    /// Reads that the first request could not even be made.
    pub(super) fn not_begun(&self, at_ms: u64, reason: &str) -> TapEvent {
        let asked = Asked::Initialize;
        let id = Value::Null;
        let error = json!({"message": reason});
        self.answered(Open { id, at_ms, asked }, at_ms, error, true)
    }

    /// Reads that the server is gone, so that no open request will have an answer.
    pub(super) fn lost(&mut self, at_ms: u64, reason: &str) -> Vec<TapEvent> {
        let mut events = Vec::new();
        for open in std::mem::take(&mut self.open) {
            events.push(match open.asked {
                Asked::Initialize => self.answered(open, at_ms, json!({"message": reason}), true),
                _ => self.unanswered(open, at_ms, CallEnd::ServerEnded),
            });
        }
        events
    }

    fn other(&mut self, from: Side, at_ms: u64, text: &str, bytes: u64) -> Vec<TapEvent> {
        self.other_lines += 1;
        if self.other_lines > MOST_OTHER_LINES {
            let is_first = self.other_lines == MOST_OTHER_LINES + 1;
            return is_first
                .then(|| self.event(at_ms, TapEventKind::LeftOut))
                .into_iter()
                .collect();
        }
        let text = beginning(text, LONGEST_NAME);
        vec![self.event(at_ms, TapEventKind::NotProtocol { from, text, bytes })]
    }

    pub(super) fn message(&mut self, from: Side, at_ms: u64, message: &Value) -> Option<TapEvent> {
        match from {
            Side::Agent => self.read_agent(at_ms, message),
            Side::Server => self.read_server(at_ms, message),
        }
    }

    fn read_agent(&mut self, at_ms: u64, message: &Value) -> Option<TapEvent> {
        let method = message["method"].as_str()?.to_owned();
        if method == "notifications/cancelled" {
            let id = message["params"]["requestId"].clone();
            let open = self.take_open(&id)?;
            return Some(self.unanswered(open, at_ms, CallEnd::Unanswered));
        }
        let id = message["id"].clone();
        if id.is_null() {
            return None;
        }
        let asked = match method.as_str() {
            "initialize" => Asked::Initialize,
            "tools/list" => Asked::ListTools,
            "tools/call" => Asked::Call {
                tool: beginning(
                    message["params"]["name"].as_str().unwrap_or_default(),
                    LONGEST_NAME,
                ),
                arguments: short(message["params"]["arguments"].clone()),
            },
            other => Asked::Other(beginning(other, LONGEST_NAME)),
        };
        // Nobody waits for the answer to the oldest of so many any more.
        let is_full = self.open.len() >= MOST_OPEN;
        let oldest = is_full.then(|| self.open.remove(0));
        self.open.push(Open { id, at_ms, asked });
        oldest.map(|oldest| self.unanswered(oldest, at_ms, CallEnd::Unanswered))
    }

    fn read_server(&mut self, at_ms: u64, message: &Value) -> Option<TapEvent> {
        // A request of the server's own has an id too.
        if message.get("method").is_some() {
            return None;
        }
        let open = self.take_open(&message["id"])?;
        let error = &message["error"];
        if !error.is_null() {
            return Some(self.answered(open, at_ms, error.clone(), true));
        }
        let result = &message["result"];
        let is_error = result["isError"] == true;
        Some(self.answered(open, at_ms, result.clone(), is_error))
    }

    fn take_open(&mut self, id: &Value) -> Option<Open> {
        let index = self.open.iter().position(|open| open.id == *id)?;
        Some(self.open.remove(index))
    }

    fn answered(&self, open: Open, at_ms: u64, result: Value, is_error: bool) -> TapEvent {
        let duration_ms = at_ms.saturating_sub(open.at_ms);
        let error = is_error.then(|| words_of(&result));
        let kind = match open.asked {
            Asked::Initialize => TapEventKind::Initialized {
                server: server_name(&result["serverInfo"]),
                error,
                duration_ms,
            },
            Asked::ListTools if error.is_none() => TapEventKind::Tools {
                tools: OfferedTool::list(&result),
            },
            Asked::ListTools => TapEventKind::Request {
                method: "tools/list".to_owned(),
                error,
                duration_ms: Some(duration_ms),
            },
            Asked::Call { tool, arguments } => TapEventKind::Call(Box::new(ToolCall {
                tool,
                arguments,
                result: Some(short(result)),
                end: if is_error {
                    CallEnd::Failed
                } else {
                    CallEnd::Answered
                },
                duration_ms: Some(duration_ms),
            })),
            Asked::Other(method) => TapEventKind::Request {
                method,
                error,
                duration_ms: Some(duration_ms),
            },
        };
        self.event(at_ms, kind)
    }

    fn unanswered(&self, open: Open, at_ms: u64, end: CallEnd) -> TapEvent {
        let kind = match open.asked {
            Asked::Call { tool, arguments } => TapEventKind::Call(Box::new(ToolCall {
                tool,
                arguments,
                result: None,
                end,
                duration_ms: None,
            })),
            asked => TapEventKind::Request {
                method: match asked {
                    Asked::Initialize => "initialize".to_owned(),
                    Asked::Other(method) => method,
                    Asked::ListTools | Asked::Call { .. } => "tools/list".to_owned(),
                },
                error: None,
                duration_ms: None,
            },
        };
        self.event(at_ms, kind)
    }

    /// Reads the end of the server. `exit` is `None` if the tap was ended with it.
    pub fn finish(mut self, at_ms: u64, exit: Option<Exit>, by_itself: bool) -> Vec<TapEvent> {
        let end = if by_itself {
            CallEnd::ServerEnded
        } else {
            CallEnd::Unanswered
        };
        let mut events = Vec::new();
        for open in std::mem::take(&mut self.open) {
            events.push(self.unanswered(open, at_ms, end));
        }
        events.push(self.event(at_ms, TapEventKind::Ended { exit, by_itself }));
        events
    }
}

/// Returns the messages of a text: one, or several in a list. A text that is not the protocol is `None`.
pub(super) fn messages_of(text: &str) -> Option<Vec<Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Array(messages)) => Some(messages),
        Ok(message @ Value::Object(_)) => Some(vec![message]),
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
    use super::super::{ServerTap, steps};
    use super::*;
    use crate::transcript::Step;

    /// Reads messages, a second apart.
    fn read(messages: &[(Side, Value)]) -> (Conversation, Vec<TapEvent>) {
        let mut conversation = Conversation::new(1);
        let mut events = vec![conversation.started(0)];
        for (index, (from, message)) in messages.iter().enumerate() {
            let line = message.to_string();
            events.extend(conversation.line(*from, 1000 * index as u64, TapLine::Whole(&line)));
        }
        (conversation, events)
    }

    #[test]
    fn a_tool_that_is_called_has_a_place_among_many_that_are_not() {
        let mut tools: Vec<Value> = (0..600)
            .map(|number| json!({"name": format!("t{number:04}"), "description": "x".repeat(10)}))
            .collect();
        tools.push(json!({"name": "n".repeat(100_000)}));
        let list = json!({ "tools": tools });
        let (_, events) = read(&[
            (Side::Agent, json!({"id": 1, "method": "tools/list"})),
            (Side::Server, json!({"id": 1, "result": list})),
            call(&json!(2), "t0599"),
            answer(&json!(2), false),
        ]);
        let figures = figures(&events);
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
        let (_, events) = read(&messages);
        assert_eq!(figures(&events).tools["look"].calls, 1);
    }

    fn figures(events: &[TapEvent]) -> ServerTap {
        let mut tap = ServerTap::default();
        for event in events {
            tap.add(event);
        }
        tap
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
        let (conversation, mut events) = read(&messages);
        events.extend(conversation.finish(20_000, Some(Exit::Code(0)), false));
        let tap = figures(&events);
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
            let (conversation, mut events) = read(&messages);
            events.extend(conversation.finish(9000, Some(Exit::Code(4)), by_itself));
            let tap = figures(&events);
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
        let (conversation, mut events) = read(&messages);
        events.extend(conversation.finish(9000, None, true));
        let look = &figures(&events).tools["look"];
        assert_eq!((look.calls, look.errors, look.unanswered), (1, 0, 1));
    }

    #[test]
    fn what_is_not_the_protocol_is_bounded() {
        let mut conversation = Conversation::new(1);
        let mut events = Vec::new();
        for text in ["garbage", "\u{fffd}\u{fffd}", "[]", "12", "", "{"] {
            events.extend(conversation.line(Side::Server, 0, TapLine::Whole(text)));
        }
        assert_eq!(figures(&events).lines_not_protocol, 4);
        let long = TapLine::TooLong {
            beginning: &"x".repeat(10_000),
            bytes: 1 << 30,
        };
        for _ in 0..1000 {
            events.extend(conversation.line(Side::Server, 0, long));
        }
        assert_eq!(events.len(), 21);
        assert!(serde_json::to_string(&events).unwrap().len() < 20_000);
    }

    #[test]
    fn long_values_are_cut_and_answers_that_are_too_long_are_counted() {
        let mut messages = hello().to_vec();
        let text = json!([{"type": "text", "text": "y".repeat(100_000)}]);
        messages.push(call(&json!(1), "look"));
        messages.push((Side::Server, json!({"id": 1, "result": {"content": text}})));
        messages.push(call(&json!(2), "look"));
        let (mut conversation, mut events) = read(&messages);
        events.extend(conversation.line(
            Side::Server,
            9000,
            TapLine::TooLong {
                beginning: "{\"result\":{\"content\":[",
                bytes: 1 << 30,
            },
        ));
        let look = &figures(&events).tools["look"];
        assert_eq!((look.calls, look.errors), (2, 0));
        assert!(serde_json::to_string(&events).unwrap().len() < 20_000);
    }

    #[test]
    fn a_transcript_gets_the_calls_with_their_answers() {
        let mut messages = hello().to_vec();
        messages.extend([call(&json!(1), "look"), answer(&json!(1), true)]);
        let (_, events) = read(&messages);
        let steps: Vec<Step> = steps("docs", &events)
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
