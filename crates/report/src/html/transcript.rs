//! The agent's session: what it said, and its tool calls, folded, each with its result.

use std::collections::{HashMap, HashSet};

use maud::{Markup, html};
use serde_json::Value;
use terca_core::text::prose;
use terca_core::transcript::trial_files::Session;
use terca_core::transcript::{Record, Role, Step};

use super::fit::{fit, note};
use super::foreign::{clean, preformatted};
use super::pieces::pill;

/// Texts with more lines or characters than this are folded.
const MOST_LINES: usize = 16;
const MOST_CHARACTERS: usize = 1_600;

/// The success and the output of a tool call.
type CallResult<'a> = (bool, Option<&'a str>);

/// Returns a session in so many bytes of markup.
pub fn transcript(session: &Session, room: usize) -> Markup {
    let remark = |number: usize| {
        format!(
            "… {} left out; see transcript.jsonl …",
            prose::count(number, "step")
        )
    };
    let mut parts = steps(&session.head);
    if session.left_out > 0 {
        parts.push(note(&remark(session.left_out)));
    }
    parts.extend(steps(&session.tail));
    html! { div.session { (fit(&parts, room, remark)) } }
}

/// Returns the steps. A result is shown with its call, if that is there.
fn steps(records: &[Record]) -> Vec<Markup> {
    let mut results: HashMap<&str, CallResult<'_>> = HashMap::new();
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

fn step(record: &Record, results: &HashMap<&str, CallResult<'_>>) -> Option<Markup> {
    let time = record.time.as_deref();
    let markup = match &record.step {
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
            ..
        } => {
            let result = id.as_deref().and_then(|id| results.get(id)).copied();
            call(record, tool, input, server.as_deref(), result)
        }
        Step::ToolResult { id: Some(id), .. } if results.contains_key(id.as_str()) => return None,
        Step::ToolResult { ok, output, .. } => {
            let text = output.as_deref().unwrap_or("(nothing)");
            match ok {
                true => said("result", "Result", text, time),
                false => said("trouble", "Failed", text, time),
            }
        }
        Step::Usage { .. } => return None,
    };
    Some(markup)
}

fn said(class: &str, title: &str, text: &str, time: Option<&str>) -> Markup {
    html! {
        div class={ "step " (class) } {
            p.who { (title) @if let Some(time) = time { time { (clean(time)) } } }
            (folded(text))
        }
    }
}

fn call(
    record: &Record,
    tool: &str,
    input: &Value,
    server: Option<&str>,
    result: Option<CallResult<'_>>,
) -> Markup {
    let headline = record.step.headline();
    let brief = headline.strip_prefix(tool).unwrap_or(&headline).trim();
    let output = result.and_then(|(_, output)| output).unwrap_or_default();
    html! {
        details.step.tool {
            summary {
                b { (clean(tool)) }
                @if let Some(server) = server { span.pill { "MCP " (clean(server)) } }
                " "
                code.brief { (clean(brief)) }
                @match result {
                    Some((true, _)) => {},
                    Some((false, _)) => (pill("failed", "failed")),
                    None => span.pill { "no result" },
                }
            }
            p.who { "Input" }
            (folded(&pretty(input)))
            @if !output.is_empty() {
                div {
                    p.who { "Output" }
                    (folded(output))
                }
            }
        }
    }
}

/// Returns arguments as people write them: text as it is, the rest as JSON.
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

/// Returns a short text as it is, and a long one folded behind its beginning.
pub fn folded(text: &str) -> Markup {
    let text = text.trim_matches('\n');
    let lines = text.lines().count();
    let characters = text.chars().count();
    if lines <= MOST_LINES && characters <= MOST_CHARACTERS {
        return preformatted(text);
    }
    let first_line = text.lines().next().unwrap_or_default();
    let beginning: String = first_line.chars().take(80).collect();
    let size = if lines > MOST_LINES {
        prose::count(lines, "line")
    } else {
        format!("{} characters", prose::compact(characters as u64))
    };
    html! {
        details.fold {
            summary {
                code { (clean(&beginning)) " …" }
                span.quiet { " " (size) }
            }
            (preformatted(text))
        }
    }
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
        insta::assert_snapshot!("html_transcript", html.0.replace("><", ">\n<"));
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
        assert!(html.0.len() < 6_300, "{}", html.0.len());
        assert!(html.0.contains("left out; see transcript.jsonl"));
    }
}
