//! `terca clean`, and what `terca list` says of the disk.

use crate::common::project;
use terca_testkit::{Project, Terminal};

fn with_a_layer() -> Project {
    project().file(
        "terca.yaml",
        "prepare: [{files: {made: x}}]\nenvironments: [{name: e, agent: nop}]\nevals: [{name: task, prompt: x, allowWarnings: no-tests}]\n",
    )
}

fn count(project: &Project, dir: &str) -> usize {
    let entries = project.path(dir).read_dir_utf8().unwrap().flatten();
    entries.filter(|entry| entry.path().is_dir()).count()
}

#[test]
fn nothing_goes_without_being_asked_for() {
    let project = with_a_layer();
    project.terca(&[]).expect_status(0);
    let outcome = project.terca(&["clean"]).expect_status(2);
    assert!(outcome.stdout.contains("cached step"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("--yes"), "{}", outcome.stderr);
    assert_eq!(
        (
            count(&project, ".terca/cache"),
            count(&project, ".terca/runs")
        ),
        (1, 1)
    );
    // The run is young.
    project.terca(&["clean", "--yes"]).expect_status(0);
    assert_eq!(
        (
            count(&project, ".terca/cache"),
            count(&project, ".terca/runs")
        ),
        (0, 1)
    );
    project.terca(&[]).expect_status(0);
    project
        .terca(&["clean", "--yes", "--older-than", "0d"])
        .expect_status(0);
    assert_eq!(
        (
            count(&project, ".terca/cache"),
            count(&project, ".terca/runs")
        ),
        (0, 0)
    );
    let outcome = project.terca(&["clean"]).expect_status(0);
    assert!(
        outcome.stderr.contains("nothing to remove"),
        "{}",
        outcome.stderr
    );
    for wrong in ["1", "d", "3x", "-1d", ""] {
        project
            .terca(&["clean", "--older-than", wrong])
            .expect_status(2);
    }
}

/// "No" is an answer, and no mistake.
#[test]
fn no_removes_nothing() {
    let project = with_a_layer();
    project.terca(&[]).expect_status(0);
    let mut terminal = Terminal::start(project.command(&["clean"]));
    terminal.wait_for("[y/N]").type_in("n\n");
    let (status, said) = terminal.finish();
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("nothing was removed"), "{said}");
    assert_eq!(count(&project, ".terca/cache"), 1);
}

#[test]
fn what_is_in_use_stays() {
    let project = with_a_layer().file(
        "terca.yaml",
        "prepare: [{files: {made: x}}]\nenvironments: [{name: e, agent: {name: command, command: touch $READY; sleep 300}}]\n\
         evals: [{name: task, prompt: x, allowWarnings: no-tests}]\n",
    );
    let ready = project.path("ready");
    let yaml = project.read("terca.yaml");
    let project = project.file("terca.yaml", format!("env: {{READY: '{ready}'}}\n{yaml}"));
    let mut session = project.start(&["--format", "plain"]);
    session.wait_until("the agent is at work", || ready.exists());
    let outcome = project
        .terca(&["clean", "--yes", "--older-than", "0h"])
        .expect_status(0);
    assert!(outcome.stderr.contains("in use"), "{}", outcome.stderr);
    assert_eq!(
        (
            count(&project, ".terca/cache"),
            count(&project, ".terca/runs")
        ),
        (1, 1)
    );
    session.signal(rustix::process::Signal::INT);
    session.finish();
}

#[test]
fn the_list_says_how_large_runs_are() {
    let project = project()
        .agent("head -c 3000000 /dev/urandom > large")
        .file(
            "task/eval.terca.yaml",
            "prompt: x\ntests: [{fileExists: large}]\n",
        );
    project.terca(&[]).expect_status(0);
    let listed = project.terca(&["list"]).expect_status(0).stdout;
    assert!(
        listed.contains("size") && listed.contains("3.0 MB"),
        "{listed}"
    );
}
