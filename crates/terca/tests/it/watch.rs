//! `terca watch`: what is done when a file of the suite is saved.

use std::process::{Child, Command, Stdio};

use camino::Utf8PathBuf;
use rustix::process::{Pid, Signal, kill_process};
use terca_testkit::{Project, Terminal, wait_until};

use crate::common::project;

/// An agent that writes what its prompt says, and a rules file beside the suite's directory.
fn suite() -> Project {
    project()
        .file(
            "terca.yaml",
            "sandbox: none\nenvironments:\n  - name: e\n    agent: {name: command, command: 'cat > answer'}\n\
             experiments: [{name: plain}, {name: other, rules: rules.md}]\n",
        )
        .file("rules.md", "be good\n")
        .file(
            "fib/eval.terca.yaml",
            "prompt: one\ntests: [{fileContains: {path: answer, text: one}}]\n",
        )
        .file(
            "sum/eval.terca.yaml",
            "prompt: two\ntests: [{commandSuccess: ./check.sh}]\n",
        )
        .executable("sum/_tests/check.sh", "#!/bin/sh\ngrep -q two answer\n")
}

fn save(project: &Project, path: &str, content: &str) {
    std::fs::write(project.path(path), content).unwrap();
}

fn runs(project: &Project) -> usize {
    let dir = project.path(".terca/runs").read_dir_utf8();
    dir.map_or(0, |entries| {
        entries
            .flatten()
            .filter(|entry| entry.file_name().starts_with("20"))
            .count()
    })
}

/// Terca without a terminal, which writes to a file.
struct Watching {
    child: Child,
    log: Utf8PathBuf,
}

impl Watching {
    fn start(project: &Project, args: &[&str]) -> Self {
        let log = project.home().join("watch.log");
        let file = std::fs::File::create(&log).unwrap();
        let mut command: Command = project.command(&[&["watch"], args].concat());
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        let watching = Watching { child, log };
        watching.wait_for("Ctrl+C ends it");
        watching
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    #[track_caller]
    fn wait_for(&self, text: &str) {
        wait_until(&format!("{text:?} is said"), || self.said().contains(text));
    }

    /// Ends it as Ctrl+C does. Returns all that it said.
    fn end(mut self) -> String {
        let pid = Pid::from_raw(self.child.id() as i32).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(130));
        self.said()
    }
}

#[test]
fn tests_that_are_saved_grade_the_latest_run_again() {
    let project = suite();
    project.terca(&[]).expect_status(0);
    let watching = Watching::start(&project, &[]);
    save(
        &project,
        "fib/eval.terca.yaml",
        "prompt: one\ntests: [{fileContains: {path: answer, text: three}}]\n",
    );
    watching.wait_for("tests of `fib` changed: grading the latest run again");
    wait_until("it is graded", || {
        project.results()["summary"]["failed"] == 2
    });
    // A hidden test of another eval.
    save(&project, "sum/_tests/check.sh", "#!/bin/sh\nexit 1\n");
    watching.wait_for("tests of `sum` changed");
    wait_until("it is graded", || {
        project.results()["summary"]["failed"] == 4
    });
    let said = watching.end();
    assert_eq!(runs(&project), 1, "{said}");
    assert!(!said.contains("trials of"), "{said}");
}

#[test]
fn mistakes_are_shown_and_what_else_has_changed_is_told() {
    let project = suite();
    project.terca(&[]).expect_status(0);
    let watching = Watching::start(&project, &["-t", "fib", "-t", "sum"]);
    save(&project, "fib/eval.terca.yaml", "promt: one\n");
    watching.wait_for("unknown-key");
    save(
        &project,
        "fib/eval.terca.yaml",
        "prompt: other\ntests: [{fileContains: {path: answer, text: one}}]\n",
    );
    watching.wait_for(
        "2 trials of 1 eval, cost not known: `terca run -t fib -x other -x plain -e e` runs them",
    );
    save(&project, "rules.md", "be better\n");
    watching.wait_for(
        "2 trials of 2 evals, cost not known: `terca run -t fib -t sum -x other -e e` runs them",
    );
    let said = watching.end();
    assert_eq!(runs(&project), 1, "{said}");
    assert!(!said.contains("grading"), "{said}");
}

#[test]
fn the_flags_of_a_run_are_passed_on() {
    let project = suite();
    let flags = [
        "-n", "2", "--sandbox", "none", "--timeout", "50", "--seed", "7", "-c", "1", "--retries",
        "0", "--fail-fast", "--keep", "failed", "-t", "fib", "-x", "other",
    ];
    let watching = Watching::start(&project, &flags);
    save(&project, "rules.md", "be better\n");
    watching.wait_for(
        "2 trials of 1 eval, cost not known: `terca run -t fib -x other -e e --repetitions 2 --timeout 50 --sandbox none \
         --seed 7 --concurrency 1 --fail-fast --retries 0 --keep failed` runs them",
    );
    watching.end();

    let watching = Watching::start(&project, &[&["--yes"], &flags[..]].concat());
    save(&project, "rules.md", "be best\n");
    watching.wait_for("2 trials: 2 passed");
    watching.end();
    let run = std::fs::read_to_string(project.run_dir().join("run.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    let settings = &run["command"];
    assert_eq!(settings["selection"]["timeout"], 50.0, "{run}");
    assert_eq!(settings["keep"], "failed", "{run}");
}

#[test]
fn with_yes_what_has_changed_is_run() {
    let project = suite();
    let watching = Watching::start(&project, &["--yes", "-t", "fib"]);
    // A test without a run has nothing to be graded.
    save(
        &project,
        "fib/eval.terca.yaml",
        "prompt: one\ntests: [{fileContains: {path: answer, text: on}}]\n",
    );
    watching.wait_for("there is nothing to grade");
    save(&project, "rules.md", "be better\n");
    watching.wait_for("1 trial of 1 eval, cost not known: running");
    watching.wait_for("1 trial: 1 passed");
    // Of an eval that is not selected nothing is done.
    save(
        &project,
        "sum/eval.terca.yaml",
        "prompt: three\ntests: [{commandSuccess: ./check.sh}]\n",
    );
    save(
        &project,
        "fib/eval.terca.yaml",
        "prompt: once\ntests: [{fileContains: {path: answer, text: on}}]\n",
    );
    watching.wait_for("2 trials: 2 passed");
    watching.end();
    assert_eq!(runs(&project), 2);
}

#[test]
fn at_a_terminal_a_run_is_asked_for() {
    let project = suite();
    let mut terminal = Terminal::start(project.command(&["watch"]));
    terminal.wait_for("Ctrl+C ends it");
    save(&project, "rules.md", "be better\n");
    terminal
        .wait_for("2 trials of 2 evals, cost not known: run? [y/N] ")
        .type_in("\n");
    save(&project, "rules.md", "be best\n");
    terminal.wait_for("run? [y/N] ");
    assert_eq!(runs(&project), 0);
    terminal.type_in("y\n").wait_for("terca report --html");
    save(&project, "rules.md", "be nothing\n");
    terminal.wait_for("run? [y/N] ");
    terminal.signal(Signal::INT);
    let (status, said) = terminal.finish();
    assert_eq!(status, 130, "{said}");
    assert_eq!(runs(&project), 1, "{said}");
}
