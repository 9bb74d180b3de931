//! Python: uv or pip; pytest or unittest.

use super::{Part, Project, Recipe, enter, within};

pub(super) const MANIFESTS: &[&str] = &[
    "uv.lock", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt",
];

const REQUIREMENTS: [&str; 9] = [
    "requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "requirements-test.txt",
    "test-requirements.txt", "dev.requirements.txt", "test.requirements.txt",
    "requirements/dev.txt", "requirements/test.txt",
];

/// Settings of pytest, and modules that Python finds in the workspace before its own.
const SETTINGS: [&str; 8] = [
    "conftest.py", "pytest.ini", "tox.ini", "sitecustomize.py", "usercustomize.py", "pytest.py",
    "unittest.py", "doctest.py",
];

/// The name and the text of the script that runs the tests.
const RUNNER: (&str, &str) = ("run_python.py", include_str!("run_python.py"));

pub(super) fn recipe(part: &Part<'_>, project: &Project<'_>) -> Recipe {
    let has = |name: &str| project.has(part.dir, name);
    let mentions = |name: &str, words: &[&str]| {
        let text = project.text(part.dir, name).unwrap_or_default();
        words.iter().any(|word| text.contains(word))
    };
    let tested_by_pytest = part.tests.iter().any(|test| {
        (project.text)(test)
            .is_some_and(|text| text.contains("pytest") || !text.contains("unittest"))
    });
    let named = MANIFESTS.iter().chain(&REQUIREMENTS).chain(&["tox.ini"]);
    let has_pytest = has("conftest.py")
        || has("tests/conftest.py")
        || named.into_iter().any(|name| mentions(name, &["pytest"]));
    let uses_pytest = tested_by_pytest || has_pytest;
    let runner = if uses_pytest { "pytest" } else { "unittest" };
    let mut packages = Vec::from_iter(uses_pytest.then(|| "pytest".to_owned()));
    packages.extend(
        REQUIREMENTS
            .iter()
            .filter(|name| has(name))
            .map(|name| format!("-r {name}")),
    );
    let is_package = ["pyproject.toml", "setup.py", "setup.cfg"]
        .iter()
        .any(|name| mentions(name, &["dependencies", "install_requires"]));
    if is_package {
        packages.push("-e .".to_owned());
    }
    let commands = if has("uv.lock") {
        vec!["uv sync --frozen".to_owned()]
    } else if packages.is_empty() {
        Vec::new()
    } else {
        let install = format!(".venv/bin/python -m pip install -q {}", packages.join(" "));
        vec!["python3 -m venv .venv".to_owned(), install]
    };
    let python = if commands.is_empty() {
        "python3"
    } else {
        ".venv/bin/python"
    };
    let setup = commands.iter().map(|command| within(part.dir, command));
    Recipe {
        tag: "python",
        tool: if has("uv.lock") { "uv" } else { "python3" },
        setup: setup.collect(),
        check: format!(
            "{}{python} -I \"$mined/{}\" {runner} \"$TMPDIR/ran\" {}\ntest -s \"$TMPDIR/ran\"\n",
            enter(part.dir),
            RUNNER.0,
            part.words()
        ),
        settings: part.paths(&SETTINGS),
        script: Some(RUNNER),
    }
}
