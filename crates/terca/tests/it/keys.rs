//! Keys do not get into what Terca writes and shows, however they are written, named or cut.
//!
//! The law: where a key is printed whole, no file of a run and nothing that is shown has `BOUND` characters of it in a row,
//! since texts are masked before they are cut. The workspace is the agent's own, and is kept as it was left.

use crate::common::project;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use terca_report::html::unpacked;
use terca_testkit::Project;

/// So many characters of a key in a row are too many.
const BOUND: usize = 12;

fn random_key(random: &mut fastrand::Rng) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let length = random.usize(20..80);
    // Each key has all kinds of characters, as keys have.
    let body: String = (0..length)
        .map(|_| char::from(LETTERS[random.usize(..LETTERS.len())]))
        .collect();
    format!("sK1-{body}")
}

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// A session of Gemini CLI with the key in words, thoughts of a tool, figures and names.
fn gemini_stream(key: &str, random: &mut fastrand::Rng) -> String {
    let mut events = vec![json!({"type": "init", "session_id": "s", "model": key})];
    let said = format!(
        "{} the key is {key}, and {key}.",
        "x".repeat(random.usize(..220))
    );
    events.push(json!({"type": "message", "role": "assistant", "content": said, "delta": true}));
    let cut = format!("{}{key}", "y".repeat(random.usize(120..200)));
    events.push(
        json!({"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "1",
        "parameters": {"command": cut, key: key}}),
    );
    events.push(json!({"type": "tool_result", "tool_id": "1", "status": "success", "output": cut}));
    events.push(json!({"type": "result", "status": "success", "stats": {"total_tokens": 9, "input_tokens": 8,
        "output_tokens": 1, "cached": 0, "input": 8, "duration_ms": 5, "tool_calls": 1,
        "models": {key: {"total_tokens": 9, "input_tokens": 8, "output_tokens": 1, "cached": 0, "input": 8}}}}));
    lines(&events)
}

/// A session of Claude Code with parts of a message in events of their own, and a message that repeats them.
fn claude_stream(key: &str, random: &mut fastrand::Rng) -> String {
    let mut events = vec![
        json!({"type": "system", "subtype": "init", "session_id": "s", "model": key,
        "tools": [], "mcp_servers": [], "apiKeySource": "ANTHROPIC_API_KEY"}),
    ];
    let said = format!("{}{key}", "z".repeat(random.usize(150..200)));
    events.push(
        json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0,
        "delta": {"type": "text_delta", "text": said}}, "uuid": "u"}),
    );
    events.push(json!({"type": "assistant", "message": {"id": "m", "model": key, "role": "assistant",
        "stop_reason": "end_turn", "content": [{"type": "text", "text": said}], "usage": {"input_tokens": 1, "output_tokens": 1}}}));
    let error = format!(
        "API Error: 401 {}{key} {}",
        "e".repeat(290 - key.len() / 2),
        "e".repeat(90)
    );
    events.push(json!({"type": "result", "subtype": "success", "is_error": false, "result": error,
        "stop_reason": "end_turn", "terminal_reason": "completed", "num_turns": 1, "total_cost_usd": 0.1, "usage": {"input_tokens": 1, "output_tokens": 1},
        "modelUsage": {key: {"inputTokens": 1, "outputTokens": 1, "costUSD": 0.1}}}));
    lines(&events)
}

/// A suite whose agents print the key in every way.
fn suite(key: &str, random: &mut fastrand::Rng) -> Project {
    let agent = |version: &str| {
        format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo \"{version}\"; exit 0; }}\ncat > /dev/null\n\
             touch \"$KEY\" \"new-$KEY.txt\"; mv old.txt \"moved-$KEY\"; printf '%s\\0' \"$KEY\" > binary\n\
             echo \"err $KEY\" >&2; printf '%s' \"user:$KEY\" | base64 >&2\n\
             cat \"$STREAMS/$(basename \"$0\").jsonl\"\n"
        )
    };
    let zeros = random.usize(120..200);
    let path = format!("{}:{}", "BIN", std::env::var("PATH").unwrap_or_default());
    let project = project()
        .executable("bin/gemini", &agent(&format!("0.61.0-{key}")))
        .executable("bin/claude", &agent(&format!("2.1.{key} (Claude Code)")))
        .file("streams/gemini.jsonl", gemini_stream(key, random))
        .file("streams/claude.jsonl", claude_stream(key, random))
        .file("_base/old.txt", "one\ntwo\nthree\nfour\n")
        .env("GEMINI_API_KEY", key)
        .env("ANTHROPIC_API_KEY", key)
        .env("MY_KEY", key);
    let plain = "echo {\\\"delta\\\":\\\"$KEY\\\"}; \
                 printf '%0250d%s\\n' 0 \"$KEY\"; echo \"$KEY\" > said.txt; exit 3";
    let text = format!(
        "env: {{KEY: '${{MY_KEY}}', STREAMS: '{streams}'}}\n\
         environments:\n  - {{name: g, agent: gemini}}\n  - {{name: c, agent: claude}}\n  \
         - name: p\n    agent: {{name: command, command: 'sh plain.sh'}}\n\
         evals:\n  - name: task\n    prompt: go\n    before:\n      - command: 'printf %0{zeros}d 0; echo $KEY'\n    tests:\n      \
         - name: cut\n        commandSuccess: 'printf %0{zeros}d 0; echo $KEY; exit 1'\n      \
         - name: scored\n        commandScore: 'echo \"{{\\\"score\\\": 0.5, \\\"message\\\": \\\"$(printf %0{zeros}d 0)$KEY\\\"}}\"'\n      \
         - name: no-score\n        commandSuccess: {{command: 'printf %0{zeros}d 0; echo $KEY >&2', outputContains: nothing}}\n      \
         - name: files\n        changedFiles: {{never: ['**']}}\n      \
         - name: said\n        transcript: {{outputContains: 'never said'}}\n",
        streams = project.path("streams"),
    );
    let bin = project.path("bin").to_string();
    project
        .file("_base/plain.sh", plain.replace("\\\"", "\""))
        .env("PATH", &path.replacen("BIN", &bin, 1))
        .file("terca.yaml", text)
}

fn files_below(dir: &Utf8Path, found: &mut Vec<Utf8PathBuf>) {
    for entry in dir.read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        if path.is_dir() && path.file_name() != Some("workspace.changes") {
            files_below(&path, found);
        } else if !path.is_dir() {
            found.push(path);
        }
    }
}

/// Checks that a text has no part of the key that is too long.
fn check(place: &str, text: &str, key: &str) {
    for start in 0..=key.len() - BOUND {
        let part = &key[start..start + BOUND];
        let found = text.find(part);
        let around = found.map(|at| text[..at].chars().rev().take(80).collect::<String>());
        assert_eq!(
            around.map(|text| text.chars().rev().collect::<String>()),
            None,
            "{place} has {part:?} of {key:?}, after this"
        );
    }
}

fn check_run(project: &Project, key: &str) {
    let mut files = Vec::new();
    files_below(&project.run_dir(), &mut files);
    assert!(files.len() > 20, "{files:?}");
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        check(file.as_str(), file.as_str(), key);
        check(file.as_str(), &text, key);
    }
}

#[test]
fn no_file_and_no_format_has_more_than_a_few_letters_of_a_key() {
    for seed in 0..3 {
        let mut random = fastrand::Rng::with_seed(seed);
        let key = random_key(&mut random);
        let project = suite(&key, &mut random);
        let format = ["json", "plain", "tty"][seed as usize % 3];
        let outcome = project.terca(&["--format", format, "--junit", "junit.xml"]);
        check("standard output", &outcome.stdout, &key);
        check("standard error", &outcome.stderr, &key);
        let results = project.results();
        let trials = results["trials"].as_array().unwrap();
        assert_eq!(trials.len(), 3);
        for trial in trials {
            assert_eq!(trial["error"], Value::Null, "all of it was judged");
        }
        check_run(&project, &key);
        // The key was there: what hides it is to be seen.
        let results = project.results().to_string();
        assert!(results.contains("0***"), "{results}");
        check("junit.xml", &project.read("junit.xml"), &key);
        for args in [
            &["show"][..],
            &["report", "--html", "-"],
            &["report", "--markdown", "-"],
            &["report", "--csv", "-"],
            &["report", "--jsonl", "-"],
            &["compare"],
            &["list"],
            &["regrade"],
            &["plan"],
        ] {
            let outcome = project.terca(args);
            check(&format!("{args:?}"), &unpacked(&outcome.stdout), &key);
            check(&format!("{args:?}"), &outcome.stderr, &key);
        }
        check_run(&project, &key);
    }
}

/// A value that may be a word of an agent's language hides itself and does not stop the session from being read.
#[test]
fn a_common_word_in_a_variable_makes_nothing_unreadable() {
    let mut random = fastrand::Rng::with_seed(7);
    let project = suite(&random_key(&mut random), &mut random).env("MY_KEY", "message");
    project.terca(&["-e", "g"]);
    let trial = project.only_trial();
    assert!(
        ["passed", "partial", "failed"].contains(&trial["status"].as_str().unwrap()),
        "{trial}"
    );
    assert_eq!(trial["stats"]["toolCalls"], 1);
}
