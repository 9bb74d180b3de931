//! Tests of the claims about sessions, over all adapters: a claim is what happened, or it is not made.

use std::collections::BTreeSet;

use super::playback::{self, inputs, recorded};
use super::{Agent, Decoder, Line, Reading};
use crate::process::Exit;
use crate::transcript::Step;
use crate::trial_error::ErrorKind;

/// The decoder of a trial that asks for a model.
fn asking_for(agent: &'static Agent, model: &str) -> Decoder {
    let variables = BTreeSet::new();
    let mut inputs = inputs(&[], None, &variables);
    inputs.model = Some(model);
    agent.decoder(&inputs)
}

/// Reads lines of standard output.
fn read(agent: &'static Agent, model: &str, stdout: &str) -> Reading {
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
        r#""model":"claude-opus-4-8","#, r#""model":"swapped-model-x","#,
    );
    let reading = read(&super::claude_code::AGENT, "claude-opus-4-8", &swapped);
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

/// Returns the tool and the server of the only call of a session.
fn only_call(
    agent: &'static Agent,
    servers: &[&str],
    line: &str,
) -> (Option<String>, Option<String>) {
    let mut decoder = playback::decoder(agent, servers);
    let records = decoder.stdout(Line::Text(line));
    let mut calls = records.into_iter().filter_map(|record| match record.step {
        Step::ToolCall {
            server,
            server_tool,
            ..
        } => Some((server, server_tool)),
        _ => None,
    });
    calls.next().unwrap()
}

#[test]
fn a_tool_of_a_server_has_the_same_name_with_every_agent() {
    for (agent, line) in [
        (
            &super::gemini_cli::AGENT,
            r#"{"type":"tool_use","tool_name":"mcp_docs-v2_lookup_word","tool_id":"1","parameters":{}}"#,
        ),
        (
            &super::claude_code::AGENT,
            r#"{"type":"assistant","message":{"id":"1","model":"m","content":[{"type":"tool_use","id":"1","name":"mcp__docs-v2__lookup_word","input":{}}]}}"#,
        ),
        (
            &super::codex::AGENT,
            r#"{"type":"item.started","item":{"id":"1","type":"mcp_tool_call","server":"docs-v2","tool":"lookup_word","arguments":{}}}"#,
        ),
        (
            &super::opencode::AGENT,
            r#"{"type":"tool_use","part":{"tool":"docs-v2_lookup_word","callID":"1","state":{"status":"completed"}}}"#,
        ),
        (
            &super::qwen_code::AGENT,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"mcp__docs-v2__lookup_word","input":{}}]}}"#,
        ),
        (
            &super::qwen_code::AGENT,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"tool_call","input":{"name":"mcp__docs-v2__lookup_word","arguments":{}}}]}}"#,
        ),
        (
            &super::goose::AGENT,
            r#"{"type":"message","message":{"role":"assistant","content":[{"type":"toolRequest","id":"1","toolCall":{"value":{"name":"docs-v2__lookup_word","arguments":{}}}}]}}"#,
        ),
        (
            &super::copilot::AGENT,
            r#"{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"docs-v2-lookup_word","arguments":{},"mcpServerName":"docs-v2"}}"#,
        ),
        (
            &super::cline::AGENT,
            r#"{"type":"agent_event","event":{"type":"content_start","contentType":"tool","toolName":"docs-v2__lookup_word","toolCallId":"1"}}"#,
        ),
        (
            &super::droid::AGENT,
            r#"{"type":"tool_call","id":"1","messageId":"1","toolName":"docs-v2___lookup_word","parameters":{}}"#,
        ),
    ] {
        let (server, tool) = only_call(agent, &["docs-v2", "docs"], line);
        let name = agent.profile.name;
        assert_eq!(server.as_deref(), Some("docs-v2"), "{name}");
        assert_eq!(tool.as_deref(), Some("lookup_word"), "{name}");
    }
}

/// Plays lines of standard error before those of standard output, as a log that comes first.
fn read_with_log(agent: &'static Agent, log: &[&str], stdout: &[&str], exit: Exit) -> Reading {
    let mut decoder = playback::decoder(agent, &[]);
    for line in log {
        decoder.stderr(Line::Text(line));
    }
    for line in stdout {
        decoder.stdout(Line::Text(line));
    }
    decoder.finish(exit)
}

#[test]
fn tokens_of_a_part_are_no_tokens_of_the_session() {
    let asked = "timestamp=0 message=stream providerID=p modelID=m session.id=ses_1 small=false";
    let step = r#"{"type":"step_finish","sessionID":"ses_1","part":{"reason":"tool-calls","tokens":{"input":1009,"output":54},"cost":0.5}}"#;
    let end = r#"{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop","tokens":{"input":2018,"output":54},"cost":0.5}}"#;
    let broken = r#"{"type":"step_finish","sessionID":"ses_1","part":{"reason":"unknown","tokens":{"input":0,"output":0}}}"#;
    for agent in [&super::opencode::AGENT, &super::kilo::AGENT] {
        let whole = read_with_log(agent, &[asked, asked], &[step, end], Exit::Code(0)).usage;
        assert_eq!(
            (whole.input_tokens, whole.cost_usd),
            (Some(3027), Some(1.0))
        );
        let killed = read_with_log(agent, &[asked, asked], &[step], Exit::Signal(15));
        assert_eq!(killed.usage.requests, Some(2));
        assert_eq!(
            (killed.usage.input_tokens, killed.usage.cost_usd),
            (None, None)
        );
        assert!(killed.notes[0].contains("1 request without an end"));
        let cut = read_with_log(agent, &[asked, asked], &[step, broken], Exit::Code(1)).usage;
        assert_eq!((cut.input_tokens, cut.output_tokens), (None, None));
    }

    let mut qwen = playback::decoder(&super::qwen_code::AGENT, &[]);
    for (uuid, tokens) in [("a", 1000), ("b", 0)] {
        let event = format!(
            r#""event.name":"qwen-code.api_response","model":"m","input_token_count":{tokens},"output_token_count":0"#
        );
        let line = format!(r#"{{"uuid":"{uuid}","systemPayload":{{"uiEvent":{{{event}}}}}}}"#);
        qwen.side_line("session.jsonl", &line);
    }
    qwen.stdout(Line::Text(
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"usage":{"input_tokens":1000},"error":{"message":"[API Error: terminated]"}}"#,
    ));
    let usage = qwen.finish(Exit::Code(1)).usage;
    assert_eq!((usage.requests, usage.input_tokens), (Some(2), None));
}

#[test]
fn a_conversation_that_was_shortened_has_no_number_of_requests() {
    let result = r#"{"type":"result","subtype":"success","stop_reason":"end_turn","total_cost_usd":0.5,"modelUsage":{"m":{"inputTokens":50}}}"#;
    let answer = r#"{"type":"assistant","message":{"id":"1","model":"m","content":[]}}"#;
    let boundary =
        r#"{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto"}}"#;
    let claude = |lines: &[&str]| read(&super::claude_code::AGENT, "m", &lines.join("\n"));
    assert_eq!(claude(&[answer, result]).usage.requests, Some(1));
    let shortened = claude(&[answer, boundary, result]);
    assert_eq!(shortened.usage.requests, None);
    assert_eq!(shortened.usage.input_tokens, Some(50));
    assert_eq!(shortened.notes.len(), 1);
}

#[test]
fn a_guess_is_no_cost() {
    for basis in [
        r#""modelUsage":{"m":{"inputTokens":50,"costBasis":"unknown"}}"#,
        r#""costBasis":"unknown","modelUsage":{"m":{"inputTokens":50}}"#,
    ] {
        let result = format!(
            r#"{{"type":"result","subtype":"success","stop_reason":"end_turn","total_cost_usd":0.0120446,{basis}}}"#
        );
        let reading = read(&super::claude_code::AGENT, "m", &result);
        assert_eq!(
            (reading.usage.input_tokens, reading.usage.cost_usd),
            (Some(50), None)
        );
        assert!(reading.notes[0].contains("no price"), "{:?}", reading.notes);
    }
}

#[test]
fn uses_of_a_skill_are_counted_where_they_are_shown() {
    for (agent, line) in [
        (
            &super::claude_code::AGENT,
            r#"{"type":"assistant","message":{"id":"1","model":"m","content":[{"type":"tool_use","id":"1","name":"Skill","input":{"skill":"whistling"}}]}}"#,
        ),
        (
            &super::gemini_cli::AGENT,
            r#"{"type":"tool_use","tool_name":"activate_skill","tool_id":"1","parameters":{"name":"whistling"}}"#,
        ),
        (
            &super::opencode::AGENT,
            r#"{"type":"tool_use","part":{"tool":"skill","callID":"1","state":{"status":"completed","input":{"name":"whistling"}}}}"#,
        ),
        (
            &super::qwen_code::AGENT,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"skill","input":{"skill":"whistling"}}]}}"#,
        ),
    ] {
        let uses = read(agent, "m", line).skill_uses.unwrap();
        assert_eq!(uses.get("whistling"), Some(&1), "{}", agent.profile.name);
        let unused = read(agent, "m", "").skill_uses.unwrap();
        assert!(unused.is_empty(), "{}", agent.profile.name);
    }
    let codex = read(&super::codex::AGENT, "m", "");
    assert_eq!(codex.skill_uses, None, "it reads skills like any file");
}

#[test]
fn an_answer_that_breaks_off_is_the_fault_of_the_service() {
    let stats = r#""stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0,"tool_calls":0}"#;
    let result = format!(r#"{{"type":"result","status":"error",{stats}}}"#);
    let reading = read(&super::gemini_cli::AGENT, "gemini-2.5-pro", &result);
    assert_eq!(playback::kind(&reading.ending), Some(ErrorKind::ModelApi));
    assert_eq!(reading.usage.input_tokens, None);
}
