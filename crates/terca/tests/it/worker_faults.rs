//! Workers that lie, fall silent or run out of space. Those that die are in `workers`.

use std::io::Write;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use terca_testkit::Project;

use crate::workers::{
    assert_each_ended_once, events, run, started, suite, suite_started_by, workers,
};

/// Starts the worker, and says on its connection what the test has written, once it is there.
const FORGING: &str = "#!/bin/sh\n\
    (while [ ! -e notes/forged ]; do sleep 0.05; done; cat notes/forged; touch notes/said) &\n\
    exec \"$@\"\n";

/// Returns a message as it is on the wire.
fn frame(message: &Value) -> Vec<u8> {
    let end = match message.get("Ended") {
        // An archive without bytes.
        Some(_) => "\n\n",
        None => "\n",
    };
    format!("{message}{end}").into_bytes()
}

/// Runs one failing trial on a worker that forges these messages while the agent works. The events of a run with a
/// passing trial are there to forge from.
fn run_with_forged(forge: impl Fn(&[Value]) -> Vec<Value>) -> Project {
    let project = suite_started_by("./forging", 1).executable("forging", FORGING);
    run(&project, &["-t", "a"]).expect_status(0);
    let journal = project.journal();
    let passed = journal
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let passed: Vec<Value> = passed.collect();
    std::fs::remove_file(project.path("notes/started")).unwrap();
    std::fs::write(project.path("notes/wait"), "").unwrap();
    let args = [
        "run", "-t", "b", "--on", "here", "--format", "plain", "--seed", "7",
    ];
    let mut session = project.start(&args);
    session.wait_until("it works", || started(&project) == 1);
    let mut forged = std::fs::File::create(project.path("notes/unfinished")).unwrap();
    for message in forge(&passed) {
        forged.write_all(&frame(&message)).unwrap();
    }
    std::fs::rename(
        project.path("notes/unfinished"),
        project.path("notes/forged"),
    )
    .unwrap();
    session.wait_until("it was said", || project.path("notes/said").exists());
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    session.finish().expect_status(1);
    project
}

#[test]
fn a_worker_tells_nothing_but_how_far_its_trial_is() {
    let forged = ["runStarted", "trialFinished", "runFinished"];
    let project = run_with_forged(|passed| {
        let mut told = passed.to_vec();
        let about_trials = passed.iter().filter(|event| event["trial"].is_u64());
        told.extend(about_trials.map(|event| {
            let mut about_another = event.clone();
            about_another["trial"] = json!(7);
            about_another
        }));
        for name in forged {
            assert!(told.iter().any(|event| event["event"] == name), "{told:?}");
        }
        told.into_iter()
            .map(|event| json!({ "Event": event }))
            .collect()
    });
    assert_eq!(events(&project, "attemptFailed"), Vec::<Value>::new());
    assert_eq!(project.only_trial()["status"], "failed");
    assert_eq!(project.only_trial()["attempts"], 1);
    assert_each_ended_once(&project, 1);
    assert_eq!(events(&project, "runStarted").len(), 1);
    assert_eq!(events(&project, "runFinished").len(), 1);
    let phases = events(&project, "phaseStarted");
    assert!(!phases.is_empty());
    assert!(phases.iter().all(|event| event["trial"] != 7), "{phases:?}");
    project.terca(&["verify"]).expect_status(0);
}

#[test]
fn a_worker_that_ends_a_trial_it_was_not_given_is_given_up() {
    let project = run_with_forged(|passed| {
        let passed = passed.iter().find(|event| event["report"].is_object());
        let report = &passed.unwrap()["report"];
        let ended = json!({"trial": 7, "attempt": 1, "report": report, "archive": 0});
        vec![json!({ "Ended": ended })]
    });
    let lost = events(&project, "attemptFailed");
    assert_eq!(lost.len(), 1, "{lost:?}");
    let error = &lost[0]["report"]["error"];
    assert_eq!(error["kind"], "lost", "{error}");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("it ended another trial"),
        "{error}"
    );
    assert_eq!(project.only_trial()["status"], "failed");
    assert_eq!(project.only_trial()["attempts"], 2);
    assert_each_ended_once(&project, 1);
}

#[test]
fn noise_in_a_conversation_loses_the_worker_and_no_trial() {
    let project = suite_started_by("./forging", 1).executable("forging", FORGING);
    std::fs::write(project.path("notes/wait"), "").unwrap();
    let args = ["run", "-t", "a", "--on", "here", "--format", "plain"];
    let mut session = project.start(&args);
    session.wait_until("it works", || started(&project) == 1);
    std::fs::write(project.path("notes/forged"), "Broadcast message: reboot\n").unwrap();
    session.wait_until("it is noticed", || {
        !events(&project, "attemptFailed").is_empty()
    });
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    session.finish().expect_status(0);
    let lost = events(&project, "attemptFailed");
    assert_eq!(lost[0]["report"]["error"]["kind"], "lost", "{lost:?}");
    assert_eq!(project.only_trial()["attempts"], 2);
    assert_each_ended_once(&project, 1);
}

#[test]
fn a_silent_worker_is_taken_for_lost_and_ended() {
    let project = suite(2);
    let text = project
        .read("terca.yaml")
        .replace("slots: 2", "slots: 2, silenceSeconds: 5");
    let project = project.file("terca.yaml", text);
    std::fs::write(project.path("notes/wait"), "").unwrap();
    let args = [
        "run", "--on", "here", "--format", "plain", "--seed", "7", "-n", "2",
    ];
    let mut session = project.start(&args);
    session.wait_until("two work", || started(&project) == 2);
    let victim = Pid::from_raw(workers(&session)[0]).unwrap();
    kill_process(victim, Signal::STOP).unwrap();
    session.wait_until("it is noticed", || {
        !events(&project, "attemptFailed").is_empty()
    });
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    session.finish().expect_status(1);
    let lost = events(&project, "attemptFailed");
    assert_eq!(lost.len(), 1, "{lost:?}");
    let error = &lost[0]["report"]["error"];
    assert_eq!(error["kind"], "lost", "{error}");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("it has said nothing for 5 seconds"),
        "{error}"
    );
    assert_each_ended_once(&project, 4);
    project.wait_until_nothing_runs();
    project.terca(&["verify"]).expect_status(0);
}

/// A conversation of a real worker that runs one trial, taken apart: the greeting, the rest up to the message that it is
/// ready, and the trial.
struct Recorded {
    hello: Vec<u8>,
    ready: Vec<u8>,
    trial: Vec<u8>,
}

fn recorded(project: &Project) -> Recorded {
    run(project, &["-t", "a", "--on", "here"]).expect_status(0);
    let all = std::fs::read(project.path("notes/recorded")).unwrap();
    let end_of_line_with = |words: &[u8]| {
        let at = all.windows(words.len()).position(|place| place == words);
        let at = at.unwrap();
        at + all[at..].iter().position(|byte| *byte == b'\n').unwrap() + 1
    };
    let hello = end_of_line_with(b"terca-worker-speaks ");
    let opened = end_of_line_with(b"{\"Opened\"");
    Recorded {
        hello: all[..hello].to_vec(),
        ready: all[hello..opened].to_vec(),
        trial: all[opened..].to_vec(),
    }
}

/// A suite whose first worker is a script, which begins with these bytes; all others are real.
fn with_first_worker(script: &str, says: impl Fn(&Recorded) -> Vec<u8>) -> Project {
    let project = suite_started_by("./first", 1).executable(
        "first",
        "#!/bin/sh\n\"$@\" | tee notes/recorded.new\nmv notes/recorded.new notes/recorded\n",
    );
    let text = project
        .read("terca.yaml")
        .replace("slots: 1", "slots: 1, silenceSeconds: 5");
    let project = project.file("terca.yaml", text);
    let recorded = recorded(&project);
    std::fs::write(project.path("notes/says"), says(&recorded)).unwrap();
    std::fs::write(project.path("notes/trial"), &recorded.trial).unwrap();
    std::fs::remove_file(project.path("notes/started")).unwrap();
    std::fs::remove_dir_all(project.path(".terca")).unwrap();
    project.executable(
        "first",
        &format!(
            "#!/bin/sh\n[ ! -e notes/first ] || exec \"$@\"\ntouch notes/first\ncat notes/says\n{script}\n"
        ),
    )
}

#[test]
fn a_worker_that_dies_between_two_trials_loses_none() {
    let wait = "while [ ! -e notes/go ]; do sleep 0.05; done\ncat notes/trial";
    let project = with_first_worker(wait, |recorded| {
        [&recorded.hello[..], &recorded.ready].concat()
    });
    let args = [
        "run", "-t", "a", "-n", "3", "--on", "here", "--format", "plain", "--seed", "7",
    ];
    let mut session = project.start(&args);
    session.wait_until("the first one is given a trial", || {
        project.has_run() && !events(&project, "trialStarted").is_empty()
    });
    std::fs::write(project.path("notes/go"), "").unwrap();
    session.finish().expect_status(0);
    assert_each_ended_once(&project, 3);
    assert_eq!(started(&project), 2);
    project.terca(&["verify"]).expect_status(0);
}

#[test]
fn a_worker_that_says_nothing_after_its_greeting_is_started_again() {
    let project = with_first_worker("exec sleep 600", |recorded| recorded.hello.clone());
    run(&project, &["-t", "a", "--on", "here"]).expect_status(0);
    assert_eq!(started(&project), 1);
    project.wait_until_nothing_runs();
}

/// Adds more to the suite than a pipe holds.
fn add_noise(project: &Project) {
    std::fs::write(project.path("rules/noise"), vec![7; 1 << 20]).unwrap();
}

#[test]
fn a_worker_that_reads_nothing_is_started_again() {
    let project = with_first_worker("exec sleep 600", |recorded| recorded.hello.clone());
    add_noise(&project);
    run(&project, &["-t", "a", "--on", "here"]).expect_status(0);
    assert_eq!(started(&project), 1);
    project.wait_until_nothing_runs();
}

#[test]
fn a_worker_that_reads_nothing_does_not_keep_terca_from_ending() {
    let project = with_first_worker("touch notes/said\nexec sleep 600", |recorded| {
        recorded.hello.clone()
    });
    add_noise(&project);
    let text = project
        .read("terca.yaml")
        .replace("silenceSeconds: 5", "silenceSeconds: 3600");
    let project = project.file("terca.yaml", text);
    let mut session = project.start(&["run", "-t", "a", "--on", "here", "--format", "plain"]);
    session.wait_until("it has greeted", || project.path("notes/said").exists());
    session.signal(Signal::INT);
    session.finish().expect_status(130);
    project.wait_until_nothing_runs();
}

#[test]
fn a_report_that_makes_no_sense_is_none() {
    for (field, value) in [
        ("score", json!(5)),
        ("durationSeconds", json!(-5)),
        ("status", json!("pending")),
        ("status", json!("interrupted")),
        ("costUsd", json!(-1000)),
    ] {
        let project = run_with_forged(|passed| {
            let passed = passed.iter().find(|event| event["report"].is_object());
            let passed = passed.unwrap();
            let mut report = passed["report"].clone();
            match field {
                "costUsd" => report["stats"][field] = value.clone(),
                _ => report[field] = value.clone(),
            }
            let trial = &passed["trial"];
            let ended = json!({"trial": trial, "attempt": 1, "report": report, "archive": 0});
            vec![json!({ "Ended": ended })]
        });
        let lost = events(&project, "attemptFailed");
        assert_eq!(lost.len(), 1, "{field}: {lost:?}");
        let error = &lost[0]["report"]["error"]["message"];
        assert!(
            error.to_string().contains("makes no sense"),
            "{field}: {error}"
        );
        assert_eq!(project.only_trial()["status"], "failed");
    }
}

#[test]
fn a_shell_that_does_not_end_its_line_is_no_trouble() {
    let project = suite_started_by("./titled", 1).executable(
        "titled",
        "#!/bin/sh\nprintf '\\033]0;title\\007'\nexec \"$@\"\n",
    );
    run(&project, &["-t", "a", "--on", "here"]).expect_status(0);
}

#[test]
fn a_start_that_loses_the_last_word_runs_no_suite() {
    let project = suite_started_by("sh -c", 1);
    let said = run(&project, &["--on", "here"]).expect_status(2).stderr;
    assert!(said.contains("`start` loses the word `worker`"), "{said}");
    assert!(!project.has_run());
    assert_eq!(started(&project), 0);
}

#[test]
fn a_work_directory_may_have_spaces_in_its_name() {
    let project = suite(1);
    let dir = project.path("work (1) dir");
    std::fs::create_dir(&dir).unwrap();
    let project = project.env("TERCA_WORK_DIR", dir.as_str());
    for on in ["local", "here"] {
        run(&project, &["-t", "a", "--on", on]).expect_status(0);
    }
}

#[test]
fn a_hostile_archive_makes_nothing_outside_of_the_trial() {
    let wait = "while [ ! -e notes/go ]; do sleep 0.05; done\ncat notes/hostile";
    let project = with_first_worker(wait, |recorded| {
        [&recorded.hello[..], &recorded.ready].concat()
    });
    let trial = std::fs::read(project.path("notes/trial")).unwrap();
    let words = b"{\"Ended\"";
    let at = trial.windows(words.len()).position(|place| place == words);
    let line = trial[at.unwrap()..].split(|byte| *byte == b'\n').next();
    let mut ended: Value = serde_json::from_slice(line.unwrap()).unwrap();
    let escaped = project.path("notes/escaped");
    std::fs::write(&escaped, "evil").unwrap();
    let mut tar = std::process::Command::new("tar");
    tar.current_dir(project.path("rules"));
    let archive = tar.args(["-cPf", "-", "../notes/escaped"]).output();
    let archive = archive.unwrap().stdout;
    std::fs::remove_file(&escaped).unwrap();
    ended["Ended"]["archive"] = json!(archive.len());
    let hostile = [format!("{ended}\n").as_bytes(), &archive, b"\n"].concat();
    std::fs::write(project.path("notes/hostile"), hostile).unwrap();
    let args = ["run", "-t", "a", "--on", "here", "--format", "plain"];
    let mut session = project.start(&args);
    session.wait_until("the first one is given a trial", || {
        project.has_run() && !events(&project, "trialStarted").is_empty()
    });
    std::fs::write(project.path("notes/go"), "").unwrap();
    session.finish().expect_status(3);
    let error = &project.only_trial()["error"];
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("does not name a place beneath the directory"),
        "{error}"
    );
    let mut found = std::process::Command::new("find");
    let found = found.args([project.dir().as_str(), "-name", "escaped"]);
    assert_eq!(found.output().unwrap().stdout, b"");
}

/// Starts the worker, whose results never come: signs of life come in their place.
const BEATING: &str = "#!/bin/sh\n\
    [ ! -e notes/first ] || exec \"$@\"\n\
    touch notes/first\n\
    cat notes/says\n\
    while echo '\"Alive\"'; do sleep 0.2; done 2>/dev/null\n";

#[test]
fn a_worker_that_beats_and_never_ends_its_trial_loses_it() {
    for dripping in [false, true] {
        let project = with_first_worker("", |recorded| {
            [&recorded.hello[..], &recorded.ready].concat()
        });
        // Half a line, and more of it all the time, is no message, and no silence either.
        let beats = match dripping {
            true => BEATING.replace("echo '\"Alive\"'", "printf ' '"),
            false => BEATING.to_owned(),
        };
        let text = project
            .read("terca.yaml")
            .replace("slots: 1", "slots: 1, graceSeconds: 1");
        let project = project
            .executable("first", &beats)
            .file("terca.yaml", format!("timeoutSeconds: 1\n{text}"));
        run(&project, &["-t", "a", "--on", "here"]).expect_status(0);
        let lost = events(&project, "attemptFailed");
        assert_eq!(lost.len(), 1, "{lost:?}");
        let error = &lost[0]["report"]["error"];
        assert_eq!(error["kind"], "lost", "{error}");
        let words = "takes longer than all of its time limits together";
        assert!(
            error["message"].as_str().unwrap().contains(words),
            "{error}"
        );
        assert_eq!(project.only_trial()["attempts"], 2);
        project.wait_until_nothing_runs();
    }
}

#[test]
fn a_worker_that_sends_more_than_the_limit_on_disk_space_is_lost() {
    let wait = "while [ ! -e notes/go ]; do sleep 0.05; done\ncat notes/hostile";
    let project = with_first_worker(wait, |recorded| {
        [&recorded.hello[..], &recorded.ready].concat()
    });
    let trial = std::fs::read(project.path("notes/trial")).unwrap();
    let words = b"{\"Ended\"";
    let at = trial.windows(words.len()).position(|place| place == words);
    let line = trial[at.unwrap()..].split(|byte| *byte == b'\n').next();
    let mut ended: Value = serde_json::from_slice(line.unwrap()).unwrap();
    // Each directory takes 512 bytes in the archive, and a block of the disk.
    let bomb = project.path("notes/bomb");
    for outer in 0..200 {
        for inner in 0..110 {
            std::fs::create_dir_all(bomb.join(format!("{outer}/{inner}"))).unwrap();
        }
    }
    let mut tar = std::process::Command::new("tar");
    let tar = tar.args(["-C", bomb.as_str(), "-cf", "-"]);
    let tar = tar.args((0..200).map(|outer| outer.to_string()));
    let archive = tar.output().unwrap().stdout;
    std::fs::remove_dir_all(&bomb).unwrap();
    ended["Ended"]["archive"] = json!(archive.len());
    let hostile = [format!("{ended}\n").as_bytes(), &archive, b"\n"].concat();
    std::fs::write(project.path("notes/hostile"), hostile).unwrap();
    let text = project.read("terca.yaml");
    let project = project.file("terca.yaml", format!("limits: {{disk: 10MB}}\n{text}"));
    let args = ["run", "-t", "a", "--on", "here", "--format", "plain"];
    let mut session = project.start(&args);
    session.wait_until("the first one is given a trial", || {
        project.has_run() && !events(&project, "trialStarted").is_empty()
    });
    std::fs::write(project.path("notes/go"), "").unwrap();
    session.finish().expect_status(0);
    let lost = events(&project, "attemptFailed");
    assert_eq!(lost.len(), 1, "{lost:?}");
    let error = &lost[0]["report"]["error"];
    assert_eq!(error["kind"], "lost", "{error}");
    assert!(
        error["message"].as_str().unwrap().contains("(limits.disk)"),
        "{error}"
    );
    assert_eq!(project.only_trial()["attempts"], 2);
    assert!(!project.trial_path("0").exists());
}
