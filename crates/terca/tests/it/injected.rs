//! `gateway: {inject: [...]}`: faults of models that a suite asks for.

use serde_json::{Value, json};
use terca_testkit::{Fault, Project, Scenario, Trouble};

use super::gateway::{KEY, METER, model, suite};
use super::recording::RECORD;

fn hello() -> [(&'static str, Scenario); 1] {
    [("one", Scenario::saying("Hello."))]
}

fn inject(faults: &str) -> String {
    format!("gateway: {{inject: [{faults}]}}\n")
}

/// Returns the lines of the only trial's log of requests.
fn log(project: &Project) -> Vec<Value> {
    let log = project.trial_file("artifacts/wire.jsonl");
    log.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the numbers of the requests that were struck, counted from 1.
fn struck(project: &Project) -> Vec<usize> {
    let log = log(project);
    let numbered = log.iter().enumerate();
    let struck = numbered.filter(|(_, line)| line["injected"] == true);
    struck.map(|(number, _)| number + 1).collect()
}

fn injected_notes(trial: &Value) -> Vec<&str> {
    let notes = trial["notes"].as_array().into_iter().flatten();
    notes
        .filter_map(Value::as_str)
        .filter(|note| note.contains("inject"))
        .collect()
}

#[test]
fn faults_strike_as_often_as_they_are_told() {
    for (faults, expected) in [
        ("{status: 429, every: 3}", &[3, 6][..]),
        ("{status: 429, every: 2, times: 2}", &[2, 4]),
        ("{status: 500, first: 2}", &[1, 2]),
        ("{status: 500, first: 1, every: 4}", &[1, 4]),
        ("{status: 503, times: 1}", &[1]),
        ("{status: 400, first: 1}, {delayMs: 1, every: 5}", &[1, 5]),
        ("{status: 529}", &[1, 2, 3, 4, 5, 6, 7]),
    ] {
        let model = model(&hello());
        let script = "for i in 1 2 3 4 5 6 7; do ask one; done";
        let project = suite(&model, script, &inject(faults));
        project.terca(&[]).expect_status(0);
        assert_eq!(struck(&project), expected, "{faults}");
        let trial = project.only_trial();
        assert_eq!(trial["wire"]["requests"], 7);
        assert_eq!(trial["wire"]["injected"], expected.len(), "{trial:#}");
        let [note] = injected_notes(&trial)[..] else {
            panic!("{trial:#}")
        };
        let number = expected.len().to_string();
        assert!(note.contains(&format!(" {number} request")), "{note}");
    }
}

#[test]
fn a_status_reaches_the_agent_and_never_the_service() {
    let model = model(&hello());
    let faults = inject("{status: 429, first: 2, retryAfter: 7}");
    let project = suite(&model, "ask one; ask one; ask one", &faults);
    project.terca(&[]).expect_status(0);
    let answers = project.trial_file("workspace/answers.txt");
    assert_eq!(answers.matches(" 429 Too Many Requests").count(), 2);
    assert_eq!(answers.matches("retry-after: 7").count(), 2, "{answers}");
    assert!(answers.contains("rate_limit_exceeded"), "{answers}");
    assert!(answers.contains("Hello."), "{answers}");
    assert_eq!(model.requests().len(), 1);
    // The agent went on, so the trial is judged.
    let trial = project.only_trial();
    assert_eq!(trial["status"], "passed", "{trial:#}");
    assert_eq!(trial["error"], Value::Null);
    let wire = &trial["wire"];
    assert_eq!(wire["statuses"], json!({"200": 1, "429": 2}));
    assert_eq!(
        (&wire["answered"], &wire["retries"], &wire["injected"]),
        (&json!(1), &json!(2), &json!(2)),
        "{wire:#}"
    );
    assert_eq!(trial["stats"]["inputTokens"], 1000);
    let shown = project.terca(&["show"]).stdout;
    assert!(shown.contains("2 injected"), "{shown}");
}

/// Returns the facts of a trial that do not depend on who made the fault.
fn facts(project: &Project) -> Value {
    let trial = project.only_trial();
    let exchanges: Vec<Value> = log(project)
        .iter()
        .map(|line| json!([line["status"], line["end"], line["retry"], line["tokens"]]))
        .collect();
    let wire = &trial["wire"];
    json!({
        "status": trial["status"],
        "error": trial["error"]["kind"],
        "timedOut": trial["timedOut"],
        "counts": [wire["requests"], wire["answered"], wire["retries"], wire["statuses"]],
        "exchanges": exchanges,
    })
}

#[test]
fn faults_are_classified_as_those_of_services_are() {
    let status = Trouble::Status {
        status: 429,
        retry_after: Some(1),
    };
    for (trouble, fault, script, end) in [
        (
            Trouble::Cut,
            "{cut: true, first: 1}",
            "ask one; ask one",
            "cutByService",
        ),
        (
            Trouble::Silence,
            "{hang: true, first: 1}",
            "ask one; ask one",
            "leftByAgent",
        ),
        (
            status, "{status: 429, retryAfter: 1, first: 1}", "ask one; ask one", "whole",
        ),
        (
            status, "{status: 429, retryAfter: 1, first: 1}", "ask one; exit 1", "whole",
        ),
    ] {
        let real = Scenario::saying("Hello.").fault(Fault::of(trouble).times(1));
        let real_model = model(&[("one", real)]);
        let real = suite(&real_model, script, METER);
        let model = model(&hello());
        let made = suite(&model, script, &inject(fault));
        for project in [&real, &made] {
            project.terca(&["--timeout", "5"]);
        }
        assert_eq!(facts(&made), facts(&real), "{fault}");
        assert_eq!(log(&made)[0]["end"], end, "{fault}");
        assert_eq!(made.only_trial()["wire"]["injected"], 1);
    }
}

/// The agent has a part of the answer, and neither the rest nor its proper end.
#[test]
fn an_answer_is_cut_in_its_middle() {
    let whole = model(&hello());
    let project = suite(&whole, "ask one", METER);
    project.terca(&[]).expect_status(0);
    let whole = project.trial_file("workspace/answers.txt");
    let model = model(&hello());
    let project = suite(&model, "ask one", &inject("{cut: true}"));
    project.terca(&[]).expect_status(0);
    let cut = project.trial_file("workspace/answers.txt");
    assert!(cut.contains(" 200 "), "{cut}");
    let body = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.len();
    assert!(body(&cut) > 0 && body(&cut) < body(&whole), "{cut}");
    assert_eq!(model.requests().len(), 1);
}

/// An agent that waits no longer is answered when it asks again.
#[test]
fn an_agent_may_leave_a_request_that_hangs() {
    let model = model(&hello());
    let script = "export -f ask; export host rest; timeout 2 bash -c 'ask one'; ask one";
    let project = suite(&model, script, &inject("{hang: true, first: 1}"));
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(trial["status"], "passed");
    // The gateway notices that the agent has left before or after it asks again.
    assert_eq!(
        trial["wire"]["statuses"],
        json!({"200": 1, "none": 1}),
        "{trial:#}"
    );
}

#[test]
fn a_delay_alone_changes_no_answer() {
    let model = model(&hello());
    let project = suite(&model, "ask one", &inject("{delayMs: 300}"));
    project.terca(&[]).expect_status(0);
    let exchange = &log(&project)[0];
    assert!(exchange["firstByteMs"].as_u64().unwrap() >= 300);
    let wire = &project.only_trial()["wire"];
    assert_eq!(
        (&wire["answered"], &wire["injected"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn nothing_is_injected_unasked() {
    let model = model(&hello());
    let faults = inject("{status: 429}");
    for (more, args) in [
        (METER, &[][..]),
        ("gateway: {mode: meter}\n", &[]),
        ("gateway: {inject: []}\n", &[]),
        (&faults, &["--gateway", "off"]),
    ] {
        let project = suite(&model, "ask one", more);
        project.terca(args).expect_status(0);
        let trial = project.only_trial();
        assert_eq!(trial["wire"].get("injected"), None, "{more} {trial:#}");
        assert_eq!(injected_notes(&trial), Vec::<&str>::new());
        let answers = project.trial_file("workspace/answers.txt");
        assert!(answers.contains("Hello."), "{more} {answers}");
    }
}

#[test]
fn experiments_have_faults_of_their_own() {
    let model = model(&hello());
    let more = format!(
        "{}experiments:\n  - name: suite\n  - name: calm\n    gateway: meter\n  - name: cut\n    gateway: {{mode: record, inject: [{{cut: true}}]}}\n",
        inject("{status: 500, first: 1}")
    );
    let project = suite(&model, "ask one; ask one", &more);
    let outcome = project.terca(&[]).expect_status(0);
    assert!(!outcome.stderr.contains("same-as-baseline"));
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    let injected: Vec<Value> = trials
        .iter()
        .map(|trial| json!([trial["experiment"], trial["wire"]["injected"]]))
        .collect();
    let expected = json!([["suite", 1], ["calm", null], ["cut", 2]]);
    assert_eq!(Value::from(injected), expected);
}

/// Other faults are another task.
#[test]
fn faults_are_a_part_of_what_is_compared() {
    let model = model(&hello());
    let project = suite(&model, "ask one; ask one", METER);
    project.terca(&[]).expect_status(0);
    let before = project.run_dir();
    let yaml = std::fs::read_to_string(project.dir().join("terca.yaml")).unwrap();
    let yaml = yaml.replace(METER, &inject("{status: 429, every: 2}"));
    let project = project.file("terca.yaml", yaml);
    project.terca(&[]).expect_status(0);
    let now = project.run_dir();
    let outcome = project.terca(&["compare", before.as_str(), now.as_str()]);
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(said.contains("injected faults"), "{said}");
}

#[test]
fn a_replay_makes_the_same_faults() {
    let model = model(&hello());
    let more = RECORD.replace(
        "record",
        "{mode: record, inject: [{status: 429, first: 1}, {cut: true, every: 3}]}",
    );
    let project = suite(&model, "ask one; ask one; ask one; ask one", &more);
    project.terca(&[]).expect_status(0);
    let recorded = (facts(&project), struck(&project));
    assert_eq!(recorded.1, [1, 3]);
    let bodies = || -> Vec<String> {
        let answers = project.trial_file("workspace/answers.txt");
        let bodies = answers.lines().filter(|line| line.starts_with('{'));
        // The next answer begins in the line of the one before it, unless that is in pieces.
        let bodies = bodies.map(|line| line.trim_end_matches("HTTP/1.1 200 OK"));
        bodies.map(str::to_owned).collect()
    };
    let answers = bodies();
    drop(model);
    project
        .terca(&["replay", "--format", "plain"])
        .expect_status(0);
    assert_eq!((facts(&project), struck(&project)), recorded);
    assert_eq!(bodies(), answers);
    assert_eq!(answers.len(), 4, "{answers:?}");
}

#[test]
fn an_agent_past_the_gateway_is_an_error() {
    let model = model(&hello());
    let project = suite(&model, "ask one", &inject("{status: 429}"));
    let yaml = std::fs::read_to_string(project.dir().join("terca.yaml")).unwrap();
    let env = yaml.lines().find(|line| line.starts_with("env: ")).unwrap();
    let project = project.file("terca.yaml", yaml.replace(env, "env: {}"));
    project.terca(&[]).expect_status(3);
    let trial = project.only_trial();
    assert_eq!(trial["error"]["kind"], "setup", "{trial:#}");
    let message = trial["error"]["message"].as_str().unwrap();
    assert!(message.contains("`inject`"), "{message}");
    assert!(!message.contains(KEY));
}

#[test]
fn faults_that_there_are_not_are_mistakes() {
    let model = model(&[]);
    for (gateway, expected) in [
        ("{inject: [{status: 200}]}", "from 400 to 599"),
        ("{inject: [{status: often}]}", "from 400 to 599"),
        (
            "{inject: [{every: 5}]}",
            "a fault needs `status`, `cut`, `hang` or `delayMs`",
        ),
        (
            "{inject: [{cut: false}]}",
            "a fault needs `status`, `cut`, `hang` or `delayMs`",
        ),
        (
            "{inject: [{status: 429, cut: true}]}", "one of `status`, `cut` and `hang`",
        ),
        (
            "{inject: [{cut: true, hang: true}]}", "one of `status`, `cut` and `hang`",
        ),
        (
            "{inject: [{cut: true, retryAfter: 1}]}",
            "`retryAfter` is for a fault with a `status`",
        ),
        ("{inject: [{status: 429, every: 0}]}", "from 1 to 1000000"),
        (
            "{inject: [{status: 429, evry: 5}]}", "did you mean `every`?",
        ),
        ("{inject: {status: 429}}", "a list"),
        (
            "{mode: \"off\", inject: [{hang: true}]}",
            "a gateway that is `off` makes no faults",
        ),
        ("{mode: taste}", "`off`, `meter` or `record`"),
        ("{injekt: []}", "did you mean `inject`?"),
    ] {
        let project = suite(&model, "", &format!("gateway: {gateway}\n"));
        let outcome = project.terca(&["check"]);
        assert_eq!(outcome.status, 2, "{gateway} {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(expected),
            "{gateway} {}",
            outcome.stderr
        );
    }
}
