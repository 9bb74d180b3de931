//! Trials on workers, for each kind of them alike: a suite whose agents can be held, and what must hold of every kind.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::Signal;
use serde_json::Value;
use terca_testkit::{Process, Project, Session, wait_until};

use crate::common::project;

/// A suite with workers in one pool, called `pool`, and a gate that holds its agents on all nodes.
pub(crate) struct Workers<'a> {
    pub(crate) project: Project,
    slots: usize,
    gate: tempfile::TempDir,
    /// What runs on the nodes.
    processes: &'a dyn Fn() -> Vec<Process>,
}

impl<'a> Workers<'a> {
    /// Writes a suite of three evals. `pool` is the entry of the pool without its braces; `slots` counts all of them.
    pub(crate) fn new(
        pool: &str,
        slots: usize,
        repetitions: usize,
        processes: &'a dyn Fn() -> Vec<Process>,
    ) -> Self {
        // Nodes have this directory in common with the machine of the test, and not the one with the suite.
        let gate = tempfile::tempdir_in("/tmp").unwrap();
        let place = Utf8Path::from_path(gate.path()).unwrap();
        let terca = env!("CARGO_BIN_EXE_terca");
        let evals: String = ["a", "b", "c"]
            .map(|name| {
                format!("- {{name: {name}, prompt: do {name}, tests: [{{fileContains: {{path: done, text: do {name}}}}}]}}\n")
            })
            .concat();
        let suite = format!(
            "env: {{GATE: '{place}'}}\nrepetitions: {repetitions}\nconcurrency: {slots}\n\
             workers: {{pool: {{{pool}, terca: '{terca}'}}}}\n\
             environments: [{{name: e, agent: {{name: command, command: ./agent.sh}}}}]\nevals:\n{evals}"
        );
        // Process ids repeat among the nodes, so each agent that is held makes a file with a random name.
        let agent = "#!/bin/sh\ncat > prompt\n\
                     if [ -e \"$GATE/wait\" ]; then mktemp \"$GATE/held.XXXXXX\" >/dev/null; fi\n\
                     while [ -e \"$GATE/wait\" ]; do sleep 0.05; done\nmv prompt done\n";
        let project = project()
            .executable("agent.sh", agent)
            .file("terca.yaml", suite);
        Workers {
            project,
            slots,
            gate,
            processes,
        }
    }

    fn gate(&self) -> Utf8PathBuf {
        Utf8Path::from_path(self.gate.path()).unwrap().join("wait")
    }

    /// Lets agents go on.
    pub(crate) fn open(&self) {
        std::fs::remove_file(self.gate()).unwrap();
    }

    /// Starts a run whose first agents are held.
    pub(crate) fn start_held(&self) -> Session {
        std::fs::write(self.gate(), "").unwrap();
        let args = ["run", "--sandbox", "none", "--format", "plain"];
        self.project.start(&[&args[..], &["--on", "pool"]].concat())
    }

    /// Waits until an agent is held in each slot.
    pub(crate) fn wait_until_full(&self, session: &mut Session) {
        session.wait_until("all slots have an agent", || {
            let entries = self.gate.path().read_dir().unwrap().flatten();
            let names = entries.map(|entry| entry.file_name());
            let held = names.filter(|name| name.to_string_lossy().starts_with("held"));
            held.count() == self.slots
        });
    }

    /// Waits until so many attempts are known to be lost.
    pub(crate) fn wait_until_lost(&self, session: &mut Session, attempts: usize) {
        session.wait_until("the loss is noticed", || {
            let journal = self.project.journal();
            let failed = journal
                .lines()
                .filter(|line| line.contains("\"event\":\"attemptFailed\""));
            failed.filter(|line| line.contains("\"lost\"")).count() == attempts
        });
    }

    /// Fails unless each trial has one result and it is a pass. Returns how many attempts were lost.
    pub(crate) fn lost(&self) -> usize {
        let results = self.project.results();
        assert_eq!(results["status"], "complete");
        let trials = results["trials"].as_array().unwrap();
        let ids: BTreeSet<u64> = trials
            .iter()
            .map(|trial| trial["id"].as_u64().unwrap())
            .collect();
        assert_eq!(ids.len(), trials.len(), "no trial is there twice");
        assert!(trials.iter().all(|trial| trial["status"] == "passed"));
        assert_eq!(results["summary"]["passed"], trials.len());
        let earlier = trials
            .iter()
            .filter_map(|trial| trial.get("earlierAttempts")?.as_array())
            .flatten();
        let kinds: Vec<&Value> = earlier.map(|attempt| &attempt["error"]["kind"]).collect();
        assert!(kinds.iter().all(|kind| *kind == "lost"), "{kinds:?}");
        kinds.len()
    }

    pub(crate) fn assert_nothing_left(&self) {
        wait_until("the nodes are empty", || (self.processes)().is_empty());
        self.project.wait_until_nothing_runs();
    }
}

/// Trials that were run elsewhere have the same results and the same files as those of this machine. Returns the nodes that
/// ran some.
pub(crate) fn trials_elsewhere_equal_those_at_home(workers: &Workers<'_>) -> Vec<String> {
    let project = &workers.project;
    let args = [
        "run", "--sandbox", "none", "--format", "plain", "--seed", "7",
        // Workers send whole workspaces.
        "--keep", "all",
    ];
    project.terca(&args).expect_status(0);
    let (home, files) = (timeless(project.results()), files_of(project));
    project
        .terca(&[&args[..], &["--on", "pool"]].concat())
        .expect_status(0);
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    let ran_on: BTreeSet<String> = trials
        .iter()
        .map(|trial| trial["ranOn"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(timeless(results), home);
    assert_eq!(files_of(project), files);
    assert_eq!(workers.lost(), 0);
    workers.assert_nothing_left();
    ran_on.into_iter().collect()
}

/// `lose` takes one worker away, in any way. Its trial is run again, and no other.
pub(crate) fn a_lost_worker_loses_and_doubles_nothing(workers: &Workers<'_>, lose: impl FnOnce()) {
    let mut session = workers.start_held();
    workers.wait_until_full(&mut session);
    lose();
    workers.wait_until_lost(&mut session, 1);
    workers.open();
    let outcome = session.finish();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(workers.lost(), 1);
    workers.assert_nothing_left();
}

pub(crate) fn a_killed_terca_leaves_nothing_and_is_resumed(workers: &Workers<'_>) {
    let mut session = workers.start_held();
    workers.wait_until_full(&mut session);
    session.signal(Signal::KILL);
    session.finish();
    // Agents are still held: they do not end by themselves.
    workers.assert_nothing_left();
    workers.open();
    let args = ["resume", "--format", "plain", "--on", "pool"];
    workers.project.terca(&args).expect_status(0);
    assert_eq!(workers.lost(), 0);
    workers.assert_nothing_left();
}

pub(crate) fn an_interrupted_run_leaves_nothing(workers: &Workers<'_>) {
    let mut session = workers.start_held();
    workers.wait_until_full(&mut session);
    session.signal(Signal::INT);
    let outcome = session.finish();
    assert_eq!(outcome.status, 130, "{}", outcome.stderr);
    workers.assert_nothing_left();
    assert_eq!(workers.project.results()["status"], "interrupted");
}

/// Results without what differs between any two runs, and without the node.
pub(crate) fn timeless(mut results: Value) -> Value {
    const TIMES: [&str; 11] = [
        "run", "journal", "evidence", "startedAt", "finishedAt", "durationSeconds", "phases",
        "meanSeconds", "medianSeconds", "meanTrialSeconds", "ranOn",
    ];
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !TIMES.contains(&name.as_str()));
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut results);
    results
}

/// The files of the latest run, relative to its folder.
fn files_of(project: &Project) -> BTreeSet<Utf8PathBuf> {
    fn walk(dir: &Utf8Path, root: &Utf8Path, into: &mut BTreeSet<Utf8PathBuf>) {
        for entry in dir.read_dir_utf8().unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                walk(path, root, into);
            } else {
                into.insert(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    let mut files = BTreeSet::new();
    walk(&project.run_dir(), &project.run_dir(), &mut files);
    files
}
