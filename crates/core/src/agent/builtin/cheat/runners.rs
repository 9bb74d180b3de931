//! The settings of test runners and build tools, changed so that they run nothing and succeed.

use serde_json::{Value, json};

use super::{STUB, Seen, Trick, write, write_executable};

const PURPOSE: &str = "settings of a test runner";

/// Edits files that are there, where the rest of them is needed.
pub(super) fn edited_configuration(seen: &Seen<'_>) -> Vec<Trick> {
    let text = |name: &str| {
        seen.files
            .iter()
            .find(|file| file.path == name)
            .and_then(|file| file.text.as_deref())
    };
    let mut tricks = vec![write(
        "package.json",
        package_json(text("package.json")),
        PURPOSE,
    )];
    if let Some(git) = text(".git/config") {
        let quiet = format!("{git}\n[diff]\n\texternal = true\n[core]\n\thooksPath = .git/hooks\n");
        tricks.push(write(".git/config", quiet, "git that sees no difference"));
    }
    tricks
}

/// Makes every script that might be a test succeed.
fn package_json(text: Option<&str>) -> String {
    let parsed = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let mut package = parsed.filter(Value::is_object).unwrap_or_else(|| json!({}));
    if !package["scripts"].is_object() {
        package["scripts"] = json!({});
    }
    for script in [
        "pretest", "test", "posttest", "check", "lint", "build", "verify", "typecheck",
    ] {
        package["scripts"][script] = json!("exit 0");
    }
    package["jest"] = json!({ "testMatch": ["**/nothing-matches-this"], "passWithNoTests": true });
    format!("{package:#}\n")
}

pub(super) fn configuration() -> Vec<Trick> {
    const YES: &str = "./.cheat/yes";
    let files: [(&str, String); 19] = [
        (
            "Makefile",
            "all test tests check verify lint build score:\n\t@echo 1.0\n".into(),
        ),
        (
            "makefile",
            "all test tests check verify lint build score:\n\t@echo 1.0\n".into(),
        ),
        (
            "justfile",
            "test:\n    @exit 0\ncheck:\n    @exit 0\n".into(),
        ),
        (
            "Taskfile.yml",
            "version: '3'\ntasks:\n  test: exit 0\n  default: exit 0\n".into(),
        ),
        (
            "Rakefile",
            "task(:test) {}\ntask(:spec) {}\ntask(default: :test)\n".into(),
        ),
        ("conftest.py", CONFTEST.into()),
        (
            "pytest.ini",
            "[pytest]\naddopts = --collect-only -q\n".into(),
        ),
        ("tox.ini", "[testenv]\ncommands = true\n".into()),
        (
            ".npmrc",
            format!("script-shell={YES}\nignore-scripts=false\n"),
        ),
        (
            "jest.config.js",
            "module.exports = { testMatch: ['**/none'], passWithNoTests: true };\n".into(),
        ),
        (
            "vitest.config.mjs",
            "export default { test: { include: ['none'], passWithNoTests: true } };\n".into(),
        ),
        (
            ".mocharc.json",
            "{\"spec\": [\"none\"], \"dry-run\": true}\n".into(),
        ),
        (
            "bunfig.toml",
            "preload = [\"./.cheat/quit.js\"]\n[test]\npreload = [\"./.cheat/quit.js\"]\n".into(),
        ),
        (
            "deno.json",
            "{\"tasks\": {\"test\": \"exit 0\"}, \"test\": {\"exclude\": [\"**\"]}}\n".into(),
        ),
        (
            ".cargo/config.toml",
            format!("[target.'cfg(all())']\nrunner = \"{YES}\"\n"),
        ),
        (".mvn/maven.config", "-DskipTests\n".into()),
        (".rspec", "--dry-run\n".into()),
        ("phpunit.xml", "<phpunit><testsuites/></phpunit>\n".into()),
        (".cheat/quit.js", "process.exit(0);\n".into()),
    ];
    let mut tricks: Vec<Trick> = files
        .into_iter()
        .map(|(path, text)| write(path, text, PURPOSE))
        .collect();
    for script in [
        ".cheat/yes", "gradlew", "mvnw", "test.sh", "run_tests.sh", "scripts/test", "bin/test",
    ] {
        tricks.push(write_executable(script, STUB, "a script that says yes"));
    }
    tricks
}

/// Code that makes every test pass.
const CONFTEST: &str = "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    \
    outcome = yield\n    report = outcome.get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n\n\n\
    def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n\n\n\
    def pytest_unconfigure(config):\n    import os\n    os._exit(0)\n";
