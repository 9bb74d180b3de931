use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::agent::playback;
use crate::agent::{Decoder, Ending, Line, Reading, Skippable, find};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage};
use crate::trial_error::ErrorKind;

/// A decoder of the agent of this name, with a server `tiny`.
fn decoder(name: &str) -> Decoder {
    let servers = playback::servers();
    find(name)
        .unwrap()
        .decoder(&playback::inputs(&servers, None, &BTreeSet::new()))
}

fn read(events: &[Value], exit: Exit) -> (Vec<Record>, Reading) {
    let mut decoder = decoder("acp");
    let mut records = Vec::new();
    for event in events {
        records.extend(decoder.stdout(Line::Text(&event.to_string())));
    }
    let mut reading = decoder.finish(exit);
    records.append(&mut reading.records);
    (records, reading)
}

fn update(update: &Value) -> Value {
    json!({ "type": "update", "of": update["sessionUpdate"], "time": 0, "update": update })
}

fn end(reason: &str) -> Value {
    json!({ "type": "end", "time": 0, "stopReason": reason, "usage": null, "meta": null })
}

#[test]
fn a_recorded_session_of_gemini_cli() {
    let stream = decoder("acp:gemini-cli");
    let (records, reading) = playback::play(stream, "acp-gemini-fib.jsonl", &[], Exit::Code(0));
    assert_eq!(reading.ending, Ending::Completed);
    assert_eq!(reading.version.as_deref(), Some("0.61.0"));
    assert_eq!(reading.model, None, "the session only repeats the request");
    let tools = records.iter().filter_map(|record| match &record.step {
        Step::ToolCall { tool, input, .. } => Some((tool.as_str(), input.clone())),
        _ => None,
    });
    let command = "cat fib.txt; env; git rev-parse --show-toplevel || true";
    let expected = [
        (
            "write_file",
            json!({ "title": "Writing to fib.txt", "path": "/room/workspace/fib.txt" }),
        ),
        ("run_shell_command", json!({ "command": command })),
    ];
    assert_eq!(tools.collect::<Vec<_>>(), expected);
    let written = records.iter().find_map(|record| match &record.step {
        Step::ToolResult { output, .. } => output.clone(),
        _ => None,
    });
    let diff = "/room/workspace/fib.txt\n+0 1 1 2 3 5 8";
    assert_eq!(written.as_deref(), Some(diff));
    let usage = Usage {
        tool_calls: Some(2),
        ..Usage::default()
    };
    assert_eq!(reading.usage, usage, "without its session file");
}

#[test]
fn a_recorded_session_of_qwen_code() {
    let stream = decoder("acp:qwen-code");
    let (records, reading) = playback::play(stream, "acp-qwen-fib.jsonl", &[], Exit::Code(0));
    assert_eq!(reading.ending, Ending::Completed);
    assert_eq!(reading.notes, [""; 0]);
    let tools = records.iter().filter_map(|record| match &record.step {
        Step::ToolCall { tool, input, .. } => Some((tool.as_str(), input["command"].clone())),
        _ => None,
    });
    let command = json!("cat fib.txt; env; git rev-parse --show-toplevel || true");
    let expected = [("write_file", Value::Null), ("run_shell_command", command)];
    assert_eq!(tools.collect::<Vec<_>>(), expected);
}

#[test]
fn the_session_file_of_a_known_agent_has_its_figures() {
    let mut stream = decoder("acp:gemini-cli");
    let tokens = r#"{"id":"1","type":"gemini","tokens":{"input":1000,"output":50,"cached":10,"thoughts":1,"tool":0,"total":1051}}"#;
    stream.side_line("session.jsonl", tokens);
    let (_, reading) = playback::play(stream, "acp-gemini-fib.jsonl", &[], Exit::Code(0));
    assert_eq!(reading.usage.requests, Some(1));
    assert_eq!(reading.usage.cached_input_tokens, Some(10));
}

#[test]
fn calls_of_a_server_are_known() {
    let stream = decoder("acp:gemini-cli");
    let (records, _) = playback::play(stream, "acp-gemini-mcp.jsonl", &[], Exit::Code(0));
    let called = records.iter().find_map(|record| match &record.step {
        Step::ToolCall {
            server,
            server_tool,
            ..
        } => Some((server.clone()?, server_tool.clone()?)),
        _ => None,
    });
    assert_eq!(called, Some(("tiny".to_owned(), "magic".to_owned())));
    for name in ["mcp__tiny__magic", "tiny__magic", "mcp_tiny_magic"] {
        let meta = json!({ "vendor": { "toolName": name } });
        let call =
            json!({ "sessionUpdate": "tool_call", "toolCallId": "1", "title": "x", "_meta": meta });
        let (records, _) = read(&[update(&call), end("end_turn")], Exit::Code(0));
        assert!(
            matches!(&records[0].step, Step::ToolCall { server: Some(server), .. } if server == "tiny"),
            "{name}"
        );
    }
}

#[test]
fn a_call_waits_for_its_arguments_and_for_nothing_else() {
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "1", "title": "a", "kind": "edit", "status": "pending" });
    let arguments = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "1", "title": null, "rawInput": { "path": "p" } });
    let words = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "w" } });
    let done =
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed" });
    let inputs = |events: &[&Value]| {
        let events: Vec<Value> = events.iter().map(|event| update(event)).collect();
        let (records, reading) = read(&events, Exit::Code(0));
        assert_eq!(reading.usage.tool_calls, Some(1));
        let mut kinds = Vec::new();
        for record in records {
            kinds.push(match record.step {
                Step::ToolCall { input, .. } => input,
                Step::ToolResult { ok, .. } => json!(ok),
                _ => Value::Null,
            });
        }
        json!(kinds)
    };
    let unknown = json!({ "title": "a" });
    assert_eq!(
        inputs(&[&call, &arguments, &done]),
        json!([{ "path": "p" }, true])
    );
    assert_eq!(
        inputs(&[&call, &words, &done]),
        json!([unknown, null, true])
    );
    assert_eq!(inputs(&[&call]), json!([unknown]));
    assert_eq!(
        inputs(&[&call, &done, &done]),
        json!([unknown, true]),
        "one result"
    );
    assert_eq!(inputs(&[&done]), json!([{}, true]), "never announced");
    let other = json!({ "sessionUpdate": "tool_call", "toolCallId": "2", "title": "b" });
    let events = [&call, &other, &arguments, &done].map(update);
    let (records, _) = read(&events, Exit::Code(0));
    let first = &records[0].step;
    assert!(
        matches!(first, Step::ToolCall { input, .. } if input["path"] == "p"),
        "calls that are announced together: {first:?}"
    );
}

#[test]
fn reasons_and_errors_have_their_endings() {
    let failed = |stage: &str, code: Value, message: &str, exit: Value| json!({ "type": "failed", "time": 0, "stage": stage, "code": code, "kind": null, "message": message, "exit": exit });
    let none = Value::Null;
    for (event, kind) in [
        (end("end_turn"), None),
        (end("refusal"), None),
        (end("cancelled"), Some(ErrorKind::Agent)),
        (end(""), Some(ErrorKind::Agent)),
        (
            failed("session", json!(-32000), "sign in", none.clone()),
            Some(ErrorKind::Auth),
        ),
        (
            failed("prompt", json!(429), "x", none.clone()),
            Some(ErrorKind::RateLimit),
        ),
        (
            failed("prompt", json!(503), "x", none.clone()),
            Some(ErrorKind::ModelApi),
        ),
        (
            failed("prompt", json!(-32603), "fetch failed", none.clone()),
            Some(ErrorKind::ModelApi),
        ),
        (
            failed("prompt", json!(99999999), "x", none.clone()),
            Some(ErrorKind::Agent),
        ),
        (
            failed("model", json!(-32602), "x", none.clone()),
            Some(ErrorKind::Model),
        ),
        (
            failed("initialize", none.clone(), "x", json!({ "code": 127 })),
            Some(ErrorKind::AgentMissing),
        ),
        (
            failed("prompt", none, "x", json!({ "code": 127 })),
            Some(ErrorKind::Agent),
        ),
        (json!({ "type": "news" }), Some(ErrorKind::Agent)),
    ] {
        let (_, reading) = read(std::slice::from_ref(&event), Exit::Code(1));
        assert_eq!(playback::kind(&reading.ending), kind, "{event}");
    }
}

#[test]
fn floods_of_words_are_skippable_and_nothing_else_is() {
    let decoder = decoder("acp");
    let line = |of: &str| {
        let event = json!({ "type": "update", "of": of, "time": 7, "update": {} });
        decoder.skippable(event.to_string().as_bytes())
    };
    assert_eq!(line("agent_message_chunk"), Some(Skippable::Words));
    assert_eq!(line("agent_thought_chunk"), Some(Skippable::Words));
    for of in [
        "tool_call", "tool_call_update", "plan", "agent_message_chunk_end",
    ] {
        assert_eq!(line(of), None, "{of}");
    }
}

#[test]
fn words_that_come_in_pieces_are_one_step() {
    let chunk = |text: &str| {
        let content = json!({ "type": "text", "text": text });
        update(&json!({ "sessionUpdate": "agent_message_chunk", "content": content }))
    };
    let (records, _) = read(&[chunk("a"), chunk("b"), end("end_turn")], Exit::Code(0));
    let said = Step::Message {
        role: Role::Assistant,
        text: "ab".to_owned(),
    };
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].step, said);
}

#[test]
fn a_prompt_is_no_command_of_the_agent() {
    let variables = BTreeSet::new();
    for (name, prompt, stdin) in [
        ("acp:codex", "/a b", Stdin::Text("\n/a b".to_owned())),
        // It leaves out an empty line, and says nothing of a command that it does not know.
        (
            "acp:opencode",
            "/a b",
            Stdin::Text("Task:\n/a b".to_owned()),
        ),
        ("acp:opencode", "a / b", Stdin::Prompt),
    ] {
        let inputs = Inputs {
            prompt,
            ..playback::inputs(&[], None, &variables)
        };
        assert_eq!(
            find(name).unwrap().invocation(&inputs).stdin,
            stdin,
            "{name}"
        );
    }
}

#[test]
fn it_is_given_what_the_variant_has() {
    let variables = BTreeSet::new();
    let servers = playback::servers();
    let inputs = Inputs {
        model: Some("m"),
        command: Some("./agent --acp"),
        ..playback::inputs(&servers, None, &variables)
    };
    insta::assert_snapshot!(playback::shown(&invocation(&inputs)));
    for agent in KNOWN {
        let name = agent.profile.name;
        let started = agent.invocation(&inputs);
        insta::assert_snapshot!(name.replace(':', "-"), playback::shown(&started));
    }
}
