//! Real agents that Terca itself installs from the registries, and runs in every sandbox.

use serde_json::json;
use terca_testkit::agents::GEMINI;
use terca_testkit::{Action, ModelServer, Scenario, Script, Turn};

use super::with_registries;
use crate::common::project;

/// Says where the agent's program is, and tries to write beside it.
const LOOK: &str = "command -v gemini > which.txt; touch \"$(dirname \"$(command -v gemini)\")/x\" && touch wrote.txt; true";

#[test]
#[ignore = "needs npm, bubblewrap, Landlock and the registries"]
fn two_versions_of_an_agent_side_by_side() {
    let look = Scenario::new([
        Turn::calling("Looking.", Action::run("sh ./look.sh")),
        Turn::saying("Done."),
    ]);
    let server = ModelServer::start(Script::new(GEMINI.vocabulary).scenario("look", look));
    let agent = |version: &str| json!({"name": GEMINI.name, "version": version});
    let document = json!({
        "environments": [{"name": "g", "model": GEMINI.model}],
        "experiments": [
            {"name": "old", "baseline": true, "agent": agent("0.60.0")},
            {"name": "new", "agent": agent("0.61.0")},
        ],
        "evals": [{"name": "look", "prompt": "scenario:look", "before": [{"files": {"look.sh": LOOK}}], "tests": [
            {"fileContains": {"path": "which.txt", "text": ".terca/cache/agents/gemini-0.6"}},
            {"commandSuccess": "! test -e wrote.txt"},
        ]}],
    });
    let suite = (GEMINI.env)(&server.url())
        .into_iter()
        .fold(project(), |suite, (name, value)| suite.env(name, &value))
        .file("terca.yaml", format!("{document:#}"));
    let suite = with_registries(suite);
    for (sandbox, installs) in [("bwrap", 2), ("landlock", 0)] {
        let outcome = suite.terca(&["run", "--format", "plain", "--sandbox", sandbox]);
        let said = format!("{sandbox}: {}{}", outcome.stdout, outcome.stderr);
        assert_eq!(outcome.status, 0, "{said}");
        let told = outcome.stderr.matches("installing gemini-cli 0.6").count();
        assert_eq!(told, installs, "{said}");
        let results = suite.results();
        let trials = results["trials"].as_array().unwrap();
        assert_eq!(trials.len(), 2, "{said}");
        for trial in trials {
            let version = match trial["experiment"].as_str() {
                Some("old") => "0.60.0",
                _ => "0.61.0",
            };
            assert_eq!(trial["agentVersion"], version, "{said}");
            assert_eq!(trial["containedBy"], sandbox);
            assert_eq!(trial["stats"]["requests"], 2, "{trial:#}");
        }
    }
    suite.assert_nothing_left();
}

#[test]
#[ignore = "needs Python and the registries"]
fn an_agent_of_python() {
    let agent = json!({"name": "mini-swe-agent", "version": "latest"});
    let document = json!({
        "environments": [{"name": "m", "agent": agent}],
        "evals": [{"name": "a", "prompt": "x", "tests": [{"fileExists": "a"}]}],
    });
    // As pip does, where `uv` is there.
    let suite = project().env("UV_SYSTEM_CERTS", "true");
    let suite = with_registries(suite.file("terca.yaml", format!("{document:#}")));
    let outcome = suite.terca(&["doctor", "--install", "--format", "json"]);
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.status, 0, "{said}");
    assert!(said.contains("installing mini-swe-agent 2."), "{said}");
    let answer: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let own = &answer["agents"][0];
    assert_eq!(own["agent"], "mini-swe-agent", "{said}");
    assert!(own["version"].as_str().unwrap().starts_with("2."), "{said}");
}
