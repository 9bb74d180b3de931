//! The examples that stand in the repository do what they say.

use crate::common::example::{example, examples, run_commands_of_readme};

#[test]
fn every_example_is_valid() {
    let mut checked = Vec::new();
    for entry in examples().read_dir_utf8().unwrap().map(Result::unwrap) {
        if entry.path().join("terca.yaml").is_file() {
            // `check` also looks for the agents, which are not on every machine.
            let outcome = example(entry.file_name()).terca(&["--dry-run"]);
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

/// The README shows this run to people who see Terca for the first time.
#[test]
fn the_rules_of_quickstart_help() {
    let project = example("quickstart");
    let outcome = project.terca(&["--fail-under", "0.5"]).expect_status(0);
    let printed = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(!printed.contains("ermission denied"), "{printed}");
    let results = project.results();
    let comparison = &results["summary"]["comparisons"][0];
    assert_eq!(comparison["verdict"], "better", "{comparison}");
    let trials = results["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 8 * 4 * 2);
    for (experiment, expected) in [("without-rules", 8), ("with-rules", 30)] {
        let passed = trials
            .iter()
            .filter(|trial| trial["experiment"] == experiment && trial["status"] == "passed");
        assert_eq!(passed.count(), expected, "{experiment}: {printed}");
    }
    for trial in trials {
        let delivered = trial["delivery"]["rules"].as_array().unwrap().len();
        assert_eq!(
            delivered == 1,
            trial["experiment"] == "with-rules",
            "{trial}"
        );
    }
    let tokens = |experiment: &str| -> u64 {
        let of_it = trials
            .iter()
            .filter(|trial| trial["experiment"] == experiment);
        of_it
            .map(|trial| {
                let count = |key: &str| trial["stats"][key].as_u64().unwrap();
                count("inputTokens") + count("outputTokens")
            })
            .sum()
    };
    let ratio = tokens("with-rules") as f64 / tokens("without-rules") as f64;
    assert!((1.8..2.0).contains(&ratio), "{ratio}");
    // Every other run ends the same, whatever its order.
    let ends = |results: &serde_json::Value| -> Vec<[serde_json::Value; 3]> {
        let trials = results["trials"].as_array().unwrap();
        trials
            .iter()
            .map(|trial| {
                let stats = &trial["stats"];
                [
                    &trial["score"], &stats["inputTokens"], &stats["outputTokens"],
                ]
                .map(Clone::clone)
            })
            .collect()
    };
    project
        .terca(&["--fail-under", "0.5", "--seed", "5"])
        .expect_status(0);
    assert_eq!(ends(&project.results()), ends(&results));
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
        ("acme-sdk", "acme-sdk", "001-retry", 3),
        ("proven", "proven", "table", 1),
        ("ci", "quickstart", "", 5),
    ] {
        run_commands_of_readme(name, suite, eval, least);
    }
}
