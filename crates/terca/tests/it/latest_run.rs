//! The latest run: by the time it was started, among what is a run, and not one of `terca validate`.

use crate::common::project;
use terca_testkit::Project;

fn suite() -> Project {
    project().agent("echo done > done.txt").file(
        "a/eval.terca.yaml",
        "prompt: go\ntests: [{fileExists: done.txt}]\n",
    )
}

/// Runs the suite as if it were elsewhere on Earth, and returns the name of the run.
fn run_in(project: &Project, zone: &str) -> String {
    let before = runs(project);
    let outcome = project
        .command(&["--format", "plain"])
        .env("TZ", zone)
        .output()
        .unwrap();
    assert!(outcome.status.success());
    let made: Vec<String> = runs(project)
        .into_iter()
        .filter(|name| !before.contains(name))
        .collect();
    assert_eq!(made.len(), 1);
    made[0].clone()
}

fn runs(project: &Project) -> Vec<String> {
    let Ok(entries) = project.path(".terca/runs").read_dir_utf8() else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect()
}

fn shown(project: &Project, args: &[&str]) -> String {
    let outcome = project.terca(args);
    format!("{}{}", outcome.stdout, outcome.stderr)
}

#[test]
fn the_latest_run_is_the_one_that_was_started_last() {
    let project = suite();
    // 25 hours apart: the day is never the same.
    let first = run_in(&project, "Pacific/Kiritimati");
    let second = run_in(&project, "Pacific/Pago_Pago");
    assert!(second < first, "{second} {first}");
    for args in [
        &["show"][..],
        &["resume"],
        &["regrade"],
        &["verify"],
        &["compare"],
    ] {
        let said = shown(&project, args);
        assert!(
            said.contains(&second) && !said.contains(&first),
            "{args:?}: {said}"
        );
    }
    let list = project.terca(&["list"]).expect_status(0).stdout;
    assert!(list.find(&first) < list.find(&second), "{list}");
}

#[test]
fn a_validation_is_not_the_latest_run() {
    let project = suite().file("a/_solution/done.txt", "");
    project.terca(&["validate", "--format", "plain"]);
    let validation = runs(&project)[0].clone();
    // Alone, it is named in the answer.
    for args in [&["show"][..], &["regrade"], &["compare"], &["resume"]] {
        let outcome = project.terca(args).expect_status(2);
        assert!(
            outcome
                .stderr
                .contains("no runs yet but those of `terca validate`")
                && outcome.stderr.contains(&validation),
            "{args:?}: {}",
            outcome.stderr
        );
    }
    project.terca(&["show", &validation]).expect_status(0);
    let run = run_in(&project, "UTC");
    project.terca(&["validate", "--format", "plain"]);
    for args in [
        &["show"][..],
        &["regrade"],
        &["resume"],
        &["report", "--jsonl", "-"],
    ] {
        assert!(shown(&project, args).contains(&run), "{args:?}");
    }
}

/// `oracle`, `nop` and `cheat` say something about evals, and nothing about agents.
#[test]
fn a_run_of_controls_is_not_the_latest_run_of_agents() {
    let project = suite().file("a/_solution/done.txt", "");
    project.terca(&["--agent", "oracle"]).expect_status(0);
    let alone = runs(&project)[0].clone();
    assert!(shown(&project, &["show"]).contains(&alone));
    let run = run_in(&project, "UTC");
    project.terca(&["--agent", "nop"]).expect_status(1);
    for args in [&["show"][..], &["regrade"], &["report", "--jsonl", "-"]] {
        let said = shown(&project, args);
        assert!(
            said.contains(&run) && said.contains("note: this is the latest run of agents"),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn a_run_that_stopped_early_is_not_complete() {
    let project = suite().file(
        "b/eval.terca.yaml", "prompt: go\ntests: [{fileExists: x}]\n",
    );
    project
        .terca(&["-n", "9", "-c", "1", "--fail-fast", "--format", "plain"])
        .expect_status(1);
    let list = project.terca(&["list"]).expect_status(0).stdout;
    assert!(
        list.contains("incomplete") && list.contains("command"),
        "{list}"
    );
}

#[test]
fn what_is_no_run_is_left_out() {
    let project = suite();
    let run = run_in(&project, "UTC");
    let project = project
        .directory(".terca/runs/2099-01-01-001")
        .file(".terca/runs/notes.txt", "mine")
        .symlink(".terca/runs/zz-latest", &run);
    assert!(shown(&project, &["show"]).contains(&run));
    project.terca(&["verify"]).expect_status(0);
    let list = project.terca(&["list"]).expect_status(0);
    assert!(!list.stdout.contains("2099"), "{}", list.stdout);
    assert!(
        list.stderr
            .contains("note: not runs, and left out: 2099-01-01-001, notes.txt, zz-latest"),
        "{}",
        list.stderr
    );
}

/// A run that was joined from others is newer than they are, though it began when they did.
#[test]
fn a_merged_run_is_newer_than_its_parts() {
    let project = suite().file(
        "b/eval.terca.yaml",
        "prompt: go\ntests: [{fileExists: done.txt}]\n",
    );
    for shard in ["1/2", "2/2"] {
        project
            .terca(&["--shard", shard, "--format", "plain"])
            .expect_status(0);
    }
    project.terca(&["merge", "1", "2"]).expect_status(0);
    let said = shown(&project, &["verify"]);
    assert!(said.contains("-003: sound"), "{said}");
}
