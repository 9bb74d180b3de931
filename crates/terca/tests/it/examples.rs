//! The examples that stand in the repository do what they say.

use crate::common::example::{example, examples, run_commands_of_readme};

fn mean_score(results: &serde_json::Value, experiment: &str) -> f64 {
    let trials = results["trials"].as_array().unwrap();
    let scores: Vec<f64> = trials
        .iter()
        .filter(|trial| trial["experiment"] == experiment)
        .map(|trial| trial["score"].as_f64().unwrap())
        .collect();
    assert!(!scores.is_empty(), "no trials of {experiment}");
    scores.iter().sum::<f64>() / scores.len() as f64
}

#[test]
fn every_example_is_valid() {
    let mut checked = Vec::new();
    for entry in examples().read_dir_utf8().unwrap().map(Result::unwrap) {
        if entry.path().join("terca.yaml").is_file() {
            let outcome = example(entry.file_name()).terca(&["check"]);
            assert_eq!(outcome.status, 0, "{}: {}", entry.path(), outcome.stderr);
            assert_eq!(outcome.stderr, "", "{}: not a warning either", entry.path());
            assert!(
                entry.path().join("README.md").is_file(),
                "{} has no README.md",
                entry.path()
            );
            checked.push(entry.file_name().to_owned());
        }
    }
    assert!(
        checked.iter().any(|name| name == "quickstart"),
        "{checked:?}"
    );
}

#[test]
fn the_rules_of_quickstart_help() {
    let project = example("quickstart");
    let outcome = project.terca(&["-n", "12"]);
    assert!(
        [0, 1].contains(&outcome.status),
        "{}{}",
        outcome.stdout,
        outcome.stderr
    );
    let results = project.results();
    assert_eq!(results["summary"]["errors"], 0, "{}", outcome.stdout);
    let (with, without) = (
        mean_score(&results, "with-rules"),
        mean_score(&results, "without-rules"),
    );
    assert!(with > without, "with rules {with}, without {without}");
    for trial in results["trials"].as_array().unwrap() {
        let delivered = trial["delivery"]["rules"].as_array().unwrap().len();
        assert_eq!(
            delivered == 1,
            trial["experiment"] == "with-rules",
            "{trial}"
        );
        assert!(trial["stats"]["inputTokens"].is_u64(), "{trial}");
    }
    project.assert_nothing_left();
}

#[test]
fn the_evals_of_quickstart_are_sound() {
    let project = example("quickstart");
    project
        .terca(&["--agent", "oracle", "-n", "1"])
        .expect_status(0);
    project
        .terca(&["--agent", "nop", "-n", "1"])
        .expect_status(1);
    assert_eq!(
        project.results()["summary"]["passed"],
        0,
        "nothing passes for nothing"
    );
    assert_eq!(project.results()["summary"]["errors"], 0);
}

#[test]
fn every_command_of_a_readme_works() {
    for (name, suite, eval, least) in [
        ("quickstart", "quickstart", "greeting", 5),
        ("proven", "proven", "table", 1),
        ("ci", "quickstart", "", 5),
    ] {
        run_commands_of_readme(name, suite, eval, least);
    }
}
