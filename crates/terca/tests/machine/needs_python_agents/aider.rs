//! What holds for aider, which has no tools: it is asked once and edits by what is said.

use std::time::Duration;

use serde_json::{Value, json};
use terca_testkit::agents::AIDER;
use terca_testkit::{Action, Fault, Scenario, Turn};

use crate::real::{
    Bench, LEAK, RULE, assert_error, assert_passed, assert_used, make_hostile, tests_of,
};

tests_of! {
    "needs Python, and takes long: scripts/test --everything";
    AIDER [a_dead_service_is_no_failure figures_and_models_are_those_served long_rules_arrive_or_are_not_claimed]
}

/// In an empty workspace and in a repository, with rules and without: the edit, and nothing besides.
#[test]
#[ignore = "needs Python, and takes long: scripts/test --everything"]
fn works_in_a_hostile_place() {
    let scenario = Scenario::new([Turn::calling(
        "Writing the file.",
        Action::write("fib.txt", "0 1 1 2 3 5 8\n"),
    )]);
    let scenarios = [
        ("empty", scenario.clone()),
        ("repository", scenario.clone()),
    ];
    let bench = Bench::new(AIDER, &scenarios);
    let written = json!({"fileContains": {"path": "fib.txt", "text": "0 1 1 2 3 5 8"}});
    let bench = bench.file("_rules.md", RULE).file("_greet.py", "def greet(name):\n    return name\n").suite(
        &json!([{"name": "control"}, {"name": "ruled", "rules": "_rules.md"}]),
        &json!([
            {"name": "empty", "prompt": "Write the numbers, please. scenario:empty", "tests": [written]},
            {
                "name": "repository",
                "prompt": "Write the numbers, please. scenario:repository",
                "before": [
                    {"copy": {"_greet.py": "greet.py"}},
                    {"command": "git init --quiet && git add greet.py && cp .git/config $HOME/before"},
                ],
                "tests": [
                    written,
                    {"commandSuccess": "! git rev-parse --verify --quiet HEAD"},
                    {"commandSuccess": "cmp .git/config $HOME/before"},
                ],
            },
        ]),
    );
    make_hostile(&bench.project);
    for dir in [bench.project.dir(), bench.project.home()] {
        std::fs::write(
            dir.join(".aider.conf.yml"),
            format!("model: openai/{LEAK}\nread: AGENTS.md\n"),
        )
        .unwrap();
    }
    bench.run().expect_status(0);

    for (eval, experiment) in [
        ("empty", "control"),
        ("empty", "ruled"),
        ("repository", "control"),
        ("repository", "ruled"),
    ] {
        let trial = bench.trial(eval, experiment);
        assert_passed(&trial);
        assert_used(&trial, &scenario, 1, 0);
        assert_eq!(trial["agentVersion"], AIDER.version());
        let kept = bench.project.run_dir().join(trial["dir"].as_str().unwrap());
        let mut files: Vec<String> = std::fs::read_dir(bench.project.workspace_of(&kept))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let expected: &[&str] = match (eval, experiment) {
            ("empty", "control") => &["fib.txt"],
            ("empty", _) => &["AGENTS.md", "fib.txt"],
            (_, "control") => &[".git", "fib.txt", "greet.py"],
            _ => &[".git", "AGENTS.md", "fib.txt", "greet.py"],
        };
        assert_eq!(files, expected, "{eval}/{experiment}");
        let changes = std::fs::read_to_string(kept.join("changes.diff")).unwrap();
        let changed: Vec<&str> = changes
            .lines()
            .filter(|line| line.starts_with("+++ "))
            .collect();
        assert_eq!(changed, ["+++ b/fib.txt"], "{eval}/{experiment}");
    }
    for (name, maps) in [("empty", 0), ("repository", 2)] {
        let requests = bench.requests(name);
        assert_eq!(requests.len(), 2, "{name}: one for each experiment");
        assert_eq!(
            requests
                .iter()
                .filter(|request| request.mentions(RULE))
                .count(),
            1,
            "{name}"
        );
        let mapped = requests
            .iter()
            .filter(|request| request.mentions("def greet(name)"))
            .count();
        assert_eq!(mapped, maps, "{name}: it knows of files through git");
    }
    for request in bench.server.requests() {
        assert_eq!(request.status, 200);
        assert!(
            !request.mentions(LEAK),
            "something of the neighbourhood got into a request"
        );
    }
    bench.project.assert_nothing_left();
}

/// Its exit status is 0 in every case.
#[test]
#[ignore = "needs Python, and takes long: scripts/test --everything"]
fn trouble_is_told_from_failure() {
    let late = Scenario::saying("Late.").delay(Duration::from_secs(300));
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
            Scenario::saying("Done.").fault(Fault::first(1, 500)),
        ),
        ("late", late),
    ];
    let bench = Bench::new(AIDER, &scenarios);
    let evals: Vec<Value> = scenarios
        .iter()
        .map(|(name, _)| {
            // It goes on trying for more than a minute.
            let seconds = if *name == "late" { 40 } else { 240 };
            json!({"name": name, "prompt": format!("Go on. scenario:{name}"), "timeoutSeconds": seconds})
        })
        .collect();
    let bench = bench.suite(&json!([{"name": "only"}]), &json!(evals));
    let refused = bench.run_refused_and_others("refused");

    for (eval, kind, asked) in [
        ("refused", "auth", 1),
        ("throttled", "rateLimit", 9),
        ("down", "modelApi", 9),
    ] {
        let trial = match eval {
            "refused" => refused.clone(),
            eval => bench.trial(eval, "only"),
        };
        assert_error(&trial, kind);
        assert_eq!(
            (&trial["timedOut"], &trial["exitCode"]),
            (&json!(false), &json!(0)),
            "{trial:#}"
        );
        assert_eq!(
            trial["stats"]["requests"],
            Value::Null,
            "nobody has answered"
        );
        assert_eq!(bench.requests(eval).len(), asked, "{eval}");
    }
    let trial = bench.trial("recovered", "only");
    assert_passed(&trial);
    assert_used(&trial, &scenarios[3].1, 1, 0);
    assert_eq!(bench.requests("recovered").len(), 2, "one was refused");

    let trial = bench.trial("late", "only");
    assert_error(&trial, "modelApi");
    assert_eq!(trial["timedOut"], true, "{trial:#}");
    assert_eq!(
        trial["stats"]["inputTokens"],
        Value::Null,
        "what is not known is not 0"
    );
    assert_eq!(
        bench.requests("late").len(),
        1,
        "it was waiting for the model"
    );
    bench.project.assert_nothing_left();
}

/// Commands of aider's own and of the shell are not obeyed.
#[test]
#[ignore = "needs Python, and takes long: scripts/test --everything"]
fn prompts_arrive_as_written() {
    let filler: String = (0..5000)
        .map(|n| format!("Line {n} of a prompt that is very long indeed.\n"))
        .collect();
    let prompts = [
        ("dash", "--help me with - a list. scenario:dash".to_owned()),
        ("slash", "/exit is no command. scenario:slash".to_owned()),
        ("bang", "!touch obeyed.txt scenario:bang".to_owned()),
        (
            "at",
            "@someone said `$HOME` and \"äöü\" 🦀. scenario:at".to_owned(),
        ),
        ("long", format!("{filler}And that was all. scenario:long")),
    ];
    let scenarios = prompts
        .each_ref()
        .map(|(name, _)| (*name, Scenario::saying("Understood.")));
    let bench = Bench::new(AIDER, &scenarios);
    let evals: Vec<Value> = prompts
        .iter()
        .map(|(name, prompt)| json!({"name": name, "prompt": prompt, "tests": [{"commandSuccess": "! test -e obeyed.txt"}]}))
        .collect();
    let bench = bench.suite(&json!([{"name": "only"}]), &json!(evals));
    bench.run().expect_status(0);
    for (name, prompt) in &prompts {
        assert_used(&bench.trial(name, "only"), &scenarios[0].1, 1, 0);
        let requests = bench.requests(name);
        assert_eq!(requests.len(), 1, "{name}");
        let said = requests[0].said();
        assert!(
            said.iter().any(|text| text.contains(prompt)),
            "{name} did not arrive: {said:.300?}"
        );
    }
    assert_eq!(
        bench.server.requests().len(),
        prompts.len(),
        "nothing was asked on the side"
    );
}
