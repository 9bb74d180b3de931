//! Runs with thousands of trials: each of them needs little memory.

use crate::common::gallery;
use crate::common::project;
use terca_testkit::Project;

const RUN: &str = "2026-11-14-001";
/// The repetitions of a run, of 28 trials each.
const REPETITIONS: u32 = 100;
/// The memory of the program itself, in KiB.
const PROGRAM: usize = 8 * 1024;
/// The memory for each trial, in KiB. Its line in the journal takes more than one.
const EACH_TRIAL: usize = 5;

/// Runs `terca list` with so many KiB of memory. Returns whether it came to its end, and its errors.
fn lists_within(project: &Project, kib: usize) -> (bool, String) {
    let terca = project.command(&[]);
    let program = terca.get_program().to_str().unwrap().to_owned();
    let script = format!("ulimit -d {kib}; exec \"$0\" list");
    let mut command = project.other("/bin/sh", &["-c", &script, &program]);
    let outcome = command.output().unwrap();
    let errors = String::from_utf8_lossy(&outcome.stderr).into_owned();
    (outcome.status.success(), errors)
}

#[test]
#[cfg_attr(
    not(target_os = "linux"),
    ignore = "other systems do not keep this limit"
)]
fn a_run_is_read_with_little_memory_for_each_trial() {
    let project = project().file("terca.yaml", "name: firestore-sdk\n");
    let run = project.path(&format!(".terca/runs/{RUN}"));
    let trials = gallery::make_record(&run, REPETITIONS);
    let (is_done, errors) = lists_within(&project, PROGRAM + trials * EACH_TRIAL);
    assert!(is_done, "{errors}");
    let (is_done, _) = lists_within(&project, PROGRAM / 2);
    assert!(!is_done, "the limit is kept");
}
