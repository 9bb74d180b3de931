//! What holds for Continue's cn, which tries a service that is down for more than two minutes.

use serde_json::{Value, json};
use terca_testkit::agents::CONTINUE;
use terca_testkit::{Action, Fault, Scenario, Turn};

use crate::real::{Bench, assert_error, assert_passed, assert_used, tests_of};

tests_of! {
    "needs Node and npm, and takes long: scripts/test --everything";
    CONTINUE [
        works_in_a_hostile_place mcp_servers_are_offered_called_and_missed prompts_arrive_as_written
        a_dead_service_is_no_failure figures_and_models_are_those_served
        mcp_claims_agree_with_the_server long_rules_arrive_or_are_not_claimed
    ]
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test --everything"]
fn trouble_is_told_from_failure() {
    let sleeper = Scenario::new([Turn::calling(
        "Waiting.",
        Action::run("echo on > asleep.txt; sleep 300"),
    )]);
    let scenarios = [
        (
            "refused",
            Scenario::saying("Done.").fault(Fault::always(401)),
        ),
        (
            "throttled",
            Scenario::saying("Done.").fault(Fault::always(429)),
        ),
        ("down", Scenario::saying("Done.").fault(Fault::always(500))),
        (
            "recovered",
            Scenario::two_tools().fault(Fault::first(1, 500)),
        ),
        ("asleep", sleeper),
    ];
    let bench = Bench::new(CONTINUE, &scenarios);
    let evals: Vec<Value> = scenarios
        .iter()
        .map(|(name, _)| {
            let seconds = if *name == "asleep" { 40 } else { 400 };
            json!({"name": name, "prompt": format!("Go on. scenario:{name}"), "timeoutSeconds": seconds})
        })
        .collect();
    let bench = bench.suite(&json!([{"name": "only"}]), &json!(evals));
    let refused = bench.run_refused_and_others("refused");

    for (eval, kind) in [
        ("refused", "auth"),
        ("throttled", "rateLimit"),
        ("down", "modelApi"),
    ] {
        let trial = match eval {
            "refused" => refused.clone(),
            eval => bench.trial(eval, "only"),
        };
        assert_error(&trial, kind);
        assert_eq!(trial["timedOut"], false, "{eval} ends by itself");
        assert!(
            !bench.requests(eval).is_empty(),
            "{eval}: the model was asked"
        );
    }
    let trial = bench.trial("recovered", "only");
    assert_passed(&trial);
    assert_used(&trial, &scenarios[3].1, 3, 2);
    assert_eq!(bench.requests("recovered").len(), 4, "one was refused");

    let trial = bench.trial("asleep", "only");
    assert_eq!(
        (&trial["status"], &trial["timedOut"]),
        (&json!("unverified"), &json!(true)),
        "{trial:#}"
    );
    let folder = bench.project.run_dir().join(trial["dir"].as_str().unwrap());
    let kept = bench.project.workspace_of(&folder).join("asleep.txt");
    assert!(kept.exists(), "the tool had begun");
    bench.project.assert_nothing_left();
}

/// A skill is offered to the model.
#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test --everything"]
fn skills_are_offered() {
    let bench = Bench::new(CONTINUE, &[("skilled", Scenario::saying("Done."))]);
    let skill =
        "---\nname: whistling\ndescription: How to whistle THE-TUNE.\n---\nPurse your lips.\n";
    let bench = bench.file("_skills/whistling/SKILL.md", skill).suite(
        &json!([{"name": "control"}, {"name": "skilled", "skills": ["_skills/whistling"]}]),
        &json!([{"name": "skilled", "prompt": "Whistle. scenario:skilled"}]),
    );
    bench.run().expect_status(0);
    let requests = bench.requests("skilled");
    assert_eq!(requests.len(), 2);
    assert_eq!(
        requests
            .iter()
            .filter(|request| request.mentions("THE-TUNE"))
            .count(),
        1
    );
}
