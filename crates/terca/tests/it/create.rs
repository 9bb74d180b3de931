//! `terca create` and `terca create-eval`: from nothing to a suite that runs.

use crate::common::project;
use terca_testkit::{Outcome, Project, Terminal, stand_ins};

/// The last word of an eval's line in the table of `terca validate`.
fn verdict(outcome: &Outcome, eval: &str) -> String {
    let line = outcome
        .stdout
        .lines()
        .find(|line| line.starts_with(&format!("{eval} ")));
    let line =
        line.unwrap_or_else(|| panic!("no line for {eval}:\n{}{}", outcome.stdout, outcome.stderr));
    line.split_whitespace()
        .next_back()
        .unwrap_or_default()
        .to_owned()
}

fn files_below(project: &Project, dir: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![project.path(dir)];
    while let Some(dir) = open.pop() {
        for entry in dir.read_dir_utf8().unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => open.push(entry.path().to_owned()),
                false => found.push(
                    entry
                        .path()
                        .strip_prefix(project.dir())
                        .unwrap()
                        .to_string(),
                ),
            }
        }
    }
    found.sort();
    found
}

/// Every YAML file names a schema, and the schema is there.
fn assert_editors_are_helped(project: &Project, dir: &str) {
    let files = files_below(project, dir);
    let configured: Vec<&String> = files
        .iter()
        .filter(|file| file.ends_with("terca.yaml"))
        .collect();
    assert!(configured.len() >= 2, "{files:?}");
    for file in configured {
        let text = project.read(file);
        let schema = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("# yaml-language-server: $schema="));
        let path = project
            .path(file)
            .parent()
            .unwrap()
            .join(schema.unwrap_or_else(|| panic!("{file}: {text}")));
        let schema: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let title = schema["title"].as_str().unwrap();
        assert!(
            title.starts_with(path.file_name().unwrap().split('.').next().unwrap()),
            "{file}: {title}"
        );
    }
}

#[test]
fn what_is_made_runs_at_once_and_proves_something() {
    for (flags, eval) in [
        (&[][..], "001-slug"),
        (&["--eval", "group/words"], "words"),
        (&["--empty"], "001-hello"),
        (&["--empty", "--eval", "hello"], "hello"),
    ] {
        let project = project();
        let outcome =
            project.terca(&[&["create", "mine", "--agent", "oracle", "--yes"], flags].concat());
        let outcome = outcome.expect_status(0);
        assert!(
            outcome.stdout.contains("made mine/terca.yaml\n"),
            "{}",
            outcome.stdout
        );
        assert!(outcome.stderr.contains("cd mine\n"), "{}", outcome.stderr);
        let checked = project.terca(&["-C", "mine", "check"]).expect_status(0);
        assert_eq!(checked.stderr, "", "not a warning either");
        project
            .terca(&["-C", "mine", "--agent", "oracle"])
            .expect_status(0);
        project.terca(&["-C", "mine"]).expect_status(0);
        let outcome = project.terca(&["-C", "mine", "validate"]).expect_status(0);
        assert_eq!(verdict(&outcome, eval), "tricks", "{}", outcome.stdout);
        assert_editors_are_helped(&project, "mine");
    }
}

#[test]
fn every_agent_makes_a_suite_without_a_complaint() {
    let names = terca_core::agent::names();
    let project = project();
    let mut made = 0;
    for name in names {
        let outcome = project.terca(&["create", name, "--agent", name, "--yes"]);
        if ["acp", "command"].contains(&name) {
            assert_eq!(outcome.status, 2, "{name}");
            assert!(
                outcome.stderr.contains("needs a command"),
                "{name}: {}",
                outcome.stderr
            );
            continue;
        }
        outcome.expect_status(0);
        // `check` also looks for the agents, which are not on every machine.
        let checked = project.terca(&["-C", name, "--dry-run"]).expect_status(0);
        assert_eq!(checked.stderr, "", "{name}");
        made += 1;
    }
    assert!(made >= 14, "{made}");
    project
        .terca(&[
            "create", "two", "--agent", "codex,mini-swe-agent", "--agent", "pi", "--yes",
        ])
        .expect_status(0);
    let checked = project.terca(&["-C", "two", "check"]).expect_status(0);
    for name in ["codex", "mini-swe-agent", "pi"] {
        assert!(checked.stdout.contains(name), "{}", checked.stdout);
    }
}

#[test]
fn nothing_is_overwritten() {
    let project = project()
        .file("rules/mine.md", "keep")
        .symlink("_base", "/nowhere");
    let outcome = project
        .terca(&["create", ".", "--agent", "codex", "--yes"])
        .expect_status(2);
    for part in ["\n  rules", "\n  _base"] {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    assert!(
        !outcome.stderr.contains("terca.yaml"),
        "only what is in the way: {}",
        outcome.stderr
    );
    assert_eq!(
        files_below(&project, "."),
        ["_base", "rules/mine.md"],
        "and nothing was made"
    );
    // Without an example nothing of it is needed.
    project
        .terca(&["create", ".", "--agent", "codex", "--yes", "--empty"])
        .expect_status(0);
    assert_eq!(project.read("rules/mine.md"), "keep");
    let before = project.read("terca.yaml");
    let again = project
        .terca(&["create", ".", "--agent", "pi", "--yes"])
        .expect_status(2);
    assert!(
        again
            .stderr
            .contains("there is a suite already: terca.yaml"),
        "{}",
        again.stderr
    );
    let within = project
        .terca(&["create", "deeper", "--yes"])
        .expect_status(2);
    assert!(
        within.stderr.contains("`terca create-eval`"),
        "{}",
        within.stderr
    );
    assert_eq!(project.read("terca.yaml"), before);
}

#[test]
fn names_of_all_sorts() {
    let project = project().file("taken", "a file");
    for name in ["two words", "no: \"yes\" # x", "größe", "true", "a/b/c"] {
        project
            .terca(&["create", name, "--agent", "oracle", "--yes"])
            .expect_status(0);
        project.terca(&["-C", name]).expect_status(0);
    }
    for wrong in [
        &["create", "taken", "--yes"][..],
        &["create", "", "--yes"],
        &["create", "x", "--yes", "--eval", "_x"],
    ] {
        project.terca(wrong).expect_status(2);
    }
    let wrong = project
        .terca(&["create", "x", "--yes", "--agent", "cluade-code"])
        .expect_status(2);
    assert!(
        wrong.stderr.contains("did you mean `claude-code`?"),
        "{}",
        wrong.stderr
    );
    assert!(!project.path("x").exists());
}

#[test]
fn without_anybody_to_ask_the_flags_are_named() {
    let project = project();
    let outcome = project.terca(&["create", "mine"]).expect_status(2);
    for flag in ["--agent", "--eval", "--empty", "--yes"] {
        assert!(outcome.stderr.contains(flag), "{}", outcome.stderr);
    }
    assert!(!project.path("mine").exists());
    project
        .terca(&["create", "--yes", "--empty"])
        .expect_status(0);
    let outcome = project
        .terca(&["-C", "evals", "create-eval"])
        .expect_status(2);
    assert!(
        outcome.stderr.contains("`terca create-eval NAME`"),
        "{}",
        outcome.stderr
    );
}

/// A machine with one agent, which is not signed in.
fn with_gemini() -> Project {
    let bin = stand_ins();
    assert!(bin.join("gemini").is_file(), "{bin}");
    project().env("PATH", &format!("{bin}:/usr/bin:/bin"))
}

#[test]
fn questions_have_clear_defaults() {
    let project = with_gemini();
    let mut terminal = Terminal::start(project.command(&["init", "--color", "never"]));
    terminal
        .wait_for_sight("Directory of the suite (. is this one) [evals]")
        .type_in("\r");
    terminal
        .wait_for_sight("An example with shell scripts")
        .type_in("\r");
    terminal
        .wait_for_sight("gemini-cli       on this machine")
        .type_in("\r");
    terminal
        .wait_for_sight("Name of the first eval [001-slug]")
        .type_in("\r");
    let (status, text) = terminal.finish();
    assert_eq!(status, 0, "{text}");
    let suite = project.read("evals/terca.yaml");
    assert!(
        suite.contains("name: evals\n") && suite.contains("    agent: gemini-cli\n"),
        "{suite}"
    );
    project
        .terca(&["-C", "evals", "--agent", "oracle"])
        .expect_status(0);
}

#[test]
fn answers_are_asked_for_until_they_make_sense() {
    let project = with_gemini().file("taken", "a file");
    let args = ["create", "--eval", "first", "--color", "never"];
    let mut terminal = Terminal::start(project.command(&args));
    terminal
        .wait_for_sight("[evals]")
        .type_in("taken\r")
        .wait_for_sight("taken is a file");
    // The cursor moves left, and the missing letter is put in.
    terminal.type_in("my site\u{1b}[D\u{1b}[D\u{7f}u\r");
    // Down once: the last of two.
    terminal
        .wait_for_sight("The smallest suite that runs")
        .type_in("\u{1b}[B\r");
    // Down once, and the second agent beside the first.
    terminal
        .wait_for_sight("gemini-cli       on this machine")
        .type_in("\u{1b}[B \r");
    let (status, text) = terminal.finish();
    assert_eq!(status, 0, "{text}");
    assert!(
        !text.contains("Name of the first eval"),
        "a flag has said so: {text}"
    );
    let suite = project.read("my sute/terca.yaml");
    assert_eq!(suite.matches("    agent: ").count(), 2, "{suite}");
    assert!(project.path("my sute/first/eval.terca.yaml").is_file());
}

#[test]
fn an_interrupt_makes_nothing() {
    let project = with_gemini();
    let mut terminal = Terminal::start(project.command(&["init", "--color", "never"]));
    terminal
        .wait_for_sight("[evals]")
        .type_in("\r")
        .wait_for_sight("An example with shell scripts")
        .type_in("\u{3}");
    let (status, text) = terminal.finish();
    assert_eq!(status, 130, "{text}");
    assert!(text.contains("nothing was made"), "{text}");
    assert!(
        text.contains("\u{1b}[?25h"),
        "the cursor is shown again: {text:?}"
    );
    assert!(files_below(&project, ".").is_empty());
}

#[test]
fn an_eval_is_added_from_anywhere_inside() {
    let project = project();
    project
        .terca(&["create", ".", "--agent", "oracle", "--yes"])
        .expect_status(0);
    let inside = "001-slug/_tests/hidden";
    let outcome = project
        .terca(&["-C", inside, "create-eval", "group/fib"])
        .expect_status(0);
    assert!(
        outcome
            .stdout
            .contains("made group/002-fib/eval.terca.yaml\n"),
        "{}",
        outcome.stdout
    );
    project
        .terca(&["-C", inside, "create-eval", "--yes"])
        .expect_status(0);
    assert!(project.path("003-eval/eval.terca.yaml").is_file());
    assert_editors_are_helped(&project, ".");
    let proven = project.terca(&["validate"]).expect_status(0);
    for eval in ["001-slug", "002-fib", "003-eval"] {
        assert_eq!(verdict(&proven, eval), "tricks", "{}", proven.stdout);
    }
    // The same name in another place, and a directory that somebody has made.
    let outcome = project
        .terca(&["create-eval", "other/fib"])
        .expect_status(2);
    assert!(
        outcome
            .stderr
            .contains("there is already an eval `002-fib`"),
        "{}",
        outcome.stderr
    );
    std::fs::create_dir(project.path("004-mine")).unwrap();
    let outcome = project.terca(&["create-eval", "mine"]).expect_status(2);
    assert!(
        outcome.stderr.contains("\n  004-mine"),
        "{}",
        outcome.stderr
    );
    for wrong in ["../out", "_hidden", "a/.b", ""] {
        project.terca(&["create-eval", wrong]).expect_status(2);
    }
}

#[test]
fn an_eval_needs_a_suite() {
    let project = project();
    let outcome = project.terca(&["create-eval", "fib"]).expect_status(2);
    assert!(
        outcome.stderr.contains("`terca init` makes a suite"),
        "{}",
        outcome.stderr
    );
    // A suite that was not made by `create` gets no line that leads nowhere.
    let project = project.file("terca.yaml", "environments: [{name: e, agent: oracle}]\n");
    project.terca(&["create-eval", "fib"]).expect_status(0);
    assert!(
        !project
            .read("fib/eval.terca.yaml")
            .contains("yaml-language-server")
    );
    project.terca(&[]).expect_status(0);
}
