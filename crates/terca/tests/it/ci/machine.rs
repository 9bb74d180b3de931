//! A repository with a suite, and what a CI service has: machines, a store for artifacts, and a cache.

use camino::{Utf8Path, Utf8PathBuf};
use terca_testkit::{Outcome, Project};

use crate::common::project;

/// The address of a release of Terca.
pub const TARBALL: &str = "https://example.com/terca.tar.gz";

/// What the rules do to the agent of the suite.
#[derive(Debug, Clone, Copy)]
pub enum Rules {
    Help,
    Hurt,
    /// The agent cannot be run with them.
    Break,
}

/// One directory, where each job finds the repository as it was committed.
#[derive(Debug)]
pub struct Pipeline {
    project: Project,
}

impl Pipeline {
    pub fn new(rules: Rules) -> Self {
        let agent = match rules {
            Rules::Help => "if [ -e AGENTS.md ]; then touch done; fi",
            Rules::Hurt => "if [ ! -e AGENTS.md ]; then touch done; fi",
            Rules::Break => "if [ -e AGENTS.md ]; then exit 7; fi",
        };
        let project = project();
        let layers = project.home().join("layers");
        let mut project = project.executable("evals/agent.sh", &format!("#!/bin/sh\n{agent}\n")).file(
            "evals/terca.yaml",
            format!(
                "name: evals\nrepetitions: 2\nprepare: [{{command: 'echo made >> {layers}; echo x > layer'}}]\n\
                 environments: [{{name: script, agent: {{name: command, command: ./agent.sh}}}}]\n\
                 experiments: [{{name: control, baseline: true}}, {{name: with-rules, rules: rules.md}}]\n"
            ),
        );
        project = project.file("evals/rules.md", "Be right.\n");
        for number in 1..=6 {
            let eval = "prompt: go\ntests: [{fileExists: done}, {fileExists: layer}]\n";
            project = project
                .file(&format!("evals/eval-{number}/eval.terca.yaml"), eval)
                .file(&format!("evals/eval-{number}/_solution/done"), "");
        }
        let pipeline = Pipeline { project };
        pipeline.commit();
        pipeline
    }

    fn commit(&self) {
        let home = self.project.home();
        copy(&self.dir().join("."), &home.join("repository"));
        let bin = home.join("bin");
        let release = home.join("release/terca-some-target-v1");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&release).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_terca"), release.join("terca")).unwrap();
        // There is no network: requests are noted, and the tarball of a release is here.
        let curl = format!(
            "[ \"$*\" = \"-fsSL {TARBALL}\" ] && exec tar -cz -C {home}/release terca-some-target-v1"
        );
        let npm = format!("echo \"$@\" >> {home}/npm");
        for (name, script) in [("npm", npm), ("curl", curl)] {
            self.program(name, &script);
        }
    }

    /// Puts a program on the machines of the service.
    pub fn program(&self, name: &str, script: &str) {
        let program = self.home().join("bin").join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        let mut chmod = self.project.other("chmod", &["+x", program.as_str()]);
        assert!(chmod.status().unwrap().success());
    }

    /// A directory outside of the repository.
    pub fn home(&self) -> Utf8PathBuf {
        self.project.home()
    }

    pub fn dir(&self) -> Utf8PathBuf {
        self.project.dir()
    }

    /// Where artifacts are kept.
    pub fn store(&self) -> Utf8PathBuf {
        self.project.home().join("artifacts")
    }

    /// Where a job's summary is written.
    pub fn step_summary(&self) -> Utf8PathBuf {
        self.project.home().join("step-summary.md")
    }

    /// The directories that a job has put on its `PATH`.
    pub fn added_paths(&self) -> Utf8PathBuf {
        self.project.home().join("github-path")
    }

    /// A new machine, with the repository on it and without Terca.
    pub fn check_out(&self) {
        let _ = std::fs::remove_dir_all(self.project.home().join("terca"));
        let _ = std::fs::remove_file(self.added_paths());
        for entry in self.dir().read_dir_utf8().unwrap().flatten() {
            remove(entry.path());
        }
        copy(&self.project.home().join("repository/."), &self.dir());
    }

    /// Brings back what was cached of these paths, one a line.
    pub fn restore_cache(&self, paths: &str) {
        for path in paths.lines().map(Utf8Path::new) {
            let kept = self.project.home().join("cache").join(path);
            if kept.exists() {
                copy(&kept.join("."), &self.dir().join(path));
            }
        }
    }

    pub fn save_cache(&self, paths: &str) {
        for path in paths.lines().map(Utf8Path::new) {
            let kept = self.project.home().join("cache").join(path);
            let made = self.dir().join(path);
            if made.exists() && !kept.exists() {
                copy(&made.join("."), &kept);
            }
        }
    }

    /// A script in a directory of the checkout, as both services run them.
    pub fn run(&self, dir: &str, script: &str, env: &[(&str, &str)]) -> Outcome {
        let added = std::fs::read_to_string(self.added_paths()).unwrap_or_default();
        let bin = self.project.home().join("bin");
        let others = std::env::var("PATH").unwrap_or_default();
        let mut dirs: Vec<&str> = added.lines().collect();
        dirs.extend([bin.as_str(), others.as_str()]);
        let path = dirs.join(":");
        let mut command = self.project.other(
            "bash",
            &["--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        );
        command.current_dir(self.dir().join(dir)).env("PATH", path);
        command.envs(env.iter().copied()).output().unwrap().into()
    }
}

pub fn copy(from: &Utf8Path, to: &Utf8Path) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    if from.is_dir() {
        std::fs::create_dir_all(to).unwrap();
    }
    let status = std::process::Command::new("cp")
        .args(["-a", from.as_str(), to.as_str()])
        .status()
        .unwrap();
    assert!(status.success(), "{from} could not be copied to {to}");
}

fn remove(path: &Utf8Path) {
    if path.is_dir() {
        std::fs::remove_dir_all(path).unwrap();
    } else {
        std::fs::remove_file(path).unwrap();
    }
}

#[derive(Debug)]
pub struct Job {
    pub name: String,
    pub passed: bool,
    /// Every command and what it printed.
    pub said: String,
}

/// A pipeline that has come to its end.
#[derive(Debug)]
pub struct Played {
    pub pipeline: Pipeline,
    pub jobs: Vec<Job>,
}

impl Played {
    pub fn jobs(&self) -> Vec<&str> {
        self.jobs.iter().map(|job| job.name.as_str()).collect()
    }

    pub fn failed(&self) -> Vec<&str> {
        self.jobs
            .iter()
            .filter(|job| !job.passed)
            .map(|job| job.name.as_str())
            .collect()
    }

    pub fn said(&self, job: &str) -> &str {
        &self
            .jobs
            .iter()
            .find(|other| other.name == job)
            .unwrap()
            .said
    }

    /// An artifact, wherever the service keeps it.
    pub fn kept(&self, name: &str) -> String {
        let places = ["report", "evals"].map(|dir| self.pipeline.store().join(dir).join(name));
        let place = places
            .iter()
            .find(|path| path.exists())
            .unwrap_or_else(|| panic!("{name} was not kept"));
        std::fs::read_to_string(place).unwrap()
    }

    pub fn summary(&self) -> String {
        std::fs::read_to_string(self.pipeline.step_summary())
            .unwrap_or_else(|_| self.kept("summary.md"))
    }

    /// How often `prepare` was carried out so far.
    pub fn layers_made(&self) -> usize {
        let made = self.pipeline.project.home().join("layers");
        std::fs::read_to_string(made).map_or(0, |text| text.lines().count())
    }

    /// What was installed, a line for each time.
    pub fn installed(&self) -> String {
        std::fs::read_to_string(self.pipeline.project.home().join("npm")).unwrap()
    }

    /// The same repository, for its next pipeline: the cache stays.
    pub fn again(self) -> Pipeline {
        remove(&self.pipeline.store());
        self.pipeline
    }
}
