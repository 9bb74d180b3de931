//! A session as an ATIF document (Agent Trajectory Interchange Format, v1.7), for tools that read those.
//!
//! ATIF counts turns, not events: what the agent said, thought and called until the results came back is one
//! step, and the results are that step's observation.

use serde_json::{Map, Value, json};

use crate::transcript::{Record, Role, Step, Usage};

pub const SCHEMA_VERSION: &str = "ATIF-v1.7";

/// What the document says beside the steps.
#[derive(Debug)]
pub struct About<'a> {
    pub session_id: &'a str,
    pub agent: &'a str,
    pub agent_version: Option<&'a str>,
    pub model: Option<&'a str>,
    pub usage: &'a Usage,
}

pub fn trajectory(records: &[Record], about: &About<'_>) -> Value {
    let mut steps: Vec<Turn> = Vec::new();
    for record in records {
        add(&mut steps, record);
    }
    let steps: Vec<Value> = steps.into_iter().zip(1..).map(|(turn, id)| turn.document(id)).collect();
    let Usage { input_tokens, cached_input_tokens, output_tokens, cost_usd, .. } = about.usage;
    json!({
        "schema_version": SCHEMA_VERSION,
        "session_id": about.session_id,
        "agent": known(json!({
            "name": about.agent,
            // The format wants one.
            "version": about.agent_version.unwrap_or("unknown"),
            "model_name": about.model,
        })),
        "final_metrics": known(json!({
            "total_prompt_tokens": input_tokens,
            "total_completion_tokens": output_tokens,
            "total_cached_tokens": cached_input_tokens,
            "total_cost_usd": cost_usd,
            "total_steps": steps.len(),
        })),
        "steps": steps,
    })
}

/// An object without what is not known.
fn known(document: Value) -> Value {
    match document {
        Value::Object(entries) => entries.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        other => other,
    }
}

/// A step in the making.
#[derive(Debug)]
struct Turn {
    source: &'static str,
    time: Option<String>,
    message: String,
    reasoning: String,
    calls: Vec<Value>,
    results: Vec<Value>,
    usage: Option<Usage>,
}

impl Turn {
    fn new(source: &'static str, time: Option<&String>) -> Self {
        Turn {
            source,
            time: time.cloned(),
            message: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            results: Vec::new(),
            usage: None,
        }
    }

    fn has_call(&self, id: &str) -> bool {
        self.calls.iter().any(|call| call["tool_call_id"] == id)
    }

    fn document(self, id: usize) -> Value {
        let mut document = Map::new();
        let mut set = |key: &str, value: Value| document.insert(key.to_owned(), value);
        set("step_id", id.into());
        if let Some(time) = self.time {
            set("timestamp", time.into());
        }
        set("source", self.source.into());
        set("message", self.message.into());
        if !self.reasoning.is_empty() {
            set("reasoning_content", self.reasoning.into());
        }
        if !self.calls.is_empty() {
            set("tool_calls", self.calls.into());
        }
        if !self.results.is_empty() {
            set("observation", json!({ "results": self.results }));
        }
        if let Some(usage) = self.usage {
            let metrics = json!({
                "prompt_tokens": usage.input_tokens,
                "completion_tokens": usage.output_tokens,
                "cached_tokens": usage.cached_input_tokens,
                "cost_usd": usage.cost_usd,
            });
            set("metrics", known(metrics));
        }
        Value::Object(document)
    }
}

fn add(turns: &mut Vec<Turn>, record: &Record) {
    let time = record.time.as_ref();
    match &record.step {
        Step::Message { role: Role::User, text } => say(turns, "user", time, text),
        Step::Message { role: Role::Assistant, text } => join(&mut speaking(turns, time).message, text),
        Step::Reasoning { text } => join(&mut speaking(turns, time).reasoning, text),
        Step::ToolCall { id, tool, input, .. } => {
            let turn = acting(turns, time);
            let id = id.clone().unwrap_or_else(|| format!("call_{}", record.line));
            let arguments = if input.is_object() { input.clone() } else { json!({ "input": input }) };
            turn.calls.push(json!({ "tool_call_id": id, "function_name": tool, "arguments": arguments }));
        }
        Step::ToolResult { id, output, .. } => {
            let known = id.as_ref().and_then(|id| turns.iter_mut().rev().find(|turn| turn.has_call(id)));
            let content = output.clone().unwrap_or_default();
            match known {
                Some(turn) => turn.results.push(json!({ "source_call_id": id, "content": content })),
                None => acting(turns, time).results.push(json!({ "content": content })),
            }
        }
        Step::Usage { usage } => acting(turns, time).usage = Some(*usage),
        Step::Notice { text } | Step::Error { text } => say(turns, "system", time, text),
        Step::Omitted { .. } => say(turns, "system", time, &record.step.headline()),
    }
}

fn say(turns: &mut Vec<Turn>, source: &'static str, time: Option<&String>, text: &str) {
    turns.push(Turn { message: text.to_owned(), ..Turn::new(source, time) });
}

/// The agent's turn, if it has called nothing yet; else a new one.
fn speaking<'a>(turns: &'a mut Vec<Turn>, time: Option<&String>) -> &'a mut Turn {
    let goes_on = turns.last().is_some_and(|turn| turn.source == "agent" && turn.calls.is_empty());
    last_or_new(turns, goes_on, time)
}

/// The agent's turn, if no result has come back yet; else a new one.
fn acting<'a>(turns: &'a mut Vec<Turn>, time: Option<&String>) -> &'a mut Turn {
    let goes_on = turns.last().is_some_and(|turn| turn.source == "agent" && turn.results.is_empty());
    last_or_new(turns, goes_on, time)
}

fn last_or_new<'a>(turns: &'a mut Vec<Turn>, goes_on: bool, time: Option<&String>) -> &'a mut Turn {
    if !goes_on {
        turns.push(Turn::new("agent", time));
    }
    let last = turns.len() - 1;
    &mut turns[last]
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(line: u64, step: Step) -> Record {
        Record { time: None, line, step }
    }

    fn call(id: &str, tool: &str) -> Step {
        Step::ToolCall { id: Some(id.into()), tool: tool.into(), input: json!({ "path": "a" }), server: None }
    }

    fn result(id: &str) -> Step {
        Step::ToolResult { id: Some(id.into()), ok: true, output: Some(format!("result of {id}")) }
    }

    #[test]
    fn a_turn_is_what_was_said_called_and_answered() {
        let text = |role, text: &str| Step::Message { role, text: text.into() };
        let steps = [
            text(Role::User, "do it"),
            Step::Reasoning { text: "first".into() },
            text(Role::Assistant, "Writing."),
            call("c1", "write_file"),
            call("c2", "run"),
            result("c1"),
            result("c2"),
            text(Role::Assistant, "Done."),
        ];
        let records: Vec<Record> =
            steps.into_iter().zip(1..).map(|(step, line)| record(line, step)).collect();
        let usage = Usage { input_tokens: Some(3300), output_tokens: Some(174), ..Usage::default() };
        let about = About {
            session_id: "s",
            agent: "gemini-cli",
            agent_version: Some("0.61.0"),
            model: Some("m"),
            usage: &usage,
        };
        insta::assert_snapshot!(format!("{:#}", trajectory(&records, &about)));
    }

    #[test]
    fn every_observation_names_a_call_of_its_own_step() {
        let steps = [
            call("c1", "a"),
            result("c1"),
            call("c2", "b"),
            result("c2"),
            result("lost"),
            Step::Notice { text: "n".into() },
        ];
        let records: Vec<Record> =
            steps.into_iter().zip(1..).map(|(step, line)| record(line, step)).collect();
        let usage = Usage::default();
        let about = About { session_id: "s", agent: "a", agent_version: None, model: None, usage: &usage };
        let document = trajectory(&records, &about);
        for step in document["steps"].as_array().unwrap() {
            let calls: Vec<&Value> = step["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| &call["tool_call_id"])
                .collect();
            for result in step["observation"]["results"].as_array().into_iter().flatten() {
                assert!(
                    result["source_call_id"].is_null() || calls.contains(&&result["source_call_id"]),
                    "{step}"
                );
            }
        }
        assert_eq!(document["final_metrics"], json!({ "total_steps": 4 }), "what is not known is left out");
    }
}
