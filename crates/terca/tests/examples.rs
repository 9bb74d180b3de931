//! The examples that stand in the repository do what they say.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so and ends"
)]

mod common;
#[path = "common/example.rs"]
mod example;

use example::{example, examples};

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

/// The commands in the blocks of a README, without their comments.
fn commands(readme: &str) -> Vec<String> {
    let blocks = readme
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    let lines = blocks
        .flat_map(str::lines)
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    lines
        .filter(|line| line.split(' ').next() == Some("terca"))
        .map(str::to_owned)
        .collect()
}

/// What a README has its reader type, run by nobody's money: agents are replaced by the solutions, and one eval is enough.
#[test]
fn every_command_of_a_readme_works() {
    for (name, suite, eval, least) in [
        ("quickstart", "quickstart", "greeting", 5),
        ("valibot", "valibot", "signup-form", 6),
        ("proven", "proven", "table", 1),
        ("basic-js", "basic-js", "fib", 2),
        ("ci", "quickstart", "", 5),
    ] {
        let project = example(suite);
        let readme = std::fs::read_to_string(examples().join(name).join("README.md")).unwrap();
        let commands = commands(&readme);
        assert!(commands.len() >= least, "{name}: {commands:?}");
        for command in commands {
            let mut args: Vec<&str> = command
                .split(' ')
                .skip(1)
                .filter(|word| !word.is_empty())
                .collect();
            if args.first().is_none_or(|first| first.starts_with('-')) {
                for (flag, value) in [("--agent", "oracle"), ("-n", "1"), ("-t", eval)] {
                    if !args.contains(&flag) {
                        args.extend([flag, value]);
                    }
                }
            }
            let outcome = project.terca(&args);
            assert_eq!(
                outcome.status, 0,
                "{name}: {command}: {}{}",
                outcome.stdout, outcome.stderr
            );
        }
    }
}
