//! A service that is dead or slow says nothing about the agent, which is not judged for it.

use serde_json::{Value, json};
use terca_testkit::agents::RealAgent;
use terca_testkit::{Fault, Scenario, Trouble, Usage, Vocabulary};

use super::gateway::KEY;
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
    let deaths = deaths(agent);
    let scenarios: Vec<_> = deaths
        .iter()
        .map(|(name, scenario, _)| (*name, scenario.clone()))
        .collect();
    let bench = Bench::new(agent, &scenarios);
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

/// One way in which a service behaves, and what a trial comes to.
struct Case {
    name: &'static str,
    scenario: Scenario,
    /// The kind of error; none where the agent is judged.
    kind: Option<&'static str>,
    /// The trial is an error that holds its variant back, so that it has a run of its own.
    is_apart: bool,
}

impl Case {
    fn of(name: &'static str, scenario: Scenario, kind: Option<&'static str>) -> Self {
        Case {
            name,
            scenario,
            kind,
            is_apart: false,
        }
    }

    fn refused(
        name: &'static str,
        status: u16,
        retry_after: Option<u32>,
        kind: &'static str,
    ) -> Self {
        let fault = Fault::of(Trouble::Status {
            status,
            retry_after,
        });
        Case {
            is_apart: status != 500,
            ..Case::of(name, Scenario::saying("Done.").fault(fault), Some(kind))
        }
    }
}

fn cases() -> Vec<Case> {
    let first = |trouble: Trouble| Scenario::saying("Done.").fault(Fault::of(trouble));
    let later = |trouble: Trouble| Scenario::two_tools().fault(Fault::of(trouble).after(1));
    let claimed = Usage {
        input: 100_000,
        cached: 0,
        answer: 9_000,
        thoughts: 0,
    };
    let claims = Fault::of(Trouble::Swollen(claimed)).times(1);
    vec![
        Case::refused("401", 401, None, "auth"),
        Case::refused("403", 403, None, "auth"),
        Case::refused("404", 404, None, "model"),
        Case::refused("429", 429, None, "rateLimit"),
        Case::refused("429-later", 429, Some(120), "rateLimit"),
        Case::refused("500", 500, Some(1), "modelApi"),
        Case::of("hang", first(Trouble::Silence), Some("modelApi")),
        Case::of("hang-after-work", later(Trouble::Silence), Some("modelApi")),
        Case::of("cut", first(Trouble::FirstHalf), Some("modelApi")),
        Case::of(
            "cut-after-work",
            later(Trouble::FirstHalf),
            Some("modelApi"),
        ),
        Case::of("empty", Scenario::saying(""), None),
        // Whoever hears the key sends it back with the next request.
        Case::of(
            "echo",
            Scenario::two_tools().fault(Fault::of(Trouble::Echo).times(1)),
            None,
        ),
        Case::of(
            "swapped",
            Scenario::two_tools().answered_by("another-model"),
            None,
        ),
        Case::of("usage", Scenario::two_tools().fault(claims), None),
    ]
}

/// What the wire shows decides, however the agent takes it: a service that is dead, breaks off or refuses is at fault, and
/// a whole answer is the agent's result, an empty one too. The figures are those of the service.
pub fn the_wire_decides(agent: RealAgent) {
    decides(agent, &cases());
}

/// The same, without the cases that take a whole time limit.
pub fn the_wire_decides_at_once(agent: RealAgent) {
    let mut cases = cases();
    let waiting = ["429", "429-later", "500", "hang", "hang-after-work"];
    cases.retain(|case| !waiting.contains(&case.name));
    decides(agent, &cases);
}

fn decides(agent: RealAgent, cases: &[Case]) {
    let scenarios: Vec<_> = cases
        .iter()
        .map(|case| (case.name, case.scenario.clone()))
        .collect();
    let mut bench = Bench::new(agent, &scenarios);
    bench.project = bench.project.env("TERCA_SANDBOX", "bwrap");
    let evals: Vec<Value> = cases
        .iter()
        .map(|case| {
            let name = case.name;
            // What comes after an answer takes longer: most of the limit must be left then.
            let is_later = name.ends_with("-work") || case.kind.is_none();
            json!({
                "name": name, "prompt": format!("Go on. scenario:{name}"),
                "timeoutSeconds": limit_of(agent, if is_later { 20 } else { 10 }),
                "tests": [{"fileExists": "checked.txt"}],
            })
        })
        .collect();
    let bench = bench.suite(&json!([{"name": "only"}]), &json!(evals));
    let mut complaints = Complaints::new(agent);
    let mut check = |case: &Case, trial: &Value| {
        let requests = bench.requests(case.name);
        complaints.check_figures(case.name, trial, &requests, &[]);
        if trial["error"]["kind"].as_str() != case.kind {
            complaints.add(case.name, "has another kind of error", trial);
        }
        let status = match case.name {
            _ if case.kind.is_some() => "error",
            "empty" => "failed",
            _ => "passed",
        };
        if trial["status"] != status {
            complaints.add(case.name, "has another end", trial);
        }
        let observed = &trial["delivery"]["modelObserved"];
        if case.name == "swapped" && observed != "another-model" {
            complaints.add(case.name, "names another model", trial);
        }
        if requests
            .iter()
            .any(|request| request.body.to_string().contains(KEY))
        {
            complaints.add(case.name, "the agent knows the key", trial);
        }
    };
    let (apart, together): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| case.is_apart);
    // Both are held back alike.
    let (throttled, apart): (Vec<&Case>, Vec<&Case>) = apart
        .into_iter()
        .partition(|case| case.kind == Some("rateLimit"));
    let runs = apart.into_iter().map(|case| vec![case]);
    for run in runs.chain([throttled, together]) {
        let mut selection = vec!["--retries", "0"];
        for case in &run {
            selection.extend(["-t", case.name]);
        }
        if !run.is_empty() {
            bench.run_some_together(&selection);
        }
        for case in run {
            check(case, &bench.trial(case.name, "only"));
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
