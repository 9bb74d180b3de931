//! Python: uv or pip; pytest or unittest.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use toml::{Table, Value};

use super::{Part, Project, Recipe, Step, enter};
use crate::text::shell::quoted;

pub(super) const MANIFESTS: &[&str] = &[
    "uv.lock", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt",
];

/// Files of requirements. Where one is for tests, those for developers are not needed.
const REQUIREMENTS: [&str; 14] = [
    "requirements.txt", "requirements-test.txt", "requirements-tests.txt", "test-requirements.txt",
    "test_requirements.txt", "test.requirements.txt", "requirements/test.txt",
    "requirements/tests.txt", "requirements/testing.txt", "tests/requirements.txt",
    "requirements-dev.txt", "dev-requirements.txt", "dev.requirements.txt", "requirements/dev.txt",
];

/// Names of groups of packages, the first that there is.
const GROUPS: [&str; 4] = ["tests", "test", "testing", "dev"];

/// Settings of pytest, and modules that Python finds in the workspace before its own.
const SETTINGS: [&str; 8] = [
    "conftest.py", "pytest.ini", "tox.ini", "sitecustomize.py", "usercustomize.py", "pytest.py",
    "unittest.py", "doctest.py",
];

/// The name and the text of the script that runs the tests.
const RUNNER: (&str, &str) = ("run_python.py", include_str!("run_python.py"));

/// Installs uv into the home of the setup, where the machine has none. It is to trust what the machine trusts.
const UV: &str = "command -v uv > /dev/null || { python3 -m venv \"$HOME/uv\" && \"$HOME/uv/bin/python\" -m pip install -q uv; } && \
                  export PATH=\"$PATH:$HOME/uv/bin\" UV_NATIVE_TLS=1 && ";
/// Where no group has it.
const UV_PYTEST: &str =
    " && { .venv/bin/python -c 'import pytest' 2> uv.log || uv pip install -q pytest; }";

pub(super) fn recipe(part: &Part<'_>, project: &Project<'_>) -> Recipe {
    let has_pytest = project.has(part.dir, "conftest.py")
        || project.has(part.dir, "tests/conftest.py")
        || (MANIFESTS.iter().chain(&REQUIREMENTS).chain(&["tox.ini"]))
            .any(|name| mentions(part, project, name, &["pytest"]));
    let tested_by_pytest = part.tests.iter().any(|test| {
        (project.text)(test)
            .is_some_and(|text| text.contains("pytest") || !text.contains("unittest"))
    });
    let uses_pytest = tested_by_pytest || has_pytest;
    let runner = if uses_pytest { "pytest" } else { "unittest" };
    let setup = match project.has(part.dir, "uv.lock") {
        true => by_uv(part, project, uses_pytest),
        false => by_pip(part, project, uses_pytest),
    };
    let python = if setup.is_empty() {
        "python3"
    } else {
        ".venv/bin/python"
    };
    Recipe {
        tag: "python",
        tool: "python3",
        setup,
        check: format!(
            "{}{python} -I \"$mined/{}\" {runner} \"$report\" {}\n",
            enter(part.dir),
            RUNNER.0,
            part.words()
        ),
        settings: part.paths(&SETTINGS),
        script: Some(RUNNER),
        ..Recipe::default()
    }
}

fn mentions(part: &Part<'_>, project: &Project<'_>, name: &str, words: &[&str]) -> bool {
    let text = project.text(part.dir, name).unwrap_or_default();
    words.iter().any(|word| text.contains(word))
}

/// Reads the group of packages for tests in a table of `pyproject.toml`.
fn group<'a>(manifest: &'a Table, keys: &[&str]) -> Option<(&'static str, &'a Value)> {
    let (last, above) = keys.split_last()?;
    let mut table = manifest;
    for key in above {
        table = table.get(*key)?.as_table()?;
    }
    let groups = table.get(*last)?.as_table()?;
    GROUPS
        .into_iter()
        .find_map(|name| Some((name, groups.get(name)?)))
}

fn manifest(part: &Part<'_>, project: &Project<'_>) -> Table {
    let text = project.text(part.dir, "pyproject.toml").unwrap_or_default();
    text.parse().unwrap_or_default()
}

fn by_uv(part: &Part<'_>, project: &Project<'_>, uses_pytest: bool) -> Vec<Step> {
    let manifest = manifest(part, project);
    // The groups that uv installs by itself often have all tools of the developers.
    let chosen = match (
        group(&manifest, &["dependency-groups"]),
        group(&manifest, &["project", "optional-dependencies"]),
    ) {
        (Some((name, _)), _) => format!(" --no-default-groups --group {name}"),
        (None, Some((name, _))) => format!(" --extra {name}"),
        (None, None) => String::new(),
    };
    let pytest = if uses_pytest { UV_PYTEST } else { "" };
    let sync = format!("{UV}uv sync -q --frozen{chosen}");
    let packages = format!("{sync} --no-install-workspace");
    let manifests = project.all_named(part.dir, "pyproject.toml").cloned();
    vec![
        Step::within(part.dir, &packages).with_only(manifests.chain([part.dir.join("uv.lock")])),
        Step::within(part.dir, &format!("{sync}{pytest}")),
    ]
}

fn by_pip(part: &Part<'_>, project: &Project<'_>, uses_pytest: bool) -> Vec<Step> {
    let has = |name: &str| project.has(part.dir, name);
    let manifest = manifest(part, project);
    let extra = group(&manifest, &["project", "optional-dependencies"]);
    let listed = group(&manifest, &["dependency-groups"]);
    let mut packages = Vec::from_iter(uses_pytest.then(|| "pytest".to_owned()));
    let own = listed.and_then(|(_, packages)| packages.as_array());
    let own = own.into_iter().flatten().filter_map(Value::as_str);
    // A group may name the project itself, with more of its packages.
    let name = manifest
        .get("project")
        .and_then(|project| project.get("name"));
    let name = name.and_then(Value::as_str).unwrap_or_default();
    let extras_of = |package: &str| {
        package
            .strip_prefix(name)?
            .strip_prefix('[')?
            .strip_suffix(']')
            .map(str::to_owned)
    };
    let mut extras = Vec::from_iter(extra.map(|(name, _)| name.to_owned()));
    for package in own {
        match extras_of(package) {
            Some(more) => extras.push(more),
            None => packages.push(quoted(package)),
        }
    }
    let files = REQUIREMENTS.iter().filter(|name| has(name));
    let has_tests =
        listed.is_some() || extra.is_some() || files.clone().any(|name| name.contains("test"));
    packages.extend(
        files
            .filter(|name| !has_tests || !name.contains("dev"))
            .map(|name| format!("-r {name}")),
    );
    let names = ["pyproject.toml", "setup.py", "setup.cfg"];
    let needs_packages = names
        .iter()
        .any(|name| mentions(part, project, name, &["dependencies", "install_requires"]));
    let is_package = has("setup.py")
        || mentions(
            part,
            project,
            "pyproject.toml",
            &["[project]", "[build-system]"],
        );
    let own = needs_packages || (is_package && !packages.is_empty());
    let own = own.then(|| match extras.is_empty() {
        true => "-e .".to_owned(),
        false => format!("-e {}", quoted(&format!(".[{}]", extras.join(",")))),
    });
    if packages.is_empty() && own.is_none() {
        return Vec::new();
    }
    let install = |packages: &str| format!(".venv/bin/python -m pip install -q {packages}");
    let named = files_of_requirements(part, project);
    let mut first = "python3 -m venv .venv".to_owned();
    let Some(mut read) = named else {
        // The packages are files of the project, or need them.
        packages.extend(own);
        let steps = [first, install(&packages.join(" "))];
        return Vec::from(steps.map(|step| Step::within(part.dir, &step)));
    };
    if !packages.is_empty() {
        first += &format!(" && {}", install(&packages.join(" ")));
    }
    if read.is_empty() {
        read.extend(project.there(part.dir, &names));
    }
    let first = Step::within(part.dir, &first).with_only(read);
    let own = own.map(|own| Step::within(part.dir, &install(&own)));
    [first].into_iter().chain(own).collect()
}

/// Returns the files of requirements, and those that they name; `None` where one names something else of the project.
fn files_of_requirements(part: &Part<'_>, project: &Project<'_>) -> Option<BTreeSet<Utf8PathBuf>> {
    let mut open: Vec<Utf8PathBuf> = project.there(part.dir, &REQUIREMENTS);
    let mut found = BTreeSet::new();
    while let Some(file) = open.pop() {
        let text = (project.text)(&file).unwrap_or_default();
        for line in text.lines().map(str::trim) {
            let option = ["-r", "--requirement", "-c", "--constraint"];
            let named = option.iter().find_map(|option| line.strip_prefix(option));
            if let Some(named) = named {
                let path = file.parent()?.join(named.trim_start_matches([' ', '=']));
                let path = project.files.get(&path)?;
                if !found.contains(path) {
                    open.push(path.clone());
                }
            } else if line.starts_with(['.', '/'])
                || line.starts_with("-e")
                || line.contains("file:")
            {
                return None;
            }
        }
        found.insert(file);
    }
    Some(found)
}
