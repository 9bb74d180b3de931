//! Configuration from outside: broken ones are refused whole, with places, and nothing is run; odd ones work.
//!
//! How each complaint is worded is the business of `crates/core/tests/diagnostics.rs`.

use crate::common::project;
use terca_testkit::Project;

const NOP: &str = "environments: [{name: default, agent: nop}]\n";
const EVAL: &str = "prompt: go\nallowWarnings: no-tests\n";

/// What stands around every broken configuration.
fn around() -> Project {
    project()
        .file("terca.yaml", NOP)
        .file("fib/eval.terca.yaml", EVAL)
        .file("notes.md", "x")
        .file("fib/a.txt", "x")
        .directory("docs")
}

fn names_of_trials(project: &Project) -> Vec<String> {
    let results = project.results();
    let trials = results["trials"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    trials
        .iter()
        .map(|trial| trial["eval"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// What is wrong with the way in which a broken configuration was refused: nothing, that is.
fn faults(title: &str, project: &Project, place: &str, phrase: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for command in ["run", "check"] {
        let outcome = project.terca(&[command]);
        let said = &outcome.stderr;
        for (right, expected) in [
            (
                outcome.status == 2,
                format!("exit status 2, not {}", outcome.status),
            ),
            (
                outcome.stdout.is_empty(),
                "nothing on standard output".to_owned(),
            ),
            (said.contains(place), format!("the place {place}")),
            (said.contains(phrase), format!("the words {phrase:?}")),
            (
                said.contains("nothing was run"),
                "that nothing was run".to_owned(),
            ),
            (
                !project.path(".terca").exists(),
                "nothing on disk".to_owned(),
            ),
        ] {
            if !right {
                faults.push(format!("{title}, {command}: expected {expected}\n{said}"));
            }
        }
    }
    faults
}

#[track_caller]
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn broken_files_are_refused() {
    let deep = format!("name: {}{}\n", "[".repeat(5000), "]".repeat(5000));
    let bomb: String = std::iter::once("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned())
        .chain((1..12).map(|n| {
            format!(
                "a{n}: &a{n} [{}]\n",
                vec![format!("*a{}", n - 1); 9].join(", ")
            )
        }))
        .collect();
    let suite = |lines: &str| ("terca.yaml", format!("{NOP}{lines}"));
    let eval = |lines: &str| ("fib/eval.terca.yaml", format!("prompt: go\n{lines}"));
    let mut found = Vec::new();
    for ((file, text), position, phrase) in [
        (suite("repetition: 2\n"), ":2:1", "repetitions"),
        (suite("workspaceDir: start\n"), ":2:15", "start"),
        (
            suite("env: {KEY: '${NOT_SET_ANYWHERE}'}\n"),
            ":2:12",
            "NOT_SET_ANYWHERE",
        ),
        (("terca.yaml", deep), ":1:", "deep"),
        (("terca.yaml", bomb), ":", "alias"),
        (eval("tests: [fileExist: a]\n"), ":2:9", "fileExists"),
        (eval("before: [copy: {b.txt: b.txt}]\n"), ":2:17", "b.txt"),
    ] {
        let place = format!("{file}{position}");
        found.extend(faults(phrase, &around().file(file, text), &place, phrase));
    }
    none(&found);
}

#[test]
fn files_that_are_not_utf_8_are_refused() {
    let project = around().file(
        "terca.yaml",
        b"environments: [{name: default, agent: nop}]\nname: \xff\n",
    );
    none(&faults("suite", &project, "terca.yaml", "not UTF-8"));
    let project = around().file(
        "fib/eval.terca.yaml",
        b"prompt: \xfe\nallowWarnings: no-tests\n",
    );
    none(&faults(
        "eval", &project, "fib/eval.terca.yaml", "not UTF-8",
    ));
}

#[test]
fn names_given_twice_across_files_are_shown_at_both_places() {
    let project = around().file(
        "other/eval.terca.yaml",
        "prompt: go\nname: fib\nallowWarnings: no-tests\n",
    );
    none(&faults(
        "twice", &project, "other/eval.terca.yaml:2:7", "fib/eval.terca.yaml",
    ));
}

#[test]
fn the_mistakes_of_all_files_are_reported_in_one_go() {
    let project = around()
        .file("terca.yaml", format!("{NOP}repetition: 2\n"))
        .file("fib/eval.terca.yaml", "promt: go\n")
        .file(
            "sort/eval.terca.yaml", "prompt: go\ntests: [{fileExist: a}]\n",
        )
        .file("tree/eval.terca.yaml", "prompt: [\n");
    let stderr = project.terca(&[]).expect_status(2).stderr;
    for place in [
        "terca.yaml:2:1", "fib/eval.terca.yaml:1:1", "sort/eval.terca.yaml:2:10",
        "tree/eval.terca.yaml:", "errors: nothing was run",
    ] {
        assert!(stderr.contains(place), "{place}: {stderr}");
    }
}

#[test]
fn a_selection_does_not_excuse_mistakes_elsewhere() {
    let project = around().file("sort/eval.terca.yaml", "promt: go\n");
    let stderr = project.terca(&["-t", "fib"]).expect_status(2).stderr;
    assert!(stderr.contains("sort/eval.terca.yaml:1:1"), "{stderr}");
}

#[test]
fn the_older_spelling_runs_with_a_warning() {
    for (list, warned) in [("eval", "`tests`"), ("evaluate", "`tests`")] {
        let project = project().file(
            "terca.yaml",
            format!("{NOP}tests:\n  - name: old\n    prompt: go\n    {list}: [{{fileExists: missing}}]\n"),
        );
        let outcome = project.terca(&[]).expect_status(1);
        assert!(
            outcome.stderr.contains("warning"),
            "{list}: {}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.contains("terca.yaml:2:1"),
            "{list}: {}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.contains("`evals`"),
            "{list}: {}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.contains("terca.yaml:5:5"),
            "{list}: {}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.contains(warned),
            "{list}: {}",
            outcome.stderr
        );
        assert_eq!(project.only_trial()["eval"], "old");
        assert_eq!(project.only_trial()["tests"]["fileExists-1"]["score"], 0.0);
    }
}

#[test]
fn a_suite_file_is_not_needed() {
    let project = project()
        .file("fib/eval.terca.yaml", EVAL)
        .file("_base/a.txt", "a");
    let missing = project.terca(&[]).expect_status(2);
    assert!(
        missing.stderr.contains("agent"),
        "no agent, so nothing to run: {}",
        missing.stderr
    );
    project.terca(&["--agent", "nop"]).expect_status(0);
    let results = project.results();
    assert_eq!(results["suite"], "suite", "the directory's name");
    let trial = project.only_trial();
    assert_eq!(
        (&trial["environment"], &trial["experiment"]),
        (&"nop".into(), &"default".into())
    );
    assert_eq!(trial["dir"], "fib/nop.default.01");
    assert_eq!(project.trial_file("workspace/a.txt"), "a");
}

#[test]
fn evals_are_found_at_any_depth_but_not_in_skipped_directories() {
    let skipped = [
        "_base/eval.terca.yaml", "fib/_base/eval.terca.yaml", "fib/_solution/eval.terca.yaml",
        "_drafts/eval.terca.yaml", ".hidden/eval.terca.yaml", "node_modules/pkg/eval.terca.yaml",
        "group/node_modules/eval.terca.yaml", "group/_old/x/eval.terca.yaml",
    ];
    let found = [
        "zeta/eval.terca.yaml", "fib/eval.terca.yaml", "group/b/eval.terca.yaml",
        "group/a/deep/er/eval.terca.yaml", "fib/nested/eval.terca.yaml", "alpha/eval.terca.yaml",
    ];
    let project = project().file("terca.yaml", NOP);
    let project = skipped.iter().fold(project, |project, path| {
        project.file(path, "not even: [valid")
    });
    let project = found
        .iter()
        .fold(project, |project, path| project.file(path, EVAL));
    project.terca(&[]).expect_status(0);
    assert_eq!(
        names_of_trials(&project),
        ["alpha", "fib", "nested", "er", "b", "zeta"],
        "sorted by path"
    );
    assert!(
        project
            .workspace_of(&project.run_dir().join("fib/default.default.01"))
            .join("eval.terca.yaml")
            .exists()
    );
}

#[test]
fn inline_evals_and_eval_files_are_one_suite() {
    let project = project()
        .file(
            "terca.yaml",
            format!("{NOP}evals:\n  - name: inline\n    promptFile: docs/task.md\nallowWarnings: no-tests\n"),
        )
        .file("docs/task.md", "from a file")
        .file("fib/eval.terca.yaml", "promptFile: task.md\nallowWarnings: no-tests\n")
        .file("fib/task.md", "beside it");
    project.terca(&[]).expect_status(0);
    let mut names = names_of_trials(&project);
    names.sort();
    assert_eq!(names, ["fib", "inline"]);
}

#[test]
fn names_make_safe_folders() {
    let project = project()
        .file(
            "terca.yaml",
            "environments: [{name: 'node/20', agent: nop}]\nexperiments: [{name: '..'}]\n",
        )
        .file(
            "a/eval.terca.yaml",
            "prompt: go\nname: ../../escape me\nallowWarnings: no-tests\n",
        );
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(
        trial["eval"], "../../escape me",
        "the name stays as written"
    );
    let dir = trial["dir"].as_str().unwrap();
    assert!(!dir.split('/').any(|part| part.starts_with('.')), "{dir}");
    assert_eq!(dir.split('/').count(), 2, "{dir}");
    let folder = project.run_dir().join(dir).canonicalize_utf8().unwrap();
    assert!(folder.starts_with(project.run_dir()), "{folder}");
    assert!(folder.join("run.log").exists());
}

/// Options are passed on in the agent's own way, and one that it cannot take is an error with a place.
#[test]
fn options_of_agents() {
    let program = "#!/bin/sh\n[ \"$1\" = --version ] && { echo 9.9.9; exit; }\nprintf '%s\\n' \"$@\" > args.txt\nexit 1\n";
    let with = |agent: &str, options: &str| {
        project()
            .executable("agent", program)
            .env("ANTHROPIC_API_KEY", "fake-key-for-tests")
            .file(
                "terca.yaml",
                format!(
                    "environments:\n  - name: e\n    agent: {{name: {agent}, program: ./agent}}\n    effort: low\n\
                     experiments:\n  - {{name: x, {options}}}\n\
                     evals: [{{name: task, prompt: do it, tests: [{{fileExists: args.txt}}]}}]\n"
                ),
            )
    };
    let taken = with(
        "claude-code",
        "effort: high, maxTurns: 3, systemPrompt: {append: Be kind.}, args: [--debug]",
    );
    taken.terca(&["--format", "plain"]);
    let args = taken.trial_file("workspace/args.txt");
    for words in [
        "--effort\nhigh\n", "--max-turns\n3\n", "--append-system-prompt\nBe kind.\n", "--debug\n",
    ] {
        assert!(args.contains(words), "{words}: {args}");
    }
    assert!(!args.contains("low"), "{args}");

    let refused = with("codex", "maxTurns: 3").terca(&["check"]);
    let said = refused.expect_status(2).stderr;
    for words in [
        "error[agent-cannot]", "`codex` cannot be given `maxTurns`", "terca.yaml:6:",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let none = with("gemini-cli", "effort: null").terca(&["check"]);
    assert!(!none.stderr.contains("agent-cannot"), "{}", none.stderr);
}
