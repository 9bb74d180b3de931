//! `limits`: read at all levels, kept while agents and tests work, and noted when they are met.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use terca_testkit::{Project, wait_until};

use crate::common::project;

/// A suite with settings, whose agent runs a script.
fn suite(script: &str, settings: &str) -> Project {
    let project = project().agent(script);
    let yaml = project.read("terca.yaml");
    project
        .file("terca.yaml", format!("{settings}\n{yaml}"))
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{name: ran, commandSuccess: 'true'}]\n",
        )
}

/// The one note of the only trial that names a limit.
fn note(project: &Project) -> String {
    let trial = project.only_trial();
    let notes: Vec<&str> = trial["notes"]
        .as_array()
        .unwrap_or_else(|| panic!("{trial}"))
        .iter()
        .filter_map(Value::as_str)
        .filter(|note| note.contains("limits."))
        .collect();
    assert_eq!(notes.len(), 1, "{trial}");
    notes[0].to_owned()
}

#[test]
fn values_that_are_no_limits_are_refused_with_their_place() {
    for (limits, words) in [
        ("{memory: 512}", "expected a size of at least 16MB"),
        ("{memory: 0}", "expected a size of at least 16MB"),
        ("{memory: -4GB}", "expected a size of at least 16MB"),
        ("{memory: 1kB}", "expected a size of at least 16MB"),
        ("{memory: much}", "expected a size of at least 16MB"),
        ("{disk: 0GB}", "expected a size such as `20GB`"),
        (
            "{processes: 0}",
            "expected a whole number from 1 to 1000000",
        ),
        (
            "{processes: -3}",
            "expected a whole number from 1 to 1000000",
        ),
        (
            "{processes: 2.5}",
            "expected a whole number from 1 to 1000000",
        ),
        (
            "{processes: 99999999999}",
            "expected a whole number from 1 to 1000000",
        ),
        ("{cpus: 0}", "expected a number from 0.1 to 10000"),
        ("{cpus: -1}", "expected a number from 0.1 to 10000"),
        ("{cpus: two}", "expected a number from 0.1 to 10000"),
        ("{cpu: 2}", "unknown key `cpu`"),
    ] {
        let project = suite("true", &format!("limits: {limits}"));
        let outcome = project.terca(&["check"]).expect_status(2);
        let text = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(text.contains(words), "{limits}: {text}");
        assert!(text.contains("terca.yaml:1:"), "{limits}: {text}");
    }
    for limits in [
        "{memory: 512 MiB}", "{memory: 99999999TB}", "{cpus: 0.5, processes: 1}",
    ] {
        suite("true", &format!("limits: {limits}"))
            .terca(&["check"])
            .expect_status(0);
    }
}

#[test]
fn each_level_sets_its_own_limits() {
    let project = project().file("run.sh", "exit 0\n").file(
        "terca.yaml",
        "limits: {disk: 1GB, memory: 1GB, cpus: 4}\n\
         environments: [{name: e, agent: {name: command, command: 'true'}, limits: {memory: 2GB, processes: 100}}]\n\
         experiments:\n\
         - {name: plain}\n\
         - {name: more, limits: {processes: 200}}\n\
         - {name: without, limits: null}\n\
         evals: [{name: task, prompt: go, limits: {cpus: 2}, allowWarnings: no-tests}]\n",
    );
    let checked = project.terca(&["check"]).expect_status(0);
    // Limits make a difference.
    assert!(
        !checked.stderr.contains("same-as-baseline"),
        "{}",
        checked.stderr
    );
    project.terca(&["run"]).expect_status(0);
    let run = std::fs::read(project.run_dir().join("run.json")).unwrap();
    let run: Value = serde_json::from_slice(&run).unwrap();
    let mut found: Vec<(String, Value)> = Vec::new();
    for case in run["cases"].as_array().unwrap() {
        let name = case["variant"]["experiment"].as_str().unwrap();
        found.push((name.to_owned(), case["limits"].clone()));
    }
    assert_eq!(
        found,
        [
            (
                "plain".to_owned(),
                json!({"disk": 1_000_000_000_u64, "memory": 2_000_000_000_u64, "processes": 100, "cpus": 2.0})
            ),
            (
                "more".to_owned(),
                json!({"disk": 1_000_000_000_u64, "memory": 2_000_000_000_u64, "processes": 200, "cpus": 2.0})
            ),
            (
                "without".to_owned(),
                json!({"disk": 20_000_000_000_u64, "cpus": 2.0})
            ),
        ]
    );
}

#[test]
fn without_limits_nothing_is_made_and_nothing_is_said() {
    let project = suite(
        "ls \"$TERCA_WORK_DIR\" >/dev/null 2>&1; cat /proc/self/cgroup > groups.txt",
        "limits: {disk: 1GB}",
    );
    let outcome = project.terca(&["run"]).expect_status(0);
    assert!(!outcome.stderr.contains("limits."), "{}", outcome.stderr);
    let trial = project.only_trial();
    assert_eq!(trial["limitsKeptBy"], Value::Null, "{trial}");
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    assert_eq!(project.trial_file("workspace/groups.txt"), own);
}

#[test]
fn an_agent_that_takes_too_much_memory_is_ended_and_judged() {
    let script = "touch started\nx=$(head -c 400000000 /dev/zero | tr '\\0' x)\nsleep 600\n";
    let project = suite(script, "limits: {memory: 64MB}\ntimeoutSeconds: 300");
    project.terca(&["run"]).expect_status(0);
    let note = note(&project);
    assert!(note.starts_with("the agent "), "{note}");
    assert!(note.contains("limits.memory (64 MB)"), "{note}");
    let trial = project.only_trial();
    assert_eq!(trial["timedOut"], false, "{trial}");
    assert_eq!(trial["attempts"], 1, "{trial}");
    assert!(project.trial_file("run.log").contains(&note));
    assert!(
        ["cgroup", "watch"].contains(&trial["limitsKeptBy"]["memory"].as_str().unwrap()),
        "{trial}"
    );
}

#[test]
fn an_agent_that_starts_too_many_processes_is_stopped_and_the_tests_still_run() {
    let script =
        "touch started\ni=0\nwhile [ $i -lt 300 ]; do sleep 600 & i=$((i + 1)); done\nwait\n";
    let project = suite(script, "limits: {processes: 20}\ntimeoutSeconds: 300");
    project.terca(&["run"]).expect_status(0);
    let note = note(&project);
    assert!(note.contains("limits.processes (20)"), "{note}");
    let trial = project.only_trial();
    assert_eq!(trial["tests"]["ran"]["score"], 1.0, "{trial}");
    assert_eq!(trial["timedOut"], false, "{trial}");
    assert!(project.processes().is_empty());
}

#[test]
fn a_test_has_the_same_limits() {
    let project = suite("touch made", "limits: {memory: 64MB}").file(
        "fib/eval.terca.yaml",
        "prompt: go\ntests:\n\
         - {name: hog, commandSuccess: 'x=$(head -c 400000000 /dev/zero | tr ''\\0'' x); sleep 600'}\n\
         - {name: next, commandSuccess: 'true'}\n",
    );
    project.terca(&["run"]).expect_status(1);
    let note = note(&project);
    assert!(note.starts_with("a test "), "{note}");
    let trial = project.only_trial();
    assert_eq!(trial["tests"]["hog"]["score"], 0.0, "{trial}");
    assert_eq!(trial["tests"]["next"]["score"], 1.0, "{trial}");
}

#[test]
fn an_agent_that_fills_the_disk_is_ended_while_it_works() {
    for (place, name) in [
        ("\"$TMPDIR\"", "temporary directory"),
        ("\"$HOME\"", "home"),
        (".", "workspace"),
    ] {
        let script = format!(
            "touch started\nhead -c 60000000 /dev/urandom > {place}/big\nsync {place}/big\nsleep 600\n"
        );
        let project = suite(&script, "limits: {disk: 20MB}\ntimeoutSeconds: 300");
        project.terca(&["run"]);
        let trial = project.only_trial();
        let notes = trial["notes"].to_string();
        let words = format!("the agent exceeded limits.disk (20 MB) in its {name}, and was ended");
        assert!(notes.contains(&words), "{trial}");
        assert_eq!(trial["timedOut"], false, "{trial}");
        let expected = if place == "." { 0.0 } else { 1.0 };
        assert_eq!(trial["score"], expected, "{trial}");
    }
}

#[test]
fn a_file_without_a_name_counts() {
    let script = "touch started\nexec 3> \"$TMPDIR/big\"\nrm \"$TMPDIR/big\"\n\
                  head -c 60000000 /dev/urandom >&3\nsync /dev/fd/3\nsleep 600\n";
    let project = suite(script, "limits: {disk: 20MB}\ntimeoutSeconds: 300");
    project.terca(&["run"]);
    let trial = project.only_trial();
    let words = "the agent exceeded limits.disk (20 MB) in its removed files, and was ended";
    assert!(trial["notes"].to_string().contains(words), "{trial}");
    assert_eq!(trial["timedOut"], false, "{trial}");
}

#[test]
fn a_test_that_fills_the_disk_is_ended_too() {
    let project = suite("touch made", "limits: {disk: 20MB}").file(
        "fib/eval.terca.yaml",
        "prompt: go\ntests:\n\
         - {name: hog, commandSuccess: 'head -c 60000000 /dev/urandom > \"$TMPDIR/big\"; sync \"$TMPDIR/big\"; sleep 600', timeoutSeconds: 300}\n\
         - {name: next, commandSuccess: 'test -e made'}\n",
    );
    project.terca(&["run"]).expect_status(1);
    let trial = project.only_trial();
    let words = "a test exceeded limits.disk (20 MB) in its temporary directory, and was ended";
    assert!(trial["notes"].to_string().contains(words), "{trial}");
    assert_eq!(trial["tests"]["hog"]["score"], 0.0, "{trial}");
    assert_eq!(trial["tests"]["next"]["score"], 1.0, "{trial}");
}

#[test]
fn set_up_has_no_limits() {
    let project = suite("touch made", "limits: {memory: 64MB}").file(
        "fib/eval.terca.yaml",
        "prompt: go\nbefore: [{command: 'x=$(head -c 100000000 /dev/zero | tr ''\\0'' x); echo ${#x} > \
         size.txt'}]\nallowWarnings: no-tests\n",
    );
    project.terca(&["run"]).expect_status(0);
    assert_eq!(project.trial_file("workspace/size.txt"), "100000000\n");
    assert_eq!(project.only_trial()["notes"], Value::Null);
}

#[test]
fn services_of_the_set_up_end_with_an_agent_that_has_limits() {
    let project = suite("touch made", "limits: {processes: 50}").file(
        "fib/eval.terca.yaml",
        "prompt: go\nbefore: [{command: 'sleep 600 & echo $! > service.pid'}]\n\
         tests: [{name: gone, commandSuccess: '! kill -0 $(cat service.pid)'}]\n",
    );
    project.terca(&["run"]).expect_status(0);
}

#[test]
fn doctor_says_how_limits_are_kept() {
    let outcome = project().terca(&["doctor"]);
    let line = outcome
        .stdout
        .lines()
        .find(|line| line.contains("limits:"))
        .unwrap_or_else(|| panic!("{}", outcome.stdout));
    assert!(line.contains("`limits.memory`"), "{line}");
}

/// Nothing announces this: a virtual machine that is paused, a frozen group of processes, SIGSTOP for all.
#[test]
fn the_time_for_which_everything_is_stopped_does_not_count() {
    const LIMIT: u64 = 12;
    let project = suite(
        "touch ready; while [ ! -e go ]; do sleep 0.05; done",
        &format!("sandbox: none\nconcurrency: 1\ntimeoutSeconds: {LIMIT}"),
    );
    let mut session = project.start(&[]);
    let workspace = || project.run_dir().join("fib/default.default.01/workspace");
    session.wait_until("the agent is at work", || {
        project.has_run() && workspace().join("ready").exists()
    });
    let mut all = vec![session.id() as i32];
    all.extend(session.processes().iter().map(|process| process.pid));
    let send = |signal| {
        for pid in &all {
            // The agent's `sleep` may be gone.
            let _ = kill_process(Pid::from_raw(*pid).unwrap(), signal);
        }
    };
    send(Signal::STOP);
    let stopped = Instant::now();
    wait_until("the limit is over", || {
        stopped.elapsed() > Duration::from_secs(LIMIT + 1)
    });
    std::fs::write(workspace().join("go"), "").unwrap();
    send(Signal::CONT);
    session.finish();
    let trial = project.only_trial();
    assert_eq!(trial["status"], "passed", "{trial}");
    assert_eq!(trial["timedOut"], false, "{trial}");
    let duration = trial["durationSeconds"].as_f64().unwrap();
    assert!(duration < LIMIT as f64, "{trial}");
}
