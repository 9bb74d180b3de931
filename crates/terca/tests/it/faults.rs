//! The machine fails: each fault has a clear end, nothing finished is lost, and the journal stays readable.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::common::project;
use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::Signal;
use serde_json::Value;
use terca_testkit::{Process, Project, wait_until};

fn one_eval(command: &str, more: &str) -> Project {
    project()
        .executable("agent.sh", &format!("#!/bin/sh\n{command}\n"))
        .file(
            "terca.yaml",
            format!(
                "{more}environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\n\
             evals: [{{name: a, prompt: x, tests: [{{fileExists: done}}]}}]\n"
            ),
        )
}

fn journal(project: &Project) -> Vec<Value> {
    let text = project.journal();
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    whole
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Gives the agent the path of a file in `$STARTED`, and returns it.
fn with_started(project: Project) -> (Project, Utf8PathBuf) {
    let started = project.path("started");
    let yaml = project.read("terca.yaml");
    let yaml = format!("env: {{STARTED: '{started}'}}\n{yaml}");
    (project.file("terca.yaml", yaml), started)
}

/// A small file system, as long as the value lives.
struct Mount(Utf8PathBuf);

impl Mount {
    fn tmpfs(at: &Utf8Path, options: &str) -> Self {
        std::fs::create_dir_all(at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs", at.as_str()])
            .output()
            .unwrap();
        assert!(mounted.status.success(), "{mounted:?}");
        Mount(at.to_owned())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_base_file_that_cannot_be_read_is_a_set_up_error() {
    let project = one_eval("touch done", "").file("_base/secret", "x");
    std::fs::set_permissions(
        project.path("_base/secret"),
        std::fs::Permissions::from_mode(0o000),
    )
    .unwrap();
    let mut command = project.command_without_privileges(&["--format", "plain"]);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    let trial = project.only_trial();
    assert_eq!(trial["error"]["kind"], "setup", "{trial}");
    let message = trial["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("_base/secret") && message.contains("Permission denied"),
        "{message}"
    );
}

#[test]
fn a_path_beyond_the_length_limit_is_copied() {
    let deep = vec!["d".repeat(200); 18].join("/");
    let project = one_eval("touch done", "");
    let mut at = project.path("_base");
    std::fs::create_dir_all(&at).unwrap();
    for part in deep.split('/') {
        at.push(part);
        std::fs::create_dir(&at).unwrap();
    }
    std::fs::write(at.join("file"), "x").unwrap();
    // A work directory whose own path leaves no room for that.
    let work = project.work_dir().join(vec!["w".repeat(200); 3].join("/"));
    std::fs::create_dir_all(&work).unwrap();
    let project = project.env("TERCA_WORK_DIR", work.as_str());
    let outcome = project.terca(&["--format", "plain"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(std::fs::read_dir(&work).unwrap().count(), 0);
}

#[test]
fn few_open_files_mean_few_trials_at_once() {
    let project = one_eval("touch done", "repetitions: 40\n");
    let script = format!(
        "ulimit -n 64; exec {} --format plain -c 64",
        env!("CARGO_BIN_EXE_terca")
    );
    let output = project.other("sh", &["-c", &script]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("the limit of open files"), "{stderr}");
    assert_eq!(
        journal(&project)
            .iter()
            .filter(|event| event["event"] == "trialFinished")
            .count(),
        40
    );
    project.assert_nothing_left();
}

#[test]
fn agents_have_the_limit_of_open_files_that_terca_was_given() {
    let project = one_eval("ulimit -Sn > limit; touch done", "");
    let script = format!(
        "ulimit -Sn 200; exec {} --format plain -c 64",
        env!("CARGO_BIN_EXE_terca")
    );
    let output = project.other("sh", &["-c", &script]).output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(project.trial_file("workspace/limit"), "200\n");
}

#[test]
fn stopped_and_continued_a_run_goes_on() {
    let project = one_eval("sleep 0.2; touch done", "repetitions: 6\nconcurrency: 2\n");
    let mut session = project.start(&["--format", "plain"]);
    session.wait_until("a trial is at work", || {
        project.has_run() && journal(&project).len() > 2
    });
    session.signal(Signal::STOP);
    // The agents end meanwhile, and nobody hears of it.
    let works = |process: &Process| process.command.contains("sleep 0.2");
    wait_until("no agent is at work", || {
        !project.processes().iter().any(works)
    });
    session.signal(Signal::CONT);
    let outcome = session.finish();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    project.assert_nothing_left();
}

#[test]
fn a_work_directory_that_is_deleted_is_an_error_of_its_trials() {
    let project = one_eval(
        "touch done; touch $STARTED; sleep 1", "repetitions: 2\nconcurrency: 1\n",
    );
    let (project, started) = with_started(project);
    let mut session = project.start(&["--format", "plain"]);
    session.wait_until("an agent is at work", || started.exists());
    for entry in project.work_dir().read_dir_utf8().unwrap() {
        let run = entry.unwrap().path().to_owned();
        // It cannot be listed, not even by its owner.
        let all = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(run.join("t"), all).unwrap();
        std::fs::remove_dir_all(run).unwrap();
    }
    let outcome = session.finish();
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    let results = project.results();
    assert_eq!(results["status"], "complete");
    for trial in results["trials"].as_array().unwrap() {
        assert_eq!(trial["status"], "error", "{trial}");
        assert_eq!(trial["error"]["kind"], "internal", "{trial}");
        assert!(
            trial["error"]["message"]
                .as_str()
                .unwrap()
                .contains("No such file"),
            "{trial}"
        );
    }
}

#[test]
fn a_reader_that_leaves_does_not_end_the_run() {
    for format in ["plain", "json", "tty"] {
        let project = one_eval("touch done", "repetitions: 30\n");
        let mut child = project
            .command(&["--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().unwrap().code(), Some(0), "{format}");
        assert_eq!(project.results()["status"], "complete");
        project.assert_nothing_left();
    }
}

#[test]
fn what_a_dead_run_left_is_removed_by_the_next_and_a_living_one_is_not_touched() {
    let project = one_eval(
        "touch done; pwd > $STARTED.new; mv $STARTED.new $STARTED; sleep 300",
        "",
    );
    let (project, started) = with_started(project);
    let mut dead = project.start(&["--format", "plain"]);
    dead.wait_until("an agent is at work", || started.exists());
    let rooms = || {
        project
            .work_dir()
            .read_dir_utf8()
            .unwrap()
            .flatten()
            .map(|e| e.path().to_owned())
    };
    let dead_room = rooms().next().unwrap();
    // A process that nobody looks after any more, as when a supervisor was killed in the same moment.
    let mut orphan = Command::new("sleep")
        .arg("300")
        .env("HOME", dead_room.join("t/name/home"))
        .spawn()
        .unwrap();
    dead.signal(Signal::KILL);
    dead.finish();
    assert!(dead_room.exists());

    std::fs::remove_file(&started).unwrap();
    let mut living = project.start(&["--format", "plain"]);
    living.wait_until("the next agent is at work", || started.exists());
    assert!(!dead_room.exists(), "what was left is gone");
    wait_until("what ran there has ended", || {
        orphan.try_wait().unwrap().is_some()
    });
    let living_workspace = std::fs::read_to_string(&started).unwrap();

    let quick = project.terca(&["--agent", "nop", "--format", "plain"]);
    assert_eq!(quick.status, 1, "{}", quick.stderr);
    assert!(
        Utf8Path::new(living_workspace.trim_end())
            .join("done")
            .exists(),
        "a run that lives keeps its room"
    );
    living.signal(Signal::INT);
    assert_eq!(living.finish().status, 130);
    project.assert_nothing_left();
}

#[test]
fn somebody_who_looks_at_what_a_dead_run_left_is_not_shot() {
    let project = one_eval(
        "touch done; if test -e $STARTED; then exit 0; fi; pwd > $STARTED.new; mv $STARTED.new $STARTED; sleep 300",
        "",
    );
    let (project, started) = with_started(project);
    let mut dead = project.start(&["--format", "plain"]);
    dead.wait_until("an agent is at work", || started.exists());
    let workspace = std::fs::read_to_string(&started).unwrap();
    let mut shell = Command::new("sleep")
        .arg("300")
        .env("HOME", project.home())
        .current_dir(workspace.trim_end())
        .spawn()
        .unwrap();
    // Started from a shell of the trial, and without its marks.
    let mut orphan = Command::new("sh")
        .args([
            "-c",
            "env -i sleep 300 & echo $! > $0; wait",
            started.as_str(),
        ])
        .env("HOME", workspace.trim_end())
        .spawn()
        .unwrap();
    dead.signal(Signal::KILL);
    dead.finish();
    project.terca(&["resume"]).expect_status(0);
    wait_until("what belongs to the trial has ended", || {
        orphan.try_wait().unwrap().is_some()
    });
    let lives = shell.try_wait().unwrap().is_none();
    shell.kill().unwrap();
    shell.wait().unwrap();
    assert!(lives, "the shell was ended");
    assert!(!Utf8Path::new(workspace.trim_end()).exists());
    project.wait_until_nothing_runs();
}

#[test]
fn a_session_whose_leader_is_gone_is_not_ended_with_what_a_dead_run_left() {
    let project = one_eval(
        "touch done; if test -e $STARTED; then exit 0; fi; pwd > $STARTED.new; mv $STARTED.new $STARTED; sleep 300",
        "",
    );
    let (project, started) = with_started(project);
    let mut dead = project.start(&["--format", "plain"]);
    dead.wait_until("an agent is at work", || started.exists());
    let workspace = std::fs::read_to_string(&started).unwrap();
    dead.signal(Signal::KILL);
    dead.finish();

    // All of these are in one session, as under `nohup`, and the shell that leads it ends at once.
    let bystander = project.path("bystander");
    let ended = project.path("ended");
    let terca = project.command(&[]).get_program().to_owned();
    let script = format!(
        "(while ! test -e {ended}; do sleep 0.05; done; touch {bystander}) &
        HOME={} sleep 300 &
        (while test -e /proc/$$; do sleep 0.05; done; {} resume; echo $? > {ended}.new; mv {ended}.new {ended}) &",
        workspace.trim_end(),
        terca.display(),
    );
    let session = project
        .other("setsid", &["sh", "-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(session.unwrap().success());
    wait_until("the run has gone on", || ended.exists());
    assert_eq!(std::fs::read_to_string(&ended).unwrap(), "0\n");
    wait_until(
        "a process that has nothing to do with the run goes on",
        || bystander.exists(),
    );
    project.wait_until_nothing_runs();
}

/// Tests that mount something.
mod needs_root {
    use super::*;

    #[test]
    #[ignore = "needs root: scripts/test runs it"]
    fn a_work_directory_that_starts_no_programs_is_named_first() {
        let project = one_eval("touch done", "");
        let work = project.work_dir();
        let _mount = Mount::tmpfs(&work, "noexec");
        for args in [&["run"][..], &["run", "--sandbox", "none"], &["doctor"]] {
            let outcome = project.terca(args);
            assert_ne!(outcome.status, 0, "{args:?}");
            assert!(
                outcome
                    .stderr
                    .contains(&format!("no program can be started in {work}"))
                    && outcome.stderr.contains(
                        ": it is mounted `noexec`\nhelp: set TERCA_WORK_DIR to a directory"
                    ),
                "{args:?}: {}",
                outcome.stderr
            );
        }
        assert!(!project.path(".terca/runs").exists(), "nothing was run");
        let elsewhere = project.home().join("../elsewhere");
        let project = project.env("TERCA_WORK_DIR", elsewhere.as_str());
        project.terca(&["run"]).expect_status(0);
    }

    #[test]
    #[ignore = "needs root: scripts/test runs it"]
    fn a_full_disk_ends_the_run_and_room_lets_it_go_on() {
        let project = one_eval(
            "head -c 200000 /dev/zero > done", "repetitions: 12\nconcurrency: 2\n",
        );
        let _mount = Mount::tmpfs(&project.path(".terca"), "size=1500k");
        let outcome = project.terca(&["--format", "plain"]);
        assert_eq!(outcome.status, 3, "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("No space left on device"),
            "{}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.contains("`terca resume` runs the rest"),
            "{}",
            outcome.stderr
        );
        project.assert_nothing_left();
        let passed = |events: &[Value]| {
            let ended = events
                .iter()
                .filter(|event| event["event"] == "trialFinished");
            ended
                .filter(|event| event["report"]["status"] == "passed")
                .count()
        };
        let kept = passed(&journal(&project));
        assert!(kept > 0, "{:?}", journal(&project));
        let more_room = Command::new("mount")
            .args(["-o", "remount,size=50m", project.path(".terca").as_str()])
            .status();
        assert!(more_room.unwrap().success());
        let outcome = project.terca(&["resume", "--errors", "--format", "plain"]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        assert_eq!(passed(&journal(&project)), 12);
        assert_eq!(project.results()["status"], "complete");
    }

    #[test]
    #[ignore = "needs root: scripts/test runs it"]
    fn a_full_work_directory_is_an_error_of_the_trials() {
        let project = one_eval(
            "head -c 200000 /dev/zero > done || exit 1",
            "repetitions: 2\n",
        )
        .file("_base/big", vec![7; 900_000]);
        // There is room for the sealed copy of the suite and its spare, and for no other.
        let _mount = Mount::tmpfs(&project.work_dir(), "size=2500k");
        let outcome = project.terca(&["--format", "plain"]);
        assert_eq!(outcome.status, 3, "{}", outcome.stderr);
        for trial in project.results()["trials"].as_array().unwrap() {
            assert_eq!(trial["status"], "error", "{trial}");
            assert!(
                trial["error"]["message"]
                    .as_str()
                    .unwrap()
                    .contains("No space left on device"),
                "{trial}"
            );
        }
    }

    #[test]
    #[ignore = "needs root: scripts/test runs it"]
    fn a_work_directory_that_is_too_small_for_the_suite_is_said_before_anything_runs() {
        let project = one_eval("touch done", "").file("_base/big", vec![7; 900_000]);
        let _mount = Mount::tmpfs(&project.work_dir(), "size=300k");
        let outcome = project.terca(&["--format", "plain"]);
        assert_eq!(outcome.status, 3, "{}", outcome.stderr);
        for words in [
            "the suite's files could not be copied", "No space left on device", "TERCA_WORK_DIR",
        ] {
            assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
        }
        assert!(!project.has_run());
        project.assert_nothing_left();
    }

    #[test]
    #[ignore = "needs root: scripts/test runs it"]
    fn a_read_only_run_directory_is_said_before_anything_runs() {
        let project = one_eval("touch done; touch $HOME/../../ran", "");
        let _mount = Mount::tmpfs(&project.path(".terca"), "ro");
        let outcome = project.terca(&[]);
        assert_eq!(outcome.status, 3, "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("Read-only file system"),
            "{}",
            outcome.stderr
        );
        project.assert_nothing_left();
    }
}
