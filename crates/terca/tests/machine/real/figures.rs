//! Figures and models are those of the server's log, or they are not given.

use serde_json::{Value, json};
use terca_testkit::agents::RealAgent;
use terca_testkit::{Action, Fault, Request, Scenario, Trouble, Turn, Usage, Vocabulary};

use super::{Bench, Complaints, limit_of};

/// What a command prints, so that a request to sum the conversation up is known by it.
const PRINTED: &str = "PRINTED-BY-A-COMMAND";

/// A session that is told that its context is nearly full after its first answer, so that it is made shorter.
fn swollen() -> Scenario {
    let nearly_full = Usage {
        input: 398_000,
        cached: 0,
        answer: 50,
        thoughts: 7,
    };
    long_session().fault(Fault::of(Trouble::Swollen(nearly_full)).times(1))
}

fn long_session() -> Scenario {
    Scenario::new([
        Turn::calling("Looking.", Action::run(&format!("echo {PRINTED}"))),
        Turn::calling("Writing.", Action::write("fib.txt", "0 1 1 2 3 5 8\n")),
        Turn::saying("Done."),
    ])
}

fn killed() -> Scenario {
    Scenario::new([
        Turn::calling("Writing.", Action::write("fib.txt", "0 1 1 2 3 5 8\n")),
        Turn::calling("Waiting.", Action::run("sleep 300")),
    ])
}

/// With another model than was asked for, with sub-agents, shortened and killed sessions.
pub fn figures_and_models_are_those_served(agent: RealAgent) {
    let overflowing = Fault::of(Trouble::Overflow).after(1).times(1);
    let mut scenarios = vec![
        (
            "swapped",
            Scenario::two_tools().answered_by("another-model-x"),
        ),
        ("swollen", swollen()),
        ("overflowing", long_session().fault(overflowing)),
        ("killed", killed()),
    ];
    // Without tools a session is one answer.
    if matches!(agent.vocabulary, Vocabulary::Words) {
        scenarios.truncate(1);
    }
    if has_sub_agents(agent) {
        let delegating = Turn::calling("Asking.", Action::delegate("Write it. scenario:child"));
        scenarios.push((
            "delegated",
            Scenario::new([delegating, Turn::saying("Done.")]),
        ));
    }
    let evals: Vec<Value> = scenarios
        .iter()
        .map(|(name, _)| {
            let seconds = limit_of(agent, if *name == "killed" { 15 } else { 60 });
            json!({"name": name, "prompt": format!("Go on. scenario:{name}"), "timeoutSeconds": seconds})
        })
        .collect();
    scenarios.push(("child", child()));
    let bench = Bench::new(agent, &scenarios);
    let bench = bench.suite(&json!([{"name": "only"}]), &json!(evals));
    bench.run_together();

    let mut complaints = Complaints::new(agent);
    let all = bench.server.requests();
    for (name, _) in &scenarios {
        if *name == "child" {
            continue;
        }
        let trial = bench.trial(name, "only");
        let main = bench.requests(name);
        complaints.check_model(name, &trial, &main);
        let child = bench.server.requests_of("child");
        let (mut session, mut aside) = (main, Vec::new());
        if *name == "delegated" {
            if child.is_empty() {
                complaints.add(name, "no sub-agent has asked the model", &trial);
            }
            session.extend(child);
        }
        for request in all.iter().filter(|request| is_aside_of(request, name)) {
            if request.mentions(PRINTED) {
                session.push(request.clone());
            } else {
                aside.push(request.clone());
            }
        }
        complaints.check_figures(name, &trial, &session, &aside);
    }
    complaints.expect_none();
    bench.project.assert_nothing_left();
}

fn has_sub_agents(agent: RealAgent) -> bool {
    matches!(agent.vocabulary, Vocabulary::Tools(tools) if tools.delegate.is_some())
}

/// The conversation of a sub-agent, with another model than the one of the main conversation.
fn child() -> Scenario {
    Scenario::new([
        Turn::calling("Writing.", Action::write("fib.txt", "0 1 1 2 3 5 8\n")),
        Turn::saying("It is written."),
    ])
    .answered_by("model-of-the-child")
}

/// Whether a request belongs to this scenario's session without being one of its turns: a title, a summary.
fn is_aside_of(request: &Request, scenario: &str) -> bool {
    request.scenario.is_none() && request.mentions(&format!("scenario:{scenario}"))
}
