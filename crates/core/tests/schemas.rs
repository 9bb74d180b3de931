//! The committed schemas, and documents of the repository that they must accept or refuse.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so and ends"
)]

#[cfg(test)]
#[path = "support/checker.rs"]
mod checker;

use std::path::{Path, PathBuf};

use serde_json::Value;
use terca_core::config::schema;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Made anew with `UPDATE_SCHEMAS=1`.
#[test]
fn the_committed_schemas_are_those_of_the_program() {
    for (name, schema) in [
        ("terca.schema.json", schema::suite()),
        ("eval.schema.json", schema::eval()),
        ("workers.schema.json", schema::workers()),
    ] {
        let path = root().join("schemas").join(name);
        let text = schema::text(&schema);
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == text,
            "schemas/{name} is not up to date: UPDATE_SCHEMAS=1 cargo test -p terca-core --test schemas"
        );
    }
}

/// Whether a file is as its schema says; the file's name says which schema.
fn is_valid(name: &str, text: &str) -> bool {
    let schema = if name.ends_with("eval.terca.yaml") {
        schema::eval()
    } else if name.ends_with("workers.yaml") {
        schema::workers()
    } else {
        schema::suite()
    };
    let value: Value =
        serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    checker::accepts(&schema, &value)
}

/// A schema knows which keys are required and which exclude each other.
#[test]
fn a_schema_refuses_missing_and_conflicting_keys() {
    for (name, text, is_right) in [
        ("terca.yaml", "{}", true),
        ("terca.yaml", "evals: [{name: a, prompt: b}]", true),
        ("terca.yaml", "evals: [{prompt: b}]", false),
        ("terca.yaml", "evals:", true),
        ("terca.yaml", "x-anchors: {a: [1]}", true),
        ("terca.yaml", "y-anchors: {a: [1]}", false),
        ("terca.yaml", "sandbox: none", true),
        ("terca.yaml", "sandbox: bwrap", true),
        ("terca.yaml", "sandbox: auto", true),
        ("terca.yaml", "sandbox: jail", false),
        ("terca.yaml", "network: model", true),
        ("terca.yaml", "network: [example.com]", true),
        ("terca.yaml", "network: []", false),
        ("terca.yaml", "network: closed", false),
        ("terca.yaml", "allow: [\"*.example.com\"]", true),
        ("terca.yaml", "allow: example.com", false),
        ("terca.yaml", "sandbox: {docker: \"a/image:1\"}", true),
        ("terca.yaml", "sandbox: {podman: image}", true),
        ("terca.yaml", "sandbox: {docker: -v/:/}", false),
        ("terca.yaml", "sandbox: {docker: a, podman: b}", false),
        ("terca.yaml", "sandbox: {}", false),
        ("workers.yaml", "{}", true),
        ("workers.yaml", "a: {preset: slurm, slots: 2}", true),
        ("workers.yaml", "a: {preset: pbs}", false),
        ("workers.yaml", "a b: {preset: slurm}", false),
        ("workers.yaml", "a: {start: x, hosts: []}", false),
        ("workers.yaml", "a: {start: x, hosts: [-o]}", false),
        ("terca.yaml", "workers: {local: {slots: 2}}", true),
        ("terca.yaml", "workers: {local: {slots: 0}}", false),
        ("eval.terca.yaml", "{prompt: a, x-mine: 5}", true),
        ("terca.yaml", "evals: [{name: a}]", false),
        ("terca.yaml", "environments: [{agent: codex}]", false),
        (
            "terca.yaml",
            "environments: [{name: a, agent: command}]",
            false,
        ),
        (
            "terca.yaml",
            "environments: [{name: a, baseline: true}]",
            false,
        ),
        (
            "terca.yaml",
            "experiments: [{name: a, baseline: true}]",
            true,
        ),
        (
            "terca.yaml",
            "environments: [{name: a, mcpServers: {b: {}}}]",
            false,
        ),
        (
            "terca.yaml",
            "environments: [{name: a, mcpServers: {b: {command: c, url: d}}}]",
            false,
        ),
        (
            "terca.yaml",
            "environments: [{name: a, mcpServers: {b: {url: c, args: []}}}]",
            false,
        ),
        (
            "terca.yaml",
            "environments: [{name: a, mcpServers: {b: {url: c, type: stdio}}}]",
            false,
        ),
        (
            "eval.terca.yaml", "{prompt: a, tests: [{fileExists: b}]}", true,
        ),
        ("eval.terca.yaml", "{}", false),
        ("eval.terca.yaml", "{prompt: a, promptFile: b}", false),
        ("eval.terca.yaml", "{prompt: a, tests: [{name: b}]}", false),
        (
            "eval.terca.yaml",
            "{prompt: a, tests: [{fileExists: b, commandScore: c}]}",
            false,
        ),
        (
            "eval.terca.yaml", "{prompt: a, tests: [{fileExists: []}]}", false,
        ),
        (
            "eval.terca.yaml",
            "{prompt: a, before: [{command: b, files: {}}]}",
            false,
        ),
    ] {
        assert_eq!(is_valid(name, text), is_right, "{name}: {text}");
    }
}

fn files_below(dir: &Path, wanted: &dyn Fn(&str) -> bool, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().unwrap().is_dir() && !name.starts_with('.') {
            files_below(&entry.path(), wanted, found);
        } else if wanted(&name) {
            found.push(entry.path());
        }
    }
}

#[test]
fn every_example_is_as_its_schema_says() {
    let mut files = Vec::new();
    files_below(
        &root().join("examples"),
        &|name| name.ends_with("terca.yaml"),
        &mut files,
    );
    assert!(files.len() > 15, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(
            is_valid(&file.to_string_lossy(), &text),
            "{}",
            file.display()
        );
    }
}

/// A block of YAML says in its first line which file it is.
#[test]
fn every_yaml_of_the_documentation_is_as_its_schema_says() {
    let mut pages = vec![root().join("README.md")];
    files_below(
        &root().join("docs"),
        &|name| name.ends_with(".md"),
        &mut pages,
    );
    // It shows what is wrong, too; its examples are tried where its texts are.
    pages.retain(|page| !page.ends_with("reference/errors.md"));
    let mut judged = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in text
            .split("```yaml\n")
            .skip(1)
            .filter_map(|rest| rest.split("```").next())
        {
            let first = block.lines().next().unwrap_or_default();
            if first.starts_with('#') && first.ends_with("terca.yaml") {
                assert!(is_valid(first, block), "{}:\n{block}", page.display());
                judged += 1;
            }
        }
    }
    assert!(judged >= 2, "{judged}");
}

/// What a new suite's comments offer may be written as they offer it.
#[test]
fn the_comments_of_new_files_teach_what_is_right() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/new_suite/scaffold/templates");
    let around = "name: x\nenvironments: [{name: a, agent: codex}]\n";
    let suite = uncommented(&std::fs::read_to_string(dir.join("suite.yaml")).unwrap());
    let suite: Vec<&str> = suite
        .lines()
        .filter(|line| !line.contains('@') && *line != "environments:")
        .collect();
    assert!(
        suite.iter().any(|line| line.starts_with("concurrency:")),
        "{suite:#?}"
    );
    assert!(
        is_valid("terca.yaml", &format!("{around}{}\n", suite.join("\n"))),
        "{suite:#?}"
    );
    for name in [
        "small/experiments.yaml", "example/rules.yaml", "example/preamble.yaml",
    ] {
        let text = uncommented(&std::fs::read_to_string(dir.join(name)).unwrap());
        assert!(
            is_valid("terca.yaml", &format!("{around}{text}")),
            "{name}:\n{text}"
        );
    }
    for name in [
        "example/001-slug/eval.terca.yaml", "small/001-hello/eval.terca.yaml",
    ] {
        let text = uncommented(&std::fs::read_to_string(dir.join(name)).unwrap());
        let text: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("promptFile:"))
            .collect();
        assert!(
            text.iter().any(|line| line.starts_with("timeoutSeconds:")),
            "{text:#?}"
        );
        assert!(is_valid(name, &text.join("\n")), "{name}:\n{text:#?}");
    }
}

/// Every `# key: value` becomes a line of the file, and so does what is indented below it.
fn uncommented(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let bare = line.strip_prefix("# ").unwrap_or(line);
        let word = bare.split(':').next().unwrap_or_default();
        let is_field =
            !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic()) && bare.contains(':');
        let is_entry = bare.starts_with("  ") && bare.trim_start().starts_with("- ")
            || bare.starts_with("    ");
        lines.push(if is_field || is_entry { bare } else { line });
    }
    lines.join("\n")
}
