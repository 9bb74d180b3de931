//! Rules are looked for in the requests to models that pass through the gateway.

use serde_json::{Value, json};
use terca_report::html::unpacked;
use terca_testkit::{ModelServer, Project, Scenario};

use crate::gateway::{METER, model, suite};

const RULES: &str = "# Rules\n\n- Use tabs.\n- Say WHISTLE at the end.\n";

/// Its agent sends its rules where `HEED` is set, each time that it asks.
fn project(model: &ModelServer, more: &str) -> Project {
    let script = "for turn in 1 2; do ask \"one ${HEED:+$(tr '\\n' ' ' <AGENTS.md)}\"; done";
    let experiments = "experiments:\n  - name: base\n  - name: heeded\n    rules: _RULES.md\n    env: {HEED: \"1\"}\n  - name: lost\n    rules: _RULES.md\n";
    suite(model, script, &format!("{more}{experiments}")).file("_RULES.md", RULES)
}

fn trial(project: &Project, experiment: &str) -> Value {
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    let mut trials = trials.iter();
    let found = trials.find(|trial| trial["experiment"] == experiment);
    found.unwrap().clone()
}

#[test]
fn rules_are_proven_sent_in_one_arm_and_not_in_another() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    let project = project(&model, METER);
    let run = project.terca(&[]).expect_status(0);
    let sent = |experiment: &str| trial(&project, experiment)["wire"]["sent"].clone();
    assert_eq!(
        sent("heeded"),
        json!([{"part": "rules", "name": "AGENTS.md", "requests": 2, "of": 2}])
    );
    assert_eq!(
        sent("lost"),
        json!([{"part": "rules", "name": "AGENTS.md", "requests": 0, "of": 2}])
    );
    assert_eq!(sent("base"), Value::Null, "there is nothing to look for");
    let kept = |experiment: &str| {
        let dir = trial(&project, experiment)["dir"].clone();
        let file = format!("{}/artifacts/rules.md", dir.as_str().unwrap());
        std::fs::read_to_string(project.run_dir().join(file)).ok()
    };
    assert_eq!(kept("heeded").as_deref(), Some(RULES));
    assert_eq!(kept("base"), None);
    let variants = &project.results()["summary"]["variants"];
    assert_eq!(
        variants[1]["delivery"]["sent"],
        json!([{"part": "rules", "name": "AGENTS.md", "trials": 1, "trialsWithout": 0, "requests": 2, "of": 2}]),
        "{variants:#}"
    );

    let flag = "rules `AGENTS.md`: in no request to a model in 1/1 trials with `lost`";
    project
        .terca(&["report", "--markdown", "report.md", "--html", "page.html"])
        .expect_status(0);
    let markdown = project.read("report.md");
    let markdown = markdown.replace("<code>", "`").replace("</code>", "`");
    for text in [&run.stdout, &markdown] {
        assert!(
            text.contains("rules `AGENTS.md`: sent 2/2 requests"),
            "{text}"
        );
        assert!(!text.contains("installed"), "{text}");
    }
    for text in [
        run.stdout.split_whitespace().collect::<Vec<_>>().join(" "),
        markdown,
    ] {
        assert!(text.contains(flag), "{text}");
    }
    let page = unpacked(&project.read("page.html"));
    assert!(page.contains(", sent 2/2 requests"));
    assert!(page.contains(", sent 0/2 requests"));
}

#[test]
fn without_the_gateway_they_are_said_to_be_installed() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    let project = project(&model, "");
    let run = project.terca(&[]).expect_status(0);
    assert!(
        run.stdout.contains("rules `AGENTS.md`: installed 1/1"),
        "{}",
        run.stdout
    );
}

#[test]
fn required_rules_that_are_in_no_request_are_an_error() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    let project = project(&model, "requireDelivery: true\nretries: 2\n");
    project.terca(&[]).expect_status(3);
    let lost = trial(&project, "lost");
    assert_eq!(lost["error"]["kind"], "delivery", "{lost:#}");
    assert_eq!(
        lost["error"]["message"],
        "not in any of 2 requests to a model: rules `AGENTS.md`"
    );
    assert_eq!(
        lost["attempts"], 1,
        "another attempt would end the same way"
    );
    assert_eq!(trial(&project, "heeded")["status"], "passed");
    assert_eq!(trial(&project, "base")["status"], "passed");
}

#[test]
fn a_requirement_that_cannot_be_met_stops_before_the_agent() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    // The suite itself says so.
    let refused = project(&model, "gateway: \"off\"\nrequireDelivery: true\n");
    let outcome = refused.terca(&["-x", "heeded"]).expect_status(2);
    assert!(
        outcome
            .stderr
            .contains("`requireDelivery` needs the gateway"),
        "{}",
        outcome.stderr
    );
    // Only the agent's sign-in shows it.
    let project = project(&model, "requireDelivery: true\n");
    let yaml = project.read("terca.yaml");
    let without_key = yaml.lines().filter(|line| !line.starts_with("env: "));
    let without_key: Vec<&str> = without_key.collect();
    let project = project.file("terca.yaml", without_key.join("\n") + "\n");
    project.terca(&["-x", "heeded"]).expect_status(3);
    let stopped = project.only_trial();
    assert_eq!(stopped["error"]["kind"], "delivery");
    assert_eq!(
        stopped["error"]["message"],
        "`requireDelivery` cannot be met: the gateway is off"
    );
    assert!(model.requests().is_empty());
}
