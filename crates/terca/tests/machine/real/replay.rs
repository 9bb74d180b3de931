//! A session of a real agent that was recorded comes to the same without its model and without a key.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde_json::{Value, json};
use terca_testkit::agents::RealAgent;
use terca_testkit::{Outcome, Project, Scenario, Session};

use super::{Bench, assert_passed};

/// Returns the files of a directory, and what is in them.
fn files(dir: &Utf8Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in next.read_dir_utf8().unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                open.push(path.to_owned());
            } else {
                let name = path.strip_prefix(dir).unwrap().to_string();
                files.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    files
}

fn replay(project: &Project, keys: &[&str]) -> Outcome {
    let mut command = project.command(&["replay", "--format", "plain"]);
    for key in keys {
        command.env_remove(key);
    }
    Session::start(command).finish()
}

pub fn a_recorded_session_comes_to_the_same(agent: RealAgent) {
    let bench = Bench::new(agent, &[("both", Scenario::two_tools())]);
    let evals = json!([{"name": "both", "prompt": "Go on. scenario:both", "tests": [{"fileExists": ["fib.txt", "checked.txt"]}]}]);
    let bench = bench.suite(&json!([{"name": "only"}]), &evals);
    bench
        .terca(&["--format", "plain", "--gateway", "record"])
        .expect_status(0);
    let recorded = bench.trial("both", "only");
    assert_passed(&recorded);
    let variables = (agent.env)(&bench.server.url());
    let names = variables.iter().map(|(name, _)| *name);
    let keys: Vec<&str> = names.filter(|name| name.ends_with("_KEY")).collect();
    let Bench {
        server, project, ..
    } = bench;
    drop(server);
    let workspace = |trial: &Value| {
        let dir = project.run_dir().join(trial["dir"].as_str().unwrap());
        files(&project.workspace_of(&dir))
    };
    let before = workspace(&recorded);
    let outcome = replay(&project, &keys);
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    let replayed = project.only_trial();
    assert_passed(&replayed);
    assert_eq!(workspace(&replayed), before);
    let wire = &replayed["wire"];
    assert_eq!(wire["replayed"], wire["requests"], "{wire:#}");
    assert_eq!(wire["requests"], recorded["wire"]["requests"]);
    assert_eq!(wire["inputTokens"], recorded["wire"]["inputTokens"]);
    assert_eq!(replayed["stats"]["costUsd"], 0.0);

    let yaml = project.read("terca.yaml").replace("Go on.", "Go back.");
    let project = project.file("terca.yaml", yaml);
    let outcome = replay(&project, &keys);
    assert_eq!(outcome.status, 3, "{}{}", outcome.stdout, outcome.stderr);
    let trial = project.only_trial();
    assert_eq!(trial["error"]["kind"], "replay", "{trial:#}");
    let message = trial["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("Go on.") && message.contains("Go back."),
        "{message}"
    );
    project.assert_nothing_left();
}
