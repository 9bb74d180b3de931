//! `--shard` and `terca merge`: the parts of a plan, run apart and joined, are the run they would have been.

use std::collections::BTreeSet;

use crate::common::project;
use serde_json::Value;
use terca_testkit::Project;

/// Three evals in two variants, three times each; `b` passes in one variant only, `c` half passes.
fn three_evals() -> Project {
    project().executable("agent.sh", "#!/bin/sh\necho $ARM > arm.txt\n").file(
        "terca.yaml",
        "repetitions: 3\n\
         environments: [{name: e, agent: {name: command, command: ./agent.sh}}]\n\
         experiments:\n  - {name: base, env: {ARM: base}}\n  - {name: better, env: {ARM: better}}\n\
         evals:\n\
         \x20 - {name: a, prompt: x, tests: [{fileExists: arm.txt}]}\n\
         \x20 - {name: b, prompt: x, tests: [{fileContains: {path: arm.txt, text: better}}]}\n\
         \x20 - {name: c, prompt: x, tests: [{name: one, fileExists: arm.txt}, {name: two, fileExists: no.txt}]}\n",
    )
}

/// A run's results without what is peculiar to when and where it ran.
fn essence(project: &Project) -> Value {
    let mut results = project.results();
    for key in ["run", "startedAt", "finishedAt", "seed", "journal"] {
        results[key] = Value::Null;
    }
    let plain = |value: &mut Value| {
        for key in ["startedAt", "durationSeconds", "phases", "evidence"] {
            value[key] = Value::Null;
        }
        value["stats"]["durationSeconds"] = Value::Null;
        for test in value["tests"].as_object_mut().unwrap().values_mut() {
            test["durationSeconds"] = Value::Null;
        }
    };
    results["trials"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .for_each(plain);
    strip_times(&mut results["summary"]);
    results
}

/// Figures of time differ from run to run, wherever they stand, and so do sentences that tell them.
fn strip_times(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            entries.retain(|key, _| key != "sentence" && !key.to_lowercase().contains("seconds"));
            entries.values_mut().for_each(strip_times);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_times),
        _ => {}
    }
}

fn ids(project: &Project) -> Vec<u64> {
    let results = project.results();
    results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| trial["id"].as_u64().unwrap())
        .collect()
}

fn latest(project: &Project) -> String {
    project.run_dir().file_name().unwrap().to_owned()
}

#[test]
fn parts_are_disjoint_complete_balanced_and_merge_to_the_whole() {
    let project = three_evals();
    assert_eq!(project.terca(&["--seed", "3"]).status, 1);
    let whole = essence(&project);
    for of in [1, 4, 5] {
        let (mut names, mut seen) = (Vec::new(), BTreeSet::new());
        for index in 1..=of {
            project.terca(&["--shard", &format!("{index}/{of}")]);
            let part = ids(&project);
            assert!(
                part.len() == 18 / of || part.len() == 18 / of + 1,
                "{} of 18 in {of}",
                part.len()
            );
            for id in part {
                assert!(seen.insert(id), "{id} stands in two parts of {of}");
            }
            names.push(latest(&project));
        }
        assert_eq!(
            seen.into_iter().collect::<Vec<_>>(),
            (1..=18).collect::<Vec<_>>()
        );
        // In whatever order they are named.
        names.reverse();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let outcome = project.terca(&[&["merge"], &names[..]].concat());
        assert_eq!(outcome.status, 1, "as one run would: {}", outcome.stderr);
        assert_eq!(essence(&project), whole, "{of} parts");
        for trial in project.results()["trials"].as_array().unwrap() {
            let dir = project.run_dir().join(trial["dir"].as_str().unwrap());
            assert!(
                project.workspace_of(&dir).join("arm.txt").is_file()
                    && dir.join("run.log").is_file(),
                "{dir}"
            );
        }
    }
    project.assert_nothing_left();
}

#[test]
fn remarks_are_merged_with_their_trials() {
    let project = three_evals();
    let mut names = Vec::new();
    for index in 1..=2 {
        project.terca(&["--shard", &format!("{index}/2")]);
        let own = ids(&project)[0];
        let remark = |trial: u64, text: &str| {
            format!(
                "{{\"trial\":{trial},\"text\":\"{text}\",\"tags\":[\"odd\"],\"at\":\"2026-01-01T00:00:00Z\"}}\n"
            )
        };
        // A part may say nothing about trials that it did not run.
        let lines = remark(own, &format!("of part {index}")) + &remark(999, "of none");
        std::fs::write(project.run_dir().join("remarks.jsonl"), lines).unwrap();
        names.push((latest(&project), own));
    }
    project.terca(&["merge", &names[0].0, &names[1].0]);
    let remarks = std::fs::read_to_string(project.run_dir().join("remarks.jsonl")).unwrap();
    let told: Vec<(u64, String)> = remarks
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .map(|line: Value| (line["trial"].as_u64().unwrap(), line["text"].to_string()))
        .collect();
    let expected = [1, 2].map(|part| (names[part - 1].1, format!("\"of part {part}\"")));
    assert_eq!(told, expected);
}

#[test]
fn more_parts_than_trials_leave_some_with_nothing_to_do() {
    let project = three_evals();
    let outcome = project.terca(&["--shard", "1/40", "--format", "plain"]);
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(project.results()["status"], "complete");
    assert!(ids(&project).is_empty());
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let project = three_evals();
    let run = |args: &[&str]| {
        project.terca(args);
        latest(&project)
    };
    let (first, second) = (run(&["--shard", "1/3"]), run(&["--shard", "2/3"]));
    let (third_of_two, whole) = (run(&["--shard", "2/2"]), run(&[]));
    let other_selection = run(&["--shard", "3/3", "-n", "2"]);
    let yaml = project.read("terca.yaml");
    let project = project.file(
        "terca.yaml",
        yaml.replace(
            "prompt: x, tests: [{fileExists", "prompt: y, tests: [{fileExists",
        ),
    );
    project.terca(&["--shard", "3/3"]);
    let other_prompt = latest(&project);
    let runs = || project.path(".terca/runs").read_dir_utf8().unwrap().count();
    let before = runs();
    for (parts, reason) in [
        (vec![&first, &second], "shards of the plan are missing: 3/3"),
        (vec![&first], "shards of the plan are missing: 2/3 and 3/3"),
        (vec![&first, &first], "is in"),
        (
            vec![&first, &second, &other_prompt],
            "a: the prompt changed",
        ),
        (
            vec![&first, &second, &other_selection],
            "the selections or repetitions differ",
        ),
        (
            vec![&first, &third_of_two],
            "one is shard 1/3, the other 2/2",
        ),
        (vec![&whole], "it was not run with --shard"),
    ] {
        let names: Vec<&str> = parts.iter().map(|name| name.as_str()).collect();
        let outcome = project.terca(&[&["merge"], &names[..]].concat());
        assert_eq!(outcome.status, 2, "{reason}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(reason),
            "{reason}: {}",
            outcome.stderr
        );
    }
    assert_eq!(runs(), before, "nothing was made");
    let outcome = project.terca(&["merge", "no-such-run"]);
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
}

#[test]
fn runs_from_other_machines_are_joined_by_path() {
    let (one, two) = (three_evals(), three_evals());
    one.terca(&["--shard", "1/2"]);
    two.terca(&["--shard", "2/2"]);
    // Another machine, another place: the suite is the same.
    let outcome = one.terca(&["merge", one.run_dir().as_str(), two.run_dir().as_str()]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert_eq!(ids(&one), (1..=18).collect::<Vec<_>>());
}

#[test]
fn a_wrong_part_is_a_usage_error() {
    let project = three_evals();
    for wrong in ["0/3", "4/3", "1", "x/y"] {
        let outcome = project.terca(&["--shard", wrong]);
        assert_eq!(outcome.status, 2, "{wrong}");
        assert!(
            outcome.stderr.contains("such as 1/3, 2/3 or 3/3"),
            "{}",
            outcome.stderr
        );
    }
}
