//! Suites and machines for tests of sandboxes.

use camino::Utf8Path;
use terca_testkit::{Project, write_program};

use super::project;

/// Makes an executable file in a directory of the user's home.
fn program(project: &Project, name: &str, script: &str) {
    let bin = bin(project);
    std::fs::create_dir_all(&bin).unwrap();
    let program = Utf8Path::new(&bin).join(name);
    write_program(&program, &format!("#!/bin/sh\n{script}\n"));
}

fn bin(project: &Project) -> String {
    format!("{}/bin", project.home())
}

/// Puts a program before those of the system that have its name.
pub fn with_program(project: Project, name: &str, script: &str) -> Project {
    program(&project, name, script);
    with_bin(project)
}

fn with_bin(project: Project) -> Project {
    let path = format!("{}:/usr/bin:/bin", bin(&project));
    project.env("PATH", &path)
}

const REFUSED: &str = "echo 'bwrap: No permissions to create new namespace' >&2\nexit 1";

/// A machine whose kernel forbids namespaces.
pub fn without_namespaces(project: Project) -> Project {
    forbid_namespaces(&project);
    with_bin(project)
}

/// Forbids namespaces on a machine on which they worked.
pub fn forbid_namespaces(project: &Project) {
    program(project, "bwrap", REFUSED);
}

/// A suite whose trial ends in an error until [`mend`] is called.
pub fn unfinished() -> Project {
    let project = project().agent("echo x > made.txt").file(
        "fib/eval.terca.yaml",
        "prompt: go\nbefore: [{command: mended}]\ntests: [{fileExists: made.txt}]\n",
    );
    with_bin(project)
}

/// Makes what the trials of [`unfinished`] need.
pub fn mend(project: &Project) {
    program(project, "mended", "exit 0");
}

/// Returns whether the kernel has rules that take the place of a sandbox.
pub fn has_landlock() -> bool {
    let doctor = project().agent("true").terca(&["doctor"]);
    doctor.stdout.contains("✓ sandbox: Landlock works")
}
