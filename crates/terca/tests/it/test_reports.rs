//! `report` of `commandSuccess`: partial scores, and reports that nobody should trust.

use serde_json::{Value, json};
use terca_testkit::Project;

use crate::common::project;

const JUNIT: &str = "<testsuite><testcase classname='add' name='zero'/><testcase classname='add' name='one'/>\
    <testcase classname='add' name='small'><failure message='expected 3 but got -1'>at a.ts:3</failure></testcase>\
    <testcase name='later'><skipped/></testcase><testcase name='last'/></testsuite>";

/// A suite with one eval: what its agent does, and the command that writes the report.
fn reported(agent: &str, command: &str, path: &str) -> Project {
    project()
        .agent(agent)
        .file(
            "one/eval.terca.yaml",
            format!("prompt: go\ntests:\n  - name: unit\n    commandSuccess:\n      command: |\n        {command}\n      report: {path}\n"),
        )
        .file("one/_tests/good.xml", JUNIT)
}

fn grade(project: &Project) -> Value {
    project.terca(&["--format", "plain"]);
    let trial = project.only_trial();
    assert_eq!(trial["error"], Value::Null, "{trial}");
    trial["tests"]["unit"].clone()
}

#[test]
fn the_score_is_the_share_that_passed() {
    let project = reported(
        "true",
        "mkdir -p out; cp good.xml out/junit.xml; exit 1",
        "out/junit.xml",
    );
    let grade = grade(&project);
    assert_eq!(grade["score"], 0.75, "{grade}");
    assert_eq!(
        grade["message"],
        "3 of 4 tests passed: add > small: expected 3 but got -1"
    );
    let report = &grade["report"];
    assert_eq!(
        (&report["passed"], &report["failed"], &report["skipped"]),
        (&json!(3), &json!(1), &json!(1))
    );
    assert_eq!(
        report["cases"][2],
        json!({"name": "add > small", "end": "failed", "message": "expected 3 but got -1"})
    );
    assert_eq!(project.only_trial()["status"], "partial");
    let junit = project.terca(&["report", "--junit", "-"]).stdout;
    assert!(
        junit.contains("failed: add &gt; small: expected 3 but got -1"),
        "{junit}"
    );
    project.assert_nothing_left();
}

#[test]
fn other_formats_are_known_by_their_content() {
    for (content, score) in [
        ("TAP version 13\\n1..2\\nok 1 - a\\nnot ok 2 - b\\n", 0.5),
        (
            "{\"testResults\":[{\"assertionResults\":[{\"fullName\":\"a\",\"status\":\"passed\"}]}]}",
            1.0,
        ),
        (
            "{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"A\"}\\n{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"B\"}\\n",
            0.5,
        ),
    ] {
        let project = reported("true", &format!("printf '{content}' > report"), "report");
        assert_eq!(grade(&project)["score"], score, "{content}");
    }
}

#[test]
fn a_report_that_cannot_be_used_is_no_success() {
    let all_passed = "<testsuite><testcase name='a'/></testsuite>";
    let bomb = "<!DOCTYPE a [<!ENTITY a \"aaaa\">]><testsuite name=\"&a;\"><testcase name=\"a\"/></testsuite>";
    for (agent, command, said) in [
        // Nothing is written, though the agent left a report that is fine.
        (
            format!("echo \"{all_passed}\" > r.xml"),
            "true".to_owned(),
            "the command did not write it",
        ),
        // The agent's link leads to a file that is not part of its work.
        (
            "mkdir -p \"$HOME/x\"; echo hi > \"$HOME/x/r.xml\"; ln -s \"$HOME/x\" out".to_owned(),
            "echo \"<testsuite/>\" > r.xml; rm r.xml; ln -s /etc/passwd r.xml".to_owned(),
            "it is a link to a path outside the workspace",
        ),
        (
            "true".to_owned(),
            format!("echo '{bomb}' > r.xml"),
            "it declares a document type",
        ),
        (
            "true".to_owned(),
            "echo '<testsuite><testcase' > r.xml".to_owned(),
            "it is not valid XML",
        ),
        (
            "true".to_owned(),
            "truncate -s 1G r.xml".to_owned(),
            "it is too large",
        ),
        (
            "true".to_owned(),
            "mkdir r.xml".to_owned(),
            "it is not a file",
        ),
        (
            "mkdir r.xml".to_owned(),
            "true".to_owned(),
            "it was there before the command ran",
        ),
        (
            "true".to_owned(),
            "echo hello > r.xml".to_owned(),
            "it is not JUnit XML, TAP",
        ),
        (
            "true".to_owned(),
            "echo '<testsuite/>' > r.xml".to_owned(),
            "no test in `r.xml` was run",
        ),
        (
            "true".to_owned(),
            format!("echo \"{all_passed}\" > r.xml; exit 3"),
            "exit status 3, though all tests in `r.xml` passed",
        ),
        (
            "true".to_owned(),
            format!("echo \"{all_passed}\" > r.xml; kill -9 $$"),
            "killed by SIGKILL",
        ),
    ] {
        let project = reported(&agent, &command, "r.xml");
        let grade = grade(&project);
        assert_eq!(grade["score"], 0.0, "{command}: {grade}");
        let message = grade["message"].as_str().unwrap();
        assert!(message.contains(said), "{command}: {message}");
    }
}

#[test]
fn nothing_outside_of_the_workspace_is_removed() {
    let project = reported("true", "true", "out/r.xml");
    let outside = project.home().join("r.xml");
    std::fs::write(&outside, JUNIT).unwrap();
    let project = project.agent(&format!("ln -s {} out", outside.parent().unwrap()));
    let grade = grade(&project);
    assert_eq!(grade["score"], 0.0, "{grade}");
    assert_eq!(std::fs::read_to_string(outside).unwrap(), JUNIT);
}

#[test]
fn a_path_out_of_the_workspace_is_refused() {
    let project = reported("true", "true", "../r.xml");
    let outcome = project.terca(&["check"]).expect_status(2);
    assert!(
        outcome.stderr.contains("error[outside-workspace]"),
        "{}",
        outcome.stderr
    );
}
