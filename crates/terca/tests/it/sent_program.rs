//! `terca: copy`: the program is sent to a machine that has none. Hosts that are reached with SSH are in `machine`.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use camino::Utf8PathBuf;
use terca_testkit::Project;

use crate::common::PROGRAM;
use crate::workers::{run, suite_started_by};

/// A suite with two workers that are started by a script of this text and get the program sent.
fn suite(script: &str) -> Project {
    let project = suite_started_by("./start", 2).executable("start", script);
    let text = project.read("terca.yaml");
    let copied = text.replace(&format!("terca: '{PROGRAM}'"), "terca: copy");
    assert_ne!(text, copied);
    project.file("terca.yaml", copied)
}

/// The directory with programs, as the machine of the worker has it.
fn programs(project: &Project) -> Utf8PathBuf {
    let user = rustix::process::getuid().as_raw();
    project.work_dir().join(format!("terca-programs-{user}"))
}

/// The one program that was sent.
fn program(project: &Project) -> Utf8PathBuf {
    let entries = programs(project).read_dir_utf8().unwrap().flatten();
    let mut found: Vec<Utf8PathBuf> = entries.map(|entry| entry.path().to_owned()).collect();
    found.retain(|path| path.file_name() != Some("lock"));
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn size(path: &Utf8PathBuf) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}

#[test]
fn a_program_is_sent_once_and_again_if_it_was_damaged() {
    let project = suite("#!/bin/sh\ntee -a notes/sent | \"$@\"\n");
    let sent = project.path("notes/sent");
    let whole = std::fs::metadata(PROGRAM).unwrap().len();
    run(&project, &["-n", "2", "--on", "here"]).expect_status(1);
    let first = size(&sent);
    assert!(first >= whole && first < 2 * whole, "{first} of {whole}");
    let program = program(&project);
    let mode = std::fs::metadata(&program).unwrap().permissions().mode();
    assert_eq!((size(&program), mode & 0o777), (whole, 0o700));

    run(&project, &["-t", "a", "--on", "here"]).expect_status(0);
    assert!(size(&sent) - first < whole, "it is there");

    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .open(&program)
        .unwrap();
    file.write_all(b"#!/bin/sh\necho not this one\n").unwrap();
    drop(file);
    let before = size(&sent);
    run(&project, &["-t", "a", "--on", "here"]).expect_status(0);
    assert!(size(&sent) - before >= whole, "it is damaged");
}

#[test]
fn a_program_that_comes_cut_is_not_used() {
    let project = suite("#!/bin/sh\nhead -c 1000 | \"$@\"\n");
    let said = run(&project, &["--on", "here"]).expect_status(2).stderr;
    for words in ["`./start sh` did not start a worker", "came damaged"] {
        assert!(said.contains(words), "{said}");
    }
    let left = programs(&project).read_dir_utf8().unwrap().flatten();
    let left: Vec<String> = left.map(|entry| entry.file_name().to_owned()).collect();
    assert_eq!(left, ["lock"]);
}

#[test]
fn a_directory_that_others_may_write_to_keeps_no_program() {
    let project = suite("#!/bin/sh\nexec \"$@\"\n");
    let dir = programs(&project);
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o777)).unwrap();
    let said = run(&project, &["--on", "here"]).expect_status(2).stderr;
    assert!(said.contains("nobody else may write to"), "{said}");
    assert_eq!(dir.read_dir_utf8().unwrap().count(), 0);
}

#[test]
fn a_program_that_does_not_run_there_is_told_apart() {
    let project = suite("#!/bin/sh\necho terca-program-here\necho no loader >&2\nexit 127\n");
    let said = run(&project, &["--on", "here"]).expect_status(2).stderr;
    for words in [
        "the program that was sent does not run there: no loader",
        "help: send a static build of Terca, made for musl",
    ] {
        assert!(said.contains(words), "{said}");
    }
}
