//! Contained trials, in sandboxes that bubblewrap makes: nothing but the trial is in reach, and nothing else is different.

pub(crate) mod mine;
pub(crate) mod network;
mod voided;
mod workers;

use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use camino::Utf8Path;
use rustix::process::Signal;
use serde_json::{Value, json};
use terca_testkit::{Outcome, Project, misbehaving_agent, wait_until};

use crate::common::caches::tests_cannot_poison;
use crate::common::mcp::project_with_mcp_server;
use crate::common::project;
use crate::common::sandboxes::{forbid_namespaces, mend, unfinished};
use crate::common::work_command;
use crate::names_of_home::{a_home_that_is_a_link, programs_are_found, show_nothing_more};
use crate::needs_overlay::{User, assert_same_by_both_ways};
use crate::suite_in_sandbox::{downloads_for_set_up_alone, open_file, suite_and_not_the_solution};

/// A process of the same user that is none of an agent's business.
pub(crate) struct Victim(pub(crate) Child);

impl Victim {
    pub(crate) fn start() -> Self {
        let child = Command::new("sleep")
            .arg("600")
            .env("VICTIM_KEY", "in-the-environment")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Victim(child)
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The attempts of a hostile agent, each with a shell command that succeeds if it is in reach.
pub(crate) fn attempts(project: &Project, victim: u32) -> Vec<(&'static str, String)> {
    let suite = project.dir();
    let home = project.home();
    let work = project.work_dir();
    vec![
        ("read the user's home", format!("cat {home}/.netrc")),
        ("write the user's home", format!("test -w {home}")),
        (
            "read hidden tests",
            format!("cat {suite}/fib/_tests/hidden.txt"),
        ),
        (
            "read the solution",
            format!("cat {suite}/fib/_solution/answer.txt"),
        ),
        ("read the suite", format!("cat {suite}/terca.yaml")),
        (
            "read the journal",
            format!("cat {suite}/.terca/runs/*/events.jsonl"),
        ),
        (
            "write the run",
            format!("test -w {suite}/.terca/runs/*/run.json"),
        ),
        ("read another trial", format!("cat {work}/other/secret.txt")),
        (
            "find the copy of the suite",
            format!("find {work} -name hidden.txt | grep ."),
        ),
        (
            "find the copy of the solution",
            format!("find {work} -name answer.txt | grep ."),
        ),
        ("see a process", format!("test -e /proc/{victim}")),
        ("signal a process", format!("kill -0 {victim}")),
    ]
}

/// The attempts that fail without a sandbox too, for those who are not the superuser. The superuser does no harm when they
/// are made without one.
const OF_SUPERUSERS: [(&str, &str); 8] = [
    ("be the superuser", "test \"$(id -u)\" = 0"),
    ("write the system", "test -w /usr"),
    // Opened and not written to: `test` of small shells does not know of read-only mounts.
    ("write settings", ": >> /etc/passwd"),
    ("read passwords", "cat /etc/shadow"),
    (
        "set the machine's core pattern", ": >> /proc/sys/kernel/core_pattern",
    ),
    ("ask the kernel for a reboot", ": >> /proc/sysrq-trigger"),
    ("mount", "test \"$(id -u)\" != 0 && mount -t tmpfs none ."),
    (
        "have a capability",
        "grep -q 'CapBnd:.*[1-9a-f]' /proc/self/status",
    ),
];

/// A suite whose agent tries everything and writes down what worked.
pub(crate) fn probing(victim: u32) -> Project {
    let project = project()
        .file(
            "fib/eval.terca.yaml",
            "prompt: try it\ntests: [{commandSuccess: 'test -f probe.txt'}]\n",
        )
        .file("fib/_tests/hidden.txt", "secret")
        .file("fib/_solution/answer.txt", "secret");
    open_file(&project.home().join(".netrc"));
    open_file(&project.work_dir().join("other/secret.txt"));
    let own = [("make a user namespace", "unshare --user true".to_owned())];
    let superuser = OF_SUPERUSERS.map(|(name, command)| (name, command.to_owned()));
    let mut script = String::new();
    for (name, command) in attempts(&project, victim)
        .into_iter()
        .chain(own)
        .chain(superuser)
    {
        script +=
            &format!("if ({command}) >/dev/null 2>&1; then echo \"{name}\"; fi >> probe.txt\n");
    }
    script +=
        "touch probe.txt \"$HOME/mine\" \"$TMPDIR/mine\" /tmp/mine && echo own >> probe.txt\n";
    project.agent(&script)
}

pub(crate) fn reached(project: &Project) -> Vec<String> {
    let probe = project.trial_file("workspace/probe.txt");
    probe.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "needs bwrap"]
fn a_contained_agent_reaches_nothing_but_its_trial() {
    let mut victim = Victim::start();
    let project = probing(victim.0.id());
    // Without a sandbox everything is there, so that each attempt can fail.
    project
        .terca(&["run", "--sandbox", "none"])
        .expect_status(0);
    let open = reached(&project);
    for (name, _) in attempts(&project, 1) {
        assert!(open.iter().any(|line| line == name), "{name}: {open:?}");
    }
    assert_eq!(project.only_trial()["containedBy"], "none");
    let outcome = project
        .terca(&["run", "--sandbox", "bwrap"])
        .expect_status(0);
    assert!(
        outcome
            .stderr
            .starts_with("agents run in a sandbox (bubblewrap); network: model only\n"),
        "{}",
        outcome.stderr
    );
    assert_eq!(reached(&project), ["own"]);
    assert_eq!(project.only_trial()["containedBy"], "bwrap");
    let run: Value =
        serde_json::from_slice(&std::fs::read(project.run_dir().join("run.json")).unwrap())
            .unwrap();
    assert_eq!(run["cases"][0]["variant"]["containedBy"], "bwrap");
    assert!(victim.is_alive());
    // Without a sandbox, the work directory gets the place at which commands find a trial.
    project.assert_nothing_left_but(&["other", "trial"]);
}

#[test]
#[ignore = "needs bwrap"]
fn an_agent_of_somebody_without_privileges_is_contained_too() {
    let mut victim = Victim::start();
    let project = probing(victim.0.id());
    let run = |sandbox: &str| -> Outcome {
        project
            .command_without_privileges(&["run", "--sandbox", sandbox])
            .output()
            .unwrap()
            .into()
    };
    run("none").expect_status(0);
    let open = reached(&project);
    assert!(
        open.iter().any(|line| line == "read the user's home"),
        "{open:?}"
    );
    assert!(
        open.iter().any(|line| line == "make a user namespace"),
        "{open:?}"
    );
    run("auto").expect_status(0);
    assert_eq!(reached(&project), ["own"]);
    assert_eq!(project.only_trial()["containedBy"], "bwrap");
    assert!(victim.is_alive());
}

trait NothingLeft {
    fn assert_nothing_left_but(&self, names: &[&str]);
}

impl NothingLeft for Project {
    /// Fails unless the work directory has these alone, and no process is left that sees any directory of the project.
    fn assert_nothing_left_but(&self, names: &[&str]) {
        let left = self.processes();
        assert!(left.is_empty(), "processes were left behind: {left:?}");
        let inside = contained_processes(self.dir().parent().unwrap());
        assert!(inside.is_empty(), "sandboxes were left behind: {inside:?}");
        let mut found: Vec<String> = self
            .work_dir()
            .read_dir_utf8()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_owned())
            .collect();
        found.sort();
        assert_eq!(found, names, "directories were left behind");
    }
}

/// The processes that have a directory of the project mounted: those of its sandboxes.
fn contained_processes(root: &Utf8Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let mounts = std::fs::read_to_string(entry.path().join("mountinfo")).unwrap_or_default();
        if mounts.contains(root.as_str()) {
            let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&command).replace('\0', " "));
        }
    }
    found
}

#[test]
#[ignore = "needs bwrap"]
fn files_that_are_made_inside_belong_to_the_caller() {
    use std::os::unix::fs::MetadataExt;
    let project = project()
        .agent("echo x > made.txt; mkdir dir; id -u > uid.txt; whoami > name.txt")
        .file(
            "fib/eval.terca.yaml",
            "prompt: make it\nallowWarnings: no-tests\n",
        );
    project
        .terca(&["run", "--sandbox", "bwrap"])
        .expect_status(0);
    let caller = rustix::process::geteuid().as_raw();
    for name in ["made.txt", "dir"] {
        let meta = std::fs::metadata(project.trial_path("workspace").join(name)).unwrap();
        assert_eq!(meta.uid(), caller, "{name}");
    }
    assert_ne!(project.trial_file("workspace/uid.txt"), "0\n");
    assert_ne!(project.trial_file("workspace/name.txt"), "");
}

#[test]
#[ignore = "needs bwrap"]
fn ends_are_reported_as_without_a_sandbox() {
    for script in [
        "echo x > made.txt; exit 0",
        "echo x > made.txt; exit 7",
        "echo x > made.txt; exit 137",
        "echo x > made.txt; kill -SEGV $$",
        "echo x > made.txt; kill -KILL $$",
        "echo x > made.txt; sh -c 'kill -TERM $$'",
        "exec /nowhere/at/all",
    ] {
        let project = project().agent(script).file(
            "fib/eval.terca.yaml",
            "prompt: end\ntests: [{fileExists: made.txt}]\n",
        );
        let mut ends = Vec::new();
        for sandbox in ["none", "bwrap"] {
            let outcome = project.terca(&["run", "--sandbox", sandbox]);
            let trial = project.only_trial();
            let log = project.trial_file("run.log");
            let end = log.lines().find(|line| line.contains(" after ")).unwrap();
            let (end, _) = end.split_once(" after ").unwrap();
            ends.push(json!([
                outcome.status, trial["status"], trial["exitCode"], trial["error"]["kind"],
                trial["notes"], end,
            ]));
        }
        assert_eq!(ends[0], ends[1], "{script}");
    }
}

#[test]
#[ignore = "needs bwrap"]
fn an_agent_out_of_time_is_asked_to_end_and_can_tidy_up() {
    let script = "trap 'echo bye > bye.txt; exit 0' TERM\n(trap '' TERM; sleep 600) &\ntouch ready\nwhile :; do sleep 0.1; done";
    let project = project().agent(script).file(
        "fib/eval.terca.yaml",
        "prompt: wait\ntimeoutSeconds: 2\ntests: [{fileExists: bye.txt}]\n",
    );
    project
        .terca(&["run", "--sandbox", "bwrap"])
        .expect_status(0);
    assert_eq!(project.only_trial()["timedOut"], true);
    project.assert_nothing_left_but(&[]);
}

#[test]
#[ignore = "needs bwrap"]
fn signals_to_terca_leave_nothing_behind() {
    for (mode, signal) in [
        ("sleeps-in-tool", Signal::INT),
        ("sleeps-in-tool", Signal::KILL),
        ("ignores-signals", Signal::INT),
        ("ignores-signals", Signal::KILL),
    ] {
        let agent = misbehaving_agent();
        let project = project().file(
            "terca.yaml",
            format!(
                "sandbox: bwrap\nenvironments: [{{name: slow, agent: {{name: command, command: '{agent} {mode}'}}}}]\n\
                 evals: [{{name: task, prompt: do it, timeoutSeconds: 600, allowWarnings: no-tests}}]\n"
            ),
        );
        let mut session = project.start(&["--format", "plain"]);
        session.wait_until("the agent is at work", || {
            project.has_run()
                && project
                    .run_dir()
                    .join("task/slow.default.01/workspace/ready")
                    .exists()
        });
        let root = project.dir().parent().unwrap().to_owned();
        assert!(!contained_processes(&root).is_empty());
        session.signal(signal);
        let outcome = session.finish();
        if signal == Signal::INT {
            assert_eq!(outcome.status, 130, "{mode}: {}", outcome.stderr);
            project.assert_nothing_left_but(&[]);
        } else {
            wait_until("nothing runs", || {
                project.processes().is_empty() && contained_processes(&root).is_empty()
            });
        }
    }
}

#[test]
#[ignore = "needs bwrap"]
fn the_supervisor_cannot_be_killed_or_stopped_from_inside() {
    let script = "kill -KILL 1; kill -STOP 1; kill -TERM 1; echo x > made.txt";
    let project = project().agent(&format!("trap '' TERM\n{script}")).file(
        "fib/eval.terca.yaml",
        "prompt: attack\ntests: [{name: ran, commandSuccess: 'kill -KILL 1; kill -STOP 1; exit 0'}]\n",
    );
    project.terca(&["run", "--sandbox", "bwrap"]);
    let trial = project.only_trial();
    assert_eq!(trial["tests"]["ran"]["score"], 1.0, "{trial}");
    assert_eq!(trial["notes"], Value::Null, "{trial}");
}

#[test]
#[ignore = "needs bwrap"]
fn downloads_are_kept_for_set_up_alone() {
    downloads_for_set_up_alone("bwrap");
}

#[test]
#[ignore = "needs bwrap"]
fn no_other_name_shows_the_home_or_the_suite() {
    show_nothing_more("bwrap");
}

#[test]
#[ignore = "needs bwrap"]
fn a_home_by_a_link_is_the_home() {
    a_home_that_is_a_link("bwrap");
}

#[test]
#[ignore = "needs bwrap"]
fn programs_are_found_by_other_names() {
    programs_are_found("bwrap");
}

#[test]
#[ignore = "needs bwrap"]
fn commands_of_the_suite_find_the_suite_and_not_the_solution() {
    suite_and_not_the_solution("bwrap");
}

#[test]
#[ignore = "needs bwrap"]
fn a_run_keeps_its_sandbox_and_is_not_mixed_with_another() {
    let project = unfinished();
    let in_bwrap = [("TERCA_SANDBOX", "bwrap")];
    project.terca_with(&in_bwrap, &["run"]).expect_status(3);
    mend(&project);
    // The project's own default is none.
    let outcome = project.terca(&["resume", "--errors"]).expect_status(0);
    assert_eq!(project.only_trial()["containedBy"], "bwrap");
    let words =
        "note: the run continues in the sandbox that it was started with; TERCA_SANDBOX applies";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    // Everything is graded where it was graded first.
    let marked = "prompt: go\nbefore: [{command: mended}]\ntests: [{commandSuccess: 'test ! -e HOME/.netrc'}]\n";
    open_file(&project.home().join(".netrc"));
    let marked = marked.replace("HOME", project.home().as_str());
    let project = project.file("fib/eval.terca.yaml", marked);
    project.terca(&["regrade"]).expect_status(0);

    forbid_namespaces(&project);
    let outcome = project.terca(&["regrade"]).expect_status(2);
    assert_no_other_sandbox(&outcome);
}

#[test]
#[ignore = "needs bwrap"]
fn a_run_whose_sandbox_works_no_more_does_not_go_on() {
    // One of them leaves the choice to the machine, the other says it.
    for (default, args) in [("", &["run"][..]), ("none", &["run", "--sandbox", "auto"])] {
        let project = unfinished().env("TERCA_SANDBOX", default);
        project.terca(args).expect_status(3);
        mend(&project);
        forbid_namespaces(&project);
        let outcome = project.terca(&["resume", "--errors"]).expect_status(2);
        assert_no_other_sandbox(&outcome);
        assert_eq!(project.only_trial()["status"], "error");
    }
}

fn assert_no_other_sandbox(outcome: &Outcome) {
    for words in [
        "the sandbox that the run was started with does not work here: bubblewrap",
        "No permissions to create new namespace",
        "for another sandbox, start a new run with `terca run`",
    ] {
        let stderr = &outcome.stderr;
        assert!(stderr.contains(words), "{words}: {stderr}");
    }
}

#[test]
#[ignore = "needs bwrap"]
fn links_of_the_agent_open_nothing_to_the_tests() {
    let elsewhere = tempfile::tempdir_in("/var/tmp").unwrap();
    let secret = Utf8Path::from_path(elsewhere.path())
        .unwrap()
        .join("keys/secret.txt");
    open_file(&secret);
    // The workspace is on the tests' PATH, and programs there are followed to where they are installed.
    let script = format!(
        "ln -s {secret} tool\nln -s {dir} bin\nmkdir -p .venv/bin node_modules/.bin\n\
         echo 'home = {dir}' > .venv/pyvenv.cfg\n\
         printf '#!{secret}\\n' > script; chmod +x script\n\
         ln -s {secret} .venv/bin/python\nln -s {secret} node_modules/.bin/tool\n\
         ln -s {secret} \"$HOME/tool\"\nln -s /etc/shadow other\nln -s /proc/self/environ third\n",
        dir = secret.parent().unwrap(),
    );
    let project = project().agent(&script).file(
        "fib/eval.terca.yaml",
        format!(
            "prompt: go\ntests:\n\
             - {{name: secret, commandSuccess: '! cat {secret}'}}\n\
             - {{name: through a link, commandSuccess: '! cat tool'}}\n\
             - {{name: etc, commandSuccess: '! test -e /etc/shadow'}}\n"
        ),
    );
    project
        .terca(&["run", "--sandbox", "bwrap"])
        .expect_status(0);
    // The tricks of a dishonest agent have such links too.
    let project = project.file("fib/_solution.sh", "true");
    project
        .terca(&["run", "--sandbox", "bwrap", "--agent", "cheat"])
        .expect_status(0);
}

#[test]
#[ignore = "needs bwrap"]
fn files_that_the_caller_left_open_are_closed() {
    let project = project()
        .agent("cat /proc/self/fd/7/etc/hostname > found.txt; echo more >&9; ls /proc/self/fd > fds.txt; true")
        .file("fib/eval.terca.yaml", "prompt: go\ntests: [{commandSuccess: '! test -s found.txt'}]\n");
    let log = project.home().join("job.log");
    let script = format!("exec 7</ 9>>{log}; exec \"$0\" run --sandbox bwrap");
    let outcome: Outcome = project
        .other("bash", &["-c", &script, env!("CARGO_BIN_EXE_terca")])
        .output()
        .unwrap()
        .into();
    outcome.expect_status(0);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "");
}

#[test]
#[ignore = "needs bwrap"]
fn tests_find_no_solution_in_the_repository() {
    let project = project()
        .agent("true")
        .file("fib/_solution/answer.txt", "secret")
        .file("other/_solution/answer.txt", "secret")
        .file("other/eval.terca.yaml", "prompt: go\ntests: [{fileExists: x}]\n")
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests:\n\
             - {name: history, commandSuccess: '! git -c safe.directory=* -C REAL show HEAD:fib/_solution/answer.txt'}\n\
             - {name: other, commandSuccess: '! cat REAL/other/_solution/answer.txt \"$TERCA_SUITE_DIR\"/other/_solution/answer.txt'}\n\
             - {name: suite, commandSuccess: 'cat REAL/terca.yaml'}\n",
        );
    let yaml = project
        .read("fib/eval.terca.yaml")
        .replace("REAL", project.dir().as_str());
    let project = project.file("fib/eval.terca.yaml", yaml);
    let git = "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm all";
    let made = project.other("sh", &["-c", git]).status().unwrap();
    assert!(made.success());
    project
        .terca(&["run", "-t", "fib", "--sandbox", "bwrap"])
        .expect_status(0);
}

#[test]
#[ignore = "needs bwrap"]
fn a_suite_in_a_worktree_has_its_repository_before_the_agent_and_not_in_tests() {
    let project = project().agent("true").file("fib/_solution/answer.txt", "secret").file(
        "fib/eval.terca.yaml",
        "prompt: go\n\
         before: [{command: 'git -c safe.directory=* -C TREE status --porcelain > state && git -c safe.directory=* -C TREE log -1 > log'}]\n\
         tests:\n\
         - {name: state, commandSuccess: 'test -e state && test ! -s state'}\n\
         - {name: history, commandSuccess: '! git -c safe.directory=* -C TREE show HEAD:fib/_solution/answer.txt && ! ls MAIN/.git'}\n\
         - {name: other, commandSuccess: '! ls MAIN'}\n",
    );
    let main = project.dir();
    let tree = project.work_dir().with_file_name("tree");
    let yaml = project.read("fib/eval.terca.yaml");
    let yaml = yaml
        .replace("TREE", tree.as_str())
        .replace("MAIN", main.as_str());
    let project = project
        .file("fib/eval.terca.yaml", yaml)
        .file(".gitignore", ".terca\n");
    let git = format!(
        "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm all && git worktree add -q {tree}"
    );
    let made = project.other("sh", &["-c", &git]).status().unwrap();
    assert!(made.success());
    project
        .terca(&["-C", tree.as_str(), "run", "--sandbox", "bwrap"])
        .expect_status(0);
}

#[test]
#[ignore = "needs bwrap"]
fn a_suite_below_tmp_shares_tmp_with_the_agent_as_any_other() {
    let above = tempfile::tempdir_in("/tmp").unwrap();
    let above = Utf8Path::from_path(above.path()).unwrap();
    let suite = above.join("suite");
    std::fs::create_dir(&suite).unwrap();
    let agent = suite.join("agent.sh");
    std::fs::write(&agent, "#!/bin/sh\ncp /tmp/from-before made.txt\n").unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    let yaml = format!(
        "environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\n\
         evals:\n\
         - name: task\n  prompt: go\n\
         \x20 before: [{{command: 'echo x > /tmp/from-before'}}]\n\
         \x20 tests:\n\
         \x20 - {{fileExists: made.txt}}\n\
         \x20 - {{name: moved, commandSuccess: 'mv {above} /tmp/away && ln -s /etc {above}'}}\n\
         \x20 - {{name: suite, commandSuccess: 'cat {suite}/terca.yaml && ! test -e /tmp/from-before'}}\n"
    );
    std::fs::write(suite.join("terca.yaml"), yaml).unwrap();
    let outcome = project().terca(&["-C", suite.as_str(), "run", "--sandbox", "bwrap"]);
    outcome.expect_status(0);
    assert!(suite.join("agent.sh").is_file());
}

#[test]
#[ignore = "needs bwrap"]
fn a_suite_in_a_directory_with_a_space_is_contained_too() {
    let project = project()
        .executable("my suite (1)/agent.sh", "#!/bin/sh\necho x > made.txt\n")
        .file(
            "my suite (1)/terca.yaml",
            "environments: [{name: mine, agent: {name: command, command: ./agent.sh}}]\n\
             evals: [{name: task, prompt: go, tests: [{fileExists: made.txt}]}]\n",
        );
    project
        .terca(&["-C", "my suite (1)", "run", "--sandbox", "bwrap"])
        .expect_status(0);
}

#[test]
#[ignore = "needs bwrap"]
fn a_link_to_a_tool_opens_no_project() {
    let project = project().agent("true");
    let home = project.home();
    for (path, text) in [
        ("code/.env", "secret"),
        ("code/tool", "#!/bin/sh\necho it works\n"),
    ] {
        let file = home.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let bin = home.join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("../code/tool", bin.join("tool")).unwrap();
    // Links to files of the system open nothing either.
    std::os::unix::fs::symlink("/etc/shadow", bin.join("other")).unwrap();
    let project = project
        .executable(
            "agent.sh",
            &format!("#!/bin/sh\ncat {home}/code/.env > found.txt; test -e /etc/shadow && echo shadow >> found.txt\ntool > said.txt\n"),
        )
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests:\n- {commandSuccess: '! test -s found.txt'}\n- {fileContains: {path: said.txt, text: it works}}\n",
        )
        .env("PATH", &format!("{bin}:/usr/bin:/bin"));
    project
        .terca(&["run", "--sandbox", "bwrap"])
        .expect_status(0);
}

#[test]
#[ignore = "needs bwrap"]
fn services_of_set_up_live_until_the_agent_ends() {
    let project = project()
        .agent("rm -f alive; until [ -e alive ]; do sleep 0.05; done; echo x > seen.txt")
        .file(
            "fib/eval.terca.yaml",
            "prompt: look\nbefore: [{command: '(while :; do touch alive; sleep 0.05; done) >/dev/null 2>&1 &'}]\n\
             tests: [{fileExists: seen.txt}]\n",
        );
    project
        .terca(&["run", "--sandbox", "bwrap"])
        .expect_status(0);
    project.assert_nothing_left_but(&[]);
}

#[test]
#[ignore = "needs bwrap"]
fn a_judge_is_contained_and_sees_nothing_of_the_trial() {
    let judge = "#!/bin/sh\nif cat SUITE/fib/_solution/answer.txt || find WORK -name made.txt | grep .; then\n\
                 echo '{\"score\": 0}'; else echo '{\"score\": 1}'; fi\n";
    let project = project()
        .agent("echo x > made.txt")
        .file("fib/_solution/answer.txt", "secret")
        .file(
            "fib/eval.terca.yaml",
            "prompt: make it\ntests: [{name: taste, judge: {rubric: It is short., agent: {name: command, command: ../judge.sh}}}]\n",
        );
    let judge = judge
        .replace("SUITE", project.dir().as_str())
        .replace("WORK", project.work_dir().as_str());
    let project = project.executable("judge.sh", &judge);
    project
        .terca(&["run", "--sandbox", "none"])
        .expect_status(1);
    project
        .terca(&["run", "--sandbox", "bwrap"])
        .expect_status(0);
}

#[test]
#[ignore = "needs bwrap"]
fn programs_are_found_wherever_they_are_installed() {
    let home = |project: &Project, path: &str, content: &str| {
        let path = project.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let project = project().file(
        "fib/eval.terca.yaml",
        "prompt: go\ntests: [{fileExists: made.txt}]\n",
    );
    // As npm installs a program: a link to a script in a package, which loads a neighbour.
    home(
        &project,
        ".npm-global/lib/node_modules/tool/bin/cli",
        "#!/usr/bin/env own-shell\n. \"$(dirname \"$(readlink -f \"$0\")\")/../lib/part\"\ncat SECRET || echo x > made.txt\n",
    );
    home(
        &project,
        ".npm-global/lib/node_modules/tool/lib/part",
        "echo loaded\n",
    );
    // As a version manager installs an interpreter: a link to a runtime with a library beside it.
    home(
        &project,
        "runtimes/own-1.0/bin/own-shell",
        "#!/bin/sh\n. \"$(dirname \"$(readlink -f \"$0\")\")/../lib/runtime\"\nexec sh \"$@\"\n",
    );
    home(&project, "runtimes/own-1.0/lib/runtime", "echo runtime\n");
    home(&project, ".secret", "secret");
    let cli = project
        .home()
        .join(".npm-global/lib/node_modules/tool/bin/cli");
    let text = std::fs::read_to_string(&cli).unwrap();
    std::fs::write(
        &cli,
        text.replace("SECRET", project.home().join(".secret").as_str()),
    )
    .unwrap();
    for (dir, name, target) in [
        (
            ".npm-global/bin", "tool", "../lib/node_modules/tool/bin/cli",
        ),
        ("links", "own-shell", "../runtimes/own-1.0/bin/own-shell"),
    ] {
        let dir = project.home().join(dir);
        std::fs::create_dir_all(&dir).unwrap();
        std::os::unix::fs::symlink(target, dir.join(name)).unwrap();
    }
    let path = format!(
        "{home}/.npm-global/bin:{home}/links:{home}:{}",
        std::env::var("PATH").unwrap(),
        home = project.home()
    );
    let project = project.env("PATH", &path).file(
        "terca.yaml",
        "environments: [{name: default, agent: {name: command, command: tool}}]\n",
    );
    project
        .terca(&["run", "--sandbox", "bwrap"])
        .expect_status(0);
}

#[test]
#[ignore = "needs bwrap"]
fn an_experiment_can_ask_for_a_sandbox_and_doctor_knows_whether_it_works() {
    let project = project()
        .agent("echo x > made.txt")
        .file(
            "terca.yaml",
            "sandbox: none\n\
             environments: [{name: default, agent: {name: command, command: ./agent.sh}}]\n\
             experiments: [{name: open}, {name: closed, sandbox: bwrap}]\n",
        )
        .file(
            "fib/eval.terca.yaml",
            "prompt: go\ntests: [{fileExists: made.txt}]\n",
        );
    let outcome = project.terca(&["run"]).expect_status(0);
    assert!(
        outcome
            .stderr
            .starts_with("some variants' agents run in a sandbox (bubblewrap)"),
        "{}",
        outcome.stderr
    );
    let results = project.results();
    for trial in results["trials"].as_array().unwrap() {
        let expected = if trial["experiment"] == "closed" {
            "bwrap"
        } else {
            "none"
        };
        assert_eq!(trial["containedBy"], expected, "{trial}");
    }
    let doctor = project.terca(&["doctor"]);
    assert!(
        doctor.stdout.contains("✓ sandbox: bubblewrap works"),
        "{}",
        doctor.stdout
    );
}

#[test]
#[ignore = "needs bwrap"]
fn mcp_servers_of_contained_agents_are_behind_a_tap() {
    let script = "start; hello; ask 2 tools/call search; answer; exec 3>&-; wait $server";
    let project = project_with_mcp_server(script, "sandbox: bwrap\n");
    let outcome = project.terca(&["run"]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(trial["containedBy"], "bwrap");
    assert_eq!(trial.get("notes"), None, "{trial:#}");
    let server = &trial["delivery"]["mcpServers"]["docs"];
    assert_eq!(server["tap"]["tools"]["search"]["calls"], 1, "{server:#}");
    assert!(
        outcome.stdout.contains("1 call in 1 of 1 trial"),
        "{}",
        outcome.stdout
    );
}

#[test]
#[ignore = "needs bwrap"]
fn limits_hold_in_a_sandbox_too() {
    let script = "test -e /sys/fs/cgroup && echo groups > seen.txt\ntouch started\n\
        x=$(head -c 400000000 /dev/zero | tr '\\0' x)\nsleep 600\n";
    let project = project().agent(script);
    let yaml = project.read("terca.yaml");
    let limits = "limits: {memory: 64MB, processes: 30}\ntimeoutSeconds: 300\nsandbox: bwrap\n";
    let project = project.file("terca.yaml", format!("{limits}{yaml}")).file(
        "fib/eval.terca.yaml",
        "prompt: go\ntests: [{fileExists: started}]\n",
    );
    // Somebody without privileges first: the directories are theirs.
    let as_nobody: Outcome = project
        .command_without_privileges(&["run"])
        .output()
        .unwrap()
        .into();
    as_nobody.expect_status(0);
    let of_nobody = project.only_trial();
    project.terca(&["run"]).expect_status(0);
    for trial in [of_nobody, project.only_trial()] {
        assert!(
            trial["notes"].to_string().contains("limits.memory (64 MB)"),
            "{trial}"
        );
        assert_eq!(trial["containedBy"], "bwrap");
    }
    assert!(!project.trial_path("workspace/seen.txt").exists());
    project.assert_nothing_left_but(&[]);
}

#[test]
#[ignore = "needs bwrap"]
fn a_workspace_is_the_same_mounted_and_copied() {
    assert_same_by_both_ways(User::Own, "bwrap");
    assert_same_by_both_ways(User::WithoutPrivileges, "bwrap");
}

#[test]
#[ignore = "needs bwrap"]
fn what_tests_write_to_a_cache_reaches_no_other_trial() {
    tests_cannot_poison("bwrap");
}

/// The temporary directory of a sandbox is at `/tmp`, and so may be the directories of trials outside.
#[test]
#[ignore = "needs bwrap"]
fn the_version_of_an_agent_is_known_below_tmp() {
    let work = tempfile::tempdir_in("/tmp").unwrap();
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && { echo 0.61.0; exit; }\nexit 1\n";
    let project = project()
        .env("TERCA_WORK_DIR", work.path().to_str().unwrap())
        .env("GEMINI_API_KEY", "fake-key-for-tests")
        .executable("gemini", script)
        .file(
            "terca.yaml",
            "environments: [{name: e, agent: {name: gemini-cli, program: ./gemini}}]\n\
             evals: [{name: task, prompt: do it, tests: [{fileExists: a}]}]\n",
        );
    project.terca(&["run", "--sandbox", "bwrap"]);
    let trial = project.only_trial();
    assert_eq!(trial["agentVersion"], "0.61.0", "{trial:#}");
}

#[test]
#[ignore = "needs bwrap"]
fn tests_start_the_work_where_it_finds_nothing_hidden() {
    work_command::looking_it_up_gains_nothing("bwrap");
    work_command::it_is_the_command_itself("bwrap");
    work_command::it_reaches_nothing_hidden("bwrap");
}
