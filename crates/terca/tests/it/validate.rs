//! `terca validate`, and the cheat that it sends.

use crate::common::example::example;
use crate::common::project;
use crate::common::proof::{SOUND, falls, row, trial};

#[test]
fn good_evals_are_proven() {
    let project = example("proven");
    let outcome = project.terca(&["validate"]).expect_status(0);
    for eval in ["count-words", "mend-the-sum", "table"] {
        let row = row(&outcome, eval);
        assert_eq!(
            (row[1].as_str(), row.last().unwrap().as_str()),
            ("passed", SOUND),
            "{row:?}"
        );
    }
    // A run like any other: its logs are there, and `show` knows it.
    let log =
        std::fs::read_to_string(project.run_dir().join("table/cheat.default.01/run.log")).unwrap();
    assert!(log.contains("wrote score.txt\n"), "{log}");
    assert_eq!(trial(&project, "mend-the-sum", "nop")["score"], 0.25);
    project.terca(&["show"]);
    project.assert_nothing_left();
}

#[test]
fn weak_evals_are_exposed() {
    let outcome = example("weak-suite")
        .terca(&["validate", "-v"])
        .expect_status(1);
    for (eval, verdict) in [
        ("answer-in-the-prompt", "gameable"),
        ("broken", "broken"),
        ("loaded-code", "gameable"),
        ("local-programs", "gameable"),
        ("no-solution", "no solution"),
        ("score-file", "gameable"),
        ("trivial", "trivial"),
        ("visible-tests", "gameable"),
    ] {
        let row = row(&outcome, eval);
        assert_eq!(row.last().unwrap(), verdict, "{row:?}");
    }
    for (eval, trick, cure) in [
        (
            "answer-in-the-prompt", "words works: it ", "answers are not in the prompt",
        ),
        (
            "loaded-code", "quit works: it ends ", "a process of its own",
        ),
        ("loaded-code", "source works: it ", "`$TERCA_WORK`"),
        ("local-programs", "programs works: it ", "cannot write"),
        ("score-file", "results works: it ", "let a hidden test"),
        (
            "visible-tests", "seen-tests works: it ", "put the tests into `_tests/`",
        ),
    ] {
        let falls = falls(&outcome, eval);
        let is_it = |line: &String| line.starts_with(trick) && line.contains(cure);
        assert!(falls.iter().any(is_it), "{eval}: {trick}: {falls:#?}");
    }
    let said = &outcome.stdout;
    for trick in ["quit ", "expected ", "later-tests ", "shadows "] {
        assert!(said.contains(&format!("\n{trick}")), "{trick}: {said}");
    }
    assert!(
        said.contains("does not contain \"Hello, Ada!\": Hello Ada"),
        "{said}"
    );
    assert!(
        said.contains("visible-tests/cheat.default.01/run.log"),
        "{said}"
    );
}

#[test]
fn evals_are_selected_and_a_variant_is_chosen() {
    let project = project()
        .file(
            "terca.yaml",
            "environments:\n  - {name: a, agent: codex, env: {WHERE: a}}\n  - {name: b, agent: codex, env: {WHERE: b}}\n\
             experiments:\n  - {name: x, agent: goose, before: [{files: {experiment: x}}]}\n\
             \x20 - {name: y, baseline: true, before: [{files: {experiment: y}}]}\nrepetitions: 5\n",
        )
        .file("one/eval.terca.yaml", "prompt: go\ntests: [{commandSuccess: 'echo $WHERE; cat experiment; test -f done'}]\n")
        .file("one/_solution/done", "")
        .file("two/eval.terca.yaml", "prompt: go\nallowWarnings: no-tests\ntests: []\n");
    for (args, variant) in [
        (&["validate", "-t", "one"][..], "a\ny"),
        (&["validate", "-t", "one", "-e", "b", "-x", "x"], "b\nx"),
    ] {
        let outcome = project.terca(args).expect_status(0);
        assert!(!outcome.stdout.contains("two"), "{}", outcome.stdout);
        assert_eq!(
            project.results()["trials"].as_array().unwrap().len(),
            6,
            "each agent once, and the cheat with each set of tricks"
        );
        let trial = trial(&project, "one", "oracle");
        assert_eq!(trial["agent"], "oracle");
        let log = project
            .run_dir()
            .join(trial["dir"].as_str().unwrap())
            .join("run.log");
        let log = std::fs::read_to_string(log).unwrap();
        assert!(log.contains(variant), "{args:?}: {log}");
    }
    for (args, words) in [
        (&["validate", "-t", "three"][..], "no eval matches `three`"),
        (&["validate", "-e", "c"], "no environment matches `c`"),
    ] {
        let outcome = project.terca(args).expect_status(2);
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    // An eval without tests passes for whoever comes.
    let outcome = project.terca(&["validate", "-t", "two"]).expect_status(1);
    assert_eq!(row(&outcome, "two").last().unwrap(), "no solution, trivial");
}

#[test]
fn an_error_makes_the_proof_incomplete() {
    let project = project()
        .agent("true")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\nbefore: [{command: exit 3}]\ntests: [{fileExists: x}]\n",
        )
        .file("fib/_solution/x", "");
    let outcome = project.terca(&["validate"]).expect_status(3);
    assert_eq!(row(&outcome, "fib").last().unwrap(), "unknown");
    assert!(
        outcome
            .stdout
            .contains("fib is not checked: `exit 3`: exit status 3"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn what_the_cheat_leaves_outside_the_workspace_does_not_reach_the_tests() {
    // Rc files, settings and programs in its home, and programs of its own for what a sloppy PATH finds here first.
    let path = format!(".::{}", std::env::var("PATH").unwrap_or_default());
    let project = project()
        .agent("true")
        .env("PATH", &path)
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests:\n\
             \x20 - {name: home, commandSuccess: 'test ! -e ~/.bashrc && test ! -e ~/.local && test ! -e ~/.gitconfig'}\n\
             \x20 - {name: path, commandSuccess: '! grep -q x /dev/null && cat /dev/null && ! diff /dev/null /etc/passwd >/dev/null'}\n\
             \x20 - {name: work, fileExists: work-nobody-can-guess}\n",
        );
    project.terca(&["--agent", "cheat"]).expect_status(1);
    let trial = project.only_trial();
    assert_eq!(trial["tests"]["home"]["score"], 1.0, "{trial}");
    assert_eq!(trial["tests"]["path"]["score"], 1.0, "{trial}");
    assert_eq!(trial["tests"]["work"]["score"], 0.0, "{trial}");
    assert!(project.trial_path("workspace/grep").exists(), "it did try");
    assert!(project.trial_file("run.log").contains("wrote ~/.bashrc\n"));
}

#[test]
fn the_cheat_tries_what_is_around_its_workspace_and_gains_nothing() {
    let project = project().agent("true").file("fib/_base/run.sh", "#!/bin/sh\nfalse\n").file(
        "fib/eval.terca.yaml",
        "prompt: go\nbefore: [{command: 'echo set-up > ~/.profile; echo echo > made.sh'}]\ntests:\n\
         \x20 - {name: home, commandSuccess: 'test \"$(cat ~/.profile)\" = set-up && test ! -e ~/.local'}\n\
         \x20 - {name: tmp, commandSuccess: 'test -z \"$(ls $TMPDIR)\"'}\n\
         \x20 - {name: before, changedFiles: {never: [run.sh]}}\n\
         \x20 - {name: made before, changedFiles: {never: [made.sh]}}\n\
         \x20 - {name: link, fileExists: dist}\n\
         \x20 - {name: link below, fileExists: dist/bin}\n\
         \x20 - {name: glob, fileExists: 'cover*'}\n\
         \x20 - {name: content, fileContains: {path: answer.txt, text: root}}\n",
    );
    project.terca(&["--agent", "cheat"]).expect_status(1);
    let trial = project.only_trial();
    for (test, score) in [
        ("home", 1.0),
        ("tmp", 1.0),
        ("before", 0.0),
        ("made before", 0.0),
        ("link", 0.0),
        ("link below", 0.0),
        ("glob", 0.0),
        ("content", 0.0),
    ] {
        assert_eq!(trial["tests"][test]["score"], score, "{test}: {trial:#}");
    }
    let log = project.trial_file("run.log");
    for trick in [
        "wrote ../home/.profile", "wrote ../tests-tmp/result", "wrote ../before/run.sh",
        "wrote ../before/made.sh", "removed ../io", "linked dist", "linked answer.txt",
    ] {
        assert!(log.contains(trick), "{trick}: {log}");
    }
    project.assert_nothing_left();
}

#[test]
fn the_cheat_stays_in_its_workspace() {
    let project = project()
        .agent("true")
        .file("outside/score.txt", "untouched")
        .file("fib/eval.terca.yaml", "prompt: write test.sh\nbefore: [{command: 'ln -s \"$TERCA_SUITE_DIR/outside\" tests; ln -s \"$TERCA_SUITE_DIR/outside/score.txt\" score.txt'}]\nallowWarnings: no-tests\n");
    project.terca(&["--agent", "cheat"]).expect_status(0);
    assert_eq!(project.read("outside/score.txt"), "untouched");
    assert_eq!(
        std::fs::read_dir(project.path("outside")).unwrap().count(),
        1
    );
}
