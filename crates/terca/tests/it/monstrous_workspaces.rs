//! Agents that leave monstrous trees: deep, huge, sparse, closed, mounted. All of them are judged, nothing is left, and
//! nothing outside is touched.

use std::os::unix::fs::MetadataExt;
use std::process::Command;

use crate::common::project;
use rustix::process::Signal;
use serde_json::Value;
use terca_testkit::{Outcome, Project, misbehaving_agent};

/// A suite of one eval, whose agent is a shell script and must leave a file `done`.
fn suite(script: &str, settings: &str) -> Project {
    with_settings(project().agent(script), settings).file(
        "task/eval.terca.yaml",
        "prompt: go\ntests:\n  - fileExists: done\n  - commandSuccess: test -e done\n",
    )
}

fn with_settings(project: Project, settings: &str) -> Project {
    let suite = project.read("terca.yaml") + settings;
    project.file("terca.yaml", suite)
}

/// An agent that digs so many thousand levels below each of these places.
fn digger(places: &[&str], thousands: u32) -> Project {
    let agent = misbehaving_agent();
    let digs = places
        .iter()
        .map(|place| format!("sh '{agent}' digs \"{place}\" {thousands} && "));
    suite(&format!("{}touch done", digs.collect::<String>()), "")
}

/// Runs Terca with the limit of open files that most machines have.
fn run(project: &Project, args: &[&str]) -> Outcome {
    let mut all = vec!["-c", "ulimit -n 1024; exec \"$@\"", "sh", PROGRAM];
    all.extend(args);
    project.other("sh", &all).output().unwrap().into()
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_terca");

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Removes every run, and checks that nothing is left of it: the test's own clean-up could not remove such trees.
fn clean(project: &Project) {
    let outcome = run(project, &["clean", "--yes", "--older-than", "0d"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("removed 1 of 1"),
        "{}",
        outcome.stderr
    );
    assert!(!project.has_run());
}

/// A directory in memory, where the system has a place for that: disks are slow to remove so many directories.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

#[test]
fn a_workspace_deeper_than_any_path_is_a_failure_and_not_an_error() {
    let memory = in_memory();
    let project = digger(&["."], 17).env("TERCA_WORK_DIR", memory.path().to_str().unwrap());
    let outcome = run(&project, &["--format", "plain", "--keep", "all"]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert_eq!(std::fs::read_dir(memory.path()).unwrap().count(), 0);
    assert_not_tested(
        &project,
        "the agent left a path of more than 4095 bytes in its workspace",
    );
}

#[test]
fn a_workspace_of_2000_levels_is_judged_kept_and_graded_again() {
    let project = digger(&["."], 2);
    let outcome = run(&project, &["--format", "plain", "--keep", "all"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    project.assert_nothing_left();
    let trial = project.only_trial();
    assert_eq!(trial["status"], "passed", "{trial}");
    assert_eq!(trial["notes"], Value::Null, "{trial}");
    let diff = project.trial_file("changes.diff");
    assert!(diff.contains("+bottom"), "{} bytes", diff.len());
    let regraded = run(&project, &["regrade"]);
    assert_eq!(regraded.status, 0, "{}", regraded.stderr);
    project.assert_nothing_left();
    clean(&project);
}

#[test]
fn a_home_and_a_temporary_directory_of_17000_levels_are_removed() {
    let memory = in_memory();
    let project =
        digger(&["$HOME", "$TMPDIR"], 17).env("TERCA_WORK_DIR", memory.path().to_str().unwrap());
    let outcome = run(&project, &["--format", "plain"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(std::fs::read_dir(memory.path()).unwrap().count(), 0);
    assert_eq!(project.only_trial()["notes"], Value::Null);
}

/// The only trial failed for a reason, without its tests being run, and left no workspace.
fn assert_not_tested(project: &Project, reason: &str) {
    let trial = project.only_trial();
    assert_eq!(trial["status"], "failed", "{trial}");
    assert_eq!(trial["score"], 0.0);
    assert_eq!(trial["error"], Value::Null);
    for test in trial["tests"].as_object().unwrap().values() {
        assert_eq!(test["score"], 0.0);
        assert_eq!(test["message"], format!("not run: {reason}"));
    }
    let note = trial["notes"][0].as_str().unwrap();
    assert!(note.starts_with(reason), "{note}");
    assert!(!project.trial_path("workspace").exists());
}

#[test]
fn a_sparse_file_of_a_terabyte_is_as_good_as_empty() {
    let project = suite("truncate -s 1T big; touch done", "limits: {disk: 1MB}\n");
    let outcome = run(&project, &["--format", "plain", "--keep", "all"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    project.assert_nothing_left();
    let kept = std::fs::metadata(project.trial_path("workspace/big")).unwrap();
    assert_eq!(kept.len(), 1 << 40);
    assert_eq!(kept.blocks(), 0);
    let diff = project.trial_file("changes.diff");
    assert!(diff.contains("too large to be shown"), "{diff}");
    let regraded = run(&project, &["regrade"]);
    assert_eq!(regraded.status, 0, "{}", regraded.stderr);
}

/// Two trials: one leaves three megabytes, the other next to nothing.
#[test]
fn more_than_limits_disk_is_a_failure_of_that_trial_alone() {
    let outside = tempfile::tempdir().unwrap();
    let ran = outside.path().join("ran");
    let agent = "touch done; case \"$(cat)\" in *huge*) head -c 3000000 /dev/urandom > big; esac";
    let project = with_settings(project().agent(agent), "limits: {disk: 1MB}\n")
        .file(
            "large/eval.terca.yaml",
            format!(
                "prompt: huge\ntests:\n  - fileExists: done\n  - commandSuccess: touch '{}'\n",
                ran.display()
            ),
        )
        .file(
            "small/eval.terca.yaml",
            "prompt: tiny\ntests:\n  - fileExists: done\n",
        )
        .file(
            "allowed/eval.terca.yaml",
            "prompt: huge\nlimits: {disk: 1GB}\ntests:\n  - fileExists: big\n",
        );
    let outcome = run(&project, &["--format", "plain", "--keep", "all"]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    project.assert_nothing_left();
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    for trial in trials {
        let expected = if trial["eval"] == "large" {
            "failed"
        } else {
            "passed"
        };
        assert_eq!(trial["status"], expected, "{trial}");
    }
    assert!(!ran.exists(), "no test runs on a part of the work");
    let large = trials
        .iter()
        .find(|trial| trial["eval"] == "large")
        .unwrap();
    let reason = "the agent left more than 1.0 MB in its workspace (limits.disk)";
    let note = large["notes"][0].as_str().unwrap();
    if note.starts_with("the agent exceeded limits.disk (1.0 MB) in its workspace") {
        // On a slow machine it is found while the agent still runs.
        return;
    }
    assert!(note.starts_with(reason), "{note}");
    let dir = project.run_dir().join(large["dir"].as_str().unwrap());
    assert!(!dir.join("workspace").exists(), "it was not kept");
    assert!(outcome.stdout.contains(reason), "{}", outcome.stdout);
    let regraded = run(&project, &["regrade"]);
    assert!(
        regraded.stderr.contains("have no saved workspace"),
        "{}",
        regraded.stderr
    );
    let again = project.results();
    let large = again["trials"].as_array().unwrap();
    let large = large.iter().find(|trial| trial["eval"] == "large").unwrap();
    assert_eq!(large["status"], "failed", "its verdict stays");
}

#[test]
fn a_set_up_beyond_limits_disk_is_an_error_of_the_set_up() {
    let project =
        suite("touch done", "limits: {disk: 10kB}\n").file("_base/large", vec![b'x'; 100_000]);
    let outcome = run(&project, &["--format", "plain"]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    let trial = project.only_trial();
    assert_eq!(trial["error"]["kind"], "setup", "{trial}");
    assert_eq!(
        trial["error"]["message"],
        "the workspace has more than 10 kB before the agent starts (limits.disk)"
    );
    project.assert_nothing_left();
}

#[test]
fn what_nobody_may_read_is_judged_and_kept_as_it_is() {
    let script = "mkdir -p closed/below; echo text > closed/below/file; echo text > secret; touch done\n\
                  chmod 000 closed/below/file closed/below closed secret";
    let project = suite(script, "");
    let outcome = run(&project, &["--format", "plain", "--keep", "all"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    project.assert_nothing_left();
    let diff = project.trial_file("changes.diff");
    assert!(diff.contains("b/closed/below/file"), "{diff}");
    assert!(diff.contains("+text"), "{diff}");
    let workspace = project.trial_path("workspace");
    for path in ["closed", "secret"] {
        let mode = workspace.join(path).metadata().unwrap().mode();
        assert_eq!(mode & 0o777, 0, "{path}");
    }
    clean(&project);
}

#[test]
fn marked_as_immutable_it_is_removed_where_that_is_allowed() {
    let script = "touch \"$TMPDIR/f\" \"$HOME/f\" stays; mkdir dir; touch dir/f\n\
                  chattr +i \"$TMPDIR/f\" \"$HOME/f\" stays dir; chattr +a dir/f; touch done";
    let project = suite(script, "");
    let outcome = run(&project, &["--format", "plain", "--keep", "none"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    project.assert_nothing_left();
    assert_eq!(project.only_trial()["notes"], Value::Null);
}

#[test]
fn one_interrupt_is_heard_in_a_long_copy() {
    let agent = misbehaving_agent();
    let project = suite(&format!("sh '{agent}' many 60000; touch done"), "");
    let mut session = project.start(&["--format", "plain"]);
    session.wait_until("the work is copied for the tests", || {
        project.has_run() && project.journal().contains("\"phase\":\"tests\"")
    });
    session.signal(Signal::INT);
    let outcome = session.finish();
    assert_eq!(outcome.status, 130, "{}", outcome.stderr);
    project.assert_nothing_left();
    let trial = project.only_trial();
    assert_eq!(trial["status"], "interrupted", "{trial}");
    let log = project.trial_file("run.log");
    assert!(!log.contains("test:"), "{log}");
}

/// Runs a script as the superuser, where mounts are seen by nobody else. `$1` is the program.
fn in_private_mounts(project: &Project, script: &str) -> Outcome {
    let args = [
        "--mount", "--propagation", "private", "sh", "-c", script, "sh", PROGRAM,
    ];
    project.other("unshare", &args).output().unwrap().into()
}

/// A directory outside with a precious file, and an agent that mounts it at a place.
fn mounter(place: &str) -> (tempfile::TempDir, Project) {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("precious"), "precious").unwrap();
    let project = suite(
        &format!(
            "touch done; mkdir -p \"{place}\"; mount --bind '{}' \"{place}\"",
            outside.path().display()
        ),
        "",
    );
    (outside, project)
}

fn assert_precious(outside: &tempfile::TempDir) {
    let content = std::fs::read_to_string(outside.path().join("precious")).unwrap();
    assert_eq!(content, "precious");
}

/// The superuser may read everything, so an ordinary user runs it where this one is root.
#[test]
fn an_ordinary_user_s_closed_trees_are_judged_kept_and_removed() {
    let script = "touch done; mkdir -p a/b \"$HOME/a\" \"$TMPDIR/a\"\n\
                  touch a/b/c \"$HOME/a/f\" \"$TMPDIR/a/f\"\n\
                  chmod 000 a/b/c a/b a \"$HOME/a\" \"$HOME\" \"$TMPDIR/a\" \"$TMPDIR\"; chmod 500 .";
    let project = suite(script, "");
    let terca = |args: &[&str]| -> Outcome {
        if !is_root() {
            return run(&project, args);
        }
        let root = project.dir().parent().unwrap().to_owned();
        let chown = Command::new("chown")
            .args(["-R", "65534:65534", root.as_str()])
            .status();
        assert!(chown.unwrap().success());
        // Where the program was built, others may have no right to be.
        let program = root.join("terca");
        std::fs::copy(PROGRAM, &program).unwrap();
        let mut all = vec!["--reuid=65534", "--regid=65534", "--clear-groups"];
        all.push(program.as_str());
        all.extend(args);
        project.other("setpriv", &all).output().unwrap().into()
    };
    let outcome = terca(&["--format", "plain", "--keep", "all"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        !outcome.stderr.contains("could not be removed"),
        "{}",
        outcome.stderr
    );
    project.assert_nothing_left();
    let diff = project.trial_file("changes.diff");
    assert!(diff.contains("b/a/b/c"), "{diff}");
    let regraded = terca(&["regrade"]);
    assert_eq!(regraded.status, 0, "{}", regraded.stderr);
    let cleaned = terca(&["clean", "--yes", "--older-than", "0d"]);
    assert!(
        cleaned.stderr.contains("removed 1 of 1"),
        "{}",
        cleaned.stderr
    );
}

/// Tests that mount something.
mod needs_root {
    use super::*;

    #[test]
    #[ignore = "needs root: scripts/test runs it"]
    fn a_mount_is_named_and_never_emptied() {
        for place in ["$TMPDIR/m", "$HOME/m"] {
            let (outside, project) = mounter(place);
            let script = "\"$1\" --format plain; echo again >&2; \"$1\" --format plain --keep none";
            let outcome = in_private_mounts(&project, script);
            assert_eq!(outcome.status, 0, "{}", outcome.stderr);
            assert_precious(&outside);
            let (first, second) = outcome.stderr.split_once("again\n").unwrap();
            for stderr in [first, second] {
                assert!(
                    stderr.contains("warning: could not be removed: ")
                        && stderr.contains("/m: something is mounted there"),
                    "{stderr}"
                );
            }
            let runs = project.path(".terca/runs");
            let results: Vec<String> = std::fs::read_dir(runs)
                .unwrap()
                .map(|run| {
                    std::fs::read_to_string(run.unwrap().path().join("results.json")).unwrap()
                })
                .collect();
            assert_eq!(results.len(), 2);
            for results in results {
                let results: Value = serde_json::from_str(&results).unwrap();
                let note = results["trials"][0]["notes"][0].as_str().unwrap();
                assert!(note.contains("/m: something is mounted there"), "{note}");
            }
            // The mounts went with their namespace, and now the directories go.
            let project = project.agent("touch done");
            project.terca(&["--format", "plain"]).expect_status(0);
            assert_precious(&outside);
            project.assert_nothing_left();
        }
    }

    #[test]
    #[ignore = "needs root: scripts/test runs it"]
    fn a_mount_in_the_workspace_is_not_judged_and_stays_when_runs_are_removed() {
        let (outside, project) = mounter("m");
        let script =
            "\"$1\" --format plain --keep all; echo then >&2; \"$1\" clean --yes --older-than 0d";
        let outcome = in_private_mounts(&project, script);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        assert_precious(&outside);
        let (first, second) = outcome.stderr.split_once("then\n").unwrap();
        assert!(!first.contains("warning"), "{first}");
        assert!(
            second.contains("workspace/m: something is mounted there")
                && second.contains("removed 0 of 1"),
            "{second}"
        );
    }

    #[test]
    #[ignore = "needs root: scripts/test runs it"]
    fn a_mount_over_the_workspace_is_a_failure_of_the_agent() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("done"), "not its work").unwrap();
        let project = suite(
            &format!("mount --bind '{}' \"$PWD\"", outside.path().display()),
            "",
        );
        let outcome = in_private_mounts(&project, "\"$1\" --format plain --keep all");
        assert_eq!(outcome.status, 1, "{}", outcome.stderr);
        assert_not_tested(&project, "the agent mounted something over its workspace");
        assert!(outside.path().join("done").exists());
        let trial = project.only_trial();
        let notes = trial["notes"].to_string();
        assert!(
            notes.contains("workspace: something is mounted there"),
            "{notes}"
        );
    }

    #[test]
    #[ignore = "needs root: scripts/test runs it"]
    fn a_mount_over_the_directory_of_the_trial_is_a_failure_and_nothing_is_written_there() {
        let outside = tempfile::tempdir().unwrap();
        let project = suite(
            &format!(
                "touch done; here=$PWD; cd /; mount --bind '{}' \"$here/..\"",
                outside.path().display()
            ),
            "",
        );
        let outcome = in_private_mounts(&project, "\"$1\" --format plain --keep all");
        assert_eq!(outcome.status, 1, "{}", outcome.stderr);
        let trial = project.only_trial();
        assert_eq!(trial["status"], "failed", "{trial}");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}

mod thorough {
    use super::*;

    #[test]
    #[ignore = "takes long: scripts/test --everything runs it"]
    fn two_hundred_thousand_files_are_judged() {
        let agent = misbehaving_agent();
        let memory = in_memory();
        let project = suite(&format!("sh '{agent}' many 200000; touch done"), "")
            .env("TERCA_WORK_DIR", memory.path().to_str().unwrap());
        let outcome = run(&project, &["--format", "plain", "--keep", "none"]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        assert_eq!(std::fs::read_dir(memory.path()).unwrap().count(), 0);
        let diff = project.trial_file("changes.diff");
        assert!(diff.contains("b/many/200000"), "{} bytes", diff.len());
        assert!(diff.len() < 20_000_000, "{} bytes", diff.len());
    }
}
