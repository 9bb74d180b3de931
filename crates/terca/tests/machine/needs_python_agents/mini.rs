//! What holds for mini-swe-agent, which ends by a command of its own and has no rules.

use serde_json::{Value, json};
use terca_testkit::agents::MINI;
use terca_testkit::{Action, Fault, Scenario, Turn};

use crate::real::{Bench, LEAK, assert_error, assert_passed, assert_used, make_hostile, tests_of};

tests_of! {
    "needs Python, and takes long: scripts/test --everything";
    MINI [a_dead_service_is_no_failure]
}

fn done() -> Turn {
    Turn::calling(
        "Done.",
        Action::run("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
    )
}

fn two_tools() -> Scenario {
    Scenario::new([
        Turn::calling(
            "Writing the file.",
            Action::write("fib.txt", "0 1 1 2 3 5 8\n"),
        ),
        Turn::calling(
            "Looking around.",
            Action::run("cat fib.txt; env; git rev-parse --show-toplevel"),
        ),
        done(),
    ])
}

#[test]
#[ignore = "needs Python, and takes long: scripts/test --everything"]
fn works_in_a_hostile_place() {
    let scenario = two_tools();
    let bench = Bench::new(MINI, &[("two-tools", scenario.clone())]);
    // The workspace has a file of the name of the agent's own settings.
    let bench = bench
        .file(
            "_mini.yaml",
            &format!("agent: {{system_template: {LEAK}}}\n"),
        )
        .suite(
            &json!([{"name": "only"}]),
            &json!([{
                "name": "fib",
                "prompt": "Write the numbers, please. scenario:two-tools",
                "before": [{"copy": {"_mini.yaml": "mini.yaml"}}],
                "tests": [{"fileContains": {"path": "fib.txt", "text": "0 1 1 2 3 5 8"}}],
            }]),
        );
    make_hostile(&bench.project);
    let settings = bench.project.home().join(".config/mini-swe-agent/.env");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(
        settings,
        format!("MSWEA_MODEL_NAME={LEAK}\nLEAKED_BY_MINI=1\n"),
    )
    .unwrap();
    bench.run().expect_status(0);

    let trial = bench.trial("fib", "only");
    assert_passed(&trial);
    assert_used(&trial, &scenario, 3, 3);
    assert_eq!(trial["agentVersion"], MINI.version());
    let requests = bench.requests("two-tools");
    assert_eq!((requests.len(), bench.server.requests().len()), (3, 3));
    assert!(
        requests[2].mentions("GIT_CEILING_DIRECTORIES="),
        "what the command printed went back"
    );
    for request in requests {
        assert_eq!(request.tools(), ["bash"]);
        assert!(
            !request.mentions(LEAK),
            "something of the neighbourhood got into a request"
        );
        assert!(
            !request.mentions("TERCA_TRIAL_DIR"),
            "the agent may not know which trial it is in"
        );
    }
    let kept = bench.project.run_dir().join(trial["dir"].as_str().unwrap());
    let changes = std::fs::read_to_string(kept.join("changes.diff")).unwrap();
    let changed: Vec<&str> = changes
        .lines()
        .filter(|line| line.starts_with("+++ "))
        .collect();
    assert_eq!(changed, ["+++ b/fib.txt"]);
    bench.project.assert_nothing_left();
}

#[test]
#[ignore = "needs Python, and takes long: scripts/test --everything"]
fn trouble_is_told_from_failure() {
    let sleeper = Scenario::new([Turn::calling(
        "Waiting.",
        Action::run("echo on > asleep.txt; sleep 300"),
    )]);
    let scenarios = [
        ("refused", two_tools().fault(Fault::always(401))),
        ("throttled", two_tools().fault(Fault::always(429))),
        ("down", two_tools().fault(Fault::always(500))),
        ("recovered", two_tools().fault(Fault::first(1, 500))),
        ("asleep", sleeper.clone()),
    ];
    let bench = Bench::new(MINI, &scenarios);
    let evals: Vec<Value> = scenarios
        .iter()
        .map(|(name, _)| {
            let seconds = if *name == "asleep" { 40 } else { 240 };
            json!({"name": name, "prompt": format!("Go on. scenario:{name}"), "timeoutSeconds": seconds})
        })
        .collect();
    // It ends a command after half a minute otherwise.
    let bench = bench.suite(
        &json!([{"name": "only", "config": {"environment": {"timeout": 200}}}]),
        &json!(evals),
    );
    let refused = bench.run_refused_and_others("refused");

    for (eval, kind, asked) in [
        ("refused", "auth", 1),
        ("throttled", "rateLimit", 4),
        ("down", "modelApi", 4),
    ] {
        let trial = match eval {
            "refused" => refused.clone(),
            eval => bench.trial(eval, "only"),
        };
        assert_error(&trial, kind);
        assert_eq!(trial["timedOut"], false, "{eval} ends by itself");
        assert_eq!(bench.requests(eval).len(), asked, "{eval}");
    }
    let trial = bench.trial("recovered", "only");
    assert_passed(&trial);
    assert_used(&trial, &scenarios[3].1, 3, 3);
    assert_eq!(bench.requests("recovered").len(), 4, "one was refused");

    let trial = bench.trial("asleep", "only");
    assert_eq!(
        (&trial["status"], &trial["timedOut"]),
        (&json!("unverified"), &json!(true)),
        "{trial:#}"
    );
    assert_used(&trial, &sleeper, 1, 1);
    let folder = bench.project.run_dir().join(trial["dir"].as_str().unwrap());
    let kept = bench.project.workspace_of(&folder).join("asleep.txt");
    assert!(kept.exists(), "the tool had begun");
    bench.project.assert_nothing_left();
}

/// Longer than an argument may be, too.
#[test]
#[ignore = "needs Python, and takes long: scripts/test --everything"]
fn prompts_arrive_as_written() {
    let filler: String = (0..5000)
        .map(|n| format!("Line {n} of a prompt that is very long indeed.\n"))
        .collect();
    let prompts = [
        ("dash", "--help me with - a list. scenario:dash".to_owned()),
        (
            "slash",
            "/exit {{ task }} {% raw %} scenario:slash".to_owned(),
        ),
        (
            "at",
            "@someone said `$HOME` and \"äöü\" 🦀. scenario:at".to_owned(),
        ),
        ("long", format!("{filler}And that was all. scenario:long")),
    ];
    let scenarios = prompts
        .each_ref()
        .map(|(name, _)| (*name, Scenario::new([done()])));
    let bench = Bench::new(MINI, &scenarios);
    let evals: Vec<Value> = prompts
        .iter()
        .map(|(name, prompt)| json!({"name": name, "prompt": prompt}))
        .collect();
    let bench = bench.suite(&json!([{"name": "only"}]), &json!(evals));
    bench.run().expect_status(0);
    for (name, prompt) in &prompts {
        assert_used(&bench.trial(name, "only"), &scenarios[0].1, 1, 1);
        let requests = bench.requests(name);
        assert_eq!(requests.len(), 1, "{name}");
        let said = requests[0].said();
        assert!(
            said.iter().any(|text| text.contains(prompt)),
            "{name} did not arrive: {said:.300?}"
        );
    }
}
