//! `terca resume`: nothing that is finished is lost or run again, whatever happened to the run.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::common::project;
use rustix::process::Signal;
use serde_json::Value;
use terca_testkit::{Outcome, Project};

/// An agent that notes that it was started for a trial, and works for as long as a file stands in its way.
fn gated(repetitions: u32) -> Project {
    let project = project().executable(
        "agent.sh",
        "#!/bin/sh\n\
         echo started >> $NOTES/$(cat prompt-of-eval)\n\
         while [ -e $NOTES/wait ]; do sleep 0.05; done\n\
         echo done > done.txt\n",
    );
    let notes = project.path("notes");
    project.directory("notes").file(
        "terca.yaml",
        format!(
            "env: {{NOTES: '{notes}'}}\nrepetitions: {repetitions}\nconcurrency: 2\n\
             environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\n\
             evals:\n\
             \x20 - {{name: a, prompt: do a, before: [{{files: {{prompt-of-eval: a}}}}], tests: [{{fileExists: done.txt}}]}}\n\
             \x20 - {{name: b, prompt: do b, before: [{{files: {{prompt-of-eval: b}}}}], tests: [{{fileExists: done.txt}}]}}\n"
        ),
    )
}

fn finished(project: &Project) -> usize {
    if project.has_run() {
        project
            .journal()
            .matches("\"event\":\"trialFinished\"")
            .count()
    } else {
        0
    }
}

/// Starts a run, and ends it with a signal when two trials are done and two more are at work.
fn ended_in_the_middle(project: &Project, signal: Signal) {
    let mut session = project.start(&["--format", "plain", "--seed", "7"]);
    session.wait_until("two trials are done", || finished(project) >= 2);
    std::fs::write(project.path("notes/wait"), "").unwrap();
    session.wait_until("two are in flight", || {
        project
            .journal()
            .matches("\"event\":\"trialStarted\"")
            .count()
            >= finished(project) + 2
    });
    session.signal(signal);
    session.finish();
    std::fs::remove_file(project.path("notes/wait")).unwrap();
}

fn resume(project: &Project, args: &[&str]) -> Outcome {
    project.terca(&[&["resume", "--format", "plain"], args].concat())
}

/// The trials that the journal tells the end of, in order.
fn ends(project: &Project) -> Vec<u64> {
    let events = project.journal();
    let events = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a whole event"));
    events
        .filter(|event| {
            event["event"] == "trialFinished" && event["report"]["status"] != "interrupted"
        })
        .map(|event| event["trial"].as_u64().unwrap())
        .collect()
}

fn assert_complete(project: &Project, trials: usize) {
    let results = project.results();
    assert_eq!(results["status"], "complete");
    assert_eq!(results["trials"].as_array().unwrap().len(), trials);
    for trial in results["trials"].as_array().unwrap() {
        assert_eq!(trial["status"], "passed", "{trial}");
        let dir = project.run_dir().join(trial["dir"].as_str().unwrap());
        assert!(
            project.workspace_of(&dir).join("done.txt").is_file(),
            "{dir}"
        );
        assert!(!dir.join("workspace").is_symlink(), "{dir}");
    }
    let mut ends = ends(project);
    ends.sort_unstable();
    assert_eq!(
        ends,
        (1..=trials as u64).collect::<Vec<_>>(),
        "every trial has one end"
    );
    project.assert_nothing_left();
}

/// Killed after its last word and before its end, a run has nothing left to do and a directory that nobody needs.
#[test]
fn what_a_finished_run_has_left_behind_is_removed() {
    let project = gated(1);
    project.terca(&[]).expect_status(0);
    let left = project.work_dir().join("run-0badcafe");
    std::fs::create_dir_all(left.join("1/workspace")).unwrap();
    std::fs::set_permissions(&left, std::fs::Permissions::from_mode(0o700)).unwrap();
    let outcome = resume(&project, &[]).expect_status(0);
    assert!(
        outcome.stderr.contains("nothing is left to run"),
        "{}",
        outcome.stderr
    );
    project.assert_nothing_left();
}

/// Trials that were interrupted are not done: the display counts as the line above it does.
#[test]
fn the_display_counts_what_is_done() {
    let project = gated(6);
    ended_in_the_middle(&project, Signal::INT);
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    let with = |status: &str| {
        let of_status = trials.iter().filter(|trial| trial["status"] == status);
        of_status.count()
    };
    assert!(with("interrupted") > 0, "{results}");
    let done = with("passed");
    let shown = project
        .terca(&["resume", "--format", "tty"])
        .expect_status(0)
        .stderr;
    let told = format!("{done} done, {} to run", 12 - done);
    assert!(shown.contains(&told), "{shown}");
    let first = shown.split_once("/12").unwrap().0;
    assert!(first.ends_with(&format!(" {done}")), "{done}: {first}");
}

#[test]
fn what_is_finished_stays_and_the_rest_is_run() {
    let project = gated(6);
    ended_in_the_middle(&project, Signal::KILL);
    let before = project.results();
    let done = ends(&project);
    let outcome = resume(&project, &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains(&format!("{} done, {} to run", done.len(), 12 - done.len())),
        "{}",
        outcome.stderr
    );
    assert_complete(&project, 12);
    let after = project.results();
    assert_eq!(
        (&after["seed"], &after["startedAt"]),
        (&before["seed"], &before["startedAt"])
    );
    assert_eq!(
        &ends(&project)[..done.len()],
        &done[..],
        "what was finished first was not run again"
    );
    // And it is the same run.
    assert_eq!(
        project.path(".terca/runs").read_dir_utf8().unwrap().count(),
        1
    );
    let again = resume(&project, &[]);
    assert_eq!(again.status, 0, "{}", again.stderr);
    assert!(
        again.stderr.contains("nothing is left to run"),
        "{}",
        again.stderr
    );
}

#[test]
fn a_torn_line_is_no_obstacle() {
    let project = gated(4);
    ended_in_the_middle(&project, Signal::KILL);
    let journal = project.run_dir().join("events.jsonl");
    let mut text = std::fs::read(&journal).unwrap();
    text.extend(br#"{"seq":99,"at":"2026-11-15T00:00:00Z","event":"trialFini"#);
    std::fs::write(&journal, text).unwrap();
    let name = project.run_dir().file_name().unwrap().to_owned();
    let shown = project.terca(&["show"]);
    assert!(shown.stdout.contains("interrupted:"), "{}", shown.stdout);
    assert_eq!(resume(&project, &[&name]).status, 0);
    assert_complete(&project, 8);
}

#[test]
fn a_new_run_mentions_an_interrupted_one() {
    let project = gated(4);
    ended_in_the_middle(&project, Signal::KILL);
    let other = project.terca(&["--format", "plain"]);
    assert_eq!(other.status, 0, "{}", other.stderr);
    assert!(
        other
            .stderr
            .contains("was interrupted; `terca resume` finishes it"),
        "{}",
        other.stderr
    );
}

/// Killed between the end of the last trial and the end of the run: there is nothing to run, and still something to say.
#[test]
fn a_run_that_died_after_its_last_trial_is_brought_to_its_end() {
    let project = gated(2);
    assert_eq!(project.terca(&[]).status, 0);
    let text = project.journal();
    let without_end: String = text
        .lines()
        .filter(|line| !line.contains("runFinished"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(without_end.lines().count() + 1, text.lines().count());
    std::fs::write(project.run_dir().join("events.jsonl"), without_end).unwrap();
    std::fs::remove_file(project.run_dir().join("results.json")).unwrap();
    assert_eq!(resume(&project, &[]).status, 0);
    assert_complete(&project, 4);
}

#[test]
fn after_ctrl_c_too() {
    let project = gated(4);
    let mut session = project.start(&["--format", "plain"]);
    session.wait_until("a trial is done", || finished(&project) >= 1);
    session.signal(Signal::INT);
    assert_eq!(session.finish().status, 130);
    let outcome = resume(&project, &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_complete(&project, 8);
}

#[test]
fn a_changed_suite_is_not_mixed_unless_told() {
    let project = gated(4);
    ended_in_the_middle(&project, Signal::KILL);
    let yaml = project.read("terca.yaml");
    let project = project
        .file("terca.yaml", yaml.replace("do a", "do A"))
        .file("_base/new.txt", "new");
    let before = project.journal();
    let outcome = resume(&project, &[]);
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
    for line in [
        "the suite has changed", "a: the files and prompt changed", "b: the files changed",
        "--accept-changes",
    ] {
        assert!(outcome.stderr.contains(line), "{line}: {}", outcome.stderr);
    }
    assert_eq!(project.journal(), before, "nothing was run");
    let outcome = resume(&project, &["--accept-changes"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_complete(&project, 8);
}

#[test]
fn a_run_that_goes_on_is_left_alone() {
    let project = gated(2);
    std::fs::write(project.path("notes/wait"), "").unwrap();
    let mut session = project.start(&["--format", "plain"]);
    session.wait_until("trials are at work", || {
        project.path("notes/a").exists() || project.path("notes/b").exists()
    });
    let outcome = resume(&project, &[]);
    assert_eq!(outcome.status, 3);
    assert!(
        outcome.stderr.contains("still going on"),
        "{}",
        outcome.stderr
    );
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    assert_eq!(session.finish().status, 0);
    assert_complete(&project, 4);
}

#[test]
fn errors_are_run_again_when_asked_for() {
    let project = gated(1);
    let yaml = project.read("terca.yaml");
    let project = project
        .executable("gate.sh", "#!/bin/sh\ntest -e $NOTES/open\n")
        .file(
            "terca.yaml",
            format!("before: [{{command: gate.sh}}]\n{yaml}"),
        );
    assert_eq!(project.terca(&[]).status, 3);
    let outcome = resume(&project, &[]);
    assert_eq!(outcome.status, 3, "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("`terca resume --errors` runs those that ended in an error (2) again"),
        "{}",
        outcome.stderr
    );
    std::fs::write(project.path("notes/open"), "").unwrap();
    assert_eq!(resume(&project, &["--errors"]).status, 0);
    let results = project.results();
    for trial in results["trials"].as_array().unwrap() {
        assert_eq!(
            (&trial["status"], &trial["attempts"]),
            (&"passed".into(), &2.into())
        );
        assert_eq!(trial["earlierAttempts"][0]["error"]["kind"], "setup");
    }
}

/// SIGKILL at random moments, again and again, until the run is complete. `TERCA_TEST_KILLS` says how many.
#[test]
fn killed_at_any_moment_nothing_is_lost_or_doubled() {
    const TRIALS: usize = 50;
    let kills = std::env::var("TERCA_TEST_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok())
        .unwrap_or(12);
    let seed = std::env::var("TERCA_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(20_261_115);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut killed = 0;
    while killed < kills {
        let project = gated(25);
        let mut known: Vec<u64> = Vec::new();
        let mut begun = false;
        loop {
            let args: &[&str] = if begun {
                &["resume", "--format", "plain"]
            } else {
                &["--format", "plain"]
            };
            let mut session = project.start(args);
            let moment = Duration::from_micros(random.u64(1_000..600_000));
            let started = Instant::now();
            while started.elapsed() < moment && !session.has_ended() {
                std::thread::sleep(Duration::from_millis(1));
            }
            let survived = session.has_ended();
            if !survived {
                session.signal(Signal::KILL);
                killed += 1;
            }
            let outcome = session.finish();
            begun = project.has_run();
            if !begun {
                continue;
            }
            if survived {
                assert_eq!(outcome.status, 0, "{}", outcome.stderr);
                break;
            }
            // What had ended stays ended, in the same order.
            let text = project.journal();
            let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
            let ended: Vec<u64> = whole
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).expect("a whole event"))
                .filter(|event| event["event"] == "trialFinished")
                .map(|event| event["trial"].as_u64().unwrap())
                .collect();
            assert_eq!(&ended[..known.len()], &known[..]);
            known = ended;
            let results = project.run_dir().join("results.json");
            if let Ok(text) = std::fs::read_to_string(&results) {
                serde_json::from_str::<Value>(&text).expect("results.json is always whole");
            }
        }
        // Supervisors of the killed end what was theirs.
        project.wait_until_nothing_runs();
        // What was killed while it made its work directory left one that is too young to be removed by another run.
        for entry in project.work_dir().read_dir_utf8().unwrap().flatten() {
            if entry.file_name().starts_with(".new-") {
                std::fs::remove_dir_all(entry.path()).unwrap();
            }
        }
        assert_complete(&project, TRIALS);
    }
}
