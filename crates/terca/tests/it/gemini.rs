//! Gemini CLI through the whole pipeline, with a stand-in that plays recorded streams of the real one.

use crate::common::project;
use serde_json::{Value, json};
use terca_testkit::{Project, recorded_streams, stand_ins};

const KEY: &str = "fake-key-for-tests";

fn playing(environment: &str, prompt: &str) -> Project {
    let streams = recorded_streams();
    project()
        .env("PATH", &format!("{}:{}", stand_ins(), std::env::var("PATH").unwrap_or_default()))
        .env("GEMINI_API_KEY", KEY)
        .env("GEMINI_MODEL", "not-this-one")
        .file(
            "terca.yaml",
            format!(
                "mcpPreflight: false\nenv: {{TERCA_TEST_STREAMS: '{streams}'}}\nenvironments:\n  - name: g\n    agent: gemini\n{environment}\
                 evals:\n  - name: task\n    prompt: {prompt}\n    allowWarnings: no-tests\n"
            ),
        )
}

/// A suite that names no agent, on a machine that has these programs and no others.
fn without_environments(programs: &[&str]) -> Project {
    let streams = recorded_streams();
    let mut project = project().env("GEMINI_API_KEY", KEY).file(
        "terca.yaml",
        format!(
            "mcpPreflight: false\nsandbox: none\nenv: {{TERCA_TEST_STREAMS: '{streams}'}}\nevals:\n  - name: task\n    prompt: play success\n    \
             tests: [{{fileExists: argv.txt}}]\n"
        ),
    );
    for program in programs {
        let script = format!("#!/bin/sh\nexec {}/gemini \"$@\"\n", stand_ins());
        project = project.executable(&format!("bin/{program}"), &script);
    }
    let path = format!("{}:/usr/bin:/bin", project.path("bin"));
    project.env("PATH", &path)
}

#[test]
fn a_suite_without_environments_runs_the_only_agent_of_the_machine() {
    let project = without_environments(&["gemini"]);
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    let said = "agent: gemini-cli, the only one on this machine; name it in terca.yaml: `environments: [{name: gemini-cli, agent: gemini-cli}]`";
    assert!(outcome.stderr.starts_with(said), "{}", outcome.stderr);
    assert_eq!(project.results()["trials"][0]["agent"], "gemini-cli");
    project.terca(&["check"]).expect_status(0);
    // A resumed run goes on with the same agent.
    project.terca(&["resume"]).expect_status(0);
}

#[test]
fn of_several_agents_one_has_to_be_named() {
    let project = without_environments(&["gemini", "codex"]);
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(outcome.status, 2, "{}{}", outcome.stdout, outcome.stderr);
    let said = "the suite names no agent, and this machine has";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("gemini") && outcome.stderr.contains("codex"),
        "{}",
        outcome.stderr
    );
    let none = without_environments(&[]);
    let outcome = none.terca(&["--format", "plain"]);
    assert!(
        outcome
            .stderr
            .contains("error[no-agent]: the suite names no agent"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_session_is_started_as_the_real_program_wants_it() {
    let project = playing(
        "    model: gemini-3-pro\n    config: {model: {maxSessionTurns: 9}}\n    rules: RULES.md\n",
        "play success",
    )
    .file("RULES.md", "Be brief.\n");
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);

    assert_eq!(
        project.trial_file("workspace/argv.txt"),
        "--approval-mode\nyolo\n--output-format\nstream-json\n--model\ngemini-3-pro\n"
    );
    let env = project.trial_file("workspace/env.txt");
    assert!(env.contains("GEMINI_CLI_TRUST_WORKSPACE=true"), "{env}");
    assert!(
        env.contains(&format!("GEMINI_API_KEY={KEY}")),
        "it can sign in"
    );
    assert!(
        !env.contains("GEMINI_MODEL"),
        "what is not on the list does not leak in"
    );
    assert_eq!(project.trial_file("workspace/GEMINI.md"), "Be brief.\n");

    let settings: Value =
        serde_json::from_str(&project.trial_file("workspace/settings.json")).unwrap();
    assert_eq!(settings["model"]["maxSessionTurns"], 9);
    assert_eq!(
        settings["security"]["auth"]["selectedType"],
        "gemini-api-key"
    );
    assert_eq!(settings["privacy"]["usageStatisticsEnabled"], false);
}

#[test]
fn figures_versions_and_delivery_arrive() {
    let project = playing(
        "    model: gemini-3-pro\n    rules: RULES.md\n",
        "play success",
    )
    .file("RULES.md", "Be brief.\n");
    assert_eq!(project.terca(&[]).status, 0);
    let trial = project.only_trial();
    assert_eq!(trial["agentVersion"], "0.61.0");
    let mut stats = trial["stats"].clone();
    stats["durationSeconds"] = Value::Null;
    assert_eq!(
        stats,
        json!({"requests": 3, "inputTokens": 3333, "cachedInputTokens": 1230, "outputTokens": 177, "toolCalls": 2,
               "costUsd": null, "costSource": null, "durationSeconds": null})
    );
    let delivery = &trial["delivery"];
    assert_eq!(delivery["modelRequested"], "gemini-3-pro");
    assert_eq!(delivery["modelObserved"], "gemini-3.1-pro-preview");
    assert_eq!(delivery["rules"][0]["path"], "GEMINI.md");
    assert!(
        trial["notes"][0]
            .as_str()
            .unwrap()
            .contains("`gemini-3.1-pro-preview` was used"),
        "{trial}"
    );
    let shown = project.terca(&["show"]).stdout;
    assert!(
        shown.contains("1 trial used another model than requested"),
        "{shown}"
    );
    for artifact in [
        "stream.jsonl", "session.jsonl", "settings.json", "stderr.log", "trajectory.json",
    ] {
        project.trial_file(&format!("artifacts/{artifact}"));
    }
    let transcript = project.trial_file("transcript.jsonl");
    assert!(
        transcript.contains(r#""type":"toolCall""#) && transcript.contains("write_file"),
        "{transcript}"
    );
    assert!(project.trial_file("run.log").contains("write_file fib.js"));
}

#[test]
fn trouble_with_the_service_is_never_a_failed_eval() {
    for (stream, kind) in [
        ("401", "auth"),
        ("429", "rateLimit"),
        ("500", "modelApi"),
        ("404", "model"),
    ] {
        let project = playing("", &format!("play {stream}"));
        assert_eq!(project.terca(&[]).status, 3, "{stream}");
        let trial = project.only_trial();
        assert_eq!(
            (trial["status"].as_str(), trial["error"]["kind"].as_str()),
            (Some("error"), Some(kind)),
            "{stream}"
        );
        assert_eq!(trial["score"], Value::Null);
    }
}

#[test]
fn an_agent_that_cannot_sign_in_says_with_which_credentials() {
    let note = |project: &Project| {
        assert_eq!(project.terca(&[]).status, 3);
        let trial = project.only_trial();
        assert_eq!(trial["error"]["kind"], "auth");
        trial["notes"][0].as_str().unwrap().to_owned()
    };
    let project = playing("", "play 401");
    assert_eq!(
        note(&project),
        "the service refused its credentials: replace $GEMINI_API_KEY"
    );
    let project = project.env("GEMINI_API_KEY", "");
    let shown = project.terca(&[]).expect_status(3).stdout;
    let message = project.only_trial()["error"]["message"].clone();
    let message = message.as_str().unwrap();
    let cause = "no credentials for gemini-cli: set $GEMINI_API_KEY or $GOOGLE_API_KEY (it said \"";
    assert!(message.starts_with(cause), "{message}");
    assert!(message.ends_with("\")"), "{message}");
    assert!(shown.contains(&format!("auth: {cause}")), "{shown}");
    let file = project.home().join(".gemini/oauth_creds.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "{}").unwrap();
    assert_eq!(
        note(&project),
        "the service refused its credentials: replace ~/.gemini/oauth_creds.json"
    );
    let shown = project.terca(&["show"]).stdout;
    assert!(
        shown
            .contains(" the service refused its credentials: replace ~/.gemini/oauth_creds.json\n"),
        "{shown}"
    );
}

#[test]
fn a_limit_of_turns_is_judged_with_a_note() {
    let project = playing("", "play max-turns");
    project.terca(&[]);
    let trial = project.only_trial();
    assert_eq!(trial["status"], "unverified");
    assert!(
        trial["notes"][0]
            .as_str()
            .unwrap()
            .contains("max session turns")
    );
}

#[test]
fn mcp_servers_are_configured_and_their_secrets_masked() {
    let project = playing(
        "    mcpServers:\n      tiny: {command: node, args: [srv.mjs], env: {TOKEN: '${MY_TOKEN}'}}\n      web: \
         {url: 'http://127.0.0.1:1/mcp'}\n",
        "play mcp",
    )
    .env("MY_TOKEN", "very-secret-token");
    assert_eq!(project.terca(&[]).status, 0);
    let mut servers = project.only_trial()["delivery"]["mcpServers"].take();
    // This stand-in says that it has called a tool, and has not even started its servers.
    for name in ["tiny", "web"] {
        assert_eq!(servers[name]["tap"]["starts"], 0);
        servers[name].as_object_mut().unwrap().remove("tap");
    }
    assert_eq!(
        servers,
        json!({
            "tiny": {"status": null, "calls": 0, "failedCalls": 0},
            "web": {"status": null, "calls": 0, "failedCalls": 0},
        })
    );
    let given: Value =
        serde_json::from_str(&project.trial_file("workspace/settings.json")).unwrap();
    assert_eq!(
        given["mcpServers"]["tiny"]["env"]["TOKEN"],
        "very-secret-token"
    );
    // The address is the gateway's.
    let address = given["mcpServers"]["web"]["httpUrl"].as_str().unwrap();
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
    assert!(!address.starts_with("http://127.0.0.1:1/"), "{address}");
    let kept: Value = serde_json::from_str(&project.trial_file("artifacts/settings.json")).unwrap();
    assert_eq!(kept["mcpServers"]["tiny"]["env"]["TOKEN"], "***");
    let plan = std::fs::read_to_string(project.run_dir().join("run.json")).unwrap();
    assert!(!plan.contains("very-secret-token") && !plan.contains(KEY));
}

/// Twelve megabytes of a tool's output between two calls.
#[test]
fn a_flood_is_left_out_of_the_transcript_and_nothing_of_the_result() {
    const RESULT: &str = r#"{"type":"tool_result","tool_id":"1","status":"success","output":"#;
    let call = |tool: &str| {
        format!(
            r#"{{"type":"tool_use","tool_name":"{tool}","tool_id":"1","parameters":{{"path":"a"}}}}"#
        )
    };
    let says = |text: &str| {
        format!(r#"{{"type":"message","role":"assistant","delta":true,"content":"{text}"}}"#)
    };
    let result = r#"{"type":"result","status":"success","stats":{"total_tokens":30,"input_tokens":20,"output_tokens":10,"cached":0,"tool_calls":2}}"#;
    let flood = format!("{RESULT}\"{}\"}}\n", "x".repeat(120)).repeat(60_000);
    let stream = format!(
        "{}\n{flood}{}\n{}\n{result}\n",
        call("read"),
        call("write"),
        says("FINISHED at last")
    );
    let asked = "play flood\n    tests: [{name: t, transcript: {usedTool: write, outputContains: FINISHED, \
                 maxToolCalls: 2}}]";
    let project = playing("    env: {TERCA_TEST_STREAMS: .}\n", asked)
        .file("_base/gemini-flood.jsonl", &stream);
    project.terca(&[]).expect_status(0);

    assert_eq!(
        project.trial_file("artifacts/stream.jsonl"),
        stream,
        "the raw output is kept whole"
    );
    let transcript = project.trial_file("transcript.jsonl");
    assert!(transcript.len() < 10_000_000, "{}", transcript.len());
    let steps: Vec<Value> = transcript
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = steps
        .iter()
        .map(|step| step["type"].as_str().unwrap())
        .collect();
    assert_eq!((kinds[0], kinds[1]), ("toolCall", "toolResult"));
    assert_eq!(
        &kinds[kinds.len() - 3..],
        ["omitted", "toolCall", "message"]
    );
    let omitted = &steps[steps.len() - 3];
    let (line, lines) = (
        omitted["line"].as_u64().unwrap(),
        omitted["lines"].as_u64().unwrap(),
    );
    assert_eq!(line + lines, 60_002, "up to the second call: {omitted}");
    assert_eq!(omitted["words"], false);
    let log = project.trial_file("run.log");
    assert!(
        log.contains("of output left out") && log.contains("FINISHED at last"),
        "{log}"
    );
}

#[test]
fn a_missing_program_says_how_to_get_it() {
    let project = playing("", "play success").env("PATH", "/usr/bin:/bin");
    assert_eq!(project.terca(&[]).status, 3);
    let error = project.only_trial()["error"].clone();
    assert_eq!(error["kind"], "agentMissing");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("npm install -g @google/gemini-cli"),
        "{error}"
    );
}

#[test]
fn credential_files_reach_only_the_agent_that_needs_them_and_no_file_of_ours() {
    let project = playing("", "play success").env("GEMINI_API_KEY", "");
    std::fs::create_dir_all(project.home().join(".gemini")).unwrap();
    std::fs::write(
        project.home().join(".gemini/oauth_creds.json"),
        r#"{"refresh_token": "1//very-long-refresh-token"}"#,
    )
    .unwrap();
    project.terca(&[]).expect_status(0);
    assert_eq!(project.trial_file("workspace/creds-mode.txt"), "600\n");
    assert!(
        !project
            .trial_file("artifacts/stream.jsonl")
            .contains("very-long-refresh-token"),
        "it printed its credentials"
    );
    project.assert_nothing_left();

    // With a key in the environment the file is not needed, and not handed out.
    let with_key = project.env("GEMINI_API_KEY", KEY);
    with_key.terca(&[]).expect_status(0);
    assert!(
        !with_key
            .workspace_of(&with_key.run_dir().join("task/g.default.01"))
            .join("creds-mode.txt")
            .exists()
    );
}

#[test]
fn the_doctor_finds_the_program_and_names_credentials_without_their_values() {
    let project = playing("", "x");
    let outcome = project.terca(&["doctor"]).expect_status(0);
    assert!(
        outcome
            .stdout
            .contains("✓ gemini-cli: 0.61.0, the tested version"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("signs in with $GEMINI_API_KEY"));
    assert!(!outcome.stdout.contains(KEY));
    let bare = project.env("PATH", "/usr/bin:/bin");
    let outcome = bare.terca(&["doctor"]).expect_status(1);
    assert!(
        outcome.stdout.contains("✗ gemini-cli: not installed"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("npm install -g @google/gemini-cli"));
    bare.assert_nothing_left();
}
