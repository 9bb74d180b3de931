//! `gateway: record`: every exchange is kept with its trial.

use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use rustix::process::Signal;
use serde_json::{Value, json};
use terca_testkit::{Fault, Project, Scenario, Trouble};

use super::gateway::{KEY, model, suite};

pub(super) const RECORD: &str = "gateway: record\n";
const FILE: &str = "artifacts/exchanges.jsonl.gz";

/// Returns the lines of the only trial's recording, as far as they are there.
fn lines(project: &Project) -> Vec<Value> {
    let mut text = Vec::new();
    let file = File::open(project.trial_path(FILE)).unwrap();
    let _ = GzDecoder::new(file).read_to_end(&mut text);
    let text = String::from_utf8(text).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

fn body(lines: &[Value], message: &Value) -> String {
    let parts = of_kind(lines, "part");
    let names = message["body"].as_array().unwrap().iter();
    names
        .map(|name| {
            let part = parts.iter().find(|part| part["name"] == *name);
            part.unwrap()["text"].as_str().unwrap()
        })
        .collect()
}

#[test]
fn exchanges_are_kept_without_the_key_and_the_token() {
    let scenario = Scenario::saying("Hello.").fault(Fault::first(1, 500));
    let model = model(&[("one", scenario)]);
    // The agent tells its model everything it knows.
    let script = r#"ask "one $OPENAI_API_KEY $OPENAI_BASE_URL"; ask one"#;
    let project = suite(&model, script, RECORD);
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(
        trial["wire"]["requests"], 2,
        "it is metered, too: {trial:#}"
    );
    let lines = lines(&project);
    assert_eq!(lines[0]["kind"], "header");
    assert_eq!(
        (&lines[0]["format"], &lines[0]["version"]),
        (&json!("terca-exchanges"), &json!(1))
    );
    let requests = of_kind(&lines, "request");
    let answers = of_kind(&lines, "answer");
    assert_eq!((requests.len(), answers.len()), (2, 2), "{lines:#?}");
    assert_eq!(requests[0]["method"], "POST");
    assert_eq!(requests[0]["path"], "/v1/chat/completions");
    assert!(
        body(&lines, requests[0]).contains("scenario:one *** http://127.0.0.1:"),
        "{}",
        body(&lines, requests[0])
    );
    let statuses: Vec<&Value> = answers.iter().map(|answer| &answer["status"]).collect();
    assert_eq!(statuses, [&json!(500), &json!(200)]);
    assert!(body(&lines, answers[1]).contains("Hello."));
    assert_eq!(answers[1]["end"], "whole");
    let text = format!("{lines:?}");
    assert!(!text.contains(KEY) && !text.contains("terca-0"), "{text}");
    let token = project.trial_file("workspace/env.txt");
    let token = token
        .lines()
        .find_map(|line| line.strip_prefix("OPENAI_API_KEY="));
    assert!(!text.contains(token.unwrap()), "{text}");
}

#[test]
fn the_flag_records_and_a_metered_trial_has_no_recording() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    let project = suite(&model, "ask one", "gateway: meter\n");
    project.terca(&[]).expect_status(0);
    assert!(!project.trial_path(FILE).exists());
    project.terca(&["--gateway", "record"]).expect_status(0);
    assert_eq!(of_kind(&lines(&project), "answer").len(), 1);
}

#[test]
fn a_run_that_is_killed_keeps_what_was_recorded_until_then() {
    let hang = Scenario::saying("Hello.").fault(Fault::of(Trouble::Silence));
    let model = model(&[("one", Scenario::saying("Hello.")), ("never", hang)]);
    let project = suite(&model, "ask one; ask never", RECORD);
    let mut session = project.start(&["--format", "plain"]);
    session.wait_until("the second request is recorded", || {
        let is_asked = !model.requests_of("never").is_empty();
        is_asked && of_kind(&lines(&project), "request").len() == 2
    });
    session.signal(Signal::KILL);
    session.finish();
    project.wait_until_nothing_runs();
    let lines = lines(&project);
    assert_eq!(of_kind(&lines, "request").len(), 2);
    let answers = of_kind(&lines, "answer");
    assert_eq!(answers.len(), 1);
    assert!(body(&lines, answers[0]).contains("Hello."));
}

#[test]
fn an_agent_that_removes_the_recording_gains_nothing() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    let project = suite(&model, "ask one", RECORD);
    let runs = project.dir().join(".terca/runs");
    let script = format!(
        "{}for file in {runs}/*/task/*/{FILE}; do rm \"$file\"; ln -s /etc/passwd \"$file\"; done; ask one\n",
        project.read("agent.sh")
    );
    let project = project.executable("agent.sh", &script);
    project.terca(&["--sandbox", "none"]).expect_status(0);
    assert_eq!(of_kind(&lines(&project), "answer").len(), 2);
    let notes = project.only_trial()["notes"].to_string();
    assert!(notes.contains("was not in its place"), "{notes}");
}
