//! The cost of trials whose agents report none: from tokens and prices.

use serde_json::{Value, json};
use terca_report::html::unpacked;
use terca_testkit::{Project, Scenario};

use crate::common::project;
use crate::gateway::{METER, model, suite};

const PRICES: &str = "prices: {small: {input: 10, cachedInput: 1, output: 100}}\n";

fn cost(trial: &Value) -> (&Value, &Value) {
    (&trial["stats"]["costUsd"], &trial["stats"]["costSource"])
}

/// A suite whose agent reports these figures.
fn reporting(stats: &str, more: &str) -> Project {
    let agent = format!("#!/bin/sh\necho '{stats}' >\"$TERCA_STATS_FILE\"\n");
    project().executable("agent.sh", &agent).file(
        "terca.yaml",
        format!(
            "{more}environments:\n  - name: mine\n    agent: {{name: command, command: ./agent.sh}}\n    model: gpt-5\n\
             evals:\n  - name: task\n    prompt: do it\n    tests: [{{commandSuccess: \"true\"}}]\n"
        ),
    )
}

#[test]
fn what_passed_the_gateway_has_a_cost_by_the_suites_prices() {
    let model = model(&[(
        "one",
        Scenario::saying("Hello.").answered_by("small-2026-01-02"),
    )]);
    let more = format!("{METER}{PRICES}");
    let project = suite(&model, "ask one; ask one", &more);
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    // Twice 600 fresh, 400 cached and 57 written tokens.
    let expected = 2.0 * (600.0 * 10.0 + 400.0 + 57.0 * 100.0) / 1e6;
    assert_eq!(
        cost(&trial),
        (&json!(expected), &json!("computed")),
        "{trial:#}"
    );
    assert_eq!(trial["wire"]["costUsd"], expected);
    assert_eq!(project.results()["summary"]["spent"]["costUsd"], expected);
    project
        .terca(&["report", "--jsonl", "rows.jsonl", "--html", "page.html"])
        .expect_status(0);
    let row: Value = serde_json::from_str(project.read("rows.jsonl").trim()).unwrap();
    assert_eq!(row["costSource"], "computed");
    assert!(unpacked(&project.read("page.html")).contains("(computed)"));
}

#[test]
fn the_budget_counts_what_was_computed() {
    let model = model(&[("one", Scenario::saying("Hello.").answered_by("small"))]);
    let more = format!("{METER}{PRICES}repetitions: 5\n");
    let project = suite(&model, "ask one", &more);
    let run = project
        .terca(&["--budget-usd", "0.03", "-c", "1"])
        .expect_status(1);
    assert!(
        run.stdout.contains("stopped by the budget: $0.0"),
        "{}",
        run.stdout
    );
    assert!(!run.stderr.contains("not known"), "{}", run.stderr);
    assert_eq!(project.results()["summary"]["pending"], 2);
}

#[test]
fn a_model_without_a_price_and_an_answer_without_figures_leave_it_unknown() {
    let scenario = Scenario::saying("Hello.").answered_by("unheard-of");
    let model = model(&[("one", scenario)]);
    let project = suite(&model, "ask one", METER);
    let run = project.terca(&["--budget-usd", "1"]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(cost(&trial), (&Value::Null, &Value::Null));
    assert_eq!(trial["wire"]["costUsd"], Value::Null);
    assert!(
        run.stderr.contains("the cost of 1 trial is not known"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_agents_own_cost_is_kept_beside_the_computed_one() {
    let model = model(&[("one", Scenario::saying("Hello.").answered_by("small"))]);
    let more = format!("{METER}{PRICES}");
    let script = "ask one; echo '{\"costUsd\": 7.5}' >\"$TERCA_STATS_FILE\"";
    let project = suite(&model, script, &more);
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(cost(&trial), (&json!(0.0121), &json!("computed")));
    assert_eq!(trial["reported"]["costUsd"], 7.5);
}

#[test]
fn without_the_gateway_the_agents_own_tokens_are_enough() {
    let split = r#"{"inputTokens": 1000000, "cachedInputTokens": 400000, "outputTokens": 10000}"#;
    let project = reporting(split, "");
    project.terca(&[]).expect_status(0);
    assert_eq!(
        cost(&project.only_trial()),
        (&json!(0.9), &json!("computed"))
    );

    let unsplit = r#"{"inputTokens": 1000000, "outputTokens": 10000}"#;
    let project = reporting(unsplit, "");
    project.terca(&[]).expect_status(0);
    assert_eq!(cost(&project.only_trial()), (&Value::Null, &Value::Null));

    let project = reporting(split, "prices: {gpt-5: null}\n");
    project.terca(&[]).expect_status(0);
    assert_eq!(
        cost(&project.only_trial()),
        (&Value::Null, &Value::Null),
        "taken away"
    );
}

#[test]
fn a_price_that_is_none_is_refused_with_its_place() {
    let project = reporting("{}", "prices: {gpt-5: {input: -1}}\n");
    let run = project.terca(&["check"]).expect_status(2);
    assert!(run.stderr.contains("terca.yaml:1"), "{}", run.stderr);
    assert!(run.stderr.contains("output"), "{}", run.stderr);
}
