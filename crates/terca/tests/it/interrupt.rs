//! Ctrl+C, SIGTERM, SIGHUP and SIGKILL: what is done is kept, and no process outlives Terca.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::project;
use rustix::process::{Pid, Signal, kill_process};
use terca_testkit::{Project, Session, misbehaving_agent, wait_until};

/// Two quick trials, then two that would take minutes: one slot each.
fn misbehaving(mode: &str) -> Project {
    let agent = misbehaving_agent();
    project().file(
        "terca.yaml",
        format!(
            "concurrency: 2\nrepetitions: 2\n\
             environments:\n  - name: slow\n    agent: {{name: command, command: '{agent} {mode}'}}\n\
             evals:\n  - name: task\n    prompt: do it\n    timeoutSeconds: 600\n    allowWarnings: no-tests\n"
        ),
    )
}

/// Whether both agents have said that they are at work.
fn both_at_work(project: &Project) -> bool {
    ["01", "02"].iter().all(|n| {
        project.has_run()
            && project
                .run_dir()
                .join(format!("task/slow.default.{n}/workspace/ready"))
                .exists()
    })
}

fn start(project: &Project) -> Session {
    let mut session = project.start(&["--format", "plain"]);
    session.wait_until("both agents are at work", || both_at_work(project));
    session
}

#[test]
fn the_first_signal_stops_agents_and_keeps_what_is_done() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let project = misbehaving("sleeps-in-tool");
        let session = start(&project);
        session.signal(signal);
        let outcome = session.finish();
        assert_eq!(outcome.status, 130, "{signal:?}: {}", outcome.stderr);
        project.assert_nothing_left();
        let results = project.results();
        assert_eq!(results["status"], "interrupted");
        for trial in results["trials"].as_array().unwrap() {
            assert_eq!(trial["status"], "interrupted");
            let dir = project.run_dir().join(trial["dir"].as_str().unwrap());
            assert!(
                dir.join("workspace/ready").exists(),
                "what the agent left is kept"
            );
        }
        assert!(outcome.stdout.contains("interrupted"), "{}", outcome.stdout);
    }
}

/// As when a script starts the tests with `&`: its shell has them ignore Ctrl+C, and all that they start.
#[test]
fn signals_that_the_tests_themselves_ignore_are_heard() {
    let tests = std::env::current_exe().unwrap();
    let output = Command::new("sh")
        .args(["-c", "trap '' HUP INT QUIT TERM; exec \"$0\" \"$@\""])
        .arg(tests)
        .args([
            "--exact",
            "interrupt::the_first_signal_stops_agents_and_keeps_what_is_done",
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

#[test]
fn the_second_signal_does_not_wait_for_the_deaf() {
    let project = misbehaving("ignores-signals");
    let mut session = start(&project);
    session.signal(Signal::INT);
    session.wait_until("the first signal is heard", || {
        project.journal().contains("stopping")
    });
    // Another one: the same so soon would be an echo of the first.
    session.signal(Signal::TERM);
    let outcome = session.finish();
    assert_eq!(outcome.status, 130);
    project.assert_nothing_left();
    assert_eq!(project.results()["status"], "interrupted");
}

#[test]
fn trials_that_never_started_stay_pending() {
    let agent = misbehaving_agent();
    let project = project().file(
        "terca.yaml",
        format!(
            "concurrency: 1\nrepetitions: 3\nenvironments:\n  - name: slow\n    agent: {{name: command, command: '{agent} sleeps'}}\n\
             evals:\n  - name: task\n    prompt: do it\n    allowWarnings: no-tests\n"
        ),
    );
    let mut session = project.start(&["--format", "plain"]);
    session.wait_until("the first agent is at work", || {
        project.has_run()
            && project
                .run_dir()
                .join("task/slow.default.01/workspace/ready")
                .exists()
    });
    session.signal(Signal::INT);
    assert_eq!(session.finish().status, 130);
    let results = project.results();
    let statuses: Vec<&str> = results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| trial["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["interrupted", "pending", "pending"]);
    project.assert_nothing_left();
}

#[test]
fn sigkill_of_terca_leaves_no_process_and_a_readable_run() {
    for mode in ["sleeps", "sleeps-in-tool", "ignores-signals"] {
        let project = misbehaving(mode);
        let session = start(&project);
        session.signal(Signal::KILL);
        assert_eq!(session.finish().status, 128 + 9);
        project.wait_until_nothing_runs();
        assert_eq!(
            project.results()["status"],
            "running",
            "results.json is valid JSON"
        );
        let shown = project.terca(&["show"]);
        assert_eq!(shown.status, 0, "{}", shown.stderr);
    }
}

#[test]
fn an_interrupt_during_set_up_and_during_tests_is_an_interrupt() {
    for place in [
        "before:\n  - command: touch ready; sleep 300\n",
        "    tests:\n      - commandSuccess: touch ready; sleep 300\n",
    ] {
        let project = project().file(
            "terca.yaml",
            format!(
                "environments:\n  - name: e\n    agent: nop\nevals:\n  - name: task\n    prompt: x\n    allowWarnings: no-tests\n{place}"
            ),
        );
        let mut session = project.start(&["--format", "plain"]);
        session.wait_until("the command runs", || {
            project
                .processes()
                .iter()
                .any(|process| process.command.contains("sleep 300"))
        });
        session.signal(Signal::INT);
        assert_eq!(session.finish().status, 130, "{place}");
        assert_eq!(project.only_trial()["status"], "interrupted");
        project.assert_nothing_left();
    }
}

#[test]
fn nohup_is_respected() {
    let project = misbehaving("sleeps");
    let mut session = Session::start(project.command_through("nohup", &["--format", "plain"]));
    session.wait_until("both agents are at work", || both_at_work(&project));
    session.signal(Signal::HUP);
    session.signal(Signal::INT);
    let outcome = session.finish();
    assert_eq!(outcome.status, 130);
    let journal = project.journal();
    assert_eq!(
        journal.matches("\"event\":\"stopping\"").count(),
        1,
        "only Ctrl+C was heard"
    );
    assert!(project.results()["trials"][0]["status"] == "interrupted");
    project.assert_nothing_left();
}

/// However a run ends, at whatever moment, and whatever its agents do: nothing is left running.
/// `TERCA_TEST_ENDS` says how many ends there are to be.
#[test]
fn no_process_outlives_terca() {
    let ends = std::env::var("TERCA_TEST_ENDS")
        .ok()
        .and_then(|ends| ends.parse().ok())
        .unwrap_or(8);
    let mut random = fastrand::Rng::with_seed(1);
    for end in 0..ends {
        let mode = ["sleeps-in-tool", "ignores-signals", "daemons", "hops"][end % 4];
        let project = misbehaving(mode);
        let project = if end % 5 == 4 {
            let yaml = project.read("terca.yaml");
            project.file(
                "terca.yaml",
                yaml.replace("timeoutSeconds: 600", "timeoutSeconds: 0.3"),
            )
        } else {
            project
        };
        let mut session = project.start(&["--format", "plain"]);
        let moment = Duration::from_millis(random.u64(20..400));
        let started = Instant::now();
        while started.elapsed() < moment && !session.has_ended() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let signal = [
            Signal::INT,
            Signal::TERM,
            Signal::KILL,
            Signal::HUP,
            Signal::URG,
        ][end % 5];
        if !session.has_ended() {
            session.signal(signal);
        }
        session.finish();
        project.wait_until_nothing_runs();
    }
}

#[test]
fn a_reader_that_does_not_read_cannot_keep_terca_alive() {
    let project = project().file(
        "terca.yaml",
        "repetitions: 2000\nenvironments: [{name: e, agent: nop}]\nevals: [{name: task, prompt: x, allowWarnings: no-tests}]\n",
    );
    // The first event alone is larger than a pipe holds.
    let mut command = project.command(&["--format", "json"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = Pid::from_raw(child.id() as i32).unwrap();
    wait_until("it ends", || {
        // Signals are heard from before the first event on.
        if !project.journal().is_empty() {
            let _ = kill_process(pid, Signal::TERM);
        }
        child.try_wait().unwrap().is_some()
    });
    assert_eq!(child.wait().unwrap().code(), Some(130));
    project.wait_until_nothing_runs();
}
