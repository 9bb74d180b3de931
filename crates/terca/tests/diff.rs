//! `changes.diff` can be applied with git, whatever the agent did.

mod common;

use common::project;
use terca_testkit::{Outcome, Project};

/// Applies the diff of the one trial to the layer that its workspace started from.
fn apply(project: &Project) -> Outcome {
    let output = std::process::Command::new("git")
        .args(["apply", project.trial_path("changes.diff").as_str()])
        .current_dir(project.path("_base"))
        .env("GIT_CEILING_DIRECTORIES", project.dir())
        .output();
    match output {
        Ok(output) => output.into(),
        Err(error) => {
            Outcome { status: 127, stdout: String::new(), stderr: format!("git is needed: {error}") }
        }
    }
}

#[test]
fn links_are_as_git_has_them() {
    let project = project()
        .agent("ln -s a new; ln -sfn b old; rm file; ln -s a file")
        .symlink("_base/old", "a")
        .file("_base/file", "x\n")
        .file("fib/eval.terca.yaml", "prompt: go\n");
    project.terca(&[]).expect_status(0);
    apply(&project).expect_status(0);
    for (link, target) in [("new", "a"), ("old", "b"), ("file", "a")] {
        assert_eq!(project.path("_base").join(link).read_link_utf8().unwrap(), target);
    }
}

#[test]
fn odd_names_are_quoted() {
    let project = project()
        .agent("echo n > \"$(printf 'new\\nline')\"; echo q > 'q\"x'; echo t > \"$(printf 'tab\\tx')\"; echo b > \"$(printf 'bad\\377')\"")
        .directory("_base")
        .file("fib/eval.terca.yaml", "prompt: go\n");
    project.terca(&[]).expect_status(0);
    apply(&project).expect_status(0);
    assert!(project.path("_base/new\nline").exists());
}

#[test]
fn edits_additions_deletions_and_modes_arrive() {
    let project = project()
        .agent("echo 'zwei' >> edited; rm gone; chmod +x tool; mkdir -p deep/er; echo new > deep/er/file; printf 'no end' > open")
        .file("_base/edited", "eins\n")
        .file("_base/gone", "x\n")
        .file("_base/tool", "#!/bin/sh\n")
        .file("_base/open", "no end of line")
        .file("fib/eval.terca.yaml", "prompt: go\n");
    project.terca(&[]).expect_status(0);
    apply(&project).expect_status(0);
    assert_eq!(project.read("_base/edited"), "eins\nzwei\n");
    assert_eq!(project.read("_base/deep/er/file"), "new\n");
    assert_eq!(project.read("_base/open"), "no end");
    assert!(!project.path("_base/gone").exists());
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(project.path("_base/tool")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o111, 0o111);
}
