//! Trials that nobody can void: with a full disk, and with a supervisor that dies.

use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use terca_testkit::{Outcome, Process, Project, wait_until};

use crate::common::project;

/// Runs Terca with a work directory of 24 MB.
fn on_a_small_disk(project: &Project, args: &[&str]) -> Outcome {
    let work = project.work_dir();
    let mount =
        format!("mount -t tmpfs -o size=24m,nr_inodes=4000 none {work} && exec \"$0\" \"$@\"");
    let mut all = vec!["-rm", "sh", "-c", &mount, env!("CARGO_BIN_EXE_terca")];
    all.extend(args);
    project.other("unshare", &all).output().unwrap().into()
}

#[test]
#[ignore = "needs bwrap"]
fn an_agent_that_fills_the_disk_has_failed() {
    let fill = "head -c 100000000 /dev/zero";
    for script in [
        format!("touch done; {fill} > large"),
        format!("touch done; {fill} > large; exit 1"),
        // There is no room for the copy that the tests need.
        "touch done; head -c 16000000 /dev/urandom > large".to_owned(),
        format!("touch done; {fill} > \"$HOME/large\""),
        format!("touch done; {fill} > \"$TMPDIR/large\"; {fill}"),
        "touch done; mkdir many; cd many; for n in $(seq 5000); do : > $n || exit 0; done"
            .to_owned(),
    ] {
        let project = project().agent(&script).file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{fileExists: missing}, {commandSuccess: test -e done}]\n",
        );
        let outcome = on_a_small_disk(&project, &["run", "--retries", "3"]);
        assert_eq!(outcome.status, 1, "{script}: {outcome:?}");
        let trial = project.only_trial();
        assert_eq!(trial["attempts"], 1, "{script}: {trial:#}");
        assert_eq!(trial["error"], json!(null), "{script}: {trial:#}");
        project.terca(&["verify"]).expect_status(0);
    }
}

#[test]
#[ignore = "needs bwrap"]
fn a_disk_that_is_too_small_is_no_failure() {
    let project = project().agent("touch done").file(
        "fib/eval.terca.yaml",
        "prompt: go\nbefore: [{command: head -c 14000000 /dev/urandom > large}]\ntests: [{fileExists: done}]\n",
    );
    let outcome = on_a_small_disk(&project, &["run"]);
    assert_eq!(outcome.status, 3, "{outcome:?}");
    assert_eq!(project.only_trial()["error"]["kind"], "internal");
}

/// Returns whether a process is the first of a namespace.
fn is_first(process: &Process) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid));
    let status = status.unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("NSpid:"));
    line.is_some_and(|line| line.split_whitespace().count() > 2 && line.ends_with("\t1"))
}

#[test]
#[ignore = "needs bwrap"]
fn a_supervisor_that_is_killed_from_outside_is_an_error_and_not_the_agents_failure() {
    for (agent, tests) in [
        ("touch started; sleep 600", "fileExists: started"),
        ("true", "commandSuccess: sleep 600"),
    ] {
        let project = project().agent(agent).file(
            "fib/eval.terca.yaml",
            format!("prompt: go\ntests: [{{{tests}}}]\n"),
        );
        let session = project.start(&["run", "--sandbox", "bwrap", "--format", "plain"]);
        wait_until("the command works", || {
            let mut all = session.processes().into_iter();
            all.any(|process| process.command.starts_with("sleep 600"))
        });
        for process in session.processes().into_iter().filter(is_first) {
            kill_process(Pid::from_raw(process.pid).unwrap(), Signal::KILL).unwrap();
        }
        session.finish();
        let trial = project.only_trial();
        assert_eq!(trial["error"]["kind"], "internal", "{tests}: {trial:#}");
        let message = trial["error"]["message"].to_string();
        assert!(message.contains("killed from outside"), "{message}");
    }
}

/// The agent has the same user, and may set the limits of the first process.
#[test]
#[ignore = "needs bwrap"]
fn a_supervisor_that_is_starved_from_inside_is_the_agents_failure() {
    let has_prlimit = Command::new("prlimit").arg("--version").output();
    has_prlimit.expect("util-linux");
    for limit in ["--as=4096:4096", "--nofile=0:0", "--fsize=0:0"] {
        let project = project()
            .agent(&format!("prlimit --pid 1 {limit}; touch more; true"))
            .file(
                "fib/eval.terca.yaml",
                "prompt: go\ntests: [{fileExists: missing}]\n",
            );
        let args = ["run", "--sandbox", "bwrap", "--retries", "3"];
        project.terca(&args).expect_status(1);
        let trial = project.only_trial();
        assert_eq!(
            [&trial["status"], &trial["attempts"]],
            [&json!("failed"), &json!(1)],
            "{limit}: {trial:#}"
        );
    }
}
