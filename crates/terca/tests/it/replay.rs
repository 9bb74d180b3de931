//! `terca replay`: the suite once more, with the answers that a run has recorded.

use std::fs::File;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rustix::process::Signal;
use serde_json::{Value, json};
use terca_testkit::{Fault, ModelServer, Outcome, Project, Scenario, Session, Trouble};

use super::gateway::{KEY, model, suite};
use super::recording::RECORD;

const FILE: &str = "artifacts/exchanges.jsonl.gz";

/// Runs a command without the key.
fn without_key(project: &Project, args: &[&str]) -> Session {
    let mut command = project.command(args);
    command.env_remove("OPENAI_API_KEY");
    Session::start(command)
}

fn replay(project: &Project, args: &[&str]) -> Outcome {
    let mut all = vec!["replay", "--format", "plain"];
    all.extend(args);
    without_key(project, &all).finish()
}

fn recorded(script: &str, scenarios: &[(&str, Scenario)]) -> (Project, ModelServer) {
    let model = model(scenarios);
    let project = suite(&model, script, RECORD);
    project.terca(&[]).expect_status(0);
    (project, model)
}

fn hello() -> [(&'static str, Scenario); 1] {
    [("one", Scenario::saying("Hello."))]
}

/// Writes the recording of the latest run's only trial anew.
fn rewrite(project: &Project, change: impl FnOnce(String) -> String) {
    let path = project.trial_path(FILE);
    let mut text = String::new();
    let file = File::open(&path).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let mut encoder = GzEncoder::new(File::create(&path).unwrap(), Compression::fast());
    encoder.write_all(change(text).as_bytes()).unwrap();
    encoder.finish().unwrap();
}

fn error(project: &Project) -> String {
    let trial = project.only_trial();
    assert_eq!(trial["status"], "error", "{trial:#}");
    assert_eq!(trial["error"]["kind"], "replay", "{trial:#}");
    trial["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_replay_needs_neither_the_service_nor_the_key_and_costs_nothing() {
    let scenario = Scenario::saying("Hello.").fault(Fault::first(1, 500));
    let more = format!(
        "{RECORD}prices: {{small: {{input: 1000, output: 1000}}, small-2026: {{input: 1000, output: 1000}}}}\n"
    );
    let model = model(&[("one", scenario.answered_by("small-2026"))]);
    let script =
        r#"ask one; ask one; date +%N >now.txt; ask "one $PWD $(cat now.txt | wc -l) $(date)""#;
    let project = suite(&model, script, &more);
    project.terca(&[]).expect_status(0);
    let first = project.results();
    let answers = project.trial_file("workspace/answers.txt");
    drop(model);
    let outcome = replay(&project, &[]);
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    let results = project.results();
    assert_eq!(results["replayOf"], first["run"]);
    assert_ne!(results["run"], first["run"]);
    assert!(
        outcome.stdout.contains("a replay of") && outcome.stdout.contains("nothing was spent"),
        "{}",
        outcome.stdout
    );
    let (before, after) = (&first["trials"][0], &results["trials"][0]);
    assert_eq!(after["wire"]["requests"], 3);
    assert_eq!(after["wire"]["replayed"], 3, "{after:#}");
    for figure in ["inputTokens", "outputTokens", "statuses", "modelsAnswered"] {
        assert_eq!(after["wire"][figure], before["wire"][figure], "{figure}");
    }
    assert!(before["stats"]["costUsd"].as_f64().unwrap() > 0.0);
    assert_eq!(after["stats"]["costUsd"], 0.0);
    let bodies = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .filter(|line| line.starts_with('{') || line.starts_with("HTTP"));
        lines.map(str::to_owned).collect()
    };
    let replayed = project.trial_file("workspace/answers.txt");
    assert_eq!(bodies(&replayed), bodies(&answers), "the same answers");
    let seen = project.trial_file("workspace/env.txt");
    assert!(seen.contains("OPENAI_API_KEY=terca-"), "{seen}");

    // A replay is replayed from the run that was recorded.
    let again = replay(&project, &[]);
    assert_eq!(again.status, 0, "{}", again.stderr);
    assert_eq!(project.results()["replayOf"], first["run"]);
    let compared = project.terca(&[
        "compare",
        first["run"].as_str().unwrap(),
        results["run"].as_str().unwrap(),
    ]);
    assert!(
        compared.stderr.contains("is a replay of"),
        "{}",
        compared.stderr
    );
}

#[test]
fn paths_of_the_recorded_trial_are_those_of_this_one() {
    let model = model(&[("one", Scenario::saying("Look at DIRECTORY/file."))]);
    let project = suite(&model, r#"ask "one $PWD"; pwd >where.txt"#, RECORD);
    project.terca(&[]).expect_status(0);
    let was = project.trial_file("workspace/where.txt").trim().to_owned();
    // As a model does that names files by their paths.
    rewrite(&project, |text| {
        with_parts(&text, |part| part.replace("DIRECTORY", &was))
    });
    drop(model);
    let outcome = replay(&project, &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let is = project.trial_file("workspace/where.txt").trim().to_owned();
    assert_ne!(was, is);
    let answers = project.trial_file("workspace/answers.txt");
    assert!(
        answers.contains(&format!("Look at {is}/file.")),
        "{answers}"
    );
}

/// Changes the parts of a recording, and names them as their content asks for.
fn with_parts(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut changed = text.to_owned();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        if let (Some(name), Some(part)) = (value["name"].as_str(), value["text"].as_str()) {
            let new = change(part);
            if new != part {
                let named = terca_core::wire::recording::part_name(new.as_bytes());
                let line_now = json!({"kind": "part", "name": named, "text": new}).to_string();
                changed = changed
                    .replace(line, &line_now)
                    .replace(name, &named.to_string());
            }
        }
    }
    changed
}

#[test]
fn a_changed_prompt_diverges_with_the_lines_that_differ() {
    let script = r#"ask "one $(cat "$TERCA_PROMPT_FILE")"; echo done >done.txt; exec sleep 600"#;
    let model = model(&hello());
    let project = suite(&model, script, RECORD);
    project.terca(&["--timeout", "2"]);
    drop(model);
    let yaml = project
        .read("terca.yaml")
        .replace("prompt: do it", "prompt: do something else");
    let project = project.file("terca.yaml", yaml);
    let outcome = replay(&project, &[]);
    assert_eq!(outcome.status, 3, "{}{}", outcome.stdout, outcome.stderr);
    let message = error(&project);
    assert!(
        message.contains("request 1 to a model (POST /v1/chat/completions)"),
        "{message}"
    );
    assert!(message.contains("messages[0].content:"), "{message}");
    assert!(message.contains("- scenario:one do it"), "{message}");
    assert!(
        message.contains("+ scenario:one do something else"),
        "{message}"
    );
    let trial = project.only_trial();
    assert_eq!(
        trial["timedOut"], false,
        "the agent is stopped at once: {trial:#}"
    );
    assert!(
        outcome.stdout.contains("explain replay") || outcome.stderr.contains("explain replay"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_request_that_was_not_recorded_goes_to_the_service_if_that_is_asked_for() {
    let (project, model) = recorded(
        "ask one",
        &[
            ("one", Scenario::saying("Hello.")),
            ("two", Scenario::saying("Bye.")),
        ],
    );
    let script = format!("{}ask two\n", project.read("agent.sh"));
    let project = project.executable("agent.sh", &script);
    let before = model.requests().len();
    let outcome = project.terca(&["replay", "--on-miss", "live", "--format", "plain"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let trial = project.only_trial();
    assert_eq!(trial["wire"]["requests"], 2);
    assert_eq!(trial["wire"]["replayed"], 1);
    assert_eq!(model.requests().len(), before + 1);
    assert_eq!(
        model.requests().last().unwrap().headers["authorization"],
        format!("Bearer {KEY}")
    );
    let notes = trial["notes"].to_string();
    assert!(notes.contains("1 request went to the service"), "{notes}");
}

#[test]
fn parallel_requests_are_found_in_any_order_and_repeated_ones_in_their_own() {
    let twice = Scenario::saying("Again.").fault(Fault::first(1, 500));
    let (project, model) = recorded(
        "ask one; ask two; ask two",
        &[("one", Scenario::saying("Hello.")), ("two", twice)],
    );
    drop(model);
    let script = project
        .read("agent.sh")
        .replace("ask one; ask two; ask two", "ask two; ask one; ask two");
    let project = project.executable("agent.sh", &script);
    let outcome = replay(&project, &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let log = project.trial_file("artifacts/wire.jsonl");
    let statuses: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["status"].clone())
        .collect();
    assert_eq!(statuses, [json!(500), json!(200), json!(200)]);
}

#[test]
fn an_answer_that_broke_off_breaks_off_again() {
    let cut = Scenario::saying("A long answer that is cut.").fault(Fault::of(Trouble::Cut));
    let model = model(&[("one", cut)]);
    let project = suite(&model, "ask one", RECORD);
    project.terca(&[]).expect_status(3);
    let before = project.only_trial()["wire"]["answered"].clone();
    drop(model);
    replay(&project, &[]);
    let trial = project.only_trial();
    assert_eq!(
        (&before, &trial["wire"]["answered"]),
        (&json!(0), &json!(0)),
        "{trial:#}"
    );
    assert_eq!(trial["error"]["kind"], "modelApi", "{trial:#}");
    assert!(
        project
            .trial_file("artifacts/wire.jsonl")
            .contains("cutByService")
    );
}

#[test]
fn a_run_without_recordings_and_a_trial_without_one_are_told() {
    let model = model(&hello());
    let project = suite(&model, "ask one", "gateway: meter\n");
    project.terca(&[]).expect_status(0);
    let outcome = replay(&project, &[]);
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("nothing-to-replay"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("--gateway record"),
        "{}",
        outcome.stderr
    );
    project.terca(&["--gateway", "record"]).expect_status(0);
    let yaml = project.read("terca.yaml")
        + "  - name: new\n    prompt: also\n    allowWarnings: no-tests\n";
    let project = project.file("terca.yaml", yaml);
    let outcome = replay(&project, &[]);
    assert_eq!(outcome.status, 3, "{}", outcome.stdout);
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    let new = trials.iter().find(|trial| trial["eval"] == "new").unwrap();
    assert!(
        new["error"]["message"]
            .as_str()
            .unwrap()
            .contains("has no recording"),
        "{new:#}"
    );
    let outcome = replay(&project, &["-t", "task"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
}

#[test]
fn foreign_and_damaged_recordings_are_an_error_that_says_why() {
    let (project, model) = recorded("ask one", &hello());
    drop(model);
    let path = project.trial_path(FILE);
    let good = std::fs::read(&path).unwrap();
    let first = project.results()["run"].as_str().unwrap().to_owned();
    let check = |expected: &str| {
        let outcome = replay(&project, &[&first]);
        assert_eq!(outcome.status, 3, "{}{}", outcome.stdout, outcome.stderr);
        let message = error(&project);
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("`gateway: record`"), "{message}");
    };
    std::fs::write(&path, b"no gzip at all").unwrap();
    check("invalid gzip header");
    std::fs::write(&path, &good[..good.len() / 2]).unwrap();
    check("request 1 to a model");
    let text = {
        let mut text = String::new();
        GzDecoder::new(&good[..]).read_to_string(&mut text).unwrap();
        text
    };
    let write = |text: &str| {
        let mut encoder = GzEncoder::new(File::create(&path).unwrap(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap();
    };
    write(&text.replace("\"version\":1", "\"version\":7"));
    check("version 7 of the format");
    write(&text.replace("Hello.", "Bye."));
    check("has another content");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    let outcome = replay(&project, &[&first]);
    assert_eq!(
        outcome.status, 2,
        "a link is no recording: {}",
        outcome.stderr
    );
}

#[test]
fn a_replay_that_was_interrupted_is_resumed_as_one() {
    let (project, model) = recorded("ask one", &hello());
    drop(model);
    let gate = project.home().join("gate");
    std::fs::write(&gate, "").unwrap();
    let script = project.read("agent.sh");
    let script = format!("{script}[ -e {gate} ] && exec sleep 600\n:\n");
    let project = project.executable("agent.sh", &script);
    let first = project.results()["run"].clone();
    let mut session = without_key(&project, &["replay", "--format", "plain"]);
    session.wait_until("the agent has its answer", || {
        let dir = project.run_dir();
        let answers = dir.join("task/mine.default.01/workspace/answers.txt");
        dir.file_name() != first.as_str() && answers.exists()
    });
    session.signal(Signal::INT);
    assert_eq!(session.finish().status, 130);
    std::fs::remove_file(&gate).unwrap();
    let outcome = without_key(&project, &["resume", "--format", "plain"]).finish();
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    let results = project.results();
    assert_eq!(results["replayOf"], first);
    assert_eq!(results["trials"][0]["wire"]["replayed"], 1);
}

/// An endpoint that only the shell has named is in the recording, and its key is not.
#[test]
fn an_endpoint_of_the_shell_is_not_needed_for_a_replay() {
    const END: &str = r#"{"type":"result","status":"success","stats":{"total_tokens":3,"input_tokens":2,"output_tokens":1,"cached":0,"tool_calls":0,"models":{}}}"#;
    let script = format!(
        r#"#!/bin/bash
[ "$1" = --version ] && {{ echo 0.61.0; exit; }}
cat >/dev/null
rest=${{GOOGLE_GEMINI_BASE_URL#http://}}; host=${{rest%%/*}}
body='{{"model": "small", "tools": [{{"type": "function", "function": {{"name": "t"}}}}], "messages": [{{"role": "user", "content": "scenario:one"}}]}}'
exec 3<>"/dev/tcp/${{host%:*}}/${{host#*:}}"
printf 'POST /%s/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-goog-api-key: %s\r\ncontent-length: %s\r\n\r\n%s' \
  "${{rest#*/}}" "$GEMINI_API_KEY" ${{#body}} "$body" >&3
cat <&3 >answers.txt
echo '{END}'
"#
    );
    let model = model(&hello());
    let address = format!("{}/v1", model.url());
    let project = crate::common::project()
        .env("GEMINI_API_KEY", KEY)
        .env("GOOGLE_GEMINI_BASE_URL", &address)
        .executable("gemini", &script)
        .file(
            "terca.yaml",
            format!(
                "{RECORD}environments:\n  - name: g\n    agent: {{name: gemini-cli, program: ./gemini}}\n\
                 evals:\n  - name: task\n    prompt: do it\n    tests: [{{fileContains: {{path: answers.txt, text: Hello.}}}}]\n"
            ),
        );
    project.terca(&[]).expect_status(0);
    let endpoints = project.only_trial()["delivery"]["access"]["endpoints"].clone();
    drop(model);
    // Neither the key nor the address; then the address of another service.
    for now in [None, Some("http://127.0.0.1:1/elsewhere")] {
        let mut command = project.command(&["replay", "--format", "plain"]);
        command.env_remove("GEMINI_API_KEY");
        command.env_remove("GOOGLE_GEMINI_BASE_URL");
        command.envs(now.map(|address| ("GOOGLE_GEMINI_BASE_URL", address)));
        let outcome = Session::start(command).finish();
        assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
        let trial = project.only_trial();
        assert_eq!(trial["wire"]["replayed"], 1, "{trial:#}");
        assert_eq!(trial["delivery"]["access"]["endpoints"], endpoints);
    }
}
