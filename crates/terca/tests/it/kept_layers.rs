//! `.terca/layers`: the files that workspaces start from, once for all runs of a suite.

use std::os::unix::fs::{MetadataExt, symlink};

use camino::Utf8Path;
use rustix::process::Signal;
use terca_testkit::Project;

use crate::common::project;

/// A suite whose base is too large to be copied with the rest of its eval.
fn monorepo() -> Project {
    let project = project()
        .agent("echo changed >> lib/7/7.txt; echo new > answer.txt")
        .file(
            "task/eval.terca.yaml",
            "prompt: x\ntests: [{fileExists: answer.txt}, {commandSuccess: 'grep -q changed lib/7/7.txt'}]\n",
        );
    for number in 0..5_100 {
        let dir = project.path(&format!("task/_base/lib/{}", number % 100));
        if number < 100 {
            std::fs::create_dir_all(&dir).unwrap();
        }
        std::fs::write(dir.join(format!("{number}.txt")), "0123456789\n").unwrap();
    }
    project
}

/// Returns the number of files below a directory, and the disk space of everything there.
fn used(dir: &Utf8Path) -> (usize, u64) {
    let (mut files, mut bytes) = (0, 0);
    let mut open = vec![dir.as_std_path().to_owned()];
    while let Some(path) = open.pop() {
        let meta = std::fs::symlink_metadata(&path).unwrap();
        bytes += meta.blocks() * 512;
        if meta.is_dir() {
            let entries = std::fs::read_dir(&path).unwrap();
            open.extend(entries.map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
        }
    }
    (files, bytes)
}

/// Returns the names in `.terca/layers`.
fn layers(project: &Project) -> Vec<String> {
    let entries = project.path(".terca/layers").read_dir_utf8();
    let entries = entries.into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_owned()).collect()
}

fn workspace_is_whole(project: &Project, run: &str) {
    let to = format!("../home/made-{run}");
    let trial = ["workspace", run, "default.default.01", "--to", &to];
    project.terca(&trial).expect_status(0);
    let text = project.read(&format!("{to}/lib/7/7.txt"));
    assert_eq!(text, "0123456789\nchanged\n");
    assert!(project.path(&format!("{to}/lib/9/9.txt")).is_file());
}

#[test]
fn the_second_run_of_a_monorepo_copies_nothing() {
    let project = monorepo();
    project.terca(&["-n", "2"]).expect_status(0);
    let (files, bytes) = used(&project.path(".terca"));
    assert!((5_100..5_300).contains(&files), "{files}");
    project.terca(&["-n", "2"]).expect_status(0);
    let (files_after, bytes_after) = used(&project.path(".terca"));
    assert!(files_after < files + 100, "{files_after} after {files}");
    assert!(
        bytes_after < bytes + 2_000_000,
        "{bytes_after} after {bytes}"
    );
    assert_eq!(layers(&project).len(), 1);
    project.terca(&["verify", "1", "2"]).expect_status(0);
    project.terca(&["regrade", "1"]).expect_status(0);
    workspace_is_whole(&project, "1");
    workspace_is_whole(&project, "2");
    // What the base is now is another layer, and the first runs still have theirs.
    std::fs::write(project.path("task/_base/lib/1/1.txt"), "other\n").unwrap();
    project.terca(&[]).expect_status(0);
    assert_eq!(layers(&project).len(), 2);
    project.terca(&["verify", "1", "2", "3"]).expect_status(0);
}

#[test]
fn two_runs_at_once_share_a_layer_that_neither_had() {
    let project = monorepo();
    let sessions = [(); 2].map(|()| project.start(&["--format", "plain"]));
    for session in sessions {
        let outcome = session.finish();
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    }
    assert_eq!(layers(&project).len(), 1, "and no draft is left");
    project.terca(&["verify", "1", "2"]).expect_status(0);
}

#[test]
fn a_run_that_is_killed_while_it_copies_leaves_no_layer() {
    let project = monorepo();
    let mut session = project.start(&["--format", "plain"]);
    session.wait_until("a layer is being made", || !layers(&project).is_empty());
    session.signal(Signal::KILL);
    session.finish();
    project.wait_until_nothing_runs();
    // Whatever was there by then: a draft is no layer, and a layer is whole.
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(600);
    for name in layers(&project).iter().filter(|name| name.starts_with('.')) {
        let draft = std::fs::File::open(project.path(".terca/layers").join(name)).unwrap();
        draft.set_modified(long_ago).unwrap();
    }
    project.terca(&[]).expect_status(0);
    assert_eq!(layers(&project).len(), 1);
    project.terca(&["verify"]).expect_status(0);
}

#[test]
fn clean_removes_layers_that_no_run_uses_and_no_others() {
    let project = monorepo();
    project.terca(&[]).expect_status(0);
    let first = project.run_dir();
    std::fs::write(project.path("task/_base/lib/1/1.txt"), "other\n").unwrap();
    project.terca(&[]).expect_status(0);
    assert_eq!(layers(&project).len(), 2);
    let outcome = project.terca(&["clean", "--yes"]).expect_status(0);
    assert!(outcome.stderr.contains("nothing to remove"), "{outcome:?}");
    // A run that does not say what it uses may use everything.
    let record = first.join("task/default.default.01/workspace.changes/changes.json");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, "{").unwrap();
    project.terca(&["clean", "--yes"]).expect_status(0);
    assert_eq!(layers(&project).len(), 2);
    std::fs::write(&record, text).unwrap();
    std::fs::remove_dir_all(first).unwrap();
    let listed = project.terca(&["clean"]).expect_status(2).stdout;
    assert!(
        listed.contains("layers") && listed.contains(".terca/layers"),
        "{listed}"
    );
    project.terca(&["clean", "--yes"]).expect_status(0);
    assert_eq!(layers(&project).len(), 1);
    project.terca(&["verify"]).expect_status(0);
    workspace_is_whole(&project, "2");
    project
        .terca(&["clean", "--yes", "--older-than", "0d"])
        .expect_status(0);
    assert!(layers(&project).is_empty());
}

#[test]
fn a_run_without_the_files_that_it_started_from_says_what_is_missing() {
    let project = monorepo();
    project.terca(&[]).expect_status(0);
    let layer = layers(&project).remove(0);
    let aside = project.path("../home/layers");
    std::fs::rename(project.path(".terca/layers"), &aside).unwrap();
    let made = ["workspace", "task", "--to", "../home/made"];
    let said = project.terca(&made).expect_status(3).stderr;
    for words in [&layer, "is missing", "copy it from `.terca/layers`"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let said = project.terca(&["verify"]).expect_status(1);
    assert!(said.stdout.contains("is missing"), "{}", said.stdout);
    // As the message says.
    std::fs::rename(&aside, project.run_dir().join("layers")).unwrap();
    project.terca(&["verify"]).expect_status(0);
    project.terca(&made).expect_status(0);
    project.terca(&["clean", "--yes"]).expect_status(0);
    project.terca(&["verify"]).expect_status(0);
}

#[test]
fn parts_from_other_machines_bring_their_layers() {
    let project = monorepo();
    for number in 1..=2 {
        let shard = format!("{number}/2");
        project
            .terca(&["-n", "2", "--shard", &shard])
            .expect_status(0);
        // As a job uploads it: its runs, and the layers beside them.
        let place = project.path(&format!("../home/part-{number}"));
        std::fs::rename(project.path(".terca"), &place).unwrap();
    }
    let parts = [1, 2].map(|number| {
        let runs = project.path(&format!("../home/part-{number}/runs"));
        let mut runs = runs.read_dir_utf8().unwrap();
        runs.next().unwrap().unwrap().into_path()
    });
    project
        .terca(&["merge", parts[0].as_str(), parts[1].as_str()])
        .expect_status(0);
    // Nothing of somebody else is among what the other runs use.
    assert!(layers(&project).is_empty());
    std::fs::remove_dir_all(project.path("../home/part-1")).unwrap();
    std::fs::remove_dir_all(project.path("../home/part-2")).unwrap();
    project.terca(&["verify"]).expect_status(0);
    project.terca(&["regrade"]).expect_status(0);
}

#[test]
fn a_layer_that_somebody_changed_is_made_again_and_a_link_is_not_followed() {
    let project = monorepo();
    project.terca(&[]).expect_status(0);
    let layer = project.path(".terca/layers").join(&layers(&project)[0]);
    std::fs::write(layer.join("lib/7/7.txt"), "poison\n").unwrap();
    project.terca(&["verify"]).expect_status(1);
    project.terca(&[]).expect_status(0);
    workspace_is_whole(&project, "2");
    project.terca(&["verify", "1", "2"]).expect_status(0);
    let aside = project.path("../home/aside");
    std::fs::rename(&layer, &aside).unwrap();
    symlink(&aside, &layer).unwrap();
    project.terca(&["verify"]).expect_status(1);
    project.terca(&[]).expect_status(0);
    assert!(!layer.is_symlink() && aside.join("lib/7/7.txt").is_file());
}

/// Prepared once, the step is on the disk once, whatever number of evals and runs use it.
#[test]
fn a_cached_step_is_on_the_disk_once() {
    let mut yaml = String::from(
        "prepare: [{command: 'mkdir packages; head -c 4000000 /dev/urandom > packages/one; echo ran >> $NOTES'}]\n\
         environments: [{name: e, agent: nop}]\nevals:\n",
    );
    for number in 1..=20 {
        yaml +=
            &format!("- {{name: e{number}, prompt: x, tests: [{{fileExists: packages/one}}]}}\n");
    }
    let project = project();
    let notes = project.path("notes");
    let project = project
        .file(
            "terca.yaml",
            format!("env: {{NOTES: '{notes}'}}\nsandbox: none\n{yaml}"),
        )
        .file("_base/package-lock.json", "{}");
    for _ in 0..2 {
        project.terca(&[]).expect_status(0);
    }
    assert_eq!(project.read("notes"), "ran\n");
    let (_, bytes) = used(&project.path(".terca"));
    assert!((4_000_000..7_000_000).contains(&bytes), "{bytes}");
}
