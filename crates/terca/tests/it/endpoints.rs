//! The service that an agent was led to and its credentials are told by name, and a file is left out only for a variable of
//! the same provider.

use serde_json::{Value, json};
use terca_testkit::Project;

use crate::common::project;

const SECRET: &str = "fake-key-for-tests";

/// Returns a project whose agent is this script, which stands in for a program.
fn playing(agent: &str, program: &str, script: &str, more: &str) -> Project {
    let project = project();
    let bin = project.dir().join("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    let script =
        format!("#!/bin/sh\n[ \"$1\" = --version ] && {{ echo 9.9.9; exit; }}\n{script}\n");
    project
        .env("PATH", &format!("{bin}:{path}"))
        .executable(&format!("bin/{program}"), &script)
        .file(
            "terca.yaml",
            format!(
                "environments:\n  - name: e\n    agent: {agent}\n{more}evals:\n  - name: task\n    prompt: Do it.\n    \
                 tests: [fileExists: out.txt]\n"
            ),
        )
}

fn home_file(project: &Project, path: &str, content: &Value) {
    let path = project.home().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content.to_string()).unwrap();
}

fn claude(endpoint: &str) -> Project {
    playing("claude-code", "claude", "echo > out.txt; exit 1", "")
        .env("ANTHROPIC_API_KEY", SECRET)
        .env("ANTHROPIC_BASE_URL", endpoint)
}

#[test]
fn the_endpoint_and_the_credentials_are_recorded_by_name() {
    let project = claude("http://user:pass@127.0.0.1:9/v1?token=abc");
    project.terca(&["--format", "plain"]);
    let access = &project.only_trial()["delivery"]["access"];
    assert_eq!(
        *access,
        json!({
            "credentials": ["$ANTHROPIC_API_KEY"],
            "endpoints": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"},
        })
    );
    let results = project.results().to_string();
    for secret in [SECRET, "pass@", "token=abc"] {
        assert!(!results.contains(secret), "{secret}");
    }
}

fn run_file(project: &Project) -> Value {
    let text = std::fs::read_to_string(project.run_dir().join("run.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The file is written before the first trial starts, so it says what is known then, of each variant.
#[test]
fn the_plan_has_the_endpoint_and_the_credentials_of_each_variant() {
    let more = "  - name: other\n    agent: claude-code\n    env: {ANTHROPIC_BASE_URL: 'http://127.0.0.2:9/v1'}\n  \
                - name: own\n    agent: {name: command, command: 'touch out.txt'}\n    \
                env: {MY_BASE_URL: 'http://127.0.0.3:9/v1'}\n  - name: none\n    agent: {name: command, command: 'touch out.txt'}\n";
    let project = playing("claude-code", "claude", "echo > out.txt; exit 1", more)
        .env("ANTHROPIC_API_KEY", SECRET)
        .env(
            "ANTHROPIC_BASE_URL",
            "http://user:pass@127.0.0.1:9/v1?token=abc",
        );
    project.terca(&["--format", "plain"]);
    let plan = run_file(&project);
    let of_claude = |origin: &str| json!({"credentials": ["$ANTHROPIC_API_KEY"], "endpoints": {"ANTHROPIC_BASE_URL": origin}});
    let expected = [
        ("e", of_claude("http://127.0.0.1:9")),
        ("other", of_claude("http://127.0.0.2:9")),
        (
            "own",
            json!({"credentials": [], "endpoints": {"MY_BASE_URL": "http://127.0.0.3:9"}}),
        ),
        ("none", Value::Null),
    ];
    let results = project.results();
    for (environment, access) in expected {
        let of = |entries: &Value, place: &str| {
            let mut entries = entries.as_array().unwrap().iter();
            let found = entries.find(|entry| *entry.pointer(place).unwrap() == environment);
            found.unwrap().clone()
        };
        let case = of(&plan["cases"], "/variant/environment");
        assert_eq!(case["variant"]["access"], access, "{environment}");
        // What came of it is the same.
        let trial = of(&results["trials"], "/environment");
        assert_eq!(trial["delivery"]["access"], access, "{environment}");
    }
    for secret in [SECRET, "pass@", "token=abc"] {
        assert!(!plan.to_string().contains(secret), "{secret}");
    }
}

/// A judge may be led elsewhere than the agent.
#[test]
fn the_endpoint_of_a_judge_is_recorded_with_its_verdict() {
    let judge = "judge: {rubric: It is short., agent: {name: command, command: 'echo \\{\\\"score\\\": 1\\}'}}";
    let project = project().agent("touch out.txt").file(
        "terca.yaml",
        format!(
            "env: {{MY_BASE_URL: 'http://me:{SECRET}@127.0.0.3:9/v1'}}\n\
             environments: [{{name: e, agent: {{name: command, command: 'touch out.txt'}}}}]\n\
             evals: [{{name: task, prompt: Do it., tests: [{{name: taste, {judge}}}]}}]\n"
        ),
    );
    project.terca(&["--format", "plain"]).expect_status(0);
    let trial = project.only_trial();
    let judged = &trial["tests"]["taste"]["judge"];
    assert_eq!(
        judged["access"],
        json!({"credentials": [], "endpoints": {"MY_BASE_URL": "http://127.0.0.3:9"}}),
        "{trial}"
    );
    assert!(!project.results().to_string().contains(SECRET));
}

#[test]
fn compare_says_when_the_endpoints_differ() {
    let project = claude("http://127.0.0.1:9");
    project.terca(&["--format", "plain"]);
    project.terca(&["--format", "plain"]);
    let same = project.terca(&["compare", "1", "2"]).stdout;
    assert!(!same.contains("other services"), "{same}");
    let project = project.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:10");
    project.terca(&["--format", "plain"]);
    let outcome = project.terca(&["compare", "1", "3"]);
    let shown = outcome
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        shown.contains("other services"),
        "{shown}{}",
        outcome.stderr
    );
    assert!(
        shown.contains("http://127.0.0.1:9") && shown.contains("http://127.0.0.1:10"),
        "{shown}"
    );
}

#[test]
fn merge_says_when_the_parts_used_other_endpoints() {
    let project = claude("http://127.0.0.1:9");
    project.terca(&[
        "--format", "plain", "-n", "2", "--shard", "1/2", "--seed", "1",
    ]);
    let project = project.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:10");
    project.terca(&[
        "--format", "plain", "-n", "2", "--shard", "2/2", "--seed", "1",
    ]);
    let outcome = project.terca(&["merge", "1", "2"]);
    assert!(
        outcome.stderr.contains("different services"),
        "{}",
        outcome.stderr
    );
    // No service is that of the whole.
    assert_eq!(
        run_file(&project)["cases"][0]["variant"]["access"],
        Value::Null
    );
}

/// An unrelated key must not end a sign-in, and a key of the same provider takes the place of the entry in the file.
#[test]
fn a_file_of_many_providers_yields_to_the_same_provider_only() {
    let script = "cp \"$HOME/.local/share/opencode/auth.json\" out.txt; exit 1";
    let project = playing("opencode", "opencode", script, "").env("OPENAI_API_KEY", SECRET);
    home_file(
        &project,
        ".local/share/opencode/auth.json",
        &json!({"anthropic": {"type": "oauth"}, "openai": {"type": "oauth"}}),
    );
    project.terca(&["--format", "plain"]);
    let given: Value = serde_json::from_str(&project.trial_file("workspace/out.txt")).unwrap();
    assert_eq!(given, json!({"anthropic": {"type": "oauth"}}));
    assert_eq!(
        project.only_trial()["delivery"]["access"]["credentials"],
        json!(["$OPENAI_API_KEY", "~/.local/share/opencode/auth.json"])
    );
}

/// A login with ChatGPT does not become a bill for tokens because a key is in the shell.
#[test]
fn a_login_of_codex_stays_beside_a_key_for_others() {
    let script = "cat \"$CODEX_HOME/auth.json\" \"$CODEX_HOME/config.toml\" > out.txt; env > env.txt; exit 1";
    let project = playing("codex", "codex", script, "").env("OPENAI_API_KEY", SECRET);
    home_file(
        &project,
        ".codex/auth.json",
        &json!({"tokens": {"id": "login"}}),
    );
    project.terca(&["--format", "plain"]);
    let given = project.trial_file("workspace/out.txt");
    assert!(given.contains("login"), "{given}");
    assert!(!given.contains("model_provider"), "{given}");
    assert!(
        !project
            .trial_file("workspace/env.txt")
            .contains("OPENAI_API_KEY")
    );

    let project = project.env("CODEX_API_KEY", SECRET);
    project.terca(&["--format", "plain"]);
    assert!(
        project
            .trial_file("workspace/env.txt")
            .contains("CODEX_API_KEY")
    );
    let access = &project.only_trial()["delivery"]["access"]["credentials"];
    assert_eq!(*access, json!(["$CODEX_API_KEY", "$OPENAI_API_KEY"]));
}

/// A key that the suite names is for a service of the suite's own, which the login is not for.
#[test]
fn a_key_that_the_suite_names_stays_beside_a_login_of_codex() {
    let provider = "{name: m, base_url: 'http://127.0.0.1:9/v1', env_key: OPENAI_API_KEY}";
    let config = format!("    config: {{model_provider: m, model_providers: {{m: {provider}}}}}\n");
    for named in [
        config.as_str(),
        "    env: {OPENAI_API_KEY: '${OPENAI_API_KEY}'}\n",
    ] {
        let project = playing("codex", "codex", "env > env.txt; exit 1", named);
        let project = project.env("OPENAI_API_KEY", SECRET);
        home_file(
            &project,
            ".codex/auth.json",
            &json!({"tokens": {"id": "login"}}),
        );
        project.terca(&["--format", "plain"]);
        let env = project.trial_file("workspace/env.txt");
        assert!(env.contains("OPENAI_API_KEY="), "{named}: {env}");
    }
}

#[test]
fn a_key_in_the_settings_is_not_nothing() {
    let answer = r#"{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"401 no","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"cost":{"total":0}},"timestamp":1}}"#;
    let end = r#"{"type":"agent_end"}"#;
    let script = format!("echo '{answer}'\necho '{end}'");
    let config = "    config: {providers: {mock: {baseUrl: 'http://127.0.0.1:9/v1', apiKey: fake-key-for-tests}}}\n";
    let project = playing("pi", "pi", &script, config);
    project.terca(&["--format", "plain"]);
    let trial = project.only_trial();
    assert_eq!(trial["error"]["kind"], "auth", "{trial}");
    let notes = trial["notes"].to_string();
    assert!(
        notes.contains("its credentials: replace the key in `config`"),
        "{notes}"
    );
    // The key is written down nowhere, and the settings around it are.
    let plan = run_file(&project).to_string();
    assert!(
        plan.contains("http://127.0.0.1:9/v1") && !plan.contains(SECRET),
        "{plan}"
    );
    let artifacts =
        std::fs::read_dir(project.run_dir().join("task/e.default.01/artifacts")).unwrap();
    for artifact in artifacts
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
    {
        let text = std::fs::read_to_string(&artifact).unwrap();
        assert!(!text.contains(SECRET), "{}", artifact.display());
    }
}
