//! Real test runners: the message of a failing test names its assertion, however it is run.

use serde_json::Value;
use terca_testkit::{Project, runners};

use crate::common::libraries::script_the_agent;
use crate::common::project;
use crate::common::proof::SOUND;

const ADD_JS: &str = "export const add = (a, b) => a - b;\n";
const NODE_TEST: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from './add.mjs';\n\
    test('keeps zero', () => assert.strictEqual(add(0, 0), 0));\n\
    test('adds small numbers', () => assert.strictEqual(add(1, 2), 3));\n";
const VITEST: &str = "import { expect, it } from 'vitest';\nimport { add } from './add.mjs';\n\
    it('keeps zero', () => expect(add(0, 0)).toBe(0));\n\
    it('adds small numbers', () => expect(add(1, 2)).toBe(3));\n";
const PYTEST: &str = "import unittest\n\ndef add(a, b):\n    return a - b\n\n\
    def test_zero():\n    assert add(0, 0) == 0\n\n\
    def test_small():\n    assert add(1, 2) == 3\n\n\
    class Lists(unittest.TestCase):\n    def test_lists(self):\n        self.assertEqual([add(1, 1)], [2])\n";
const PLAIN_PYTHON: &str = "from test_add import add\ntotal = add(1, 2)\nassert total == 3\n";

/// Five ways to run a failing test of JavaScript and three of Python, and the words of the assertion.
const WAYS: [(&str, &str, &str); 8] = [
    (
        "node",
        "node -e 'throw new Error(\"boom: expected 3\")'",
        "Error: boom: expected 3",
    ),
    (
        "node-test",
        "node --test t.test.mjs",
        "adds small numbers: Expected values to be strictly equal: -1 !== 3",
    ),
    (
        "npm-test",
        "npm test",
        "adds small numbers: Expected values to be strictly equal: -1 !== 3",
    ),
    (
        "vitest",
        "node_modules/.bin/vitest run v.test.ts",
        "adds small numbers: AssertionError: expected -1 to be 3",
    ),
    (
        "npx-vitest",
        "npx vitest run v.test.ts",
        "adds small numbers: AssertionError: expected -1 to be 3",
    ),
    (
        "pytest", "$PYTHON -m pytest test_add.py", "test_small: assert -1 == 3",
    ),
    (
        "unittest",
        "$PYTHON -m unittest test_add",
        "test_lists: AssertionError: Lists differ: [0] != [2]",
    ),
    (
        "python", "$PYTHON check.py", "AssertionError: assert total == 3",
    ),
];

fn suite(tests: &str) -> Project {
    project()
        .agent("true")
        .file("one/_tests/add.mjs", ADD_JS)
        .file("one/_tests/t.test.mjs", NODE_TEST)
        .file("one/_tests/v.test.ts", VITEST)
        .file("one/_tests/test_add.py", PYTEST)
        .file("one/_tests/check.py", PLAIN_PYTHON)
        .file("one/_tests/package.json", "{\"name\": \"one\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node --test t.test.mjs\"}}")
        .file(
            "one/eval.terca.yaml",
            format!(
                "prompt: go\nenv: {{PYTHON: '{}', MODULES: '{}'}}\nbefore: [{{command: 'ln -s \"$MODULES\" node_modules'}}]\ntests:\n{tests}",
                runners::python_with_pytest(),
                runners::vitest_modules(),
            ),
        )
}

#[test]
#[ignore = "needs Node with npm, and Python with venv"]
fn eight_of_eight_messages_name_the_assertion() {
    let tests: String = WAYS
        .iter()
        .map(|(name, command, _)| {
            format!("  - name: {name}\n    commandSuccess: |\n      {command}\n")
        })
        .collect();
    let project = suite(&tests);
    project.terca(&["--format", "plain"]).expect_status(1);
    let trial = project.only_trial();
    let mut wrong = Vec::new();
    for (name, _, assertion) in WAYS {
        let message = trial["tests"][name]["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if !message.contains(assertion) {
            wrong.push(format!("{name}: {message}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n{}",
        wrong.join("\n"),
        project.trial_file("run.log")
    );
    project.assert_nothing_left();
}

#[test]
#[ignore = "needs Node with npm, and Python with venv"]
fn reports_of_real_runners_give_a_share() {
    let ways = [
        (
            "junit",
            "node_modules/.bin/vitest run v.test.ts --reporter=junit --outputFile=report",
            0.5,
        ),
        (
            "json",
            "node_modules/.bin/vitest run v.test.ts --reporter=json --outputFile=report",
            0.5,
        ),
        (
            "tap",
            "node --test --test-reporter=tap --test-reporter-destination=report t.test.mjs",
            0.5,
        ),
        (
            "pytest",
            "$PYTHON -m pytest -q test_add.py --junitxml=report",
            1.0 / 3.0,
        ),
    ];
    let tests: String = ways
        .iter()
        .map(|(name, command, _)| {
            format!("  - name: {name}\n    commandSuccess:\n      command: |\n        {command}\n      report: report\n")
        })
        .collect();
    let project = suite(&tests);
    project.terca(&["--format", "plain"]).expect_status(1);
    let trial = project.only_trial();
    for (name, _, score) in ways {
        let grade: &Value = &trial["tests"][name];
        let found = grade["score"].as_f64().unwrap_or(-1.0);
        assert!((found - score).abs() < 1e-9, "{name}: {grade}");
        assert_eq!(grade["report"]["passed"], 1, "{name}: {grade}");
    }
}

/// Proves a new suite about a library, and returns what is shown of a trial that a scripted agent fails.
fn message_of_a_new_suite(project: &Project, end: &str) -> String {
    let made = project.terca(&["init", "--yes", "--agent", "oracle"]);
    made.expect_status(0);
    let checked = project.terca(&["-C", "evals", "check"]).expect_status(0);
    assert_eq!(checked.stderr, "", "not a warning either");
    let proven = project.terca(&["-C", "evals", "validate"]).expect_status(0);
    let count = proven.stdout.matches(&format!(" {SOUND}\n")).count();
    assert_eq!(count, 2, "{}{}", proven.stdout, proven.stderr);
    script_the_agent(project, end);
    project
        .terca(&["-C", "evals", "--format", "plain"])
        .expect_status(1);
    let shown = project.terca(&["-C", "evals", "show", "001-exports without-rules #01"]);
    shown.expect_status(0).stdout
}

#[test]
#[ignore = "needs Node with npm, and Python with venv"]
fn a_library_with_vitest_has_hidden_tests_for_it() {
    let package = r#"{"name": "tinyq", "version": "1.2.0", "type": "module", "main": "index.js", "scripts": {"test": "vitest run"}}"#;
    let project = project()
        .directory(".git")
        .file("package.json", package)
        .file("index.js", "export const add = (a, b) => a + b;\n")
        .file("AGENTS.md", "- Print every name.\n")
        .symlink("node_modules", runners::vitest_modules().as_str());
    let message = message_of_a_new_suite(&project, "mjs");
    let suite = project.read("evals/001-exports/eval.terca.yaml");
    assert!(suite.contains("vitest.mjs\" run"), "{suite}");
    assert!(
        message.contains("every export is listed") && message.contains("deep"),
        "{message}"
    );
}

#[test]
#[ignore = "needs Node with npm, and Python with venv"]
fn a_library_with_pytest_has_hidden_tests_for_it() {
    let python = runners::python_with_pytest();
    let environment = python.parent().and_then(|bin| bin.parent()).unwrap();
    // Not iniconfig, which pytest itself imports.
    let project = project()
        .directory(".git")
        .file(
            "pyproject.toml",
            "[project]\nname = \"tinypq\"\nversion = \"1.2.0\"\n\n[tool.pytest.ini_options]\n",
        )
        .file(
            "src/tinypq/__init__.py",
            "def last(items):\n    return items[-1]\n",
        )
        .file("AGENTS.md", "- Print every name.\n")
        .symlink(".venv", environment.as_str());
    let message = message_of_a_new_suite(&project, "py");
    let suite = project.read("evals/001-exports/eval.terca.yaml");
    assert!(suite.contains("-m pytest"), "{suite}");
    assert!(
        message.contains("test_every_public_name_is_listed: AssertionError: Lists differ"),
        "{message}"
    );
}

/// A virtual environment has its own path in its files. `pip install -e` puts that of the workspace there, as this `.pth`.
#[test]
#[ignore = "needs Node with npm, and Python with venv"]
fn an_editable_install_works_in_every_trial_variant_and_run() {
    let eval = "prompt: go\n\
        prepare: [{command: 'python3 -m venv .venv && for site in .venv/lib/python3*/site-packages; do pwd > $site/tinypk.pth; done'}]\n\
        tests:\n\
        - {name: imported, commandSuccess: 'cd / && \"$OLDPWD\"/.venv/bin/python -c \"import tinypk; print(tinypk.__file__)\"'}\n\
        - {name: first line, commandSuccess: .venv/bin/pip --version}\n\
        - {name: by the agent, fileContains: {path: seen, text: two}}\n";
    let agent = "{name: command, command: '.venv/bin/python -c \"import tinypk; print(tinypk.two())\" > seen'}";
    let project = project()
        .file(
            "terca.yaml",
            format!("repetitions: 2\nenvironments: [{{name: a, agent: {agent}}}, {{name: b, agent: {agent}}}]\n"),
        )
        .file("one/_base/tinypk.py", "def two():\n    return 'two'\n")
        .file("one/eval.terca.yaml", eval);
    for sandbox in ["none", "auto", "auto", "none"] {
        let outcome = project.terca(&["--sandbox", sandbox, "--format", "plain"]);
        assert_eq!(
            outcome.status, 0,
            "{sandbox}: {}{}",
            outcome.stdout, outcome.stderr
        );
    }
    let steps = project.path(".terca/cache").read_dir_utf8().unwrap();
    assert!(steps.count() >= 1, "it was made once for all of them");
}
