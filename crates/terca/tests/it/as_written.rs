//! The configuration means what was written: nothing of it reaches a trial that it was not written for, and nothing
//! is left out in silence.

use crate::common::project;
use serde_json::{Value, json};
use terca_testkit::{Project, recorded_streams, stand_ins};

const EVAL: (&str, &str) = ("fib/eval.terca.yaml", "prompt: play success\n");

/// A suite with one eval, and the stand-in for Gemini CLI on `PATH`.
fn suite(text: &str) -> Project {
    let path = std::env::var("PATH").unwrap_or_default();
    project()
        .env("PATH", &format!("{}:{path}", stand_ins()))
        .env("GEMINI_API_KEY", "fake-key-for-tests")
        .file(
            "terca.yaml",
            format!(
                "env: {{TERCA_TEST_STREAMS: '{}'}}\n{text}",
                recorded_streams()
            ),
        )
        .file(EVAL.0, EVAL.1)
}

/// The document `run.json` of the only run.
fn run_file(project: &Project) -> Value {
    let text = std::fs::read_to_string(project.run_dir().join("run.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The plan of `terca check`, with one space between words.
fn checked(project: &Project, args: &[&str]) -> String {
    let outcome = project.terca(&[&["check"], args].concat()).expect_status(0);
    let words: Vec<&str> = outcome.stdout.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn another_agent_is_not_given_the_model_and_config_of_the_first() {
    let project = suite(
        "environments:\n  - name: first\n    agent: claude-code\n    model: claude-sonnet-4-5\n    \
         config: {permissions: {deny: [WebSearch]}}\n\
         experiments:\n  - name: control\n  - {name: other, agent: gemini-cli}\n  \
         - {name: own, agent: gemini-cli, model: gemini-3-pro, config: {general: {vimMode: true}}}\n  \
         - {name: alias, agent: claude}\n",
    );
    let plan = checked(&project, &[]);
    for said in [
        "first.control claude-code claude-sonnet-4-5 first.other",
        "other gemini-cli the agent's own model the environment's `model` and `config` are for claude-code and are \
         not used first.own",
        "own gemini-cli gemini-3-pro the environment's `config` is for claude-code and is not used first.alias",
    ] {
        assert!(plan.contains(said), "{said}\n{plan}");
    }
    assert!(
        plan.ends_with("first.alias claude-code claude-sonnet-4-5"),
        "the same agent under another name: {plan}"
    );
    for (experiment, model, vim) in [
        ("other", None, None),
        ("own", Some("gemini-3-pro"), Some(true)),
    ] {
        project.terca(&["run", "-x", experiment]).expect_status(0);
        let arguments = project.trial_file("workspace/argv.txt");
        assert_eq!(
            arguments
                .lines()
                .skip_while(|line| *line != "--model")
                .nth(1),
            model,
            "{arguments}"
        );
        let settings: Value =
            serde_json::from_str(&project.trial_file("workspace/settings.json")).unwrap();
        assert_eq!(settings["general"]["vimMode"].as_bool(), vim, "{settings}");
        assert_eq!(settings["permissions"], Value::Null);
        let variant = &run_file(&project)["cases"][0]["variant"];
        assert_eq!(variant["model"], json!(model));
        assert_eq!(
            variant["config"],
            vim.map_or(Value::Null, |vim| json!({"general": {"vimMode": vim}}))
        );
    }
}

#[test]
fn an_agent_of_the_command_line_is_not_given_the_settings_of_the_suites() {
    let project = suite(
        "environments:\n  - {name: first, agent: claude-code, model: claude-sonnet-4-5, config: {a: 1}}\n\
         experiments:\n  - name: control\n  - {name: larger, model: claude-opus-4-8}\n",
    );
    let plan = checked(&project, &["--agent", "gemini"]);
    for said in [
        "control gemini-cli the agent's own model the environment's `model` and `config` are for claude-code and are \
         not used",
        "the experiment's `model` is for claude-code and is not used",
    ] {
        assert!(plan.contains(said), "{said}\n{plan}");
    }
    let plan = checked(&project, &["--agent", "claude"]);
    assert!(!plan.contains("not used"), "{plan}");
    project
        .terca(&["run", "-x", "larger", "--agent", "gemini"])
        .expect_status(0);
    let arguments = project.trial_file("workspace/argv.txt");
    assert!(!arguments.contains("--model"), "{arguments}");
}

#[test]
fn settings_beside_no_agent_are_for_any() {
    let project = suite("environments: [{name: any, model: gemini-3-pro}]\n");
    project
        .terca(&["run", "--agent", "gemini"])
        .expect_status(0);
    let arguments = project.trial_file("workspace/argv.txt");
    assert!(arguments.contains("--model\ngemini-3-pro"), "{arguments}");
}
