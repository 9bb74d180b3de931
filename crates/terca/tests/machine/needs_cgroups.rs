//! Limits that the kernel keeps, in control groups, for the superuser and for those who were given a part of the tree.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::Signal;
use serde_json::{Value, json};
use terca_testkit::{Outcome, Project, wait_until};

use crate::common::project;

const HOG: &str = "touch started\nx=$(head -c 400000000 /dev/zero | tr '\\0' x)\nsleep 600\n";
/// Its children start children themselves.
const BOMB: &str = "touch started\nbomb() { sleep 0.01; bomb & bomb & wait; }\nbomb\nsleep 600\n";

fn suite(script: &str, limits: &str) -> Project {
    let project = project().agent(script);
    let yaml = project.read("terca.yaml");
    project
        .file(
            "terca.yaml",
            format!("limits: {limits}\ntimeoutSeconds: 300\n{yaml}"),
        )
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{name: ran, commandSuccess: 'true'}]\n",
        )
}

fn notes(project: &Project) -> String {
    project.only_trial()["notes"].to_string()
}

/// The groups of all runs whose work directories are the project's.
fn groups_of(project: &Project) -> Vec<Utf8PathBuf> {
    let mut numbers = Vec::new();
    for entry in project.work_dir().read_dir_utf8().unwrap().flatten() {
        numbers.extend(entry.file_name().strip_prefix("run-").map(str::to_owned));
    }
    groups()
        .into_iter()
        .filter(|group| numbers.iter().any(|number| group.as_str().contains(number)))
        .collect()
}

/// All groups of Terca.
fn groups() -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![Utf8PathBuf::from("/sys/fs/cgroup")];
    while let Some(dir) = open.pop() {
        for entry in dir.read_dir_utf8().into_iter().flatten().flatten() {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir {
                if entry.file_name().starts_with("terca-") {
                    found.push(entry.path().to_owned());
                }
                open.push(entry.into_path());
            }
        }
    }
    found
}

#[test]
#[ignore = "needs cgroups"]
fn the_kernel_ends_what_takes_too_much_memory() {
    let project = suite(HOG, "{memory: 64MB}");
    let outcome = project.terca(&["run"]).expect_status(0);
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
    assert!(
        notes(&project)
            .contains("the agent reached limits.memory (64 MB): 1 process was ended by the kernel"),
        "{}",
        notes(&project)
    );
    assert_eq!(
        project.only_trial()["limitsKeptBy"],
        json!({"memory": "cgroup"})
    );
}

#[test]
#[ignore = "needs cgroups"]
fn a_fork_bomb_is_held_and_the_supervisor_still_works() {
    let project = suite(BOMB, "{processes: 40}").file(
        "fib/eval.terca.yaml",
        "prompt: go\ntimeoutSeconds: 3\ntests: [{name: ran, commandSuccess: 'true'}]\n",
    );
    project.terca(&["run"]).expect_status(0);
    assert!(
        notes(&project)
            .contains("the agent reached limits.processes (40): no more could be started"),
        "{}",
        notes(&project)
    );
    let trial = project.only_trial();
    assert_eq!(trial["tests"]["ran"]["score"], 1.0, "{trial}");
    assert!(project.processes().is_empty());
}

#[test]
#[ignore = "needs cgroups"]
fn as_many_processes_as_are_allowed_can_be_started() {
    // The shell of the command, that of the script, and five others.
    let script = "for i in 1 2 3 4 5; do sleep 600 & done\n: > made\n";
    let project = suite(script, "{processes: 7}");
    project.terca(&["run"]).expect_status(0);
    assert_eq!(project.only_trial()["notes"], Value::Null);
    let project = suite(script, "{processes: 6}");
    project.terca(&["run"]);
    assert!(notes(&project).contains("limits.processes (6)"));
}

#[test]
#[ignore = "needs cgroups"]
fn processors_are_limited() {
    let script = "version1=/sys/fs/cgroup/cpu$(sed -n 's/^[0-9]*:[a-z,]*cpu[a-z,]*:\\(.*terca.*\\)/\\1/p' /proc/self/cgroup | head -n 1)\n\
        version2=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)\n\
        cat \"$version1/cpu.cfs_quota_us\" \"$version2/cpu.max\" > quota.txt 2>/dev/null\n";
    let project = suite(script, "{cpus: 1.5}");
    project.terca(&["run"]).expect_status(0);
    let quota = project.trial_file("workspace/quota.txt");
    assert!(quota.starts_with("150000"), "{quota}");
    assert_eq!(
        project.only_trial()["limitsKeptBy"],
        json!({"cpus": "cgroup"})
    );
}

#[test]
#[ignore = "needs cgroups"]
fn groups_are_removed_after_every_command() {
    let before = groups();
    let project = suite("touch made", "{memory: 1GB, processes: 100, cpus: 2}");
    project.terca(&["run", "-n", "3"]).expect_status(0);
    let left: Vec<_> = groups()
        .into_iter()
        .filter(|group| !before.contains(group))
        .collect();
    assert!(groups_of(&project).is_empty(), "{left:?}");
    assert!(project.work_dir().read_dir_utf8().unwrap().next().is_none());
}

#[test]
#[ignore = "needs cgroups"]
fn groups_of_a_killed_run_are_removed_by_the_next() {
    let script = "touch ready\nsleep 600\n";
    let project = suite(script, "{memory: 1GB, processes: 100}");
    let mut session = project.start(&["run", "--format", "plain"]);
    session.wait_until("the agent is at work", || {
        project.has_run() && !groups_of(&project).is_empty() && ready(&project)
    });
    let left = groups_of(&project);
    session.signal(Signal::KILL);
    session.finish();
    wait_until("nothing runs", || project.processes().is_empty());
    assert!(left.iter().all(|group| group.exists()), "{left:?}");
    project.terca(&["doctor"]).expect_status(0);
    assert!(!left.iter().any(|group| group.exists()), "{left:?}");
}

fn ready(project: &Project) -> bool {
    let trials = walk(&project.run_dir());
    trials.iter().any(|path| path.file_name() == Some("ready"))
}

/// The files in a directory, up to four levels down.
fn walk(dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(dir.to_owned(), 0)];
    while let Some((dir, depth)) = open.pop() {
        for entry in dir.read_dir_utf8().into_iter().flatten().flatten() {
            found.push(entry.path().to_owned());
            if depth < 4 && entry.path().is_dir() {
                open.push((entry.into_path(), depth + 1));
            }
        }
    }
    found
}

fn without_privileges(project: &Project, args: &[&str]) -> Outcome {
    project
        .command_without_privileges(args)
        .output()
        .unwrap()
        .into()
}

#[test]
#[ignore = "needs cgroups"]
fn who_can_make_no_group_is_told_and_terca_watches() {
    let project = suite(HOG, "{memory: 64MB, processes: 200, cpus: 0.5}");
    let outcome = without_privileges(&project, &["run"]).expect_status(0);
    for words in [
        "warning: `limits.memory` and `limits.processes`: no control group can be made here, so Terca checks ten \
         times a second",
        "warning: `limits.cpus` is not enforced: no control group can be made here",
    ] {
        assert_eq!(
            outcome.stderr.matches(words).count(),
            1,
            "{}",
            outcome.stderr
        );
    }
    assert!(
        notes(&project).contains("the agent exceeded limits.memory (64 MB), and was ended"),
        "{}",
        notes(&project)
    );
    let kept = json!({"memory": "watch", "processes": "watch", "cpus": "nothing"});
    assert_eq!(project.only_trial()["limitsKeptBy"], kept);
    let doctor = without_privileges(&project, &["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("! limits: no control group can be made for"),
        "{}",
        doctor.stdout
    );
}

#[test]
#[ignore = "needs cgroups"]
fn a_fork_bomb_of_somebody_without_privileges_is_ended() {
    let project = suite(BOMB, "{processes: 40}");
    without_privileges(&project, &["run"]).expect_status(0);
    assert!(
        notes(&project).contains("the agent exceeded limits.processes (40), and was ended"),
        "{}",
        notes(&project)
    );
    let trial = project.only_trial();
    assert_eq!(trial["tests"]["ran"]["score"], 1.0, "{trial}");
    assert!(project.processes().is_empty());
}

/// A part of the trees that belongs to somebody without privileges.
struct Delegated {
    groups: Vec<Utf8PathBuf>,
}

impl Delegated {
    fn create() -> Self {
        let name = format!("test-of-terca-{}", std::process::id());
        let root = Utf8Path::new("/sys/fs/cgroup");
        let mut groups = Vec::new();
        for controller in ["memory", "pids", "cpu"] {
            let tree = root.join(controller);
            if tree.join("cgroup.procs").exists() {
                groups.push(tree.join(&name));
            }
        }
        if groups.is_empty() {
            groups.push(root.join(&name));
            groups.push(root.join(&name).join("session"));
        }
        for group in &groups {
            std::fs::create_dir(group).unwrap();
            for path in ["", "cgroup.procs", "cgroup.subtree_control"].map(|file| group.join(file))
            {
                if path.exists() {
                    std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
                }
            }
        }
        Delegated { groups }
    }

    /// Runs a command that is in these groups.
    fn run(&self, command: &Command) -> Outcome {
        let mut inside = Command::new("sh");
        inside
            .args(["-c", "for group in $GROUPS; do echo $$ > $group/cgroup.procs || exit 9; done; unset GROUPS; exec \"$@\"", "sh"])
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear()
            .current_dir(command.get_current_dir().unwrap());
        for (name, value) in command.get_envs() {
            inside.env(name, value.unwrap_or_default());
        }
        let leaves: Vec<&str> = self.groups.iter().map(|group| group.as_str()).collect();
        inside.env("GROUPS", leaves.join(" "));
        inside.output().unwrap().into()
    }
}

impl Drop for Delegated {
    fn drop(&mut self) {
        for group in self.groups.iter().rev() {
            let _ = std::fs::remove_dir(group);
        }
    }
}

#[test]
#[ignore = "needs cgroups"]
fn a_part_of_the_tree_that_was_given_away_is_used() {
    let delegated = Delegated::create();
    let project = suite(HOG, "{memory: 64MB, processes: 100, cpus: 1}");
    let outcome = delegated.run(&project.command_without_privileges(&["run"]));
    let outcome = outcome.expect_status(0);
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
    let kept = json!({"memory": "cgroup", "processes": "cgroup", "cpus": "cgroup"});
    assert_eq!(project.only_trial()["limitsKeptBy"], kept);
    assert!(
        notes(&project).contains("ended by the kernel"),
        "{}",
        notes(&project)
    );
    for group in &delegated.groups {
        let inside: Vec<_> = group
            .read_dir_utf8()
            .unwrap()
            .flatten()
            .filter(|entry| entry.file_name().starts_with("terca-"))
            .collect();
        assert!(inside.is_empty(), "{inside:?}");
    }
}
