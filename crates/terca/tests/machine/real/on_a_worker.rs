//! On a worker an agent works as it does on this machine, and its key travels in the conversation alone.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use terca_testkit::agents::RealAgent;
use terca_testkit::{Action, Project, Scenario, Turn};

use super::gateway::KEY;
use super::{Bench, assert_passed, assert_used};
use crate::workers::timeless;

const EVAL: &str = "away";

/// The results and figures of a trial on a worker are those of the same trial here. While the agent works, its key is in
/// no command line, and in no file of the node.
pub fn works_on_a_worker_as_it_does_here(agent: RealAgent) {
    let gate = tempfile::tempdir_in("/tmp").unwrap();
    let gate = Utf8Path::from_path(gate.path()).unwrap();
    let hold = format!("touch {gate}/held; while [ -e {gate}/wait ]; do sleep 0.1; done");
    let scenario = Scenario::new([
        Turn::calling("Waiting.", Action::run(&hold)),
        Turn::calling("Writing.", Action::write("done.txt", "done\n")),
        Turn::saying("Done."),
    ]);
    let bench = Bench::new(agent, &[(EVAL, scenario.clone())]).suite(
        &json!([{"name": "only"}]),
        &json!([{"name": EVAL, "prompt": "Go on. scenario:away", "tests": [{"fileExists": "done.txt"}]}]),
    );
    let (bench, node) = with_another_node(bench);
    // The agent is held by a file outside of its workspace.
    let args = [
        "run", "--format", "plain", "--seed", "7", "--sandbox", "none",
    ];
    bench.terca(&args).expect_status(0);
    let (here, at_home) = (bench.trial(EVAL, "only"), bench.project.results());
    assert_passed(&here);

    std::fs::write(gate.join("wait"), "").unwrap();
    std::fs::remove_file(gate.join("held")).unwrap();
    let mut session = bench
        .project
        .start(&[&args[..], &["--on", "node"]].concat());
    session.wait_until("the agent works", || gate.join("held").exists());
    assert_no_key_in_sight(&bench.project, &node);
    std::fs::remove_file(gate.join("wait")).unwrap();
    session.finish().expect_status(0);
    bench.keep();
    let away = bench.trial(EVAL, "only");
    assert_passed(&away);
    assert_used(&away, &scenario, 3, 2);
    assert_eq!(here["ranOn"], Value::Null);
    assert!(away["ranOn"].is_string(), "{away:#}");
    assert_eq!(timeless(bench.project.results()), timeless(at_home));

    assert_eq!(files_with_key(&node), "");
    assert_eq!(files_with_key(&bench.project.run_dir()), "");
    let requests = bench.requests(EVAL);
    assert_eq!(requests.len(), 6, "three from here, three from the worker");
    for request in requests {
        let mut headers = request.headers.values();
        assert!(
            headers.any(|value| value.contains(KEY)),
            "the service has it"
        );
    }
    bench.project.wait_until_nothing_runs();
}

/// Adds a worker that has nothing of this machine but its programs: no variables, and directories of its own.
fn with_another_node(mut bench: Bench) -> (Bench, Utf8PathBuf) {
    let node = bench.project.path("_node");
    let terca = env!("CARGO_BIN_EXE_terca");
    let start = format!("env -i PATH=\"$PATH\" HOME={node}/home TERCA_WORK_DIR={node}/work");
    let workers = json!({"node": {"start": start, "terca": terca}});
    bench.project = bench
        .project
        .directory("_node/home")
        .directory("_node/work")
        .file("workers.yaml", workers.to_string());
    (bench, node)
}

fn assert_no_key_in_sight(project: &Project, node: &Utf8Path) {
    let processes = project.processes();
    let is_worker = |command: &str| command.split(['\0', ' ']).any(|word| word == "worker");
    assert!(
        processes.iter().any(|process| is_worker(&process.command)),
        "{processes:?}"
    );
    for process in processes {
        assert!(!process.command.contains(KEY), "{}", process.command);
    }
    assert_eq!(files_with_key(node), "");
}

/// Returns the names of files below a directory that have the key in them.
fn files_with_key(dir: &Utf8Path) -> String {
    let found = std::process::Command::new("grep")
        .args(["-rls", KEY, dir.as_str()])
        .output()
        .unwrap();
    String::from_utf8(found.stdout).unwrap()
}
