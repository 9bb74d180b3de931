//! A service that is dead or slow says nothing about the agent, which is not judged for it.

use serde_json::{Value, json};
use terca_testkit::agents::RealAgent;
use terca_testkit::{Fault, Scenario, Trouble, Vocabulary};

use super::{Bench, Complaints, limit_of};

/// Ways in which a service fails, and the kinds of error that are true of each. One that has answered before needs an
/// agent that asks more than once.
fn deaths(agent: RealAgent) -> Vec<(&'static str, Scenario, &'static [&'static str])> {
    let first = |trouble: Trouble| Scenario::saying("Done.").fault(Fault::of(trouble));
    let later = |trouble: Trouble| Scenario::two_tools().fault(Fault::of(trouble).after(1));
    let throttled = Trouble::Status {
        status: 429,
        retry_after: Some(120),
    };
    let down = Trouble::Status {
        status: 500,
        retry_after: None,
    };
    // An agent that waits without a word does not say what it waits for.
    let waiting: &[&str] = &["rateLimit", "modelApi"];
    let mut deaths = vec![
        ("silent", first(Trouble::Silence), &["modelApi"][..]),
        ("throttled", first(throttled), waiting),
        ("down", first(down), &["modelApi"]),
        ("cut", first(Trouble::Cut), &["modelApi"]),
        ("half", first(Trouble::FirstHalf), &["modelApi"]),
    ];
    if matches!(agent.vocabulary, Vocabulary::Tools(_)) {
        deaths.extend([
            ("silent-later", later(Trouble::Silence), &["modelApi"][..]),
            ("throttled-later", later(throttled), waiting),
            ("down-later", later(down), &["modelApi"]),
        ]);
    }
    deaths
}

/// Whether it gives up by itself or is ended by a short time limit, the trial is an error.
pub fn a_dead_service_is_no_failure(agent: RealAgent) {
    is_no_failure(agent, "none");
}

/// Behind the gateway and in a sandbox, too.
pub fn a_dead_service_is_no_failure_of_a_contained_agent(agent: RealAgent) {
    is_no_failure(agent, "bwrap");
}

fn is_no_failure(agent: RealAgent, sandbox: &str) {
    let deaths = deaths(agent);
    let scenarios: Vec<_> = deaths
        .iter()
        .map(|(name, scenario, _)| (*name, scenario.clone()))
        .collect();
    let mut bench = Bench::new(agent, &scenarios);
    bench.project = bench.project.env("TERCA_SANDBOX", sandbox);
    let evals: Vec<Value> = deaths
        .iter()
        .map(|(name, ..)| {
            // What comes after an answer takes longer: most of the limit must be left then.
            let seconds = limit_of(agent, if name.ends_with("-later") { 20 } else { 10 });
            json!({"name": name, "prompt": format!("Go on. scenario:{name}"), "timeoutSeconds": seconds})
        })
        .collect();
    let bench = bench.suite(&json!([{"name": "only"}]), &json!(evals));
    bench.run_together();

    let mut complaints = Complaints::new(agent);
    for (name, _, kinds) in deaths {
        let trial = bench.trial(name, "only");
        let kind = trial["error"]["kind"].as_str().unwrap_or_default();
        if trial["status"] != "error" || !kinds.contains(&kind) || !trial["score"].is_null() {
            complaints.add(name, "is not an error of the service", &trial);
        }
        let requests = bench.requests(name);
        if requests.is_empty() {
            complaints.add(name, "the model was never asked", &trial);
        }
        complaints.check_figures(name, &trial, &requests, &[]);
    }
    complaints.expect_none();
    bench.project.assert_nothing_left();
}

/// What the wire shows decides, however the agent takes it: a service that breaks off or refuses is at fault, and an answer
/// without a word is the agent's result.
pub fn the_wire_decides(agent: RealAgent) {
    let cut = Fault::of(Trouble::FirstHalf).after(1);
    let cases = [
        (
            "refused",
            Scenario::saying("Done.").fault(Fault::always(401)),
            "auth",
        ),
        ("cut", Scenario::two_tools().fault(cut), "modelApi"),
        ("empty", Scenario::saying(""), ""),
        (
            "swapped",
            Scenario::two_tools().answered_by("another-model"),
            "",
        ),
    ];
    let scenarios = cases
        .each_ref()
        .map(|(name, scenario, _)| (*name, scenario.clone()));
    let mut bench = Bench::new(agent, &scenarios);
    bench.project = bench.project.env("TERCA_SANDBOX", "bwrap");
    let evals: Vec<Value> = cases
        .iter()
        .map(|(name, ..)| {
            json!({
                "name": name, "prompt": format!("Go on. scenario:{name}"), "timeoutSeconds": limit_of(agent, 20),
                "tests": [{"fileExists": "checked.txt"}],
            })
        })
        .collect();
    let bench = bench.suite(&json!([{"name": "only"}]), &json!(evals));
    bench.run_together();

    let mut complaints = Complaints::new(agent);
    for (name, _, kind) in cases {
        let trial = bench.trial(name, "only");
        if trial["error"]["kind"].as_str().unwrap_or_default() != kind {
            complaints.add(name, "has another kind of error", &trial);
        }
        let (status, model) = match name {
            "empty" => ("failed", None),
            "swapped" => ("passed", Some("another-model")),
            _ => ("error", None),
        };
        if trial["status"] != status {
            complaints.add(name, "has another end", &trial);
        }
        if model.is_some_and(|model| trial["delivery"]["modelObserved"] != model) {
            complaints.add(name, "names another model", &trial);
        }
    }
    complaints.expect_none();
    bench.project.assert_nothing_left();
}

/// Options reach the model's requests in the agent's own way.
pub fn options_reach_the_requests(agent: RealAgent) {
    const TEXT: &str = "Whistle while you work.";
    let scenario = Scenario::saying("Done.");
    let mut bench = Bench::new(agent, &[("options", scenario)]);
    bench.project = bench.project.env("TERCA_SANDBOX", "bwrap");
    let (options, effort, temperature) = match agent.name {
        "claude-code" => (
            json!({"effort": "low", "maxTurns": 5, "systemPrompt": {"append": TEXT}, "disallowedTools": ["WebSearch"]}),
            Some("low"),
            None,
        ),
        "acp:claude-code" => (json!({"effort": "low"}), Some("low"), None),
        "acp:goose" => (json!({"temperature": 0.25}), None, Some("0.25")),
        "codex" | "acp:codex" => (
            json!({"effort": "low", "systemPrompt": {"append": TEXT}}),
            Some("low"),
            None,
        ),
        "goose" => (
            json!({"maxTurns": 5, "systemPrompt": {"append": TEXT}, "temperature": 0.25}),
            None,
            Some("0.25"),
        ),
        // It sends a temperature to models that are known to take one.
        "opencode" => (
            json!({
                "temperature": 0.25,
                "config": {"provider": {"mock": {"models": {"mock-model": {"temperature": true}}}}},
            }),
            None,
            Some("0.25"),
        ),
        "qwen-code" => (
            json!({"maxTurns": 5, "systemPrompt": {"append": TEXT}, "disallowedTools": ["web_fetch"]}),
            None,
            None,
        ),
        _ => (
            json!({"maxTurns": 5, "disallowedTools": ["google_web_search"]}),
            None,
            None,
        ),
    };
    let mut experiment = options.clone();
    experiment["name"] = json!("only");
    let evals = json!([{"name": "options", "prompt": "Go on. scenario:options"}]);
    let bench = bench.suite(&json!([experiment]), &evals);
    bench.run().expect_status(0);
    let trial = bench.trial("options", "only");
    let requests = bench.requests("options");
    if options.get("systemPrompt").is_some() {
        assert!(
            requests.iter().all(|request| request.mentions(TEXT)),
            "{trial:#}"
        );
    }
    let parameters = &trial["wire"]["parameters"];
    for (name, expected) in [("effort", effort), ("temperature", temperature)] {
        if let Some(expected) = expected {
            assert!(parameters[name][expected].is_u64(), "{name}: {parameters}");
        }
    }
    for tool in options["disallowedTools"].as_array().into_iter().flatten() {
        let tool = tool.as_str().unwrap().to_owned();
        let offered = requests
            .iter()
            .any(|request| request.tools().contains(&tool));
        assert!(!offered, "{tool} is offered");
    }
}
