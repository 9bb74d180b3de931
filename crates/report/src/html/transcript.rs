//! The agent's session: what it said, and its tool calls, folded, each with what came back.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use terca_core::text::prose;
use terca_core::transcript::trial_files::Session;
use terca_core::transcript::{Record, Role, Step};

use super::fit::{fit, note};
use super::markup::{Element, Html, el};

/// Texts with more lines or characters than this are folded.
const MOST_LINES: usize = 16;
const MOST_CHARACTERS: usize = 1_600;

/// In so many bytes of markup.
pub fn transcript(session: &Session, room: usize) -> Html {
    let remark = |number: usize| {
        format!(
            "… {} left out here: the whole is in transcript.jsonl …",
            prose::count(number, "step")
        )
    };
    let mut parts = steps(&session.head);
    if session.left_out > 0 {
        parts.push(note(&remark(session.left_out)));
    }
    parts.extend(steps(&session.tail));
    el("div")
        .class("session")
        .child(fit(parts, room, remark))
        .into()
}

/// A result belongs to its call, if that is there.
fn steps(records: &[Record]) -> Vec<Html> {
    let mut results: HashMap<&str, (bool, Option<&str>)> = HashMap::new();
    let mut calls: HashSet<&str> = HashSet::new();
    for record in records {
        match &record.step {
            Step::ToolCall { id: Some(id), .. } => {
                calls.insert(id);
            }
            Step::ToolResult {
                id: Some(id),
                ok,
                output,
            } if calls.contains(id.as_str()) => {
                results.insert(id, (*ok, output.as_deref()));
            }
            _ => {}
        }
    }
    records
        .iter()
        .filter_map(|record| step(record, &results))
        .collect()
}

fn step(record: &Record, results: &HashMap<&str, (bool, Option<&str>)>) -> Option<Html> {
    let time = record.time.as_deref();
    let html: Html = match &record.step {
        Step::Message {
            role: Role::User,
            text,
        } => said("user", "Prompt", text, time),
        Step::Message {
            role: Role::Assistant,
            text,
        } => said("agent", "Agent", text, time),
        Step::Reasoning { text } => said("thought", "Thinking", text, time),
        Step::Notice { text } => said("notice", "Note", text, time),
        Step::Error { text } => said("trouble", "Error", text, time),
        Step::Omitted { .. } => note(&format!(
            "{} from line {} of its raw output",
            record.step.headline(),
            record.line
        )),
        Step::ToolCall {
            id,
            tool,
            input,
            server,
        } => {
            let result = id.as_deref().and_then(|id| results.get(id)).copied();
            call(record, tool, input, server.as_deref(), result)
        }
        Step::ToolResult { id: Some(id), .. } if results.contains_key(id.as_str()) => return None,
        Step::ToolResult { ok, output, .. } => {
            let title = if *ok { "Result" } else { "Failed" };
            said(
                if *ok { "result" } else { "trouble" },
                title,
                output.as_deref().unwrap_or("(nothing)"),
                time,
            )
        }
        Step::Usage { .. } => return None,
    };
    Some(html)
}

fn said(class: &'static str, title: &str, text: &str, time: Option<&str>) -> Html {
    let head = el("p")
        .class("who")
        .text(title)
        .child(time.map(|time| el("time").text(time)));
    el("div")
        .class(format!("step {class}"))
        .child(head)
        .child(folded(text))
        .into()
}

fn call(
    record: &Record,
    tool: &str,
    input: &Value,
    server: Option<&str>,
    result: Option<(bool, Option<&str>)>,
) -> Html {
    let headline = record.step.headline();
    let brief = headline.strip_prefix(tool).unwrap_or(&headline).trim();
    let ending = match result {
        Some((true, _)) => None,
        Some((false, _)) => Some(el("span").class("pill failed").text("failed")),
        None => Some(el("span").class("pill").text("no result")),
    };
    let summary = el("summary")
        .child(el("b").text(tool))
        .child(server.map(|server| el("span").class("pill").text(format!("MCP {server}"))))
        .text(" ")
        .child(el("code").class("brief").text(brief))
        .child(ending);
    let output = result
        .and_then(|(_, output)| output)
        .filter(|output| !output.is_empty());
    let output = output.map(|output| el("div").child(label("Output")).child(folded(output)));
    el("details")
        .class("step tool")
        .child(summary)
        .child(label("Input"))
        .child(folded(&pretty(input)))
        .child(output)
        .into()
}

fn label(text: &str) -> Element {
    el("p").class("who").text(text)
}

/// Arguments as people write them: text as it is, the rest as JSON.
fn pretty(input: &Value) -> String {
    match input {
        Value::String(text) => text.clone(),
        Value::Object(entries) => {
            let line = |(key, value): (&String, &Value)| match value {
                Value::String(text) if text.contains('\n') => format!("{key}:\n{text}"),
                Value::String(text) => format!("{key}: {text}"),
                other => format!("{key}: {other}"),
            };
            entries.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

/// As it is when it is short, else folded behind its beginning.
pub fn folded(text: &str) -> Html {
    let text = text.trim_matches('\n');
    let lines = text.lines().count();
    let characters = text.chars().count();
    if lines <= MOST_LINES && characters <= MOST_CHARACTERS {
        return el("pre").text(text).into();
    }
    let beginning: String = text
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(80)
        .collect();
    let size = if lines > MOST_LINES {
        prose::count(lines, "line")
    } else {
        format!("{} characters", prose::compact(characters as u64))
    };
    let summary = el("summary")
        .child(el("code").text(format!("{beginning} …")))
        .child(el("span").class("quiet").text(format!(" {size}")));
    el("details")
        .class("fold")
        .child(summary)
        .child(el("pre").text(text))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(step: Value) -> Record {
        let mut value = step;
        value["line"] = json!(1);
        serde_json::from_value(value).unwrap()
    }

    fn session() -> Session {
        let head = [
            json!({"type": "message", "role": "user", "text": "Write fib.js"}),
            json!({"type": "reasoning", "text": "Easy."}),
            json!({"type": "toolCall", "id": "a", "tool": "write_file", "input": {"file_path": "fib.js", "content": "a\nb"}}),
            json!({"type": "usage", "usage": {"requests": 1}}),
            json!({"type": "toolCall", "id": "b", "tool": "magic", "server": "tiny", "input": {"n": 1}}),
            json!({"type": "toolResult", "id": "b", "ok": false, "output": "\u{1b}[31mno\u{1b}[0m <img src=x onerror=alert(1)>"}),
            json!({"type": "toolResult", "id": "a", "ok": true, "output": "x\n".repeat(40)}),
            json!({"type": "message", "role": "assistant", "text": "<script>alert('hi')</script>"}),
            json!({"type": "error", "text": "429"}),
        ];
        Session {
            head: head.map(record).to_vec(),
            ..Session::default()
        }
    }

    #[test]
    fn calls_have_their_results() {
        let html = transcript(&session(), 100_000);
        insta::assert_snapshot!("html_transcript", html.as_str().replace("><", ">\n<"));
    }

    #[test]
    fn a_long_one_keeps_to_its_room() {
        let head = std::iter::repeat_n(session().head, 1000)
            .flatten()
            .collect();
        let html = transcript(
            &Session {
                head,
                left_out: 7,
                tail: session().head,
            },
            6_000,
        );
        assert!(html.len() < 6_300, "{}", html.len());
        assert!(
            html.as_str()
                .contains("left out here: the whole is in transcript.jsonl")
        );
    }
}
