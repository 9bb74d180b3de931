//! What a run says about its experiments, in a suite whose truth is known.

use crate::counted::suite;
use serde_json::Value;
use terca_core::analysis::results::Results;
use terca_core::run::event::Event;
use terca_core::run::state::RunState;

/// How many of five trials pass without and with the rules, eval by eval.
const PASSES: [(u32, u32); 8] = [
    (3, 5),
    (2, 4),
    (4, 5),
    (3, 3),
    (2, 5),
    (3, 4),
    (5, 5),
    (1, 3),
];

#[test]
fn a_known_effect_is_found() {
    let project = suite(&PASSES);
    let outcome = project.terca(&["--format", "plain"]).expect_status(1);
    let results = project.results();
    let comparison = &results["summary"]["comparisons"][0];
    assert_eq!(
        results["summary"]["comparisons"].as_array().unwrap().len(),
        1
    );
    assert_eq!(comparison["verdict"], "better");
    // 34 of 40 against 23 of 40.
    let number = |value: &Value| (value.as_f64().unwrap() * 1e6).round() / 1e6;
    assert_eq!(number(&comparison["passRate"]["value"]), 0.275);
    assert_eq!(number(&comparison["costUsd"]["value"]), 1.14);
    let sentence = comparison["sentence"].as_str().unwrap();
    let expected = "BETTER on these 8 evals (script): 85 % of trials passed with `with-rules`, 58 % with `control` (+28 \
                    points, 95 % interval +9 … +46; luck alone would do this once in 110 runs). Other tasks like these \
                    should gain too (+9 … +46). `with-rules` cost 1.14 × as much in these trials.";
    assert_eq!(sentence, expected);
    let said = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said(&outcome.stdout).contains(expected),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stdout
            .contains("rules `AGENTS.md`: installed 40/40"),
        "{}",
        outcome.stdout
    );
    let shown = project.terca(&["show"]).expect_status(0);
    assert!(said(&shown.stdout).contains(expected), "{}", shown.stdout);
}

#[test]
fn the_summary_is_the_fold_of_the_journal() {
    let project = suite(&PASSES[..2]);
    project.terca(&[]).expect_status(1);
    let journal = project.journal();
    let events: Vec<Event> = journal
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let folded = serde_json::to_value(Results::of(&RunState::fold(&events))).unwrap();
    assert_eq!(
        folded["summary"]["comparisons"].as_array().unwrap().len(),
        1
    );
    assert_eq!(folded, project.results_of_fold());
}
