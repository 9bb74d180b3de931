//! `command`: a program of one's own is given all that a variant has, and says as much as any other agent; and a program of
//! one's own in the place of a built-in agent's.

use serde_json::{Value, json};
use terca_testkit::Project;

use crate::common::project;

/// A suite with one eval and one environment, whose agent is a script.
fn suite(environment: &str, script: &str) -> Project {
    project()
        .executable("agent.sh", &format!("#!/bin/sh\nset -e\n{script}\n"))
        .file(
            "terca.yaml",
            // The servers of these suites are not there, and nobody asks them.
            format!(
                "mcpPreflight: false\nenvironments:\n  - name: mine\n{environment}evals:\n  - name: task\n    prompt: do it\n    tests: [{{fileExists: done}}]\n"
            ),
        )
}

const AGENT: &str = "    agent: {name: command, command: ./agent.sh}\n";

#[test]
fn it_is_given_servers_settings_and_a_place_for_artifacts() {
    let environment = format!(
        "{AGENT}    mcpServers: {{docs: {{command: docs-server, args: [--fast], env: {{LEVEL: high}}}}}}\n    config: {{theme: dark, providers: {{x: {{apiKey: sk-of-the-config-123}}}}}}\n"
    );
    let script = "cp \"$TERCA_MCP_CONFIG\" mcp.txt; cp \"$TERCA_CONFIG\" config.txt\n\
        mkdir \"$TERCA_ARTIFACTS_DIR/deep\"; echo kept sk-of-the-config-123 >\"$TERCA_ARTIFACTS_DIR/deep/own.log\"\n\
        ln -s /etc/passwd \"$TERCA_ARTIFACTS_DIR/link\"; echo key sk-of-the-config-123; touch done";
    let project = suite(&environment, script);
    let outcome = project.terca(&[]);
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    let servers: Value = serde_json::from_str(&project.trial_file("workspace/mcp.txt")).unwrap();
    // Its server is behind a tap.
    let server = &servers["mcpServers"]["docs"];
    assert_eq!(
        (&server["type"], &server["env"]),
        (&json!("stdio"), &json!({"LEVEL": "high"}))
    );
    let program = server["command"].as_str().unwrap();
    assert!(program.ends_with("/terca"), "{program}");
    let args = server["args"].as_array().unwrap();
    assert_eq!(args[0], "__mcp-tap");
    assert_eq!(args[2..], ["docs", "0", "docs-server", "--fast"]);
    let config: Value = serde_json::from_str(&project.trial_file("workspace/config.txt")).unwrap();
    assert_eq!(config["theme"], "dark");
    let kept = project.trial_file("artifacts/agent/deep/own.log");
    assert!(
        kept.starts_with("kept ") && !kept.contains("sk-of"),
        "{kept}"
    );
    assert!(
        !project.trial_path("artifacts/agent/link").exists(),
        "no link is followed or kept"
    );
    // A key that is written in `config` is a secret of the run.
    for file in ["run.json", "results.json", "events.jsonl"] {
        let text = std::fs::read_to_string(project.run_dir().join(file)).unwrap();
        assert!(!text.contains("sk-of-the-config"), "{file}");
    }
    for file in ["artifacts/config.json", "artifacts/stdout.log", "run.log"] {
        let text = project.trial_file(file);
        assert!(!text.contains("sk-of-the-config"), "{file}: {text}");
    }
}

#[test]
fn too_many_artifacts_are_not_kept_and_the_work_is_judged() {
    let script = "touch done; cd \"$TERCA_ARTIFACTS_DIR\"; seq 1001 | xargs touch";
    let project = suite(AGENT, script);
    assert_eq!(project.terca(&[]).status, 0);
    let notes = project.only_trial()["notes"].to_string();
    assert!(
        notes.contains("not all files in $TERCA_ARTIFACTS_DIR"),
        "{notes}"
    );
    let kept = std::fs::read_dir(project.trial_path("artifacts/agent")).unwrap();
    assert_eq!(kept.count(), 1_000);
}

#[test]
fn rules_go_where_it_reads_them() {
    let environment = "    agent: {name: command, command: ./agent.sh, rulesFile: .mine/rules.md}\n    rules: RULES.md\n";
    let project = suite(environment, "touch done").file("RULES.md", "Be brief.\n");
    let outcome = project.terca(&[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(
        project.trial_file("workspace/.mine/rules.md"),
        "Be brief.\n"
    );
    assert!(!project.trial_path("workspace/AGENTS.md").exists());
    let rules = &project.only_trial()["delivery"]["rules"][0];
    assert_eq!(rules["path"], ".mine/rules.md");
}

#[test]
fn a_rules_file_behind_a_link_out_of_the_workspace_is_refused() {
    let environment = "    agent: {name: command, command: ./agent.sh, rulesFile: out/rules.md}\n    rules: RULES.md\n    before: [{command: ln -s \"$HOME\" out}]\n";
    let project = suite(environment, "touch done").file("RULES.md", "Be brief.\n");
    project.terca(&[]);
    let trial = project.only_trial();
    assert_eq!(trial["error"]["kind"], "setup", "{trial}");
    let message = trial["error"]["message"].as_str().unwrap();
    assert!(message.contains("outside the workspace"), "{message}");
}

#[test]
fn it_reports_its_version_its_model_and_its_errors() {
    let environment = format!("{AGENT}    model: gpt-5\n");
    let stats = r#"{"requests": 2, "version": "4.5.6", "model": "gpt-5-mini"}"#;
    let project = suite(
        &environment,
        &format!("touch done; echo '{stats}' >\"$TERCA_STATS_FILE\""),
    );
    assert_eq!(project.terca(&[]).status, 0);
    let trial = project.only_trial();
    assert_eq!(trial["agentVersion"], "4.5.6");
    assert_eq!(trial["delivery"]["modelObserved"], "gpt-5-mini");
    let notes = trial["notes"].to_string();
    assert!(notes.contains("`gpt-5-mini` was used"), "{notes}");

    let stats = r#"{"error": {"kind": "rateLimit", "message": "the service said 429"}}"#;
    let project = suite(
        AGENT,
        &format!("touch done; echo '{stats}' >\"$TERCA_STATS_FILE\"; exit 1"),
    );
    project.terca(&["--retries", "0"]);
    let trial = project.only_trial();
    assert_eq!(trial["status"], "error", "{trial}");
    assert_eq!(
        trial["error"],
        json!({"kind": "rateLimit", "message": "the service said 429"})
    );
}

/// Two versions of one agent side by side: each trial has the version of its own program.
#[test]
fn a_built_in_agent_may_have_a_program_of_ones_own() {
    let gemini = |version: &str| {
        format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo {version}; exit; fi\n\
             cat >/dev/null; touch done\n\
             echo '{{\"type\":\"result\",\"status\":\"success\",\"stats\":{{\"total_tokens\":3,\"input_tokens\":2,\"output_tokens\":1,\"cached\":0,\"tool_calls\":0}}}}'\n"
        )
    };
    let suite = "environments:\n  - name: old\n    agent: {name: gemini-cli, program: ./old/gemini}\n  - name: new\n    agent: {name: gemini-cli, program: ./new/gemini}\nevals:\n  - name: task\n    prompt: do it\n    tests: [{fileExists: done}]\n";
    let project = project()
        .env("GEMINI_API_KEY", "fake-key-for-tests")
        .executable("old/gemini", &gemini("0.50.0"))
        .executable("new/gemini", &gemini("0.61.0"))
        .file("terca.yaml", suite);
    let outcome = project.terca(&[]);
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    let results = project.results();
    let mut versions: Vec<(String, String)> = results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| {
            let text = |key: &str| trial[key].as_str().unwrap_or_default().to_owned();
            (text("environment"), text("agentVersion"))
        })
        .collect();
    versions.sort();
    let expected = [("new", "0.61.0"), ("old", "0.50.0")];
    assert_eq!(
        versions,
        expected.map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
}
