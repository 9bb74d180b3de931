//! Pools of workers from outside: where they are written, and how `--on` names them.

use crate::common::project;
use serde_json::Value;
use terca_testkit::Project;

const SUITE: &str = "environments: [{name: default, agent: nop}]\n\
                     evals: [{name: fib, prompt: go, tests: [{commandSuccess: 'true'}]}]\n";

/// A suite with a pool in each of its files.
fn two_pools() -> Project {
    let pools = "workers:\n  cluster: {preset: slurm, slots: 2}\n";
    project()
        .file("terca.yaml", format!("{SUITE}{pools}"))
        .file(
            "workers.yaml",
            "boxes: {preset: ssh, hosts: [one, two]}\nlocal: {slots: 2}\n",
        )
}

fn read(project: &Project, name: &str) -> String {
    std::fs::read_to_string(project.run_dir().join(name)).unwrap()
}

#[test]
fn pools_of_both_files_can_be_named() {
    let project = two_pools();
    project.terca(&["check"]).expect_status(0);
    for args in [&["run"][..], &["doctor"]] {
        let outcome = project.terca(&[args, &["--on", "local,boxs,cluster"]].concat());
        let said = outcome.expect_status(2).stderr;
        for words in [
            "error[no-match]: --on boxs: the suite has no workers of that name",
            "the workers are `cluster`, `boxes` and `local`",
            "did you mean `boxes`?",
        ] {
            assert!(said.contains(words), "{args:?}: {said}");
        }
    }
    assert!(!project.has_run());
}

#[test]
fn a_suite_without_pools_says_where_they_are_written() {
    let project = project().file("terca.yaml", SUITE);
    let said = project.terca(&["--on", "cluster"]).expect_status(2).stderr;
    assert!(
        said.contains("name machines under `workers` in terca.yaml"),
        "{said}"
    );
    project.terca(&["--on", "local"]).expect_status(0);
}

#[test]
fn a_pool_in_both_files_is_refused_with_both_places() {
    let project = two_pools().file("workers.yaml", "\ncluster: {preset: slurm}\n");
    let said = project.terca(&["check"]).expect_status(2).stderr;
    for words in [
        "two pools are named `cluster`", "workers.yaml:2:1", "terca.yaml:4:3",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// Pools are about machines: another one changes no fingerprint, and a run does not remember where it ran.
#[test]
fn a_run_is_resumed_after_its_pools_have_changed() {
    let project = two_pools();
    project.terca(&["--on", "local"]).expect_status(0);
    let run: Value = serde_json::from_str(&read(&project, "run.json")).unwrap();
    assert!(run["command"].is_object(), "{run:#}");
    assert_eq!(run["command"].get("on"), None, "{run:#}");
    assert!(!run.to_string().contains("cluster"), "{run:#}");
    let project = project
        .file("terca.yaml", SUITE)
        .file("workers.yaml", "other: {start: 'run {host}', hosts: [a]}\n");
    project.terca(&["resume"]).expect_status(0);
    let said = project.terca(&["resume", "--on", "cluster"]);
    let said = said.expect_status(2).stderr;
    assert!(
        said.contains("the workers are `other` and `local`"),
        "{said}"
    );
}

#[test]
fn names_of_pools_are_completed() {
    let project = two_pools();
    for command in ["run", "resume", "doctor"] {
        let mut asked = project.command(&["--", "terca", command, "--on", ""]);
        let answered = asked
            .env("TERCA_COMPLETE", "bash")
            .env("_CLAP_COMPLETE_INDEX", "3")
            .output()
            .unwrap();
        let offered = String::from_utf8(answered.stdout).unwrap();
        let offered: Vec<&str> = offered.split(['\n', '\u{b}']).collect();
        assert_eq!(offered, ["cluster", "boxes", "local"], "{command}");
    }
}
