//! Workspaces that are mounted instead of copied. What users see is the same by both ways.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::Signal;
use terca_testkit::{Outcome, Project};

use crate::common::hostile_tree::{HOSTILE, tree, with_hostile_base};
use crate::common::project;

pub const OVERLAY: (&str, &str) = ("TERCA_WORKSPACES", "overlay");
pub const COPY: (&str, &str) = ("TERCA_WORKSPACES", "copy");

/// Who runs Terca.
#[derive(Debug, Clone, Copy)]
pub enum User {
    Own,
    WithoutPrivileges,
}

fn run(project: &Project, user: User, way: (&str, &str), args: &[&str]) -> Outcome {
    let mut command = match user {
        User::Own => project.command(args),
        User::WithoutPrivileges => project.command_without_privileges(args),
    };
    command.envs([way]).output().unwrap().into()
}

/// What an agent does to give extended attributes. It needs Python, and `attributes` says whether it worked.
const ATTRIBUTES: &str = r#"
mkdir noted; echo n > noted/new
python3 -c '
import os
for path in ["src/changed.txt", "noted", "noted/new"]:
    os.setxattr(path, "user.note", path.encode())
' 2> /dev/null && echo yes > attributes || echo no > attributes
"#;

/// A command of a test that succeeds if the attributes are there.
const HAS_ATTRIBUTES: &str = r#"grep no attributes || python3 -c 'import os; [os.getxattr(p, "user.note") == p.encode() or 1/0 for p in ["src/changed.txt", "noted", "noted/new"]]'"#;

/// A project whose agent changes everything in a way that is hard to follow, and whose setup did before.
fn hostile() -> Project {
    let more = r#"
rm from-setup; rm -r set-up-dir; mkdir set-up-dir; echo agent > set-up-dir/c
echo back > removed-by-setup; mkdir -p replaced-by-setup/dir; echo x > replaced-by-setup/dir/x
rm -rf merged; mkdir merged; echo new > merged/new
mkdir ignored; echo x > a.log; echo x > ignored/b
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")' 2>/dev/null || true
"#;
    with_hostile_base(project().agent(&format!("{HOSTILE}{ATTRIBUTES}{more}")))
        .file("task/_base/merged/one", "1")
        .file("task/_base/merged/two/three", "3")
        .file("task/_base/removed-by-setup", "before")
        .file("task/_base/replaced-by-setup", "before")
        .file("task/_base/.gitignore", "*.log\nignored/\n")
        .file("_base/merged/zero", "0")
        .file("_base/removed-by-setup", "below")
        .file("_base/src/changed.txt", "below")
        .file("task/_tests/hidden.txt", "hidden")
        .executable("task/_tests/attributes.sh", &format!("#!/bin/sh\n{HAS_ATTRIBUTES}\n"))
        .file(
            "task/eval.terca.yaml",
            r#"prompt: x
before:
  - command: |
      echo setup > from-setup; mkdir set-up-dir; echo a > set-up-dir/a; echo b > set-up-dir/b
      rm removed-by-setup; rm replaced-by-setup; mkdir replaced-by-setup; echo in > replaced-by-setup/in
tests:
  - {name: gone, commandSuccess: "test ! -e src/removed.txt && test ! -e gone && test ! -e merged/one && test ! -e merged/zero"}
  - {name: there, commandSuccess: "test -f was-dir && test -d was-file && test -f hidden.txt && test -f set-up-dir/c && test ! -e set-up-dir/a"}
  - {name: no-socket, commandSuccess: "test ! -e socket"}
  - {name: content, fileContains: {path: src/changed.txt, text: more}}
  - {name: exist, fileExists: [new/empty, "src/many-1*", was-file/in]}
  - {name: attributes, commandSuccess: ./attributes.sh}
  - {name: changes, changedFiles: {only: ["**"]}}
  - {name: writes, commandSuccess: "rm -r merged; echo test > src/changed.txt; mkdir merged; ls -la"}
  - {name: wrote, commandSuccess: "! grep test src/changed.txt && test -e merged/new"}
"#,
        )
}

/// The folder of the trial in the latest run.
fn folder(project: &Project) -> Utf8PathBuf {
    let trial = project.only_trial();
    project.run_dir().join(trial["dir"].as_str().unwrap())
}

/// Returns the grades of the trial's tests.
fn grades(project: &Project) -> Vec<(String, f64)> {
    let trial = project.only_trial();
    let tests = trial["tests"].as_object().unwrap();
    let graded = tests
        .iter()
        .map(|(name, grade)| (name.clone(), grade["score"].as_f64().unwrap()));
    graded.collect()
}

type Tree = BTreeMap<PathBuf, String>;

/// Returns everything of a tree that a copy has.
fn copyable(root: &Utf8Path) -> Tree {
    let mut tree = tree(root);
    // The kind of a socket.
    tree.retain(|_, fact| !fact.starts_with("14"));
    tree
}

#[track_caller]
fn assert_same(one: &Tree, other: &Tree) {
    let paths: BTreeSet<&PathBuf> = one.keys().chain(other.keys()).collect();
    let differ = paths
        .into_iter()
        .filter(|path| one.get(*path) != other.get(*path));
    let differ: Vec<_> = differ
        .map(|path| (path, one.get(path), other.get(path)))
        .collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

/// Everything that users see of a trial.
pub struct Seen {
    workspace: Tree,
    diff: String,
    grades: Vec<(String, f64)>,
}

impl Seen {
    /// Runs a hostile agent, and saves its work as a whole and as what changed.
    pub fn of(user: User, way: (&str, &str), more: &[(&str, &str)]) -> Self {
        let project = more
            .iter()
            .fold(hostile(), |project, (name, value)| project.env(name, value));
        let ran = run(&project, user, way, &["--keep", "all"]);
        assert!(ran.status < 2, "{way:?}: {}{}", ran.stdout, ran.stderr);
        let workspace = copyable(&folder(&project).join("workspace"));
        let diff = project.trial_file("changes.diff");
        let first = grades(&project);
        let log = project.trial_file("run.log");
        let is_full = first.iter().all(|(_, score)| *score == 1.0);
        assert!(is_full, "{way:?}: {first:?}\n{log}");
        let ran = run(&project, user, way, &["--keep", "changed"]);
        assert!(ran.status < 2, "{way:?}: {}{}", ran.stdout, ran.stderr);
        assert!(!folder(&project).join("workspace").exists());
        assert_same(
            &copyable(&project.workspace_of(&folder(&project))),
            &workspace,
        );
        let ran = run(&project, user, way, &["regrade"]);
        assert!(ran.status < 2, "{way:?}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(grades(&project), first, "{way:?}: regraded");
        project.assert_nothing_left();
        Seen {
            workspace,
            diff,
            grades: first,
        }
    }

    /// Fails unless both are the same.
    #[track_caller]
    pub fn assert_same_as(&self, other: &Seen) {
        assert_eq!(self.diff, other.diff, "the diff");
        assert_same(&self.workspace, &other.workspace);
        assert_eq!(self.grades, other.grades, "the grades");
    }
}

/// Fails unless a trial comes to the same diff, saved workspace and grades, mounted and copied.
pub fn assert_same_by_both_ways(user: User, sandbox: &str) {
    let sandbox = [("TERCA_SANDBOX", sandbox)];
    let copied = Seen::of(user, COPY, &sandbox);
    copied.assert_same_as(&Seen::of(user, OVERLAY, &sandbox));
}

#[test]
#[ignore = "needs overlay"]
fn a_workspace_is_the_same_by_both_ways() {
    assert_same_by_both_ways(User::Own, "none");
}

#[test]
#[ignore = "needs overlay"]
fn another_user_than_root_has_the_same_workspace_by_both_ways() {
    assert_same_by_both_ways(User::WithoutPrivileges, "none");
}

/// As many files as a hostile agent makes in a minute, some of them in one directory.
#[test]
#[ignore = "needs overlay"]
fn two_hundred_thousand_files_are_the_same_by_both_ways() {
    const AGENT: &str = "mkdir many flat; cd many; seq 100 | xargs mkdir\n\
        for dir in *; do (cd $dir; seq 1000 | xargs touch); done\n\
        cd ../flat; seq 100000 | xargs touch; echo one > 17; cd ..; rm -r src/1*\n";
    let seen = [COPY, OVERLAY].map(|way| {
        let project = large(AGENT).file(
            "task/eval.terca.yaml",
            "prompt: x\ntests:\n  \
             - {name: count, commandSuccess: 'test $(find many flat -type f | wc -l) = 200000'}\n  \
             - {name: removed, commandSuccess: 'test ! -e src/1.txt'}\n",
        );
        run(&project, User::Own, way, &[]).expect_status(0);
        // To make the workspace again would take as long as the rest.
        let mut saved = tree(&folder(&project).join("workspace.changes"));
        assert!(saved.len() > 200_100, "{}", saved.len());
        // The paths that are gone are in the order in which they were found.
        saved.remove(Path::new("changes.json"));
        let record = project.trial_file("workspace.changes/changes.json");
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        let removed = record["removed"].as_array().unwrap().iter();
        let removed = removed.map(|path| (path.to_string().into(), "removed".to_owned()));
        saved.extend(removed);
        project.assert_nothing_left();
        (saved, project.trial_file("changes.diff"), grades(&project))
    });
    let [copied, mounted] = seen;
    assert_same(&copied.0, &mounted.0);
    assert_eq!(copied.1, mounted.1, "the diff");
    assert_eq!(copied.2, mounted.2, "the grades");
}

/// A base with so many files that they are mounted unasked.
fn large(agent: &str) -> Project {
    let mut suite = project().agent(agent);
    for number in 0..120 {
        suite = suite.file(&format!("_base/src/{number}.txt"), number.to_string());
    }
    suite.file(
        "task/eval.terca.yaml",
        "prompt: x\ntests: [{commandSuccess: test -e src/1.txt}, {commandSuccess: test -e work.txt}]\n",
    )
}

/// A command that ends with status 0 if the workspace is an overlay.
const IS_MOUNTED: &str = "grep \" $PWD \" /proc/self/mountinfo | grep -q overlay";

#[test]
#[ignore = "needs overlay"]
fn large_workspaces_are_mounted_and_small_ones_are_copied() {
    let is_root = rustix::process::geteuid().is_root();
    let tell = format!("{IS_MOUNTED} && echo yes > work.txt || echo no > work.txt");
    let project = large(&tell);
    project.terca(&[]).expect_status(0);
    let expected = if is_root { "yes\n" } else { "no\n" };
    assert_eq!(project.trial_file("workspace/work.txt"), expected);
    project.terca_with(&[OVERLAY], &[]).expect_status(0);
    assert_eq!(project.trial_file("workspace/work.txt"), "yes\n");
    project.terca_with(&[COPY], &[]).expect_status(0);
    assert_eq!(project.trial_file("workspace/work.txt"), "no\n");
    // Without privileges it is not done unasked: without a sandbox, commands would be in another user namespace.
    let other = large(&tell);
    run(
        &other,
        User::WithoutPrivileges,
        ("TERCA_WORKSPACES", "auto"),
        &[],
    )
    .expect_status(0);
    assert_eq!(other.trial_file("workspace/work.txt"), "no\n");

    let small = project_with(&tell);
    small.terca(&[]).expect_status(0);
    assert_eq!(small.trial_file("workspace/work.txt"), "no\n");
}

fn project_with(agent: &str) -> Project {
    project().agent(agent).file("_base/one", "1").file(
        "task/eval.terca.yaml",
        "prompt: x\ntests: [{commandSuccess: test -e work.txt}]\n",
    )
}

#[test]
#[ignore = "needs overlay"]
fn the_list_of_mounts_names_nothing_of_the_suite() {
    let project = large("cat /proc/self/mountinfo > work.txt");
    project.terca_with(&[OVERLAY], &[]).expect_status(0);
    let mounts = project.trial_file("workspace/work.txt");
    let own = mounts
        .lines()
        .find(|line| line.contains(" overlay ") && line.contains("lowerdir=l"));
    let own = own.unwrap_or_else(|| panic!("{mounts}"));
    assert!(!own.contains(project.dir().as_str()), "{own}");
    assert!(!own.contains("task"), "{own}");
}

#[test]
#[ignore = "needs overlay"]
fn services_of_setup_see_the_agents_files() {
    let project = large("touch work.txt; n=0; while [ ! -e seen.txt ] && [ $n -lt 200 ]; do sleep 0.1; n=$((n + 1)); done").file(
        "task/eval.terca.yaml",
        "prompt: x\nbefore:\n  - command: '(while [ ! -e work.txt ]; do sleep 0.1; done; echo yes > seen.txt) > /dev/null 2>&1 &'\ntests: [{fileExists: seen.txt}]\n",
    );
    project.terca_with(&[OVERLAY], &[]).expect_status(0);
}

/// Kills the process that holds the mounts of this run, and nothing else.
const KILL_HOLDER: &str = r#"
for process in /proc/[0-9]*; do
  if tr '\0' ' ' < "$process/cmdline" 2>/dev/null | grep -q '^terca __mounts' &&
     [ "$(readlink "$process/ns/mnt")" = "$(readlink /proc/self/ns/mnt)" ]; then
    kill -SIGNAL "${process#/proc/}"
  fi
done
echo done > work.txt
"#;

#[test]
#[ignore = "needs overlay"]
fn an_agent_that_kills_or_stops_the_holder_gains_nothing() {
    for signal in ["KILL", "STOP"] {
        let project = large(&KILL_HOLDER.replace("SIGNAL", signal));
        project.terca_with(&[OVERLAY], &[]).expect_status(0);
        assert_eq!(
            project.trial_file("workspace/work.txt"),
            "done\n",
            "{signal}"
        );
        project.wait_until_nothing_runs();
        project.assert_nothing_left();
    }
}

#[test]
#[ignore = "needs overlay"]
fn an_agent_that_mounts_or_unmounts_its_workspace_fails() {
    if !rustix::process::geteuid().is_root() {
        // Nobody else may unmount it.
        let project = large("umount -l \"$PWD\" && exit 7; touch work.txt");
        project.terca_with(&[OVERLAY], &[]).expect_status(0);
        return;
    }
    for trick in ["umount -l \"$PWD\"", "mount -t tmpfs none \"$PWD\""] {
        let project = large(&format!("touch work.txt; {trick}"));
        let ran = project.terca_with(&[OVERLAY], &[]);
        ran.expect_status(1);
        assert_eq!(project.only_trial()["status"], "failed", "{trick}");
        project.assert_nothing_left();
    }
}

#[test]
#[ignore = "needs overlay"]
fn an_agent_that_moves_its_directory_away_fails_as_with_a_copy() {
    for way in [COPY, OVERLAY] {
        let project =
            large("touch work.txt; dir=$(dirname \"$PWD\"); cd /; mv \"$dir\" \"$dir-elsewhere\"");
        let ran = project.terca_with(&[way], &[]);
        assert_eq!(ran.status, 1, "{way:?}: {}{}", ran.stdout, ran.stderr);
        let note = project.only_trial()["notes"][0]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(
            note.contains("removed or replaced the directory"),
            "{way:?}: {note}"
        );
        project.assert_nothing_left();
    }
}

#[test]
#[ignore = "needs overlay"]
fn limits_of_disk_space_hold_in_a_mounted_workspace() {
    for (script, place) in [
        ("head -c 60000000 /dev/urandom > big; sync big", "workspace"),
        (
            "exec 3> big; rm big; head -c 60000000 /dev/urandom >&3; sync /dev/fd/3",
            "removed files",
        ),
    ] {
        let project = large(&format!("touch work.txt; {script}; sleep 600")).file(
            "task/eval.terca.yaml",
            "prompt: x\nlimits: {disk: 20MB}\ntimeoutSeconds: 300\ntests: [{fileExists: work.txt}]\n",
        );
        project.terca_with(&[OVERLAY], &[]);
        let trial = project.only_trial();
        let words = format!("the agent exceeded limits.disk (20 MB) in its {place}, and was ended");
        assert!(trial["notes"].to_string().contains(&words), "{trial}");
    }
}

/// Returns the processes that see a mount below a directory.
fn mounts_below(dir: &Utf8Path) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut found = Vec::new();
    for process in processes {
        let list = process.path().join("mountinfo");
        let mounts = std::fs::read_to_string(&list).unwrap_or_default();
        if mounts.contains(dir.as_str()) {
            found.push(list.display().to_string());
        }
    }
    found
}

#[test]
#[ignore = "needs overlay"]
fn a_kill_at_any_moment_leaves_no_mount_and_no_directory() {
    // A mark is made in setup, by the agent, and by a test; Terca is killed when it is there.
    for mark in ["before", "agent", "test"] {
        let pause = |at: &str| match at == mark {
            true => format!("touch {at}.mark; sleep 300"),
            false => "true".to_owned(),
        };
        let suite = format!(
            "prompt: x\nbefore: [{{command: '{}'}}]\ntests: [{{commandSuccess: '{}'}}]\n",
            pause("before"),
            pause("test")
        );
        let project = large(&pause("agent")).file("task/eval.terca.yaml", suite);
        let mut session = terca_testkit::Session::start({
            let mut command: Command = project.command(&["--format", "plain"]);
            command.envs([OVERLAY]);
            command
        });
        let file = format!("{mark}.mark");
        session.wait_until("the mark is made", || {
            let link = "task/default.default.01/workspace";
            project.has_run() && project.run_dir().join(link).join(&file).exists()
        });
        assert!(!mounts_below(&project.work_dir()).is_empty(), "{mark}");
        session.signal(Signal::KILL);
        session.finish();
        assert_all_gone_after_the_next_run(&project, mark);
    }
}

#[test]
#[ignore = "needs overlay"]
fn a_kill_while_the_base_is_copied_leaves_nothing() {
    let mut project = large("true");
    for number in 0..3_000 {
        project = project.file(&format!("_base/many/{number}.txt"), number.to_string());
    }
    let mut session = terca_testkit::Session::start({
        let mut command: Command = project.command(&["--format", "plain"]);
        command.envs([OVERLAY]);
        command
    });
    // Copies of the base, before there is a trial.
    session.wait_until("the base is being copied", || {
        count_below(&project.work_dir(), 200) >= 200
    });
    session.signal(Signal::KILL);
    session.finish();
    assert_all_gone_after_the_next_run(&project, "copied");
}

/// Counts the entries below a directory, up to a number.
fn count_below(dir: &Utf8Path, most: usize) -> usize {
    let mut open = vec![dir.to_owned()];
    let mut count = 0;
    while let Some(dir) = open.pop() {
        for entry in dir.read_dir_utf8().into_iter().flatten().flatten() {
            count += 1;
            if count >= most {
                return count;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.into_path());
            }
        }
    }
    count
}

/// Fails unless a Terca that was killed leaves no mount, and the next run no directory.
fn assert_all_gone_after_the_next_run(project: &Project, when: &str) {
    project.wait_until_nothing_runs();
    // A process that ends loses its command line before its mounts.
    terca_testkit::wait_until(&format!("no mount is left: {when}"), || {
        mounts_below(&project.work_dir()).is_empty()
    });
    std::fs::write(
        project.path("task/eval.terca.yaml"),
        "prompt: x\nallowWarnings: no-tests\n",
    )
    .unwrap();
    project.terca(&["--agent", "nop"]);
    let left: Vec<_> = project
        .work_dir()
        .read_dir_utf8()
        .unwrap()
        .flatten()
        .collect();
    assert!(left.is_empty(), "{when}: {left:?}");
}
