//! What the protocols have in common.

use serde_json::Value;

use super::script::Usage;
use super::vocabulary::Call;

/// A protocol: how a request is understood and an answer is put. Nothing here does any I/O.
pub(super) trait Wire: Sync {
    fn view(&self, path: &str, body: &Value) -> View;
    fn reply(&self, reply: &Reply, stream: bool) -> Body;
    fn error(&self, status: u16, message: &str) -> Value;
    /// The body of the 400 for a conversation that is longer than the model can read.
    fn overflow(&self) -> Value;
    /// The answer to a request for a title or the like.
    fn aside(&self) -> &'static str {
        "A title"
    }
}

/// What matters of a request.
#[derive(Debug, Default, PartialEq)]
pub(super) struct View {
    pub(super) model: String,
    /// What the user said, the agent's own additions included.
    pub(super) said: Vec<String>,
    /// How many tool results the conversation holds.
    pub(super) results: usize,
    /// The names of the tools on offer.
    pub(super) tools: Vec<String>,
    /// Asked on the side: a title, a summary, a choice of model.
    pub(super) aside: bool,
    pub(super) stream: bool,
}

/// An answer, in no protocol yet.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) model: String,
    /// Different for every answer of a server, as are the names that are made of it: some agents count answers by them.
    pub(super) number: usize,
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
    pub(super) usage: Usage,
}

impl Reply {
    /// A name for a call that no other has.
    pub(super) fn call_id(&self, index: usize) -> String {
        format!("call_{}_{index}", self.number)
    }
}

#[derive(Debug)]
pub(super) enum Body {
    /// Server-sent events.
    Events(Vec<String>),
    Json(Value),
}

impl Body {
    pub(super) fn event(name: &str, data: &Value) -> String {
        format!("event: {name}\ndata: {data}\n\n")
    }

    pub(super) fn data(data: &Value) -> String {
        format!("data: {data}\n\n")
    }
}

pub(super) fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

pub(super) fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// Content that is one text or a list of parts.
pub(super) fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

/// The events' data, for tests.
#[cfg(test)]
pub(super) fn parsed(body: &Body) -> Vec<Value> {
    let Body::Events(events) = body else {
        panic!("no stream")
    };
    events
        .iter()
        .filter_map(|event| event.split_once("data: "))
        .filter_map(|(_, data)| serde_json::from_str(data).ok())
        .collect()
}

/// A reply of text and two calls, for tests.
#[cfg(test)]
pub(super) fn example() -> Reply {
    use serde_json::json;
    let call = |name: &str, arguments: Value| Call {
        name: name.into(),
        namespace: None,
        arguments,
    };
    Reply {
        model: "m".into(),
        number: 1,
        text: "Hello.".into(),
        calls: vec![
            call("run", json!({"command": "ls"})),
            call("patch", json!("free text")),
        ],
        usage: Usage::of_turn(1),
    }
}
