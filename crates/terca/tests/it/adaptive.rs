//! Adaptive repetitions, budgets, and an experiment against itself, with an agent whose passes are known.

use crate::common::project;
use rustix::process::Signal;
use serde_json::Value;
use terca_core::analysis::results::Results;
use terca_core::run::event::Event;
use terca_core::run::state::RunState;
use terca_testkit::Project;

/// Each trial costs 3 cents. The agent does its work when the rules that it is given, if any, are `good`, or when
/// `$ANYWAY` says so.
fn with_two_rules_files(repetitions: &str, anyway: bool) -> Project {
    let project = project()
        .executable(
            "agent.sh",
            "#!/bin/sh\n\
             cat > /dev/null\n\
             if $ANYWAY || grep -qs good AGENTS.md; then touch done; fi\n\
             echo '{\"costUsd\": 0.03}' > $TERCA_STATS_FILE\n",
        )
        .directory("notes")
        .file("good.md", "good\n")
        .file("useless.md", "useless\n");
    let notes = project.path("notes");
    let mut suite = format!(
        "repetitions: {repetitions}\nenv: {{NOTES: '{notes}', ANYWAY: '{anyway}'}}\n\
         environments: [{{name: script, agent: {{name: command, command: ./agent.sh}}}}]\n\
         experiments:\n\
         \x20 - {{name: control, baseline: true}}\n\
         \x20 - {{name: good, rules: good.md}}\n\
         \x20 - {{name: useless, rules: useless.md}}\n\
         evals:\n"
    );
    for name in ["one", "two", "three"] {
        suite += &format!("  - {{name: {name}, prompt: go, tests: [{{fileExists: done}}]}}\n");
    }
    project.file("terca.yaml", suite)
}

/// How many trials an arm has in the results, and how many repetitions.
fn arm(results: &Value, experiment: &str) -> (usize, u64) {
    let trials = results["trials"].as_array().unwrap();
    let of_it: Vec<&Value> = trials
        .iter()
        .filter(|trial| trial["experiment"] == experiment)
        .collect();
    (
        of_it.len(),
        of_it
            .iter()
            .map(|trial| trial["repetition"].as_u64().unwrap())
            .max()
            .unwrap_or(0),
    )
}

fn verdict<'r>(results: &'r Value, experiment: &str) -> &'r Value {
    let comparisons = results["summary"]["comparisons"].as_array().unwrap();
    comparisons
        .iter()
        .find(|comparison| comparison["arm"] == experiment)
        .unwrap()
}

/// Every trial of the results ran once, in a folder of its own, and the journal tells the same as the results.
fn assert_whole(project: &Project) {
    let text = project.journal();
    let events: Vec<Event> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let results = project.results();
    let mut folded = serde_json::to_value(Results::of(&RunState::fold(&events))).unwrap();
    folded["journal"] = results["journal"].clone();
    assert_eq!(folded, results);
    for trial in results["trials"].as_array().unwrap() {
        assert!(
            project
                .run_dir()
                .join(trial["dir"].as_str().unwrap())
                .join("run.log")
                .is_file(),
            "{trial}"
        );
        let end = format!("\"event\":\"trialFinished\",\"trial\":{},", trial["id"]);
        let ends = text
            .lines()
            .filter(|line| line.contains(&end) && !line.contains("\"interrupted\""));
        assert_eq!(ends.count(), 1, "{trial}");
    }
}

#[test]
fn a_clear_effect_stops_early() {
    let project = with_two_rules_files("{min: 1, max: 20, until: conclusive}", false);
    let outcome = project
        .terca(&["-x", "control,good", "--format", "plain"])
        .expect_status(1);
    let results = project.results();
    // Three pairs a round, all for the better: 2⁹/10 is the first e-value above 40.
    assert_eq!(
        (arm(&results, "good"), arm(&results, "control")),
        ((9, 3), (9, 3))
    );
    assert_eq!(results["status"], "complete");
    assert_eq!(
        (
            &results["summary"]["trials"], &results["summary"]["pending"]
        ),
        (&18.into(), &0.into())
    );
    assert_eq!(
        results["adaptive"],
        serde_json::json!({"min": 1, "max": 20, "reached": 3, "comparisons": 1, "undecided": 0})
    );
    let good = verdict(&results, "good");
    assert_eq!(good["verdict"], "better");
    assert_eq!(
        (&good["sequential"]["better"], &good["sequential"]["worse"]),
        (&9.into(), &0.into())
    );
    assert_eq!(
        good["sentence"],
        "BETTER on these 3 evals (script): 100 % of trials passed with `good`, 0 % with `control` (+100 points, 95 % \
         interval +59 … +100; luck alone would do this once in 26 runs). The run stopped as soon as it was decided, so \
         the true difference is probably nearer to 0. Three evals are too few to say the same of other tasks; five is \
         the minimum. Every trial cost the same with both."
    );
    assert!(
        outcome.stderr.contains("up to 20 repetitions"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome
            .stderr
            .contains("repetition 3: 1 comparison is undecided"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome
            .stdout
            .contains("adaptive: every comparison is decided after 3 repetitions of at most 20"),
        "{}",
        outcome.stdout
    );
    assert!(!outcome.stdout.contains("not run"), "{}", outcome.stdout);
    assert_whole(&project);
    let again = project.terca(&["resume"]).expect_status(1);
    assert!(
        again.stderr.contains("nothing is left to run"),
        "{}",
        again.stderr
    );
}

#[test]
fn no_effect_goes_to_the_most() {
    let project = with_two_rules_files("{min: 2, max: 4, until: conclusive}", true);
    let outcome = project.terca(&["-x", "control,useless"]).expect_status(0);
    let results = project.results();
    assert_eq!(
        (arm(&results, "useless"), arm(&results, "control")),
        ((12, 4), (12, 4))
    );
    assert_eq!(verdict(&results, "useless")["verdict"], "inconclusive");
    assert!(
        outcome
            .stdout
            .contains("adaptive: 1 comparison undecided after 4 repetitions, the most allowed"),
        "{}",
        outcome.stdout
    );
    assert_whole(&project);
}

/// What is decided gets no more trials; its baseline does, for as long as another needs it.
#[test]
fn each_comparison_has_as_many_as_it_needs() {
    let project = with_two_rules_files("{min: 3, max: 6, until: conclusive}", false);
    project.terca(&[]).expect_status(1);
    let results = project.results();
    // Two comparisons: twelve pairs are the first to reach 80.
    assert_eq!(arm(&results, "good"), (12, 4));
    assert_eq!(
        (arm(&results, "useless"), arm(&results, "control")),
        ((18, 6), (18, 6))
    );
    assert_eq!(verdict(&results, "good")["verdict"], "better");
    assert_eq!(verdict(&results, "useless")["verdict"], "inconclusive");
    assert_whole(&project);
}

#[test]
fn an_evals_own_number_is_its_most() {
    let project = with_two_rules_files("{min: 1, max: 4, until: conclusive}", true);
    let yaml = project
        .read("terca.yaml")
        .replace("{name: one,", "{name: one, repetitions: 2,");
    let project = project.file("terca.yaml", yaml);
    project.terca(&["-x", "control,useless"]).expect_status(0);
    let results = project.results();
    let of_one = results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|trial| trial["eval"] == "one");
    assert_eq!(of_one.count(), 4);
    assert_eq!(arm(&results, "useless"), (10, 4));
}

#[test]
fn without_a_comparison_the_fewest_are_run() {
    let project = with_two_rules_files("{min: 2, max: 9, until: conclusive}", true);
    let outcome = project.terca(&["-x", "good"]).expect_status(0);
    assert_eq!(arm(&project.results(), "good"), (6, 2));
    assert!(
        outcome.stdout.contains("nothing to compare"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_number_on_the_command_line_is_a_number() {
    let project = with_two_rules_files("{min: 1, max: 20, until: conclusive}", false);
    project
        .terca(&["-n", "2", "-x", "control,good"])
        .expect_status(1);
    let results = project.results();
    assert_eq!(arm(&results, "good"), (6, 2));
    assert_eq!(results.get("adaptive"), None);
    assert!(verdict(&results, "good").get("sequential").is_none());
}

#[test]
fn the_plan_says_that_it_is_the_most() {
    let project = with_two_rules_files("{min: 1, max: 20, until: conclusive}", false);
    let check = project.terca(&["check"]).expect_status(0);
    assert!(
        check.stderr.contains("1 at first, then one at a time"),
        "{}",
        check.stderr
    );
    assert!(check.stdout.contains("180 trials"), "{}", check.stdout);
    let shard = project.terca(&["--shard", "1/2"]).expect_status(2);
    assert!(
        shard
            .stderr
            .contains("--shard 1/2: adaptive repetitions cannot be split into shards"),
        "{}",
        shard.stderr
    );
    assert!(!project.has_run());
    project
        .terca(&["--shard", "1/2", "-n", "1", "--dry-run"])
        .expect_status(0);
}

#[test]
fn a_run_that_was_killed_goes_on_from_its_round() {
    let project = with_two_rules_files("{min: 1, max: 4, until: conclusive}", true);
    let wait = "while [ $TERCA_REPETITION = 2 -a -e $NOTES/wait ]; do sleep 0.05; done";
    let yaml = format!(
        "before: [{{command: '{wait}'}}]\n{}",
        project.read("terca.yaml")
    );
    let project = project.file("terca.yaml", yaml).file("notes/wait", "");
    let mut session = project.start(&["-x", "control,useless", "--format", "plain", "-c", "2"]);
    session.wait_until("trials of the second round are in flight", || {
        let text = project.journal();
        let count = |event: &str| text.matches(&format!("\"event\":\"{event}\"")).count();
        count("roundStarted") == 1 && count("trialStarted") == count("trialFinished") + 2
    });
    session.signal(Signal::KILL);
    session.finish();
    std::fs::remove_file(project.path("notes/wait")).unwrap();
    let resumed = project
        .terca(&["resume", "--format", "plain"])
        .expect_status(0);
    assert!(
        resumed.stderr.contains("then more as needed"),
        "{}",
        resumed.stderr
    );
    let results = project.results();
    assert_eq!(
        (arm(&results, "useless"), arm(&results, "control")),
        ((12, 4), (12, 4))
    );
    assert_eq!(results["status"], "complete");
    assert_whole(&project);
}

#[test]
fn a_budget_stops_a_run_of_any_kind() {
    let project = with_two_rules_files("3", true);
    let args = ["-x", "control,useless", "-c", "1", "--budget-usd"];
    let outcome = project
        .terca(&[&args[..], &["0.25"]].concat())
        .expect_status(1);
    let results = project.results();
    // Nine trials of 3 cents; what is left is not what was asked for.
    assert_eq!(
        (
            &results["summary"]["passed"], &results["summary"]["pending"]
        ),
        (&9.into(), &9.into())
    );
    assert_eq!(
        (&results["stopped"], &results["status"]),
        (&"budget".into(), &"complete".into())
    );
    assert!(
        outcome.stdout.contains(
            "stopped by the budget: $0.270 spent (--budget-usd), 9 trials not run; `terca resume --budget-usd \
             MORE` continues"
        ),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stderr
            .contains("stopping: the budget is spent (--budget-usd)"),
        "{}",
        outcome.stderr
    );
    // Resumed with the same budget it stops at once; with more it goes on.
    project.terca(&["resume"]).expect_status(1);
    project
        .terca(&["resume", "--budget-usd", "9"])
        .expect_status(0);
    let results = project.results();
    assert_eq!(
        (&results["summary"]["passed"], results.get("stopped")),
        (&18.into(), None)
    );
    assert_whole(&project);
}

/// Six trials a round: what the third lacks is not unfinished, since nobody asked for a number.
#[test]
fn a_budget_ends_the_repetitions() {
    let project = with_two_rules_files("{min: 2, max: 10, until: conclusive}", true);
    let args = ["-x", "control,useless", "-c", "1", "--budget-usd", "0.45"];
    let outcome = project.terca(&args).expect_status(0);
    let results = project.results();
    let (summary, adaptive) = (&results["summary"], &results["adaptive"]);
    assert_eq!(
        (&summary["trials"], &summary["pending"]),
        (&15.into(), &0.into())
    );
    assert_eq!(
        (&adaptive["reached"], &adaptive["undecided"]),
        (&3.into(), &1.into())
    );
    assert!(
        outcome
            .stdout
            .contains("stopped by the budget: $0.450 spent"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stdout
            .contains("adaptive: 1 comparison undecided after 3 repetitions of at most 10"),
        "{}",
        outcome.stdout
    );
    assert_whole(&project);
    // The round that was cut is made whole first.
    project
        .terca(&["resume", "--budget-usd", "0.70"])
        .expect_status(0);
    let results = project.results();
    assert_eq!(results["summary"]["trials"], 24);
    assert_eq!(
        (arm(&results, "useless"), arm(&results, "control")),
        ((12, 4), (12, 4))
    );
    assert_whole(&project);
}

/// Before the fewest repetitions are there, a budget leaves something undone.
#[test]
fn a_budget_for_less_than_the_fewest_leaves_a_rest() {
    let project = with_two_rules_files("{min: 2, max: 10, until: conclusive}", true);
    project
        .terca(&["-x", "control,useless", "-c", "1", "--budget-usd", "0.1"])
        .expect_status(1);
    let results = project.results();
    assert_eq!(
        (
            &results["summary"]["passed"], &results["summary"]["pending"]
        ),
        (&4.into(), &8.into())
    );
}

#[test]
fn an_experiment_against_itself_is_no_different() {
    for repetitions in ["2", "{min: 1, max: 3, until: conclusive}"] {
        let project = with_two_rules_files(repetitions, true);
        let before = "before: [{command: 'echo $TERCA_EXPERIMENT > told'}]\n";
        let yaml = format!("{before}{}", project.read("terca.yaml"));
        // Whatever the agent can see of where it is.
        let agent = project.read("agent.sh") + "env > seen\npwd >> seen\nls -a >> seen\n";
        let project = project
            .file("terca.yaml", yaml)
            .executable("agent.sh", &agent);
        let outcome = project
            .terca(&["--aa", "--format", "plain"])
            .expect_status(0);
        let results = project.results();
        let summary = &results["summary"];
        assert_eq!(summary["baseline"], "A");
        assert_eq!(
            arm(&results, "A").0 + arm(&results, "A again").0,
            results["trials"].as_array().unwrap().len()
        );
        assert_eq!(arm(&results, "A"), arm(&results, "A again"));
        let verdict = verdict(&results, "A again");
        assert!(
            ["inconclusive", "equivalent"].contains(&verdict["verdict"].as_str().unwrap()),
            "{verdict}"
        );
        assert!(
            outcome
                .stderr
                .contains("are the same experiment; no difference was found"),
            "{}",
            outcome.stderr
        );
        for trial in results["trials"].as_array().unwrap() {
            let folder = project.run_dir().join(trial["dir"].as_str().unwrap());
            let workspace = project.workspace_of(&folder);
            assert_eq!(
                std::fs::read_to_string(workspace.join("told")).unwrap(),
                "control\n"
            );
            let seen = std::fs::read_to_string(workspace.join("seen")).unwrap();
            assert!(
                !seen.contains("again") && !seen.contains("TERCA_EXPERIMENT"),
                "{seen}"
            );
        }
        assert_whole(&project);
    }
}

/// A check that is resumed is still one.
#[test]
fn an_experiment_against_itself_can_be_resumed() {
    let project = with_two_rules_files("2", true);
    project
        .terca(&["--aa", "-c", "1", "--budget-usd", "0.1"])
        .expect_status(1);
    project
        .terca(&["resume", "--budget-usd", "9"])
        .expect_status(0);
    assert_eq!(
        (
            arm(&project.results(), "A"),
            arm(&project.results(), "A again")
        ),
        ((6, 2), (6, 2))
    );
}
