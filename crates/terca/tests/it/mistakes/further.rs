//! Further mistakes, of which the review has none. Each is answered with place, cause and next step.

use super::{A, EVAL, SUITE, Way, eval, graded, made, suite, way};

const SETUP: &str =
    "environments: [{name: a, agent: nop}]\nexperiments: [{name: b, command: setup_context.sh}]\n";

fn ways() -> Vec<Way> {
    let task = eval("promptFile: promt.md\ntests: [fileExists: a]\n");
    let both = eval("prompt: go\npromptFile: prompt.md\ntests: [fileExists: a]\n");
    let url = "environments: [{name: a, agent: codex}]\nexperiments:\n- name: x\n- name: y\n  rules: https://example.org/AGENTS.md\n";
    let no_proof = "requireDelivery: true\ngateway: off\nenvironments: [{name: a, agent: nop}]\n";
    let allow = "sandbox: auto\nnetwork: off\nallow: [example.com]\nenvironments: [{name: a, agent: nop}]\n";
    let many = "repetitions: 120000\nenvironments: [{name: a, agent: nop}]\n";
    let trivial = eval("prompt: go\ntests: [{commandSuccess: 'true'}]\n");
    vec![
        way(
            &[suite(url), EVAL],
            "check",
            2,
            [
                "terca.yaml:5:", "does not exist", "Terca does not download files",
            ],
        ),
        way(
            &[SUITE, task, ("fib/prompt.md", "Write fib.\n")],
            "check",
            2,
            [
                "eval.terca.yaml:1:", "error[missing-file]", "did you mean `prompt.md`?",
            ],
        ),
        way(
            &[SUITE, both, ("fib/prompt.md", "Write fib.\n")],
            "check",
            2,
            ["eval.terca.yaml:", "error[conflicting-keys]", "help: "],
        ),
        way(
            &[SUITE, EVAL, ("slug -> fib", "")],
            "check",
            0,
            [
                "slug", "warning[skipped-eval]", "replace the link with the directory",
            ],
        ),
        way(
            &[SUITE, EVAL, ("_slug/eval.terca.yaml", EVAL.1)],
            "check",
            0,
            ["_slug", "warning[skipped-eval]", "remove the `_` to run it"],
        ),
        way(
            &[SUITE, EVAL, ("fib/_solutions/a", "")],
            "check",
            0,
            [
                "fib/_solutions", "warning[misspelt-directory]",
                "`mv fib/_solutions fib/_solution`",
            ],
        ),
        way(
            &[SUITE, EVAL, ("base/a", "")],
            "check",
            0,
            ["base", "warning[misspelt-directory]", "`mv base _base`"],
        ),
        way(
            &[SUITE, trivial, ("fib/_solution.sh", "true\n")],
            "validate",
            1,
            ["fib", "trivial", "tighten its tests"],
        ),
        way(
            &[
                suite("environments: [{name: a, agent: codex, model: no-such-model}]\n"),
                EVAL,
            ],
            "doctor",
            1,
            [
                "agents of this suite:\n✗ codex", "not installed", "npm install -g @openai/codex",
            ],
        ),
        way(
            &[suite(SETUP), EVAL],
            "check",
            2,
            ["terca.yaml:2:", "`setup_context.sh` is not there", "help: "],
        ),
        way(
            &[suite(SETUP), EVAL, ("setup_context.sh", "#!/bin/sh\n")],
            "check",
            2,
            [
                "terca.yaml:2:", "error[not-executable]", "`chmod +x setup_context.sh`",
            ],
        ),
        way(
            &[suite(no_proof), EVAL],
            "check",
            2,
            ["terca.yaml:1:1", "`requireDelivery` needs", "help: "],
        ),
        way(
            &[suite(allow), EVAL],
            "check",
            0,
            ["terca.yaml:3:1", "warning[doubtful-value]", "help: "],
        ),
        way(
            &[suite(many), EVAL],
            "check",
            2,
            ["terca.yaml:1:", "error[out-of-range]", "120000"],
        ),
    ]
}

#[test]
fn further_mistakes_are_answered() {
    let answers = ways().iter().map(graded).collect::<Vec<_>>();
    let bad: Vec<String> = (answers.into_iter())
        .filter(|(grade, _)| *grade != A)
        .map(|(_, why)| why)
        .collect();
    assert!(bad.is_empty(), "{}", bad.join("\n\n"));
}

/// What is right, or allowed, is no mistake.
#[test]
fn nothing_is_said_without_a_mistake() {
    let allowed = eval(
        "prompt: go\nallowWarnings: [not-executable]\ntests: [{commandSuccess: ./check.sh}]\n",
    );
    let windows = ("+x fib/_tests/check.sh", "#!/bin/sh\r\n");
    for files in [
        &[SUITE, allowed, windows][..],
        &[suite(SETUP), EVAL, ("+x setup_context.sh", "#!/bin/sh\n")],
    ] {
        let outcome = made(files).terca(&["check"]).expect_status(0);
        assert_eq!(outcome.stderr, "");
    }
}

#[test]
fn a_huge_base_is_told() {
    let project = made(&[SUITE, EVAL]).file("_base/huge.bin", vec![1; 210_000_000]);
    let outcome = project.terca(&["check"]).expect_status(0);
    let said = &outcome.stderr;
    assert!(
        said.contains("warning[large-base]: `_base` has 210 MB"),
        "{said}"
    );
    // A run that is cheap to start is not held up to measure it.
    let outcome = project.terca(&["--dry-run"]).expect_status(0);
    assert!(!outcome.stderr.contains("large-base"), "{}", outcome.stderr);
}

#[test]
fn git_is_not_needed() {
    let trivial = eval("prompt: go\ntests: [{commandSuccess: 'true'}]\n");
    let project = made(&[SUITE, trivial, ("bin/sh -> /bin/sh", "")]);
    let path = project.path("bin").to_string();
    let output = project
        .command(&["run"])
        .env("PATH", path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
}

/// A message about a line does not print the key in it: the output of CI is read by many.
#[test]
fn a_key_in_a_file_is_not_printed() {
    let key = "sk-ant-api03-aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789";
    let suite = format!("env: {{A_KEY: {key}}}\nenviroments: []\n");
    let project = made(&[EVAL]).file("terca.yaml", suite);
    for args in [&["check"][..], &["check", "--format", "json"], &["run"]] {
        let outcome = project.terca(args).expect_status(2);
        let all = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(all.contains("key-in-file"), "{all}");
        assert!(!all.contains("aBcDeFg"), "{all}");
    }
}
