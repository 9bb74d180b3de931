//! Real agents side by side: the figures of a trial do not depend on what else is running.

use crate::common::project;
use serde_json::{Value, json};
use terca_testkit::agents::{CLAUDE, GOOSE, RealAgent};
use terca_testkit::{ModelServer, Scenario, Script};

/// Eight repetitions with each of the two agents.
const TRIALS: usize = 16;

fn environment(agent: RealAgent) -> Value {
    json!({"name": agent.name, "agent": agent.name, "model": agent.model})
}

/// What a trial came to, without its times.
fn outcome(trial: &Value) -> Value {
    let mut stats = trial["stats"].clone();
    stats["durationSeconds"] = Value::Null;
    json!([
        trial["id"], trial["agent"], trial["status"], trial["score"], stats, trial["delivery"],
        trial["notes"]
    ])
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test --everything"]
fn sixteen_trials_give_the_same_figures_together_as_one_by_one() {
    let agents = [CLAUDE, GOOSE];
    let mut suite = project();
    let mut path = std::env::var("PATH").unwrap_or_default();
    let mut servers = Vec::new();
    for agent in agents {
        let program = agent.program();
        path = format!("{program}:{path}");
        let script = Script::new(agent.vocabulary).scenario("both", Scenario::two_tools());
        let server = ModelServer::start(script);
        suite = (agent.env)(&server.url())
            .into_iter()
            .fold(suite, |suite, (name, value)| suite.env(name, &value));
        servers.push(server);
    }
    let eval = json!({"name": "both", "prompt": "scenario:both", "tests": [{"fileExists": ["fib.txt", "checked.txt"]}]});
    let document = json!({"environments": agents.map(environment), "repetitions": TRIALS / 2, "evals": [eval]});
    let suite = suite
        .env("PATH", &path)
        .file("terca.yaml", format!("{document:#}"));

    let outcomes = |concurrency: &str| -> Vec<Value> {
        suite
            .terca(&["--format", "plain", "-c", concurrency])
            .expect_status(0);
        suite.results()["trials"]
            .as_array()
            .unwrap()
            .iter()
            .map(outcome)
            .collect()
    };
    let (one_by_one, together) = (outcomes("1"), outcomes("8"));
    assert_eq!(one_by_one.len(), TRIALS);
    assert_eq!(one_by_one, together);
    suite.assert_nothing_left();
}
