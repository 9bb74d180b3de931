//! `terca mine` up to the proof of its drafts: which commits are refused, why, and what a hostile repository cannot do.

use serde_json::Value;
use terca_testkit::{Outcome, Project};

use crate::common::history::History;
use crate::common::project;

fn mined(project: &Project, args: &[&str]) -> (Outcome, Value) {
    let mut all = vec!["mine", "repository", "--since", "100y", "--format", "json"];
    all.extend(args);
    let outcome = project.terca(&all).expect_status(1);
    let answer = serde_json::from_str(&outcome.stdout).expect("JSON");
    (outcome, answer)
}

/// The reason and the particulars for a commit.
fn refused(answer: &Value, commit: &str) -> (String, String) {
    let commits = answer["commits"].as_array().unwrap();
    let found = commits.iter().find(|entry| entry["commit"] == commit);
    let found = found.unwrap_or_else(|| panic!("{commit}: {answer:#}"));
    let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    (text("reason"), text("detail"))
}

const CODE: &str = "echo hello\n";
const TEST: &str = "[ \"$(sh ./greet.sh)\" = hello ]\n";

#[test]
fn commits_are_refused_before_anything_runs() {
    let project = project();
    let mut history = History::new(&project);
    let first = history.commit(
        "Start the whole project",
        &[("greet.sh", CODE), ("tests/a.sh", TEST)],
    );
    let key = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    let long: String = (0..500).map(|n| format!("echo {n}\n")).collect();
    let cases = [
        (
            "noTests",
            history.commit("Change only the code", &[("greet.sh", "echo hi\n")]),
        ),
        (
            "noCode",
            history.commit("Change only the tests", &[("tests/a.sh", "true\n")]),
        ),
        (
            "tooLarge",
            history.commit(
                "Write many lines of code",
                &[("greet.sh", &long), ("tests/a.sh", "true # 2\n")],
            ),
        ),
        (
            "binary",
            history.commit(
                "Add a picture to it",
                &[
                    ("greet.sh", CODE),
                    ("a.png", "\0"),
                    ("tests/a.sh", "true # 3\n"),
                ],
            ),
        ),
        (
            "vendored",
            history.commit(
                "Update the vendored code",
                &[
                    ("vendor/a.sh", CODE),
                    ("greet.sh", "echo 4\n"),
                    ("tests/a.sh", "true # 4\n"),
                ],
            ),
        ),
        (
            "saysNothing",
            history.commit(
                "wip",
                &[("greet.sh", "echo 5\n"), ("tests/a.sh", "true # 5\n")],
            ),
        ),
        (
            "secret",
            history.commit(
                "Add a key for tests",
                &[
                    ("greet.sh", &format!("echo {key}\n")),
                    ("tests/a.sh", "true # 6\n"),
                ],
            ),
        ),
    ];
    let (outcome, answer) = mined(&project, &[]);
    assert_eq!(refused(&answer, &first).0, "first");
    for (reason, commit) in &cases {
        assert_eq!(refused(&answer, commit).0, *reason, "{answer:#}");
    }
    assert_eq!(refused(&answer, &cases[6].1).1, "a key of AWS in greet.sh");
    assert!(!outcome.stdout.contains(&key) && !outcome.stderr.contains(&key));
    assert_eq!(
        (&answer["written"], &answer["refused"]),
        (&0.into(), &8.into())
    );
    assert!(!project.path("repository-evals").exists());
    let table = project
        .terca(&["mine", "repository", "--since", "100y"])
        .expect_status(1);
    for part in [
        "refused: it has a secret in it\n                       a key of AWS in greet.sh",
        "1 commit refused: it has no parent",
        "0 evals written, 8 commits refused",
    ] {
        assert!(table.stdout.contains(part), "{part}: {}", table.stdout);
    }
}

#[test]
fn code_is_read_before_a_commit_is_refused() {
    let project = project().file("issues.json", "[{\"title\": \"no number\"}]");
    let mut history = History::new(&project);
    let tests = |number: u8| {
        format!(
            "#[cfg(test)]\nmod tests {{\n    #[test]\n    fn t() {{ assert_eq!(super::f(), {number}); }}\n}}\n"
        )
    };
    let file = |number: u8, tests: &str| format!("pub fn f() -> u8 {{ {number} }}\n\n{tests}");
    history.commit(
        "Start the whole project",
        &[("src/lib.rs", &file(1, &tests(1)))],
    );
    let code = history.commit(
        "Change only the code",
        &[("src/lib.rs", &file(2, &tests(1)))],
    );
    let inner = history.commit(
        "Change only the tests",
        &[("src/lib.rs", &file(2, &tests(2)))],
    );
    let unsolvable = history.commit(
        "Make a name as it runs",
        &[
            ("late.py", "globals()['made'] = 1\n"),
            ("test_late.py", "from late import made\n"),
        ],
    );
    let (_, answer) = mined(&project, &[]);
    assert_eq!(refused(&answer, &code).0, "noTests");
    assert_eq!(refused(&answer, &inner).0, "noCode");
    let reason = ("unsolvable".into(), "`made`".into());
    assert_eq!(refused(&answer, &unsolvable), reason);
    for (file, text) in [
        ("issues.json", "missing field `number`"),
        ("none.json", "No such file"),
    ] {
        let outcome = project
            .terca(&["mine", "repository", "--issues", file])
            .expect_status(2);
        assert!(outcome.stderr.contains(text), "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("gh issue list"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn merges_reverts_links_and_renames_are_refused() {
    let project = project();
    let mut history = History::new(&project);
    history.commit(
        "Start the whole project",
        &[("greet.sh", CODE), ("tests/a.sh", TEST)],
    );
    history.git(&["checkout", "-q", "-b", "side"]);
    history.commit("Add a file beside it", &[("b.md", "b\n")]);
    history.git(&["checkout", "-q", "main"]);
    history.commit("Add another file", &[("c.md", "c\n")]);
    history.git(&["merge", "-q", "--no-ff", "-m", "Merge the side", "side"]);
    let merge = history.git(&["rev-parse", "HEAD"]);
    let revert = history.commit(
        "Revert \"Add another file\"",
        &[("greet.sh", "echo 1\n"), ("tests/a.sh", "true # 1\n")],
    );
    std::os::unix::fs::symlink("/etc/passwd", history.dir.join("link")).unwrap();
    let link = history.commit(
        "Add a link to it",
        &[("greet.sh", "echo 2\n"), ("tests/a.sh", "true # 2\n")],
    );
    std::fs::rename(history.dir.join("greet.sh"), history.dir.join("hello.sh")).unwrap();
    let renamed = history.commit("Rename the only script", &[("tests/a.sh", "true # 3\n")]);
    // The tree has the link that leads out, from here on.
    let after = history.commit(
        "Say it in another way",
        &[("hello.sh", "echo 4\n"), ("tests/a.sh", "true # 4\n")],
    );
    let (_, answer) = mined(&project, &[]);
    for (reason, commit) in [
        ("merge", &merge),
        ("revert", &revert),
        ("notAFile", &link),
        ("onlyRenamed", &renamed),
        ("badPath", &after),
    ] {
        assert_eq!(refused(&answer, commit).0, reason, "{answer:#}");
    }
}

/// Settings, hooks, attributes and replaced objects of a repository name programs. None of them is started.
#[test]
fn nothing_that_a_repository_names_is_run() {
    let project = project();
    let mut history = History::new(&project);
    history.commit(
        "Start the whole project",
        &[("greet.sh", CODE), ("tests/a.sh", TEST)],
    );
    let trace = project.path("trace");
    let files = [
        (".gitattributes", "* diff=evil filter=evil\n"),
        ("greet.sh", "echo 1\n"),
        ("tests/a.sh", "true # 1\n"),
    ];
    let commit = history.commit("wip", &files);
    let evil = history.dir.join("evil.sh");
    std::fs::write(&evil, format!("#!/bin/sh\necho \"$0 $*\" >> {trace}\n")).unwrap();
    let run = format!("sh {evil}");
    let settings = format!(
        "[core]\n\tfsmonitor = {run}\n\thooksPath = hooks\n\tpager = {run}\n\tsshCommand = {run}\n\
         \talternateRefsCommand = {run}\n[diff]\n\texternal = {run}\n\
         [diff \"evil\"]\n\ttextconv = {run}\n\tcommand = {run}\n\
         [filter \"evil\"]\n\tsmudge = {run}\n\tclean = {run}\n\tprocess = {run}\n\
         [gpg]\n\tprogram = {run}\n[log]\n\tshowSignature = true\n[pager]\n\trev-list = {run}\n\
         [extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = ext::{run}\n\tpromisor = true\n\
         [protocol]\n\tallow = always\n[include]\n\tpath = {trace}\n"
    );
    let config = history.dir.join(".git/config");
    let own = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{own}{settings}")).unwrap();
    for hook in [
        "post-checkout", "reference-transaction", "fsmonitor-watchman",
    ] {
        let dir = history.dir.join("hooks");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::copy(&evil, dir.join(hook)).unwrap();
    }
    let (_, answer) = mined(&project, &[]);
    assert_eq!(refused(&answer, &commit).0, "saysNothing", "{answer:#}");
    assert!(
        !trace.exists(),
        "{}",
        std::fs::read_to_string(&trace).unwrap_or_default()
    );
}

#[test]
fn a_tree_with_paths_that_lead_out_is_refused() {
    let project = project();
    let mut history = History::new(&project);
    history.commit(
        "Start the whole project",
        &[("greet.sh", CODE), ("tests/a.sh", TEST)],
    );
    // A tree that git itself would not make: a directory named `..`.
    let blob = history.git(&["hash-object", "-w", "greet.sh"]);
    let raw = |entries: &[(&str, &str, &str)]| -> Vec<u8> {
        let mut tree = Vec::new();
        for (mode, name, id) in entries {
            tree.extend(format!("{mode} {name}\0").bytes());
            let byte = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).unwrap();
            tree.extend((0..id.len()).step_by(2).map(byte));
        }
        tree
    };
    let file = history.dir.join(".git/tree");
    let write = |entries: &[(&str, &str, &str)]| {
        std::fs::write(&file, raw(entries)).unwrap();
        history.git(&[
            "hash-object",
            "-t",
            "tree",
            "-w",
            "--literally",
            file.as_str(),
        ])
    };
    let inner = write(&[("100644", "a_test.sh", &blob)]);
    let tree = write(&[("40000", "..", &inner), ("100644", "greet.sh", &blob)]);
    let commit = history.git(&[
        "commit-tree", "-p", "HEAD", "-m", "Write outside of the tree", &tree,
    ]);
    history.git(&["update-ref", "HEAD", &commit]);
    let (_, answer) = mined(&project, &[]);
    assert_eq!(
        refused(&answer, &commit),
        ("badPath".into(), "../a_test.sh".into())
    );
}

#[test]
fn wrong_places_and_wishes_are_refused() {
    let project = project().file("other/file", "");
    let outcome = project.terca(&["mine", "other"]).expect_status(2);
    assert!(
        outcome.stderr.contains("error[no-repository]"),
        "{}",
        outcome.stderr
    );
    let history = History::new(&project);
    let outcome = project.terca(&["mine", "repository"]).expect_status(2);
    assert!(
        outcome.stderr.contains("has a commit"),
        "{}",
        outcome.stderr
    );
    let mut history = history;
    history.commit("Start the whole project", &[("greet.sh", CODE)]);
    let outcome = project
        .terca(&["mine", "repository", "--into", "other"])
        .expect_status(2);
    assert!(
        outcome.stderr.contains("error[already-there]"),
        "{}",
        outcome.stderr
    );
    let outcome = project
        .terca(&["mine", "repository", "--sandbox", "none"])
        .expect_status(2);
    assert!(
        outcome.stderr.contains("never run without a sandbox"),
        "{}",
        outcome.stderr
    );
    let outcome = project
        .terca_with(&[("PATH", "/nowhere")], &["mine", "repository"])
        .expect_status(2);
    assert!(
        outcome.stderr.contains("git is not installed"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn only_an_agent_that_writes_can_describe() {
    let project = project();
    let mut history = History::new(&project);
    history.commit("Start the whole project", &[("greet.sh", CODE)]);
    for (args, parts) in [
        (
            vec!["--describe-with", "cluade"],
            [
                "error[unknown-agent]: --describe-with cluade: no such agent",
                "did you mean `claude-code`?",
            ],
        ),
        (
            vec!["--describe-with", "oracle"],
            [
                "error[usage]: --describe-with oracle: Terca plays this agent itself",
                "help: name an agent that is installed",
            ],
        ),
        (
            vec!["--describe-with", "command"],
            [
                "error[usage]: --describe-with command: this agent needs a command",
                "help: the agents are",
            ],
        ),
        (
            vec!["--describe-with", "codex", "--model", ""],
            ["--model: the name is empty", "omit `--describe-with`"],
        ),
        (
            vec!["--model", "gpt-5"],
            ["required arguments", "--describe-with <AGENT>"],
        ),
        (
            vec!["--budget-usd", "1"],
            ["required arguments", "--describe-with <AGENT>"],
        ),
    ] {
        let mut all = vec!["mine", "repository"];
        all.extend(&args);
        let outcome = project.terca(&all).expect_status(2);
        for part in parts {
            assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
        }
    }
}

/// A tool that is missing is told once, and before anything runs.
#[test]
fn a_missing_tool_is_named_before_the_first_draft() {
    let project = project();
    let mut history = History::new(&project);
    let manifest = "[project]\nname = \"a\"\n";
    history.commit(
        "Start the whole project",
        &[("pyproject.toml", manifest), ("uv.lock", ""), ("a.py", "")],
    );
    let mut last = String::new();
    for number in 0..2 {
        last = history.commit(
            "Give another number back",
            &[
                ("a.py", &format!("A = {number}\n")),
                ("tests/test_a.py", &format!("assert {number} == {number}\n")),
            ],
        );
    }
    let path = project.path("bin");
    std::fs::create_dir(&path).unwrap();
    for program in ["git", "sh"] {
        let found = std::env::var("PATH").unwrap();
        let mut found = found.split(':').map(|dir| format!("{dir}/{program}"));
        let found = found.find(|file| std::path::Path::new(file).exists());
        std::os::unix::fs::symlink(found.unwrap(), path.join(program)).unwrap();
    }
    let all = ["mine", "repository", "--since", "100y"];
    let outcome = project
        .terca_with(&[("PATH", path.as_str())], &all)
        .expect_status(2);
    let error = format!(
        "`python3` is not installed, and the commit {} needs it",
        &last[..9]
    );
    for part in [
        &error,
        "help: install `python3`, or say with `--setup COMMAND`",
    ] {
        assert_eq!(
            outcome.stderr.matches(part).count(),
            1,
            "{}",
            outcome.stderr
        );
    }
    assert!(!project.path("repository-evals").exists());
}
