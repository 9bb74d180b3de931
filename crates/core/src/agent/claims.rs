//! Tests of the claims about sessions, over all adapters: a claim is what happened, or it is not made.

use std::collections::BTreeSet;

use super::playback::{self, inputs, recorded};
use super::{Agent, Decoder, Line, Reading};
use crate::process::Exit;

/// The decoder of a trial that asks for a model.
fn asking_for(agent: &Agent, model: &str) -> Box<dyn Decoder> {
    let variables = BTreeSet::new();
    let mut inputs = inputs(&[], None, &variables);
    inputs.model = Some(model);
    (agent.decoder)(&inputs)
}

/// Reads lines of standard output.
fn read(agent: &Agent, model: &str, stdout: &str) -> Reading {
    let mut decoder = asking_for(agent, model);
    for line in stdout.lines() {
        decoder.stdout(Line::Text(line));
    }
    decoder.finish(Exit::Code(0))
}

#[test]
fn an_agent_that_repeats_the_request_has_seen_no_model() {
    for (agent, recording, label) in [
        (&super::codex::AGENT, "codex-success.jsonl", None),
        (&super::opencode::AGENT, "opencode-fib.jsonl", None),
        (&super::kilo::AGENT, "kilo-fib.jsonl", None),
        (&super::goose::AGENT, "goose-fib.txt", None),
        (&super::copilot::AGENT, "copilot-fib.jsonl", None),
        (&super::cline::AGENT, "cline-fib.jsonl", None),
        (&super::droid::AGENT, "droid-fib.jsonl", None),
        (&super::pi::AGENT, "pi-0.73-fib.jsonl", None),
        (&super::pi::AGENT, "pi-0.87-fib.jsonl", None),
        (&super::aider::AGENT, "aider-fib.txt", None),
        (&super::qwen_code::AGENT, "qwen-success.jsonl", None),
        (
            &super::continue_cli::AGENT,
            "continue-fib.json",
            Some("session.json"),
        ),
    ] {
        let mut decoder = playback::decoder(agent, &[]);
        for line in recorded(recording).lines() {
            match label {
                Some(label) => decoder.side_line(label, line),
                None => drop(decoder.stdout(Line::Text(line))),
            }
        }
        decoder.stderr(Line::Text(
            "timestamp=0 message=stream providerID=mock modelID=mock-fib session.id=ses_1 small=false",
        ));
        let reading = decoder.finish(Exit::Code(0));
        assert_eq!(reading.model, None, "{recording}");
    }
}

#[test]
fn the_model_that_the_service_names_is_seen_by_the_agents_that_pass_it_on() {
    let swapped = recorded("claude-success.jsonl").replace(
        r#""model":"claude-opus-4-8","#,
        r#""model":"swapped-model-x","#,
    );
    let reading = read(&super::claude_code::AGENT, "claude-opus-4-8", &swapped);
    assert_eq!(reading.model.as_deref(), Some("swapped-model-x"));

    let swapped = recorded("pi-0.73-fib.jsonl").replace(
        r#""model":"mock-fib","#,
        r#""model":"mock-fib","responseModel":"swapped-model-x","#,
    );
    let reading = read(&super::pi::AGENT, "mock/mock-fib", &swapped);
    assert_eq!(reading.model.as_deref(), Some("swapped-model-x"));

    let mut qwen = asking_for(&super::qwen_code::AGENT, "qwen3-coder");
    for (uuid, model, sub_agent) in [
        ("a", "swapped-model-x", ""),
        ("a", "swapped-model-x", ""),
        ("b", "small", r#","subagent_name":"general""#),
        ("c", "small", r#","subagent_name":"general""#),
    ] {
        let event = format!(
            r#""event.name":"qwen-code.api_response","model":"{model}","input_token_count":1{sub_agent}"#
        );
        let line = format!(r#"{{"uuid":"{uuid}","systemPayload":{{"uiEvent":{{{event}}}}}}}"#);
        qwen.side_line("session.jsonl", &line);
    }
    let reading = qwen.finish(Exit::Code(0));
    assert_eq!(reading.model.as_deref(), Some("swapped-model-x"));
    assert_eq!(reading.notes, [""; 0]);
}

/// A sub-agent with a small model may write more than the main thread does.
#[test]
fn sub_agents_are_no_part_of_the_main_thread() {
    let answer = |id: &str, model: &str, parent: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","model":"{model}","content":[]}},"parent_tool_use_id":{parent}}}"#
        )
    };
    let usage = r#""modelUsage":{"claude-opus-4-8":{"outputTokens":50},"claude-haiku-5-5":{"outputTokens":60}}"#;
    let stream = [
        r#"{"type":"system","subtype":"init","model":"claude-opus-4-8[1m]"}"#.to_owned(),
        answer("1", "claude-opus-4-8", "null"),
        answer("2", "claude-haiku-5-5", r#""toolu_1""#),
        answer("3", "claude-haiku-5-5", r#""toolu_1""#),
        format!(r#"{{"type":"result","subtype":"success","stop_reason":"end_turn",{usage}}}"#),
    ];
    let reading = read(&super::claude_code::AGENT, "opus", &stream.join("\n"));
    assert_eq!(reading.model.as_deref(), Some("claude-opus-4-8"));

    let stats = |models: &str| {
        format!(
            r#"{{"type":"result","status":"success","stats":{{"total_tokens":9,"input_tokens":6,"output_tokens":3,"cached":0,"tool_calls":0,"models":{{{models}}}}}}}"#
        )
    };
    let both = r#""gemini-2.5-pro":{"total_tokens":3},"gemini-2.5-flash":{"total_tokens":6}"#;
    let other = r#""gemini-2.5-flash-lite":{"total_tokens":9}"#;
    for (asked, models, seen) in [
        ("gemini-2.5-pro", both, "gemini-2.5-pro"),
        ("gemini-3-pro", both, "gemini-2.5-flash"),
        ("gemini-2.5-flash", other, "gemini-2.5-flash-lite"),
    ] {
        let reading = read(&super::gemini_cli::AGENT, asked, &stats(models));
        assert_eq!(reading.model.as_deref(), Some(seen), "{asked}");
    }
}
