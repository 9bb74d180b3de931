//! A suite in a temporary directory, and the program run in it.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use tempfile::TempDir;

use crate::outcome::Outcome;
use crate::patience::wait_for;
use crate::processes::{Process, processes_below};
use crate::session::Session;
use crate::signals;

/// Writes an executable file.
///
/// Another process writes it. In this one, a child that another thread starts meanwhile would have the file open for a
/// moment, and what is open for writing cannot be started.
///
/// # Panics
/// When it cannot be written.
pub fn write_program(path: &Utf8Path, content: &str) {
    let mut writer = Command::new("sh")
        .args([
            "-c",
            "cat > \"$1\" && chmod 755 \"$1\"",
            "sh",
            path.as_str(),
        ])
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut input = writer.stdin.take().expect("a pipe");
    input.write_all(content.as_bytes()).expect("the content");
    drop(input);
    assert!(writer.wait().expect("an end").success(), "{path}");
}

/// The user without privileges.
const NOBODY: u32 = 65534;

#[derive(Debug)]
pub struct Project {
    program: Utf8PathBuf,
    guard: TempDir,
    env: Vec<(String, String)>,
    /// The number of workspaces that were made again.
    restored: AtomicUsize,
}

impl Project {
    /// An empty project for the program at this path.
    pub fn new(program: impl Into<Utf8PathBuf>) -> Self {
        signals::hear_in_children();
        // Not below /tmp when that is a RAM disk of another size than /var/tmp: tests write hundreds of megabytes.
        let guard = tempfile::Builder::new()
            .prefix("terca-test-")
            .tempdir_in("/var/tmp")
            .expect("a temporary directory");
        let project = Project {
            program: program.into(),
            guard,
            env: Vec::new(),
            restored: AtomicUsize::new(0),
        };
        for dir in ["suite", "work", "home"] {
            std::fs::create_dir(project.root().join(dir)).expect("a directory");
        }
        project
    }

    fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.guard.path()).expect("a UTF-8 path")
    }

    /// The suite's directory.
    pub fn dir(&self) -> Utf8PathBuf {
        self.root()
            .join("suite")
            .canonicalize_utf8()
            .expect("the suite exists")
    }

    /// Where trials live while they run.
    pub fn work_dir(&self) -> Utf8PathBuf {
        self.root().join("work")
    }

    /// The home directory of whoever runs Terca here.
    pub fn home(&self) -> Utf8PathBuf {
        self.root().join("home")
    }

    pub fn path(&self, path: &str) -> Utf8PathBuf {
        self.dir().join(path)
    }

    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, content).expect("a file");
        self
    }

    pub fn executable(self, path: &str, content: &str) -> Self {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        write_program(&path, content);
        self
    }

    pub fn symlink(self, path: &str, target: &str) -> Self {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::os::unix::fs::symlink(target, path).expect("a link");
        self
    }

    pub fn directory(self, path: &str) -> Self {
        std::fs::create_dir_all(self.path(path)).expect("a directory");
        self
    }

    /// A suite whose one environment has this shell script as its agent.
    pub fn agent(self, script: &str) -> Self {
        let suite =
            "environments: [{name: default, agent: {name: command, command: ./agent.sh}}]\n";
        self.executable("agent.sh", &format!("#!/bin/sh\n{script}\n"))
            .file("terca.yaml", suite)
    }

    /// The text of a file of the suite.
    pub fn read(&self, path: &str) -> String {
        read_text(&self.path(path))
    }

    /// A variable of Terca's own environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// The program with arguments, not started yet.
    pub fn command(&self, args: &[&str]) -> Command {
        // Somebody without privileges may have had it before.
        if rustix::process::geteuid().is_root() {
            let _ = std::os::unix::fs::chown(self.work_dir(), Some(0), None);
        }
        self.set_up(Command::new(&self.program), args)
    }

    /// Another program, where and how this one would be started.
    pub fn other(&self, program: &str, args: &[&str]) -> Command {
        self.set_up(Command::new(program), args)
    }

    /// The program started by another one, such as `nohup`.
    pub fn command_through(&self, wrapper: &str, args: &[&str]) -> Command {
        let mut command = Command::new(wrapper);
        command.arg(&self.program);
        self.set_up(command, args)
    }

    /// The program run by somebody else than the superuser, who may read and do everything. Where the tests are not
    /// run by the superuser, the user is the same.
    pub fn command_without_privileges(&self, args: &[&str]) -> Command {
        if !rustix::process::geteuid().is_root() {
            return self.command(args);
        }
        let set_mode = |dir: &Utf8Path, mode| {
            std::fs::set_permissions(dir, std::fs::Permissions::from_mode(mode))
                .expect("permissions");
        };
        set_mode(self.root(), 0o755);
        for dir in [self.dir(), self.home()] {
            set_mode(&dir, 0o777);
        }
        // Terca works in no directory that others can change.
        std::os::unix::fs::chown(self.work_dir(), Some(NOBODY), None).expect("an owner");
        // Others cannot reach the place where it was built.
        let program = self.root().join("terca");
        std::fs::copy(&self.program, &program).expect("a copy of the program");
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(program);
        self.set_up(command, args)
    }

    fn set_up(&self, mut command: Command, args: &[&str]) -> Command {
        command
            .args(args)
            .current_dir(self.dir())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("TZ", "UTC")
            .env("TERCA_WORK_DIR", self.work_dir())
            // Tests are the same on machines with and without sandboxes.
            .env("TERCA_SANDBOX", "none")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub fn terca(&self, args: &[&str]) -> Outcome {
        self.command(args)
            .output()
            .expect("the program starts")
            .into()
    }

    /// Runs the program to its end, with these variables beside its own.
    pub fn terca_with(&self, env: &[(&str, &str)], args: &[&str]) -> Outcome {
        self.command(args)
            .envs(env.iter().copied())
            .output()
            .expect("the program starts")
            .into()
    }

    /// Starts the program and leaves it running.
    pub fn start(&self, args: &[&str]) -> Session {
        Session::start(self.command(args))
    }

    /// Whether a run has begun.
    pub fn has_run(&self) -> bool {
        self.path(".terca/runs")
            .read_dir_utf8()
            .is_ok_and(|mut runs| runs.next().is_some())
    }

    /// The folder of the latest run.
    pub fn run_dir(&self) -> Utf8PathBuf {
        let runs = self.path(".terca/runs");
        let mut names: Vec<Utf8PathBuf> = runs
            .read_dir_utf8()
            .expect("there are runs")
            .flatten()
            .map(|entry| entry.path().to_owned())
            .collect();
        names.sort();
        names.pop().expect("there is a run")
    }

    /// The journal of the latest run so far; empty where none has begun.
    pub fn journal(&self) -> String {
        if !self.has_run() {
            return String::new();
        }
        std::fs::read_to_string(self.run_dir().join("events.jsonl")).unwrap_or_default()
    }

    /// `results.json` of the latest run.
    pub fn results(&self) -> Value {
        let text =
            std::fs::read_to_string(self.run_dir().join("results.json")).expect("results.json");
        serde_json::from_str(&text).expect("results.json is JSON")
    }

    /// The latest run's `results.json` without the mark that says which journal it was made from.
    pub fn results_of_fold(&self) -> Value {
        let mut results = self.results();
        let mark = results
            .as_object_mut()
            .and_then(|results| results.remove("journal"));
        assert!(
            mark.is_some_and(|mark| mark["events"].is_u64()),
            "the journal's mark"
        );
        results
    }

    /// The one trial of a run of one.
    pub fn only_trial(&self) -> Value {
        let results = self.results();
        let trials = results["trials"].as_array().expect("trials");
        assert_eq!(trials.len(), 1, "one trial was expected");
        trials[0].clone()
    }

    /// A file in the folder of the one trial.
    pub fn trial_file(&self, name: &str) -> String {
        read_text(&self.trial_path(name))
    }

    /// Where a file in the folder of the one trial is. A workspace that is not there as a whole is made again.
    pub fn trial_path(&self, name: &str) -> Utf8PathBuf {
        let trial = self.only_trial();
        let folder = self.run_dir().join(trial["dir"].as_str().expect("dir"));
        match name.strip_prefix("workspace") {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                let workspace = self.workspace_of(&folder);
                Utf8PathBuf::from(format!("{workspace}{rest}"))
            }
            _ => folder.join(name),
        }
    }

    /// The workspace of a trial, by the trial's folder: in it, or made again from what was saved.
    pub fn workspace_of(&self, folder: &Utf8Path) -> Utf8PathBuf {
        let whole = folder.join("workspace");
        if whole.symlink_metadata().is_ok() || !folder.join("workspace.changes").is_dir() {
            return whole;
        }
        let runs = self.path(".terca/runs");
        let below = folder.strip_prefix(&runs).expect("a trial of this project");
        let run = below.components().next().expect("a run").as_str();
        let trial = below.strip_prefix(run).expect("below its run");
        let number = self.restored.fetch_add(1, Ordering::Relaxed);
        let made = self.root().join(format!("restored-{number}"));
        let output = self
            .command(&["workspace", run, trial.as_str(), "--to", made.as_str()])
            .output()
            .expect("terca workspace");
        assert!(output.status.success(), "{output:?}");
        made
    }

    /// Processes that this project's runs have started and that still run, zombies left out.
    pub fn processes(&self) -> Vec<Process> {
        processes_below(self.root())
    }

    /// Waits until every process is gone: the kernel takes a moment to end what was killed.
    ///
    /// # Panics
    /// When one stays.
    #[track_caller]
    pub fn wait_until_nothing_runs(&self) {
        wait_for(
            || format!("processes were left behind: {:?}", self.processes()),
            || self.processes().is_empty().then_some(()),
        );
    }

    /// Fails unless every process is gone and the work directory is empty.
    pub fn assert_nothing_left(&self) {
        let left = self.processes();
        assert!(left.is_empty(), "processes were left behind: {left:?}");
        let entries = self.work_dir().read_dir_utf8();
        let entries = entries.expect("the work directory").flatten();
        let entries = entries.map(|entry| entry.path().to_owned());
        // The directory that workers make in it stays, and so does the place at which trials are mounted.
        let is_place = |path: &Utf8Path| path.file_name() == Some("trial");
        let is_left = |path: &Utf8PathBuf| {
            let inside = path.read_dir_utf8().expect("a directory").flatten();
            let is_kept = path
                .file_name()
                .is_some_and(|name| name.starts_with("terca-"));
            !(is_kept || is_place(path))
                || inside.filter(|entry| !is_place(entry.path())).count() > 0
        };
        let rooms: Vec<_> = entries.filter(is_left).collect();
        assert!(rooms.is_empty(), "directories were left behind: {rooms:?}");
    }
}

fn read_text(path: &Utf8Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Outcome {
    /// Fails, with everything that was said, unless this was the exit status.
    #[track_caller]
    pub fn expect_status(self, status: i32) -> Self {
        assert_eq!(
            self.status, status,
            "exit status\n{}{}",
            self.stdout, self.stderr
        );
        self
    }
}
