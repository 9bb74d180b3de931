//! The fields that generated files have as comments: without the `# ` each is a right one.

use camino::Utf8PathBuf;
use terca_testkit::Project;

use crate::common::libraries::{crate_in_rust, library, module_in_go};
use crate::common::project;

/// Returns the lines of each commented field, by their numbers.
fn fields(text: &str) -> Vec<Vec<usize>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some((depth, key)) = commented(lines[at]).filter(|(_, text)| is_field(text)) else {
            at += 1;
            continue;
        };
        let mut field = vec![at];
        at += 1;
        // The lines below it that are further to the right belong to it.
        while let Some((below, _)) = lines.get(at).and_then(|line| commented(line)) {
            if below <= depth {
                break;
            }
            field.push(at);
            at += 1;
        }
        assert!(!key.is_empty());
        found.push(field);
    }
    found
}

/// Returns the column of a comment's text, and the text.
fn commented(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start().strip_prefix("# ")?;
    let trimmed = text.trim_start();
    Some((line.len() - trimmed.len(), trimmed))
}

/// Tells `key: value` and `- key: value` from prose.
fn is_field(text: &str) -> bool {
    let text = text.strip_prefix("- ").unwrap_or(text);
    let Some((key, rest)) = text.split_once(':') else {
        return false;
    };
    let is_key = key.chars().all(|c| c.is_ascii_alphabetic()) && !key.is_empty();
    is_key
        && key.starts_with(|c: char| c.is_ascii_lowercase())
        && (rest.is_empty() || rest.starts_with(' '))
}

fn without_comments(text: &str, chosen: &[usize]) -> String {
    let lines = text.lines().enumerate().map(|(at, line)| {
        if chosen.contains(&at) {
            line.replacen("# ", "", 1)
        } else {
            line.to_owned()
        }
    });
    lines.map(|line| line + "\n").collect()
}

/// Checks the suite; agents that are not on this machine are no mistake of a file.
fn assert_is_right(project: &Project, suite: &str, what: &str) {
    let checked = project.terca(&["-C", suite, "check"]);
    let complaints = checked.stderr.lines().filter(|line| {
        (line.starts_with("error") || line.starts_with("warning"))
            && !line.starts_with("warning[agent-not-ready]")
    });
    let complaints: Vec<&str> = complaints.collect();
    assert!(
        checked.status == 0 && complaints.is_empty(),
        "{what}\n{}",
        checked.stderr
    );
}

fn files(dir: Utf8PathBuf) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut unseen = vec![dir];
    while let Some(dir) = unseen.pop() {
        for entry in dir.read_dir_utf8().unwrap().map(Result::unwrap) {
            let path = entry.path().to_owned();
            if path.is_dir() {
                unseen.push(path);
            } else if path.as_str().ends_with("terca.yaml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Removes the `# ` of each field alone, and of all together. Returns the number of fields.
fn try_all(project: &Project, suite: &str) -> usize {
    let files = files(project.path(suite));
    assert!(files.len() >= 2, "{files:?}");
    let texts: Vec<String> = files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    let mut count = 0;
    for (file, text) in files.iter().zip(&texts) {
        for field in fields(text) {
            let line = text.lines().nth(field[0]).unwrap();
            std::fs::write(file, without_comments(text, &field)).unwrap();
            assert_is_right(project, suite, &format!("{file}: {line}"));
            count += 1;
        }
        std::fs::write(file, without_comments(text, &fields(text).concat())).unwrap();
    }
    assert_is_right(project, suite, "all together");
    count
}

#[test]
fn fields_of_a_suite_about_a_library() {
    let server = r#"{"mcpServers": {"docs": {"command": "node", "args": ["server.js"]}}}"#;
    let skill = "---\nname: use-it\ndescription: How to use it.\n---\n\nUse it.\n";
    for project in [
        library("tiny-invariant"),
        library("iniconfig"),
        crate_in_rust(),
        module_in_go(),
    ] {
        let project = project
            .file(".mcp.json", server)
            .file(".claude/skills/use-it/SKILL.md", skill);
        project
            .terca(&["init", "--yes", "--agent", "claude-code", "--no-validate"])
            .expect_status(0);
        project
            .terca(&["-C", "evals", "create-eval", "more"])
            .expect_status(0);
        let suite = project.read("evals/terca.yaml");
        for part in ["# - name: with-skills", "# - name: with-mcp-servers"] {
            assert!(suite.contains(part), "{suite}");
        }
        let count = try_all(&project, "evals");
        assert!(count >= 15, "{count} fields");
    }
}

#[test]
fn fields_of_a_suite_with_shell_scripts() {
    for flags in [&[][..], &["--empty"]] {
        let project = project();
        let args = [
            &["init", "--yes", "--agent", "oracle", "--no-validate"],
            flags,
        ]
        .concat();
        project.terca(&args).expect_status(0);
        project
            .terca(&["-C", "evals", "create-eval", "more"])
            .expect_status(0);
        let count = try_all(&project, "evals");
        assert!(count >= 12, "{count} fields");
    }
}

#[test]
fn the_model_of_each_agent() {
    let project = project();
    let mut count = 0;
    for name in terca_core::agent::names() {
        if ["acp", "command", "nop", "cheat"].contains(&name) {
            continue;
        }
        let args = [
            "init", name, "--yes", "--empty", "--agent", name, "--no-validate",
        ];
        project.terca(&args).expect_status(0);
        let path = project.path(name).join("terca.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        let fields = fields(&text).into_iter();
        let models =
            fields.filter(|field| text.lines().nth(field[0]).unwrap().contains("# model: "));
        for field in models {
            std::fs::write(&path, without_comments(&text, &field)).unwrap();
            assert_is_right(&project, name, name);
            count += 1;
        }
    }
    assert!(count >= 10, "{count} models");
}

#[test]
fn fields_are_told_from_prose() {
    let text =
        "# Prose: not a field.\n# a: 1   # why\nb: 2\n  # c:\n  #   - d: 3\n  # - e: 4\n# `f: 5`\n";
    assert_eq!(fields(text), [vec![1], vec![3, 4], vec![5]]);
    let all = without_comments(text, &fields(text).concat());
    assert!(
        all.contains("\na: 1   # why\nb: 2\n  c:\n    - d: 3\n  - e: 4\n# `"),
        "{all}"
    );
}
