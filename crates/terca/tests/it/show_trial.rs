//! `terca show RUN TRIAL` and `terca logs`: one trial in the terminal.

use serde_json::Value;
use terca_testkit::{Project, recorded_streams, stand_ins};

use crate::common::project;

/// Two evals in two variants, twice each; the agent says something with control characters.
fn with_a_run() -> Project {
    let project = project()
        .executable(
            "agent.sh",
            "#!/bin/sh\nprintf 'working \\033[2Jhard\\n'\necho content > made.txt\n",
        )
        .file("rules/AGENTS.md", "Be good.\n")
        .file(
            "terca.yaml",
            "repetitions: 2\nenvironments: [{name: sh, agent: {name: command, command: ./agent.sh}}]\n\
             experiments: [{name: base}, {name: with-rules, rules: rules/AGENTS.md}]\n",
        )
        .file(
            "001-slug/eval.terca.yaml",
            "prompt: go\ntests:\n  - {name: made, fileExists: made.txt}\n  \
             - {name: unit, commandSuccess: 'echo one; echo expected 3 but got 4; echo bye; exit 1'}\n",
        )
        .file("002-plain/eval.terca.yaml", "prompt: go\ntests: [{name: made, fileExists: made.txt}]\n");
    project.terca(&["--format", "plain"]).expect_status(1);
    project
}

#[test]
fn one_trial_is_shown() {
    let project = with_a_run();
    let name = project.run_dir().file_name().unwrap().to_owned();
    for words in [
        vec!["show", &name, "001-slug/sh.base.01"],
        vec!["show", &name, "001-slug sh.base #01"],
        vec!["show", "1", "001-slug", "base", "#01"],
        vec!["show", "slug base #01"],
    ] {
        let shown = project.terca(&words).expect_status(0).stdout;
        for part in [
            "001-slug sh.base #01",
            "1.00  made: made.txt exists",
            "0.00  unit: exit status 1: expected 3 but got 4",
            "│ one\n",
            "│ bye\n",
            "+content",
            "logs",
        ] {
            assert!(shown.contains(part), "{words:?}, {part:?}:\n{shown}");
        }
        assert!(!shown.contains("002-plain"), "{shown}");
    }
}

#[test]
fn a_name_that_is_not_one_trial_is_refused() {
    let project = with_a_run();
    let several = project
        .terca(&["show", "1", "001-slug"])
        .expect_status(2)
        .stderr;
    assert!(
        several.contains("error[no-match]: `001-slug` matches 4 trials"),
        "{several}"
    );
    assert!(
        several.contains("001-slug/sh.with-rules.02  (001-slug sh.with-rules #02)"),
        "{several}"
    );
    let none = project.terca(&["show", "1", "003"]).expect_status(2).stderr;
    assert!(
        none.contains("no trial of the run") && none.contains("002-plain/sh.base.01"),
        "{none}"
    );
    let neither = project
        .terca(&["show", "nothing-of-the-kind"])
        .expect_status(2)
        .stderr;
    assert!(neither.contains("error[unknown-run]"), "{neither}");
}

#[test]
fn a_trial_as_json() {
    let project = with_a_run();
    let text = project
        .terca(&["show", "1", "001-slug/sh.with-rules.02", "--format", "json"])
        .expect_status(0)
        .stdout;
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["trial"]["eval"], "001-slug");
    assert_eq!(document["trial"]["tests"]["unit"]["outputEnd"][2], "bye");
    assert_eq!(document["prompt"], "go");
    assert!(
        document["changes"].as_str().unwrap().contains("+content"),
        "{text}"
    );
    let text = project
        .terca(&["show", "--format", "json"])
        .expect_status(0)
        .stdout;
    let run: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(run["trials"].as_array().unwrap().len(), 8);
}

#[test]
fn the_words_of_an_agent_cannot_harm_a_terminal() {
    let project = with_a_run();
    let outcome = project
        .terca(&["logs", "1", "slug", "base", "#02"])
        .expect_status(0);
    assert_eq!(outcome.stdout, "working ␛[2Jhard\n");
    let several = project.terca(&["logs"]).expect_status(2).stderr;
    assert!(
        several.contains("has 8 trials") && several.contains("help: name one"),
        "{several}"
    );
}

#[test]
fn a_running_trial_is_followed_to_its_end() {
    let project = project();
    let gate = project.path("gate");
    let project = project
        .agent(&format!(
            "echo first; while [ ! -e {gate} ]; do sleep 0.05; done; echo second"
        ))
        .file(
            "one/eval.terca.yaml",
            "prompt: go\ntests: [{fileExists: none}]\n",
        );
    let mut run = project.start(&["--format", "plain"]);
    run.wait_until("the agent has said something", || {
        project.has_run()
            && std::fs::read_to_string(
                project
                    .run_dir()
                    .join("one/default.default.01/artifacts/stdout.log"),
            )
            .is_ok_and(|text| text.contains("first"))
    });
    let now = project.terca(&["logs", "one"]).expect_status(0);
    assert_eq!(now.stdout, "first\n");
    let followed = project.start(&["logs", "one", "-f"]);
    std::fs::write(project.path("gate"), "").unwrap();
    let followed = followed.finish().expect_status(0);
    assert_eq!(followed.stdout, "first\nsecond\n");
    assert_eq!(run.finish().status, 1);
    project.assert_nothing_left();
}

#[test]
fn a_session_with_steps_is_readable() {
    let project = project()
        .env(
            "PATH",
            &format!(
                "{}:{}",
                stand_ins(),
                std::env::var("PATH").unwrap_or_default()
            ),
        )
        .env("GEMINI_API_KEY", "fake-key-for-tests")
        .file(
            "terca.yaml",
            format!(
                "env: {{TERCA_TEST_STREAMS: '{}'}}\nenvironments: [{{name: g, agent: gemini}}]\n\
                 evals: [{{name: task, prompt: play success, tests: [{{fileExists: none}}]}}]\n",
                recorded_streams()
            ),
        );
    project.terca(&["--format", "plain"]).expect_status(1);
    let said = project.terca(&["logs", "task"]).expect_status(0).stdout;
    assert!(
        said.contains("\nagent\n  ") && said.contains("\ntool  "),
        "{said}"
    );
    let shown = project.terca(&["show", "task"]).expect_status(0).stdout;
    assert!(
        shown.contains("\ntranscript\n  ") && shown.contains("tool calls"),
        "{shown}"
    );
}

#[test]
fn trials_are_completed() {
    let project = with_a_run();
    let mut command = project.command(&["--", "terca", "show", "1", "00"]);
    let output = command
        .env("TERCA_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "3")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("001-slug/sh.with-rules.01"), "{text}");
}
