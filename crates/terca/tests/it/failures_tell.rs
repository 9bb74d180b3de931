//! Failures that tell: the message of a failed command is the line that matters, and no failing test is left out.

use serde_json::Value;
use terca_testkit::Project;

use crate::common::project;

/// An output that a real runner has written, from the tests of the reader.
fn recorded(name: &str) -> String {
    let path = format!(
        "{}/../core/tests/outputs/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A suite whose agent does nothing, with one eval of these tests.
fn graded(tests: &str) -> Project {
    project().agent("true").file(
        "one/eval.terca.yaml",
        format!("prompt: go\ntests:\n{tests}"),
    )
}

fn message(trial: &Value, test: &str) -> String {
    trial["tests"][test]["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn the_message_is_the_assertion() {
    let runners = [
        (
            "vitest-colour",
            "add > adds small numbers: AssertionError: expected -1 to be 3",
        ),
        (
            "npm-test",
            "adds small numbers: Expected values to be strictly equal: -1 !== 3",
        ),
        (
            "jest",
            "add › adds small numbers: expect(received).toBe(expected): Expected: 3, Received: -1",
        ),
        (
            "pytest",
            "test_small: AssertionError: small numbers: assert -1 == 3",
        ),
        ("cargo-test", "tests::asked: a value"),
        ("go-test", "TestAdd/small: Add(1, 2) = -1; want 3"),
        (
            "tsc",
            "bad.ts(1,53): error TS2322: Type 'string' is not assignable to type 'number'.",
        ),
    ];
    let tests: String = runners
        .iter()
        .map(|(name, _)| {
            format!("  - {{name: {name}, commandSuccess: 'cat {name}.txt; exit 1'}}\n")
        })
        .collect();
    let mut project = graded(&tests);
    for (name, _) in runners {
        project = project.file(
            &format!("one/_tests/{name}.txt"),
            recorded(&format!("{name}.txt")),
        );
    }
    project.terca(&["--format", "plain"]).expect_status(1);
    let trial = project.only_trial();
    for (name, expected) in runners {
        let message = message(&trial, name);
        assert!(
            message.starts_with(&format!("exit status 1: {expected}")),
            "{name}: {message}"
        );
    }
    let end = trial["tests"]["tsc"]["outputEnd"].as_array().unwrap();
    assert_eq!(end.len(), 3, "{end:?}");
    assert_eq!(
        trial["tests"]["pytest"]["outputEnd"]
            .as_array()
            .unwrap()
            .len(),
        10
    );
    project.assert_nothing_left();
}

#[test]
fn a_key_in_an_output_is_masked_in_all_that_is_kept() {
    const KEY: &str = "sk-ant-api03-AbCdEfGh_0123456789-ZyXwVuTsRq";
    let project = graded("  - {name: says, commandSuccess: 'echo \"Error: $KEY is wrong\"; exit 1'}\n")
        .env("THE_KEY", KEY)
        .file(
            "terca.yaml",
            "env: {KEY: '${THE_KEY}'}\nenvironments: [{name: e, agent: {name: command, command: ./agent.sh}}]\n",
        );
    project.terca(&["--format", "plain"]).expect_status(1);
    let trial = project.only_trial();
    assert_eq!(
        message(&trial, "says"),
        "exit status 1: Error: *** is wrong"
    );
    assert!(!trial.to_string().contains(&KEY[..12]), "{trial}");
}

#[test]
fn a_failed_set_up_says_why() {
    for key in ["before", "prepare"] {
        let command = "printf 'TAP version 13\\n1..1\\nnot ok 1 - adds\\n  ---\\n  error: 1 !== 2\\n  ...\\n'; echo npm notice; exit 4";
        let project = graded("  - fileExists: a\n").file(
            "one/eval.terca.yaml",
            format!(
                "prompt: go\n{key}:\n  - command: |\n      {command}\ntests: [{{fileExists: a}}]\n"
            ),
        );
        project.terca(&["--format", "plain"]).expect_status(3);
        let error = project.only_trial()["error"]["message"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(
            error.ends_with("exit status 4: adds: 1 !== 2"),
            "{key}: {error}"
        );
    }
}

#[test]
fn every_failing_test_is_shown() {
    let project = graded(
        "  - {name: one, fileExists: one.txt}\n  - {name: two, fileExists: two.txt}\n  - {name: there, fileExists: agent.txt}\n  \
         - {name: three, commandSuccess: 'echo expected 3 but got 4; exit 1'}\n",
    )
    .agent("touch agent.txt");
    let outcome = project
        .terca(&["--format", "plain", "--junit", "junit.xml"])
        .expect_status(1);
    for line in [
        "one: one.txt does not exist",
        "two: two.txt does not exist",
        "three: exit status 1: expected 3 but got 4",
    ] {
        assert!(outcome.stdout.contains(line), "{line}:\n{}", outcome.stdout);
        assert!(
            project.read("junit.xml").contains(line),
            "{line}:\n{}",
            project.read("junit.xml")
        );
    }
    // In the lines of progress there is room for the first alone.
    assert!(
        outcome
            .stderr
            .contains("one: one.txt does not exist (+2 more tests)"),
        "{}",
        outcome.stderr
    );
    let markdown = project.terca(&["report", "--markdown", "-"]).stdout;
    assert!(
        markdown.contains(
            "one.txt does not exist<br>two: two.txt does not exist<br>three: exit status 1"
        ),
        "{markdown}"
    );
}

#[test]
fn tests_by_variants() {
    let project = project()
        .executable("agent.sh", "#!/bin/sh\ntouch made\ntest ! -f AGENTS.md || touch ruled\n")
        .file("rules/AGENTS.md", "Make ruled.\n")
        .file(
            "terca.yaml",
            "repetitions: 2\nenvironments: [{name: e, agent: {name: command, command: ./agent.sh}}]\n\
             experiments: [{name: without}, {name: with, rules: rules/AGENTS.md}]\n\
             evals: [{name: work, prompt: go, tests: [{name: made, fileExists: made}, {name: ruled, fileExists: ruled}]}]\n",
        );
    project.terca(&["--format", "plain"]).expect_status(1);
    let shown = project.terca(&["show"]).expect_status(0).stdout;
    let row = |test: &str| -> Vec<String> {
        let line = shown
            .lines()
            .find(|line| line.contains(&format!(" {test} ")));
        let line = line.unwrap_or_else(|| panic!("{test}:\n{shown}"));
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row("made"), ["work", "made", "2/2", "2/2"]);
    assert_eq!(row("ruled"), ["ruled", "0/2", "2/2"]);
}

#[test]
fn npm_and_pip_are_quiet_unless_the_suite_says_otherwise() {
    let show = "env | grep -i -e notif -e npm_config -e ^PIP_ | LC_ALL=C sort";
    let project = graded(&format!(
        "  - {{name: seen, commandSuccess: \"{show}; exit 1\"}}\n"
    ));
    let project = project
        .agent("env | grep -i 'npm_config_fund' > seen.txt")
        .file("one/eval.terca.yaml", format!("prompt: go\nenv: {{npm_config_audit: 'true'}}\ntests:\n  - {{name: seen, commandSuccess: \"{show}; cat seen.txt; exit 1\"}}\n"));
    project.terca(&["--format", "plain"]).expect_status(1);
    let trial = project.only_trial();
    let seen: Vec<&str> = trial["tests"]["seen"]["outputEnd"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let expected = [
        "NO_UPDATE_NOTIFIER=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_ROOT_USER_ACTION=ignore",
        "npm_config_audit=true", "npm_config_fund=false", "npm_config_update_notifier=false",
        "npm_config_fund=false",
    ];
    assert_eq!(seen, expected);
}

/// `test`, `[` and `grep -q` say nothing. Their commands are traced, when all tests are judged.
#[test]
fn a_silent_test_tells_the_values() {
    let ways = [
        (
            "tested", "test \"$(cat out.txt)\" = hello", "test helo = hello",
        ),
        ("bracket", "[ \"$(wc -l < out.txt)\" -eq 3 ]", "[ 1 -eq 3 ]"),
        (
            "searched", "grep -q hello out.txt", "grep -q hello out.txt, in \"helo\"",
        ),
        (
            "piped", "cat out.txt | grep -q hello", "grep -q hello, in \"helo\"",
        ),
        (
            "unwanted", "! grep -q helo out.txt", "grep -q helo out.txt, in \"helo\"",
        ),
        ("scripted", "./check.sh", "test helo = hello"),
        ("read", "sh check.sh", "test helo = hello"),
        (
            "once",
            "test \"$(cat once 2>/dev/null || echo x > once)\" = x",
            // It starts from the same work when it is traced.
            "test  = x",
        ),
    ];
    let tests: String = ways
        .iter()
        .map(|(name, command, _)| {
            format!("  - name: {name}\n    commandSuccess: |\n      {command}\n")
        })
        .collect();
    let tests = format!("{tests}  - {{name: later, fileExists: out.txt}}\n");
    let project = graded(&tests).agent("echo helo > out.txt").executable(
        "one/_tests/check.sh",
        "#!/bin/sh\nset -e\ngrep -q helo out.txt\ntest \"$(cat out.txt)\" = hello\n",
    );
    project.terca(&["--format", "plain"]).expect_status(1);
    let trial = project.only_trial();
    for (name, _, told) in ways {
        let message = message(&trial, name);
        let is_told = message == format!("exit status 1: {told}");
        assert!(
            is_told || (name, message.as_str()) == ("bracket", "exit status 1: '[' 1 -eq 3 ']'"),
            "{name}: {message}\n{}",
            project.trial_file("run.log")
        );
    }
    assert_eq!(trial["tests"]["later"]["score"], 1.0);
    project.assert_nothing_left();
}

/// The lines of the failed assertion are shown, and not the runner's last ones.
#[test]
fn the_view_of_a_trial_has_the_assertion() {
    let project = graded("  - {name: unit, commandSuccess: 'cat out.txt; exit 1'}\n")
        .file("one/_tests/out.txt", recorded("values/node-deep.txt"));
    project.terca(&["--format", "plain"]).expect_status(1);
    let shown = project.terca(&["show", "1", "one"]).expect_status(0).stdout;
    for line in ["│ + actual - expected", "│ +   'sum'", "│ -   'subtract'"] {
        assert!(shown.contains(line), "{line}:\n{shown}");
    }
    assert!(!shown.contains("duration_ms"), "{shown}");
}

/// One trial runs a shared `prepare`; every trial has its output in its own log.
#[test]
fn the_log_of_each_trial_has_the_output_of_a_shared_step() {
    let project = project()
        .agent("true")
        .file(
            "terca.yaml",
            "prepare: [{command: 'echo building; echo the disk is full; exit 3'}]\nenvironments: [{name: e, agent: {name: command, command: ./agent.sh}}]\n",
        )
        .file("one/eval.terca.yaml", "prompt: go\ntests: [{fileExists: a}]\n")
        .file("two/eval.terca.yaml", "prompt: go\ntests: [{fileExists: a}]\n");
    let outcome = project.terca(&["--format", "plain", "-c", "1"]);
    outcome.expect_status(3);
    for trial in ["one/e.default.01", "two/e.default.01"] {
        let log = project.run_dir().join(trial).join("run.log");
        let log = std::fs::read_to_string(log).unwrap();
        for line in ["building", "the disk is full", "exit status 3"] {
            assert!(log.contains(line), "{trial}: {line}:\n{log}");
        }
    }
}
