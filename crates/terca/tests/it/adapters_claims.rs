//! Claims about an agent, through the whole program: what is recorded is what happened.

use terca_testkit::Project;

use crate::common::project;

/// Gemini CLI as a script that prints these lines, given a server that nobody asks.
fn gemini(environment: &str, eval: &str, version: &str, lines: &[&str]) -> Project {
    let events: String = lines
        .iter()
        .map(|line| format!("echo '{line}'\n"))
        .collect();
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo {version}; exit; fi\ncat >/dev/null\n{events}"
    );
    project()
        .env("GEMINI_API_KEY", "fake-key-for-tests")
        .executable("gemini", &script)
        .file(
            "terca.yaml",
            format!(
                "mcpPreflight: false\nenvironments:\n  - name: g\n    agent: {{name: gemini-cli, program: ./gemini}}\n{environment}evals:\n  - name: task\n    prompt: do it\n    allowWarnings: no-tests\n{eval}"
            ),
        )
}

const SERVER: &str = "    mcpServers: {docs-v2: {command: docs-server}}\n";
const RESULT: &str = r#"{"type":"result","status":"success","stats":{"total_tokens":3,"input_tokens":2,"output_tokens":1,"cached":0,"tool_calls":0,"models":{"gemini-2.5-flash-lite":{"total_tokens":3}}}}"#;
const CALL: &str =
    r#"{"type":"tool_use","tool_name":"mcp_docs-v2_lookup_word","tool_id":"1","parameters":{}}"#;

#[test]
fn a_tool_is_named_as_its_server_names_it() {
    let test = "    tests: [{transcript: {usedTool: docs-v2/lookup_word}}]\n";
    let project = gemini(SERVER, test, "0.61.0", &[CALL, RESULT]);
    let outcome = project.terca(&[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stdout);
    // The server was never started, whatever the agent says.
    let server = &project.only_trial()["delivery"]["mcpServers"]["docs-v2"];
    assert_eq!(server["status"], serde_json::Value::Null, "{server}");
    assert_eq!(server["calls"], 0, "{server}");
}

#[test]
fn a_sibling_of_the_model_and_an_old_version_are_pointed_out() {
    let project = gemini("    model: gemini-2.5-flash\n", "", "0.9.0", &[RESULT]);
    let outcome = project.terca(&[]);
    assert_eq!(outcome.status, 0);
    let trial = project.only_trial();
    assert_eq!(trial["delivery"]["modelObserved"], "gemini-2.5-flash-lite");
    let notes = trial["notes"].to_string();
    assert!(
        notes.contains("`gemini-2.5-flash-lite` was used"),
        "{notes}"
    );
    assert!(notes.contains("older than the oldest version"), "{notes}");
    let shown = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(shown.contains("another model"), "{shown}");
}

#[test]
fn check_points_out_settings_and_rules_that_do_not_reach_the_agent() {
    let misspelt = gemini("    config: {contxt: {}, model: {}}\n", "", "0.61.0", &[]);
    let outcome = misspelt.terca(&["check", "--deny-warnings"]);
    let shown = outcome.expect_status(2).stderr;
    assert!(shown.contains("warning[unknown-setting]"), "{shown}");
    assert!(shown.contains("terca.yaml:"), "{shown}");
    assert!(shown.contains("`contxt`"), "{shown}");
    assert!(shown.contains("did you mean `context`?"), "{shown}");
    assert!(!shown.contains("`config` has `model`"), "{shown}");

    for (agent, config, wrong, meant) in [
        (
            "claude-code", "{permisions: {}}", "permisions", "permissions",
        ),
        (
            "claude-code", "{permissions: {alow: [Bash]}}", "permissions.alow", "allow",
        ),
        (
            "codex", "{model_reasoning_efort: high}", "model_reasoning_efort",
            "model_reasoning_effort",
        ),
        (
            "codex", "{model_providers: {m: {base_ur: x}}}", "model_providers.m.base_ur",
            "base_url",
        ),
        (
            "gemini-cli", "{general: {maxAttemptz: 3}}", "general.maxAttemptz", "maxAttempts",
        ),
        ("opencode", "{providr: {}}", "providr", "provider"),
        (
            "qwen-code", "{general: {vimMod: true}}", "general.vimMod", "vimMode",
        ),
    ] {
        let suite = format!(
            "environments:\n  - name: d\n    agent: {agent}\n    config: {config}\nevals:\n  - {{name: task, prompt: do it, allowWarnings: no-tests}}\n"
        );
        let shown = project().file("terca.yaml", suite).terca(&["check"]).stderr;
        assert!(
            shown.contains(&format!("`config` has `{wrong}`")),
            "{shown}"
        );
        assert!(
            shown.contains(&format!("did you mean `{meant}`?")),
            "{shown}"
        );
        assert!(shown.contains("terca.yaml:4:"), "{shown}");
        assert_eq!(shown.matches("[unknown-setting]").count(), 1, "{shown}");
    }

    let droid = |bytes: usize| {
        let project = project().file("RULES.md", "x".repeat(bytes)).file(
            "terca.yaml",
            "environments:\n  - {name: d, agent: droid, rules: RULES.md}\nevals:\n  - {name: task, prompt: do it, allowWarnings: no-tests}\n",
        );
        project.terca(&["check"]).stderr
    };
    let long = droid(150_000);
    assert!(long.contains("warning[long-rules]"), "{long}");
    assert!(long.contains("the rules have 150000 bytes"), "{long}");
    assert!(long.contains("terca.yaml:2:12"), "{long}");
    let short = droid(79_900);
    assert!(!short.contains("bytes"), "{short}");
}

/// Two skills with the same `SKILL.md` and different scripts are not the same skill.
#[test]
fn the_hash_of_a_skill_covers_all_its_files() {
    let hash = |script: &str| {
        let project = project()
            .file("whistle/SKILL.md", "---\nname: whistle\ndescription: x\n---\n")
            .file("whistle/run.sh", script)
            .file(
                "terca.yaml",
                "environments:\n  - {name: n, agent: {name: command, command: 'true'}, skills: whistle}\nevals:\n  - {name: task, prompt: do it, allowWarnings: no-tests}\n",
            );
        let outcome = project.terca(&[]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        project.only_trial()["delivery"]["skills"][0]["sha256"].clone()
    };
    assert_eq!(hash("echo one"), hash("echo one"));
    assert_ne!(hash("echo one"), hash("echo two"));
}

/// An agent that updates itself during a run is asked again.
#[test]
fn each_trial_has_the_version_that_it_ran_with() {
    let script = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 0.61.1; exit; fi\nsleep 0.01\nsed 's/0[.]61[.]1/&1/' \"$0\" > \"$0.new\"; chmod +x \"$0.new\"; mv \"$0.new\" \"$0\"\n";
    let project = gemini("", "", "0.61.0", &[]).executable("gemini", script);
    project.terca(&["-n", "2", "-c", "1", "--retries", "0"]);
    let results = project.results();
    let versions: Vec<&str> = (results["trials"].as_array().unwrap().iter())
        .map(|trial| trial["agentVersion"].as_str().unwrap_or("none"))
        .collect();
    assert_eq!(versions, ["0.61.1", "0.61.11"], "{results:#}");
}
