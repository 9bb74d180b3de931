//! Through the gateway an agent works as it does without, and never has the key.

use serde_json::{Value, json};
use terca_testkit::agents::RealAgent;
use terca_testkit::{Action, Fault, Scenario, Turn};

use crate::common::viewer::View;

use super::{Bench, assert_error, assert_passed, assert_used};

pub(super) const KEY: &str = "false-key-for-tests";

/// Looks for the key wherever an agent could have it: its variables, those of the program that started the shell, and its
/// home. The pattern is none of what it finds, since sessions have the command in them.
const SEARCH: &str = "{ env; tr '\\0' '\\n' </proc/$PPID/environ; } | grep 'false-ke[y]-for' >found.txt; \
    grep -rl 'false-ke[y]-for' \"$HOME\" >>found.txt; echo SEARCHED >searched.txt";

/// The figures of the wire are those that were served, the agent's own agree, and the key is with the service alone.
pub fn metered_by_the_gateway(agent: RealAgent) {
    metered(agent, &["--gateway", "meter"]);
}

/// In a sandbox the gateway is there by itself, and all of this is true as well.
pub fn contained_and_metered(agent: RealAgent) {
    let trial = metered(agent, &["--sandbox", "bwrap"]);
    assert_eq!(trial["containedBy"], "bwrap");
    assert_eq!(trial["network"]["mode"], "model");
}

fn metered(agent: RealAgent, args: &[&str]) -> Value {
    let scenario = Scenario::new([
        Turn::calling("Searching.", Action::run(SEARCH)),
        Turn::calling("Writing.", Action::write("done.txt", "done\n")),
        Turn::saying("Done."),
    ]);
    let refused = Scenario::saying("Done.").fault(Fault::always(401));
    let scenarios = [("metered", scenario.clone()), ("refused", refused)];
    let bench = Bench::new(agent, &scenarios);
    let bench = bench.suite(
        &json!([{"name": "only"}]),
        &json!([
            {"name": "metered", "prompt": "Go on. scenario:metered", "tests": [{"fileExists": "done.txt"}]},
            {"name": "refused", "prompt": "Go on. scenario:refused"},
        ]),
    );
    let args = [&["--format", "plain"], args].concat();
    bench
        .terca(&[&args[..], &["-t", "metered"]].concat())
        .expect_status(0);
    let passed = bench.trial("metered", "only");
    let trial = &passed;
    assert_passed(trial);
    let served = scenario.usage_of(3);
    let wire = &trial["wire"];
    let figures = |names: [&str; 5]| names.map(|name| wire[name].as_u64());
    assert_eq!(
        figures([
            "requests", "answered", "inputTokens", "cachedInputTokens", "outputTokens"
        ]),
        [3, 3, served.input, served.cached, served.output()].map(Some),
        "{wire:#}"
    );
    assert_eq!(wire["modelsAsked"], json!({agent.asked_for: 3}));
    assert_used(trial, &scenario, 3, 2);

    assert_tokens_of_steps(&bench, trial, &scenario);

    let folder = bench.project.run_dir().join(trial["dir"].as_str().unwrap());
    let workspace = bench.project.workspace_of(&folder);
    let read = |name: &str| std::fs::read_to_string(workspace.join(name)).unwrap();
    assert_eq!(read("searched.txt").trim(), "SEARCHED");
    assert_eq!(read("found.txt"), "", "the agent has the key");
    for request in bench.requests("metered") {
        let mut headers = request.headers.values();
        assert!(
            headers.any(|value| value.contains(KEY)),
            "the service has it: {:?}",
            request.headers
        );
        assert!(!request.body.to_string().contains(KEY));
    }

    bench
        .terca(&[&args[..], &["-t", "refused"]].concat())
        .expect_status(3);
    let trial = bench.trial("refused", "only");
    assert_error(&trial, "auth");
    assert_eq!(trial["wire"]["answered"], 0);
    assert_eq!(trial["stats"]["inputTokens"], Value::Null);
    bench.project.assert_nothing_left();
    passed
}

/// The page of the trial has the time and the tokens of each request at the step that the request made.
fn assert_tokens_of_steps(bench: &Bench, trial: &Value, scenario: &Scenario) {
    let view = View::open(&bench.project, &[]);
    let run = bench.project.run_dir();
    let run = run.file_name().unwrap();
    let page = view.get(&format!("runs/{run}/trials/{}", trial["id"]));
    let marks: Vec<&str> = page.split("<span class=\"marks\">").skip(1).collect();
    let asked: Vec<&&str> = marks
        .iter()
        .filter(|mark| mark.contains("class=\"model\""))
        .collect();
    assert_eq!(asked.len(), 3, "{marks:#?}");
    for (turn, mark) in asked.iter().enumerate() {
        let served = scenario.usage_of(turn + 1).output() - scenario.usage_of(turn).output();
        assert!(mark.contains("<span class=\"since\">+"), "{mark}");
        let told = format!(" {served} out tokens");
        assert!(mark.contains(&told), "no {told} in {mark}");
    }
}
