//! Trials on workers: the same run over pipes, on this machine. Real clusters are in `machine`.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use terca_testkit::{Outcome, Project, Session};

use crate::common::{PROGRAM, project};

/// A suite whose agent notes that it was started, and works for as long as a file is in its way.
pub(crate) fn suite(slots: u32) -> Project {
    suite_started_by("env", slots)
}

/// The same, with workers that are started by a command line.
pub(crate) fn suite_started_by(start: &str, slots: u32) -> Project {
    let project = project().executable(
        "agent.sh",
        "#!/bin/sh\n\
         echo $$ >> $NOTES/started\n\
         while [ -e $NOTES/wait ]; do sleep 0.05; done\n\
         cat secret-rules > done.txt\n\
         ln -s done.txt link\n\
         echo \"worked\"\n",
    );
    let notes = project.path("notes");
    project.directory("notes").file("rules/secret-rules", "be good").file(
        "terca.yaml",
        format!(
            "env: {{NOTES: '{notes}'}}\n\
             environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\n\
             workers: {{here: {{start: '{start}', slots: {slots}, terca: '{PROGRAM}'}}}}\n\
             evals:\n\
             \x20 - {{name: a, prompt: do a, before: [{{copy: {{rules: .}}}}], tests: [{{fileContains: {{path: done.txt, text: good}}}}]}}\n\
             \x20 - {{name: b, prompt: do b, before: [{{copy: {{rules: .}}}}], tests: [{{fileExists: none.txt}}]}}\n"
        ),
    )
}

pub(crate) fn run(project: &Project, args: &[&str]) -> Outcome {
    project.terca(&[&["run", "--format", "plain", "--seed", "7"], args].concat())
}

/// Returns the results without what differs from run to run.
fn comparable(project: &Project) -> Value {
    let mut results = project.results();
    strip(&mut results);
    results
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| {
                let is_time = ["At", "Seconds", "Ms"]
                    .iter()
                    .any(|end| name.ends_with(end));
                !is_time
                    && ![
                        "run", "ranOn", "phases", "concurrency", "seconds", "journal", "evidence",
                    ]
                    .contains(&name.as_str())
            });
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Returns the files of all trials, by their paths in the run.
fn files(project: &Project) -> BTreeSet<String> {
    let root = project.run_dir();
    let mut open = vec![root.join("a"), root.join("b")];
    let mut found = BTreeSet::new();
    while let Some(dir) = open.pop() {
        for entry in dir.read_dir_utf8().unwrap().flatten() {
            let path = entry.path().to_owned();
            let kind = entry.file_type().unwrap();
            let name = path.strip_prefix(&root).unwrap().to_string();
            if kind.is_dir() {
                found.insert(format!("{name}/"));
                open.push(path);
            } else if kind.is_symlink() {
                found.insert(format!("{name} -> {}", path.read_link_utf8().unwrap()));
            } else {
                found.insert(name);
            }
        }
    }
    found
}

pub(crate) fn started(project: &Project) -> usize {
    let notes = std::fs::read_to_string(project.path("notes/started")).unwrap_or_default();
    notes.lines().count()
}

/// Returns the processes of workers.
pub(crate) fn workers(session: &Session) -> Vec<i32> {
    let processes = session.processes().into_iter();
    // Not the shells that start them: a worker goes on when its shell is killed.
    let is_worker = |line: &str| {
        let mut words = line.split(['\0', ' ']);
        words.next() == Some(PROGRAM) && words.any(|word| word == "worker")
    };
    let workers = processes.filter(|process| is_worker(&process.command));
    workers.map(|process| process.pid).collect()
}

pub(crate) fn events(project: &Project, name: &str) -> Vec<Value> {
    let journal = project.journal();
    let events = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["event"] == name).collect()
}

/// Returns the directory that a worker makes in the work directory.
fn own_dir(project: &Project) -> Utf8PathBuf {
    let user = rustix::process::getuid().as_raw();
    project.work_dir().join(format!("terca-{user}"))
}

/// No process is left, and no directory of a run.
fn assert_nothing_left(project: &Project) {
    project.wait_until_nothing_runs();
    project.assert_nothing_left();
}

/// Every trial has ended once.
pub(crate) fn assert_each_ended_once(project: &Project, trials: usize) {
    let ends = events(project, "trialFinished");
    let judged: Vec<u64> = ends
        .iter()
        .filter(|event| event["report"]["status"] != "interrupted")
        .map(|event| event["trial"].as_u64().unwrap())
        .collect();
    let different: BTreeSet<u64> = judged.iter().copied().collect();
    assert_eq!(
        (judged.len(), different.len()),
        (trials, trials),
        "{judged:?}"
    );
}

#[test]
fn a_run_on_workers_is_the_run_on_this_machine() {
    let local = suite(2);
    run(&local, &["-n", "3", "--keep", "all"]).expect_status(1);
    let remote = suite(2);
    // A worker has no layers to compare with, and sends whole workspaces.
    let said = run(&remote, &["-n", "3", "--on", "here"])
        .expect_status(1)
        .stderr;
    assert!(said.contains("starting workers on here"), "{said}");
    let (local_results, remote_results) = (comparable(&local), comparable(&remote));
    assert_eq!(local_results, remote_results);
    assert_eq!(files(&local), files(&remote));
    assert!(files(&remote).contains("a/e.default.01/workspace/link -> done.txt"));
    let trial = &remote.results()["trials"][0];
    assert!(trial["ranOn"].is_string(), "{trial}");
    remote.terca(&["verify"]).expect_status(0);
    assert_nothing_left(&remote);
}

#[test]
fn local_slots_and_workers_are_the_same_to_the_scheduler() {
    let project = suite(1);
    let workers = project
        .read("terca.yaml")
        .replace("workers: {", "workers: {local: {slots: 1}, ");
    let project = project.file("terca.yaml", workers);
    std::fs::write(project.path("notes/wait"), "").unwrap();
    let mut session = project.start(&["run", "--on", "local,here", "-n", "2", "--format", "plain"]);
    session.wait_until("one works on each", || started(&project) == 2);
    let on: BTreeSet<String> = events(&project, "trialStarted")
        .iter()
        .map(|event| event["on"].to_string())
        .collect();
    assert_eq!(on.len(), 2, "{on:?}");
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    session.finish().expect_status(1);
    assert_each_ended_once(&project, 4);
}

#[test]
fn a_worker_that_dies_loses_its_trial_and_nothing_else() {
    let project = suite(2);
    std::fs::write(project.path("notes/wait"), "").unwrap();
    let mut session = project.start(&[
        "run", "--on", "here", "-n", "2", "--format", "plain", "--seed", "7",
    ]);
    session.wait_until("two work", || started(&project) == 2);
    let victim = workers(&session)[0];
    kill_process(Pid::from_raw(victim).unwrap(), Signal::KILL).unwrap();
    session.wait_until("it is noticed", || {
        !events(&project, "attemptFailed").is_empty()
    });
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    session.finish().expect_status(1);
    let lost = events(&project, "attemptFailed");
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert_eq!(lost[0]["report"]["error"]["kind"], "lost", "{}", lost[0]);
    assert_each_ended_once(&project, 4);
    let retried = &lost[0]["trial"];
    let results = project.results();
    let trial = results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .find(|trial| trial["id"] == *retried);
    assert_eq!(trial.unwrap()["attempts"], 2);
    // The directory of the worker that was killed goes with the next run.
    project.wait_until_nothing_runs();
}

#[test]
fn a_trial_that_loses_every_worker_is_an_error_and_no_failure() {
    let project = suite_started_by("./noted", 1)
        .executable("noted", "#!/bin/sh\necho $$ > notes/worker\nexec \"$@\"\n")
        .executable(
            "agent.sh",
            "#!/bin/sh\nkill -9 $(cat $NOTES/worker)\nsleep 60\n",
        );
    let outcome = run(&project, &["-t", "a", "--on", "here"]).expect_status(3);
    let trial = project.only_trial();
    assert_eq!(trial["status"], "error", "{}", outcome.stderr);
    assert_eq!(trial["error"]["kind"], "lost");
    assert_eq!(trial["attempts"], 3);
    project.wait_until_nothing_runs();
}

#[test]
fn a_start_that_fails_says_the_words_of_its_command() {
    let project = suite_started_by("sh -c \"echo no such queue >&2; exit 7\"", 2);
    let said = run(&project, &["--on", "here"]).expect_status(2).stderr;
    for words in [
        "error[no-worker]", "no such queue", "terca explain no-worker",
    ] {
        assert!(said.contains(words), "{said}");
    }
    assert!(!project.has_run());
}

#[test]
fn chatter_of_a_shell_is_no_trouble() {
    let project = suite_started_by("./chatty", 1).executable(
        "chatty",
        "#!/bin/sh\necho 'Welcome to this machine!'\necho >&2 warnings\nexec \"$@\"\n",
    );
    run(&project, &["-t", "a", "--on", "here"]).expect_status(0);
}

#[test]
fn another_version_is_refused_with_the_next_step() {
    let project = suite_started_by("./old", 1).executable(
        "old",
        "#!/bin/sh\necho 'terca-worker-speaks 999'\nexec cat > notes/heard\n",
    );
    let said = run(&project, &["--on", "here"]).expect_status(2).stderr;
    for words in [
        "the worker is Terca 999, and this is Terca",
        "help: install Terca",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_missing_terca_is_told_with_its_place_and_the_next_step() {
    let project = suite(1);
    let text = project.read("terca.yaml");
    let project = project.file("terca.yaml", text.replace(PROGRAM, "/opt/none/terca"));
    let said = run(&project, &["--on", "here"]).expect_status(2).stderr;
    for words in [
        "error[no-worker]: no worker of `here` can be started: Terca is missing there",
        "env /opt/none/terca worker",
        "help: install Terca",
        "set `terca:` of the pool",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_directory_that_others_have_access_to_is_refused() {
    let target = |project: &Project| project.path("notes/target");
    let refused = |make: &dyn Fn(&Project, &Utf8Path)| {
        let project = suite(1);
        std::fs::create_dir_all(project.work_dir()).unwrap();
        make(&project, &own_dir(&project));
        let said = run(&project, &["--on", "here"]).expect_status(2).stderr;
        assert!(said.contains("\nhelp: "), "{said}");
        assert_eq!(started(&project), 0);
        said
    };
    let said = refused(&|project, dir| {
        std::fs::create_dir(target(project)).unwrap();
        std::os::unix::fs::symlink(target(project), dir).unwrap();
    });
    assert!(said.contains("is a symbolic link"), "{said}");
    let said = refused(&|_, dir| {
        std::fs::create_dir(dir).unwrap();
        std::fs::set_permissions(dir, Permissions::from_mode(0o777)).unwrap();
    });
    assert!(said.contains("is open to other users (mode 777"), "{said}");
    let said = refused(&|project, _| {
        std::fs::set_permissions(project.work_dir(), Permissions::from_mode(0o777)).unwrap();
    });
    assert!(said.contains("lets other users change"), "{said}");
}

#[test]
fn terca_is_killed_and_nothing_is_left_and_resume_completes() {
    let project = suite(2);
    std::fs::write(project.path("notes/wait"), "").unwrap();
    let mut session = project.start(&[
        "run", "--on", "here", "-n", "3", "--format", "plain", "--seed", "7",
    ]);
    session.wait_until("two work", || started(&project) == 2);
    session.signal(Signal::KILL);
    session.finish();
    project.wait_until_nothing_runs();
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    let resumed = project.terca(&["resume", "--on", "here", "--format", "plain"]);
    resumed.expect_status(1);
    assert_each_ended_once(&project, 6);
    assert_nothing_left(&project);
}

#[test]
fn ctrl_c_stops_workers_and_resume_completes_here() {
    let project = suite(2);
    std::fs::write(project.path("notes/wait"), "").unwrap();
    let mut session = project.start(&[
        "run", "--on", "here", "-n", "2", "--format", "plain", "--seed", "7",
    ]);
    session.wait_until("two work", || started(&project) == 2);
    session.signal(Signal::INT);
    session.finish().expect_status(130);
    project.wait_until_nothing_runs();
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    project
        .terca(&["resume", "--format", "plain"])
        .expect_status(1);
    assert_each_ended_once(&project, 4);
}

#[test]
fn a_start_that_hangs_is_left_with_ctrl_c() {
    let project = suite_started_by("./hangs", 1)
        .executable("hangs", "#!/bin/sh\ntouch notes/hangs\nexec sleep 1000\n");
    let mut session = project.start(&["run", "--on", "here", "--format", "plain"]);
    session.wait_until("it hangs", || project.path("notes/hangs").exists());
    session.signal(Signal::INT);
    session.finish().expect_status(130);
    project.wait_until_nothing_runs();
    assert!(!project.has_run());
}

/// A suite with one worker, whose input is kept in `notes/sent`.
fn suite_that_counts(pool: &str) -> Project {
    let counting = "#!/bin/sh\ntee -a notes/sent | \"$@\"\n";
    let project = suite_started_by("./counting", 1).executable("counting", counting);
    let text = project.read("terca.yaml");
    let text = text.replace("slots: 1", &format!("slots: 1{pool}"));
    project
        .file("terca.yaml", text)
        .file("rules/noise", vec![7; 300_000])
}

fn sent(project: &Project) -> u64 {
    std::fs::metadata(project.path("notes/sent")).unwrap().len()
}

#[test]
fn a_suite_is_sent_once_to_each_worker() {
    let project = suite_that_counts("");
    run(&project, &["-n", "3", "--on", "here"]).expect_status(1);
    let bytes = sent(&project);
    assert!((300_000..500_000).contains(&bytes), "{bytes}");
    assert_each_ended_once(&project, 6);
}

#[test]
fn a_suite_that_is_there_is_not_sent_and_must_be_the_same() {
    let project = suite_that_counts("");
    let elsewhere = project.path("notes/suite");
    let text = project.read("terca.yaml");
    let text = text.replace("slots: 1", &format!("slots: 1, dir: '{elsewhere}'"));
    let project = project.file("terca.yaml", text);
    std::fs::create_dir(&elsewhere).unwrap();
    for name in ["terca.yaml", "agent.sh", "rules"] {
        let mut copy = std::process::Command::new("cp");
        copy.args(["-r", project.path(name).as_str(), elsewhere.as_str()]);
        assert!(copy.status().unwrap().success());
    }
    run(&project, &["-t", "a", "--on", "here"]).expect_status(0);
    assert!(sent(&project) < 100_000);
    std::fs::write(elsewhere.join("rules/secret-rules"), "be bad").unwrap();
    let said = run(&project, &["-t", "a", "--on", "here"])
        .expect_status(2)
        .stderr;
    assert!(said.contains("the suite differs there"), "{said}");
}

#[test]
fn workers_take_few_open_files() {
    let project = suite(12);
    let script = format!("ulimit -n 200; exec {PROGRAM} run --format plain -n 6 -c 12 --on here");
    let output = project.other("sh", &["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("the limit of open files"), "{said}");
    assert_each_ended_once(&project, 12);
    let errors = project.results()["summary"]["errors"].clone();
    assert_eq!(errors, 0, "{said}");
}

#[test]
fn secrets_travel_in_the_conversation_alone() {
    let project = suite(1).env("MY_TOKEN", "s3cret-t0ken-of-the-user");
    let text = project
        .read("terca.yaml")
        .replace("env: {", "env: {TOKEN: '${MY_TOKEN}', ");
    let project = project
        .file("terca.yaml", text)
        .executable("agent.sh", "#!/bin/sh\necho $$ >> $NOTES/started\nwhile [ -e $NOTES/wait ]; do sleep 0.05; done\necho \"token $TOKEN\"\ncat secret-rules > done.txt\n");
    std::fs::write(project.path("notes/wait"), "").unwrap();
    let mut session = project.start(&["run", "-t", "a", "--on", "here", "--format", "plain"]);
    session.wait_until("it works", || started(&project) == 1);
    for process in project.processes() {
        assert!(!process.command.contains("s3cret"), "{}", process.command);
    }
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    session.finish().expect_status(0);
    let log = project.trial_file("run.log");
    assert!(log.contains("token ") && !log.contains("s3cret"), "{log}");
}

#[test]
fn files_of_what_was_not_chosen_are_not_missed() {
    let text = format!(
        "environments: [{{name: e, agent: nop}}, {{name: other, agent: {{name: command, command: tools/agent.sh}}}}]\n\
         experiments: [{{name: plain, baseline: true}}, {{name: ruled, rules: rules/RULES.md}}]\n\
         workers: {{here: {{start: env, terca: '{PROGRAM}'}}}}\n\
         evals:\n\
         \x20 - {{name: a, prompt: do a, tests: [{{commandSuccess: 'true'}}]}}\n\
         \x20 - {{name: b, prompt: do b, before: [{{copy: {{data: .}}}}], tests: [{{commandSuccess: 'true'}}]}}\n"
    );
    let project = project()
        .file("terca.yaml", text)
        .file("rules/RULES.md", "be good")
        .file("data/numbers", "7")
        .executable("tools/agent.sh", "#!/bin/sh\n");
    let chosen = ["-t", "a", "-x", "plain", "-e", "e", "--on", "here"];
    run(&project, &chosen).expect_status(0);
    assert!(project.only_trial()["ranOn"].is_string());
}

#[test]
fn files_outside_of_the_suite_are_sent_if_it_names_them() {
    let text = format!(
        "environments: [{{name: e, agent: nop}}]\n\
         workers: {{here: {{start: env, terca: '{PROGRAM}'}}}}\n\
         evals: [{{name: a, prompt: do a, before: [{{copy: {{../dist: .}}}}], tests: [{{fileExists: numbers}}]}}]\n"
    );
    let project = project()
        .file("suite/terca.yaml", text)
        .file("dist/numbers", "7");
    run(&project, &["-C", "suite", "--on", "here"]).expect_status(0);
}

#[test]
fn a_host_that_cannot_be_used_is_named_and_the_others_work() {
    let project = suite_started_by("./on {host}", 1).executable(
        "on",
        "#!/bin/sh\nhost=$1; shift\n[ $host = good ] || { echo x >> $NOTES_OF_TEST; echo no route to $host >&2; exit 1; }\nexec \"$@\"\n",
    );
    let text = project
        .read("terca.yaml")
        .replace("slots: 1", "slots: 1, hosts: [good, bad]");
    let tries = project.path("notes/tries");
    let project = project
        .file("terca.yaml", text)
        .env("NOTES_OF_TEST", tries.as_str());
    std::fs::write(project.path("notes/wait"), "").unwrap();
    let mut session = project.start(&["run", "--on", "here", "-n", "2", "--format", "plain"]);
    session.wait_until("one works", || started(&project) == 1);
    // Three starts, with pauses between them.
    session.wait_until("the other was given up", || {
        project
            .processes()
            .iter()
            .all(|process| !process.command.contains(" bad "))
            && std::fs::read_to_string(project.path("notes/tries"))
                .is_ok_and(|tries| tries.lines().count() >= 3)
    });
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    let outcome = session.finish().expect_status(1);
    let words = "warning: workers on here/bad were given up";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("no route to bad"),
        "{}",
        outcome.stderr
    );
    assert_each_ended_once(&project, 4);
}
