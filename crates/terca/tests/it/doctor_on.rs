//! `terca doctor --on`: the machines of workers.

use rustix::process::Signal;
use terca_testkit::Project;

use crate::common::{PROGRAM, project};

/// A suite with one pool of workers on hosts. `start` gets the host and the words of the worker. A program of an agent
/// that does as `gemini` says is there for workers alone.
fn suite(hosts: &str, start: &str, gemini: &str) -> Project {
    let project = project()
        .directory("notes")
        .executable("start", &format!("#!/bin/sh\nhost=$1; shift\n{start}\n"))
        .executable("bin/gemini", &format!("#!/bin/sh\n{gemini}\n"));
    let notes = project.path("notes");
    let path = project.path("bin");
    project
        .file(
            "terca.yaml",
            format!(
                "environments: [{{name: e, agent: gemini-cli}}]\n\
                 workers: {{boxes: {{start: './start {{host}}', hosts: [{hosts}], terca: '{PROGRAM}'}}}}\n\
                 evals: [{{name: a, prompt: go, tests: [{{fileExists: x}}]}}]\n"
            ),
        )
        .env("NOTES", notes.as_str())
        .env("WORKERS_BIN", path.as_str())
        .env("GEMINI_API_KEY", "k-not-a-real-key")
}

/// Starts a worker with a name, a program of an agent, and no key.
const WORKER: &str =
    "exec env -u GEMINI_API_KEY SLURMD_NODENAME=node-$host PATH=\"$WORKERS_BIN:$PATH\" \"$@\"";

/// Returns the lines about a place.
fn section<'a>(said: &'a str, place: &str) -> Vec<&'a str> {
    let lines = said.lines().skip_while(|line| *line != format!("{place}:"));
    lines.take_while(|line| !line.is_empty()).collect()
}

/// Returns a line without its figures.
fn without_figures(line: &str) -> String {
    let mut text = String::new();
    for part in line.split(|c: char| c.is_ascii_digit()) {
        match text.ends_with('N') && (part.is_empty() || part == ".") {
            true => {}
            false => text += part,
        }
        if !text.ends_with('N') {
            text.push('N');
        }
    }
    text.pop();
    text
}

#[test]
fn each_place_tells_about_its_machine() {
    let project = suite("one, two", WORKER, "echo 9.9.9");
    let said = project.terca(&["doctor", "--on", "boxes"]).expect_status(0);
    assert!(
        said.stderr
            .contains("starting workers on boxes/one and boxes/two")
    );
    assert!(!said.stdout.contains("k-not-a-real-key"));
    assert!(
        said.stdout.starts_with("this machine:\n"),
        "{}",
        said.stdout
    );
    let two = section(&said.stdout, "boxes/two");
    for words in ["node-two", "sandbox: ", "Landlock", "limits: ", " free in "] {
        assert!(two.iter().any(|line| line.contains(words)), "{two:?}");
    }
    let one = section(&said.stdout, "boxes/one");
    let gemini = one.iter().position(|line| line.contains("gemini-cli"));
    let gemini = &one[gemini.unwrap()..][..3];
    let bin = project.path("bin");
    let shown: Vec<String> = [&one[..4], gemini]
        .concat()
        .iter()
        .map(|line| without_figures(&line.replace(bin.as_str(), "bin")))
        .collect();
    insta::assert_snapshot!("doctor_on", shown.join("\n"));
    project.assert_nothing_left();
}

#[test]
fn a_place_that_cannot_be_reached_keeps_no_other_from_being_told() {
    let start = format!(
        "case $host in\nbad) echo no such host >&2; exit 1 ;;\nold) echo terca-worker-speaks 999; exec cat >/dev/null ;;\n\
         esac\n{WORKER}"
    );
    let project = suite("bad, old, good", &start, "echo 9.9.9");
    let said = project.terca(&["doctor", "--on", "boxes"]).expect_status(3);
    let bad = section(&said.stdout, "boxes/bad").join("\n");
    assert!(
        bad.contains("✗ worker: ") && bad.contains("no such host"),
        "{bad}"
    );
    assert!(bad.contains("help: run the command by hand"), "{bad}");
    let old = section(&said.stdout, "boxes/old").join("\n");
    assert!(
        old.contains("✗ worker: the worker is Terca 999, and this is Terca"),
        "{old}"
    );
    let good = section(&said.stdout, "boxes/good").join("\n");
    assert!(
        good.contains("✓ worker: ") && good.contains("node-good"),
        "{good}"
    );
    project.assert_nothing_left();
}

#[test]
fn a_clock_that_is_wrong_is_told() {
    // The year in the worker's first words is another one, of the same length.
    let start = "LC_ALL=C; export LC_ALL\n\"$@\" | sed -u 's/\"now\":\"20../\"now\":\"2001/'";
    let project = suite("one", start, "echo 9.9.9");
    let said = project.terca(&["doctor", "--on", "boxes"]).expect_status(0);
    let one = section(&said.stdout, "boxes/one").join("\n");
    assert!(
        one.contains("! clock: ") && one.contains(" s behind this machine's"),
        "{one}"
    );
}

#[test]
fn ctrl_c_ends_visits_and_leaves_nothing() {
    let start =
        format!("if [ $host = stuck ]; then touch $NOTES/stuck; exec sleep 1000; fi\n{WORKER}");
    // The environment of an agent is made anew, so the path is written out.
    let project = suite("stuck, busy", &start, "");
    let asked = project.path("notes/asked");
    let project = project.executable(
        "bin/gemini",
        &format!("#!/bin/sh\ntouch {asked}\nexec sleep 1000\n"),
    );
    let mut session = project.start(&["doctor", "--on", "boxes"]);
    session.wait_until("one is stuck and one is busy", || {
        project.path("notes/stuck").exists() && asked.exists()
    });
    session.signal(Signal::INT);
    session.finish().expect_status(130);
    project.wait_until_nothing_runs();
    project.assert_nothing_left();
}

#[test]
fn without_a_suite_there_are_no_workers() {
    let said = project().terca(&["doctor", "--on", "boxes"]);
    let said = said.expect_status(2);
    assert!(said.stderr.contains("error["), "{}", said.stderr);
    assert_eq!(said.stdout, "");
}
