//! An agent cannot void a trial that it would fail, and so get another attempt. The suites have the shape of examples/proven.

use serde_json::{Value, json};
use terca_testkit::{Fault, Project, Scenario, Trouble};

use crate::common::project;
use crate::gateway::{METER, model, suite};

/// An eval with a scorer that runs the work, whose agent is this script. `lucky` says whether it is this time: once in four.
fn table(agent: &str) -> Project {
    let lucky = "lucky() { n=$(cat \"$COUNT\" 2>/dev/null || echo 0); echo $((n + 1)) > \"$COUNT\"; [ $((n % 4)) = 3 ]; }";
    let project = project()
        .agent(&format!("{lucky}\n{agent}"))
        .file("table/_base/prices.csv", "a,1\nb,2\n")
        .file(
            "table/_tests/hidden/score.sh",
            "[ \"$(sh ./total.sh prices.csv)\" = 3 ] && echo 1 || echo 0\n",
        )
        .file(
            "table/eval.terca.yaml",
            "prompt: Write total.sh.\ntests: [{name: total, commandScore: sh hidden/score.sh}]\n",
        );
    let count = project.path("count");
    let settings = format!("{}env: {{COUNT: '{count}'}}\n", project.read("terca.yaml"));
    project.file("terca.yaml", settings)
}

const RIGHT: &str = "echo 'awk -F, \"{ n += \\$2 } END { print n }\" \"$1\"' > total.sh";

/// Returns the figures of the only variant.
fn figures(project: &Project) -> Value {
    project.results()["summary"]["variants"][0].clone()
}

fn notes(trial: &Value) -> String {
    trial["notes"].to_string()
}

#[test]
fn an_agent_that_ends_without_a_trace_shows_its_rate_beside_the_other() {
    let project = table(&format!("lucky || exit 1\n{RIGHT}"));
    let outcome = project.terca(&["-n", "8", "-c", "1"]);
    outcome.expect_status(3);
    let of_all = figures(&project);
    assert_eq!(
        [&of_all["passed"], &of_all["errors"]],
        [&json!(2), &json!(6)],
        "{of_all:#}"
    );
    assert_eq!(
        [&of_all["passRate"], &of_all["passRateOfAll"]],
        [&json!(1.0), &json!(0.25)],
        "{of_all:#}"
    );
    let hat = of_all["reliability"].as_array().unwrap().last().unwrap();
    assert_eq!(hat["k"], 2, "{hat}");
    let hat = hat["passHatK"].as_f64().unwrap();
    assert!(hat < 0.1, "2 of 28 pairs of attempts: {hat}");
    project
        .terca(&["report", "--html", "page.html"])
        .expect_status(0);
    let markdown = project.terca(&["report", "--markdown", "-"]).stdout;
    for shown in [
        project.terca(&["show"]).stdout,
        markdown,
        project.read("page.html"),
    ] {
        assert!(
            shown.contains("errors as failures") && shown.replace('\u{a0}', " ").contains("25 %"),
            "{shown}"
        );
    }
}

#[test]
fn further_attempts_are_shown_and_count_as_such() {
    let project = table(&format!("lucky || exit 1\n{RIGHT}"));
    let args = ["-n", "2", "-c", "1", "--retries", "4"];
    let outcome = project.terca(&args).expect_status(0);
    let told = "2 trials were judged at a later attempt, after an error";
    assert!(
        outcome.stdout.contains(told) || outcome.stderr.contains(told),
        "{outcome:?}"
    );
    let all = figures(&project);
    assert_eq!([&all["passed"], &all["retried"]], [&json!(2), &json!(2)]);
    let hat = all["reliability"].as_array().unwrap().last().unwrap();
    let hat = hat["passHatK"].as_f64().unwrap();
    assert!(hat < 0.1, "2 of 28 pairs of attempts: {hat}");
    project
        .terca(&["report", "--html", "page.html"])
        .expect_status(0);
    for shown in [
        project.terca(&["show"]).stdout,
        project.terca(&["report", "--markdown", "-"]).stdout,
        project.read("page.html"),
    ] {
        assert!(shown.contains("2 retried"), "{shown}");
    }
}

#[test]
fn work_that_kills_its_scorer_has_failed() {
    let project = table(&format!(
        "lucky && {{ {RIGHT}; exit; }}; echo 'kill -9 $PPID' > total.sh"
    ));
    // The work is run by a shell below that of the scorer, or by the scorer itself.
    let scorer = "sh ./total.sh prices.csv > found; [ \"$(cat found)\" = 3 ] && echo 1 || echo 0\n";
    let project = project.file("table/_tests/hidden/score.sh", scorer);
    project
        .terca(&["-n", "8", "-c", "1", "--retries", "4"])
        .expect_status(1);
    let all = figures(&project);
    assert_eq!([&all["passed"], &all["judged"]], [&json!(2), &json!(8)]);
    assert_eq!(
        [&all["passRate"], &all["errors"]],
        [&json!(0.25), &json!(0)]
    );
    let grade = project.results()["trials"][0]["tests"]["total"]["message"].to_string();
    let told = "it gave no score, which counts as 0: ";
    assert!(grade.contains(told) && grade.contains("SIGKILL"), "{grade}");
}

#[test]
fn work_that_is_undone_before_the_end_has_failed() {
    for undone in [
        "echo x > total.sh; rm total.sh",
        "echo more >> prices.csv; printf 'a,1\\nb,2\\n' > prices.csv",
        "mkdir -p a/b; rm -r a",
        "echo '{\"toolCalls\": 3}' > \"$TERCA_STATS_FILE\"",
    ] {
        let project = table(&format!(
            "lucky && {{ {RIGHT}; exit; }}; {undone}; kill -9 $$"
        ));
        project
            .terca(&["-n", "4", "-c", "1", "--retries", "4"])
            .expect_status(1);
        let all = figures(&project);
        assert_eq!(
            [&all["passed"], &all["judged"]],
            [&json!(1), &json!(4)],
            "{undone}: {all:#}"
        );
        let first = &project.results()["trials"][0];
        assert_eq!(first["attempts"], 1);
        assert!(
            notes(first).contains("its work until then was judged"),
            "{first:#}"
        );
    }
}

#[test]
fn an_agent_that_crashes_at_once_is_still_an_error() {
    for crash in ["exit 1", "kill -9 $$", "cat prices.csv; exit 2"] {
        let project = table(crash);
        project.terca(&[]).expect_status(3);
        assert_eq!(project.only_trial()["error"]["kind"], "agent", "{crash}");
    }
}

/// The gateway knows that a model has answered. The last request of each of these was refused.
#[test]
fn once_a_model_has_answered_the_work_is_judged() {
    let refused = |status| {
        let fault = Fault::always(status).after(1);
        Scenario::two_tools().fault(fault)
    };
    for (scenario, script) in [
        (
            Scenario::saying("Hello."),
            "ask one; rm answers.txt env.txt; kill -9 $$",
        ),
        (
            Scenario::saying("Hello."),
            "ask one; rm answers.txt env.txt; exit 127",
        ),
        (refused(404), "ask one; ask one; exit 1"),
        (refused(400), "ask one; ask one; ask one"),
        (refused(422), "ask one; ask one; kill -9 $$"),
    ] {
        let model = model(&[("one", scenario)]);
        let project = suite(&model, script, METER);
        let yaml = project.read("terca.yaml");
        let project = project.file(
            "terca.yaml",
            yaml.replace("{fileExists: env.txt}", "{fileExists: done}"),
        );
        project.terca(&["--retries", "3"]).expect_status(1);
        let trial = project.only_trial();
        assert_eq!(
            [&trial["status"], &trial["attempts"]],
            [&json!("failed"), &json!(1)],
            "{script}: {trial:#}"
        );
    }
}

#[test]
fn trouble_of_the_service_after_an_answer_is_still_an_error() {
    for (fault, kind) in [
        (Fault::always(429).after(1), "rateLimit"),
        (Fault::always(503).after(1), "modelApi"),
        (Fault::always(401).after(1), "auth"),
        (Fault::of(Trouble::Cut).after(1), "modelApi"),
    ] {
        let model = model(&[("one", Scenario::two_tools().fault(fault))]);
        let project = suite(&model, "ask one; ask one; exit 1", METER);
        project.terca(&[]).expect_status(3);
        let trial = project.only_trial();
        assert_eq!(trial["error"]["kind"], kind, "{fault:?}: {trial:#}");
    }
}
