//! `gateway: meter`: requests to models pass through Terca, which keeps the key and counts tokens.

use serde_json::{Value, json};
use terca_testkit::agents::GOOSE;
use terca_testkit::{Fault, ModelServer, Project, Scenario, Script, Trouble};

use crate::common::project;

pub(super) const KEY: &str = "sk-the-real-key-of-the-user";

/// Asks for a model by nothing but a shell, as an agent of one's own would.
const AGENT: &str = r#"#!/bin/bash
rest=${OPENAI_BASE_URL#http://}; host=${rest%%/*}
ask() {
  body='{"model": "small", "tools": [{"type": "function", "function": {"name": "t"}}], "messages": [{"role": "user", "content": "scenario:'$1'"}]}'
  exec 3<>"/dev/tcp/${host%:*}/${host#*:}"
  printf 'POST /%s/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer %s\r\ncontent-length: %s\r\n\r\n%s' \
    "${rest#*/}" "$OPENAI_API_KEY" ${#body} "$body" >&3
  cat <&3 >>answers.txt
  exec 3>&-
}
env >env.txt
"#;

pub(super) fn model(scenarios: &[(&str, Scenario)]) -> ModelServer {
    let script = Script::new(GOOSE.vocabulary);
    let script = scenarios.iter().fold(script, |script, (name, scenario)| {
        script.scenario(name, scenario.clone())
    });
    ModelServer::start(script)
}

/// A suite whose agent does what these lines of its script say, with these lines in `terca.yaml`.
pub(super) fn suite(model: &ModelServer, script: &str, more: &str) -> Project {
    let url = model.url();
    project()
        .env("OPENAI_API_KEY", KEY)
        .executable("agent.sh", &format!("{AGENT}{script}\n"))
        .file(
            "terca.yaml",
            format!(
                "{more}env: {{OPENAI_API_KEY: \"${{OPENAI_API_KEY}}\", OPENAI_BASE_URL: {url}/v1}}\n\
                 environments:\n  - name: mine\n    agent: {{name: command, command: ./agent.sh}}\n\
                 evals:\n  - name: task\n    prompt: do it\n    tests: [{{fileExists: env.txt}}]\n"
            ),
        )
}

pub(super) const METER: &str = "gateway: meter\n";

fn notes(trial: &Value) -> Vec<&str> {
    let notes = trial["notes"].as_array().into_iter().flatten();
    notes.filter_map(Value::as_str).collect()
}

#[test]
fn an_agent_that_reports_nothing_is_metered_and_never_has_the_key() {
    let scenario = Scenario::saying("Hello.")
        .answered_by("small-2026")
        .fault(Fault::first(1, 500));
    let model = model(&[("one", scenario)]);
    let project = suite(&model, "ask one; ask one; ask one", METER);
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(notes(&trial), Vec::<&str>::new());
    assert_eq!(
        trial["stats"]["requests"], 2,
        "the one that failed is no answer: {trial:#}"
    );
    assert_eq!(trial["stats"]["inputTokens"], 2000);
    assert_eq!(trial["stats"]["cachedInputTokens"], 800);
    assert_eq!(trial["stats"]["outputTokens"], 114);
    assert_eq!(trial["delivery"]["modelObserved"], "small-2026");
    let wire = &trial["wire"];
    assert_eq!(
        (&wire["requests"], &wire["answered"], &wire["retries"]),
        (&json!(3), &json!(2), &json!(2)),
        "{wire:#}"
    );
    assert_eq!(wire["thinkingTokens"], 14);
    assert_eq!(wire["statuses"], json!({"200": 2, "500": 1}));
    assert_eq!(wire["modelsAsked"], json!({"small": 3}));
    assert_eq!(wire["modelsAnswered"], json!({"small-2026": 2}));
    assert_eq!(wire["stopReasons"], json!({"stop": 2}));

    let log = project.trial_file("artifacts/wire.jsonl");
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let statuses: Vec<&Value> = lines.iter().map(|line| &line["status"]).collect();
    assert_eq!(statuses, [&json!(500), &json!(200), &json!(200)]);
    assert_eq!(lines[0]["path"], "/v1/chat/completions");

    // The service has the key, and the agent has never seen it.
    for request in model.requests() {
        assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    }
    let seen = project.trial_file("workspace/env.txt");
    assert!(seen.contains("OPENAI_API_KEY=terca-"), "{seen}");
    assert!(
        !seen.contains(KEY) && !seen.contains(&model.url()),
        "{seen}"
    );
    assert!(
        project
            .trial_file("workspace/answers.txt")
            .contains("Hello.")
    );
    assert_eq!(
        trial["delivery"]["access"]["endpoints"]["OPENAI_BASE_URL"],
        model.url(),
        "the service that was asked in the end"
    );
}

#[test]
fn without_being_asked_for_nothing_changes() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    for (more, args) in [("", &[][..]), (METER, &["--gateway", "off"])] {
        let project = suite(&model, "ask one", more);
        project.terca(args).expect_status(0);
        let trial = project.only_trial();
        assert_eq!(trial.get("wire"), None, "{trial:#}");
        assert_eq!(trial["stats"]["inputTokens"], Value::Null);
        assert!(
            project
                .trial_file("workspace/env.txt")
                .contains(&model.url())
        );
        assert!(!project.trial_path("artifacts/wire.jsonl").exists());
    }
    let project = suite(&model, "ask one", "");
    project.terca(&["--gateway", "meter"]).expect_status(0);
    assert_eq!(project.only_trial()["wire"]["answered"], 1);
}

#[test]
fn experiments_choose_for_themselves() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    let more = "gateway: meter\nexperiments:\n  - name: suite\n  - name: plain\n    gateway: \"off\"\n  - name: removed\n    gateway: null\n";
    let project = suite(&model, "ask one", more);
    project.terca(&[]).expect_status(0);
    let results = project.results();
    let metered: Vec<(&str, bool)> = results["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| {
            (
                trial["experiment"].as_str().unwrap(),
                trial["wire"].is_object(),
            )
        })
        .collect();
    assert_eq!(
        metered,
        [("suite", true), ("plain", false), ("removed", true)]
    );
}

#[test]
fn other_figures_than_those_of_the_wire_are_noted() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    let script = r#"ask one; echo '{"requests": 1, "inputTokens": 1005, "outputTokens": 99}' >"$TERCA_STATS_FILE""#;
    let project = suite(&model, script, METER);
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(
        notes(&trial),
        ["the agent reported 99 output tokens (the gateway counted 57)"],
        "half a percent is none"
    );
    assert_eq!(trial["stats"]["inputTokens"], 1000, "the wire counts");
    assert_eq!(trial["stats"]["outputTokens"], 57);
    assert_eq!(trial["stats"]["cachedInputTokens"], 400);
    assert_eq!(
        trial["reported"]["inputTokens"], 1005,
        "what it reports is kept"
    );
}

/// An agent that reports next to nothing of what it spends.
#[test]
fn a_budget_takes_the_larger_cost() {
    let prices = "prices: {small: {input: 1000, output: 1000}}\n";
    for (claimed, ran, spent) in [("0.0001", 2, 2.114), ("3", 1, 1.057)] {
        let model = model(&[("one", Scenario::saying("Hello."))]);
        let script = format!(r#"ask one; echo '{{"costUsd": {claimed}}}' >"$TERCA_STATS_FILE""#);
        let project = suite(&model, &script, &format!("{METER}{prices}"));
        project.terca(&["-n", "5", "-c", "1", "--budget-usd", "2"]);
        let results = project.results();
        let trials = results["trials"].as_array().unwrap().iter();
        let passed = trials.filter(|trial| trial["status"] == "passed").count();
        assert_eq!(passed, ran, "{claimed}: {results:#}");
        let cost = results["summary"]["spent"]["costUsd"].as_f64().unwrap();
        assert!((cost - spent).abs() < 1e-9, "{claimed}: {cost}");
        let trial = &results["trials"][0];
        assert_eq!(trial["stats"]["costSource"], "computed", "{trial:#}");
        let notes = notes(trial).join(" ");
        assert!(notes.contains("the gateway counted $1.06"), "{notes}");
    }
}

/// The trouble of a service is never the failure of an agent, however the agent takes it.
#[test]
fn the_last_request_says_why_a_session_ended() {
    let one = || Scenario::two_tools();
    let with = |trouble| Fault::of(trouble);
    let slow = Fault::of(Trouble::Status {
        status: 429,
        retry_after: Some(120),
    });
    for (name, scenario, limit, kind, words) in [
        (
            "401",
            one().fault(Fault::always(401)),
            60,
            "auth",
            "status 401",
        ),
        (
            "403",
            one().fault(Fault::always(403)),
            60,
            "auth",
            "status 403",
        ),
        (
            "404",
            one().fault(Fault::always(404)),
            60,
            "model",
            "status 404",
        ),
        (
            "429",
            one().fault(slow),
            60,
            "rateLimit",
            "try again in 120s",
        ),
        (
            "500",
            one().fault(Fault::always(500)),
            60,
            "modelApi",
            "status 500",
        ),
        (
            "hang",
            one().fault(with(Trouble::Silence)),
            2,
            "modelApi",
            "did not answer",
        ),
        (
            "later",
            one().fault(with(Trouble::Silence).after(1)),
            4,
            "modelApi",
            "did not answer",
        ),
        (
            "cut",
            one().fault(with(Trouble::Cut)),
            60,
            "modelApi",
            "broke off",
        ),
        (
            "half",
            one().fault(with(Trouble::FirstHalf).after(1)),
            60,
            "modelApi",
            "broke off",
        ),
        ("once", one().fault(Fault::first(1, 500)), 60, "", ""),
        (
            "long",
            one().fault(with(Trouble::Overflow).after(1)),
            60,
            "",
            "",
        ),
        ("good", one(), 60, "", ""),
    ] {
        let model = model(&[("one", scenario)]);
        let project = suite(&model, "ask one; ask one", METER);
        let limit = limit.to_string();
        project.terca(&["--timeout", &limit]);
        let trial = project.only_trial();
        let error = &trial["error"];
        assert_eq!(
            error["kind"].as_str().unwrap_or(""),
            kind,
            "{name}: {trial:#}"
        );
        let message = error["message"].as_str().unwrap_or("");
        assert!(message.contains(words), "{name}: {message}");
        assert!(!message.contains("no credentials"), "{name}: {message}");
        let status = if kind.is_empty() { "passed" } else { "error" };
        assert_eq!(trial["status"], status, "{name}: {trial:#}");
    }
}

/// Arms that another model answered, or that ask with another effort, are not the same but for their rules.
#[test]
fn what_differs_beside_the_experiment_is_named() {
    let model = model(&[
        ("one", Scenario::saying("Hello.").answered_by("small-a")),
        ("two", Scenario::saying("Hello.").answered_by("small-b")),
    ]);
    let arms =
        "experiments: [{name: control, env: {WHICH: one}}, {name: ruled, env: {WHICH: two}}]\n";
    let project = suite(&model, "ask $WHICH", &format!("{METER}{arms}"));
    let shown = project.terca(&["-n", "2"]).expect_status(0).stdout;
    let warnings = project.results()["summary"]["comparisons"][0]["warnings"].to_string();
    let said =
        "the model is not the same on both sides: small-b with `ruled`, small-a with `control`";
    assert!(warnings.contains(said), "{warnings}");
    assert!(
        shown.contains("the model is not the same on both sides"),
        "{shown}"
    );

    // The same between two runs.
    let project = suite(&model, "ask one", METER);
    project.terca(&["-n", "2"]).expect_status(0);
    let project = project.executable("agent.sh", &format!("{AGENT}ask two\n"));
    project.terca(&["-n", "2"]).expect_status(0);
    for format in ["table", "markdown", "json"] {
        let compared = project
            .terca(&["compare", "1", "2", "--format", format])
            .stdout;
        assert!(
            compared.contains("the model is not the same on both sides"),
            "{format}: {compared}"
        );
    }
}

/// A tool that only one side has may be the reason, and is named in every view.
#[test]
fn another_list_of_tools_is_named() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    let arms = "experiments: [{name: control}, {name: ruled, env: {MORE: \"true\"}}]\n";
    let agent = AGENT.replace(
        r#""messages": ["#,
        r#""messages": [{"role": "system", "content": "Be good."}, "#,
    );
    let more = r#"body=${body/'"tools": ['/'"tools": [{"type": "function", "function": {"name": "search"}}, '}"#;
    let agent = agent.replace(
        "  exec 3<>",
        &format!("  test -z \"$MORE\" || {more}\n  exec 3<>"),
    );
    let project = suite(&model, "", &format!("{METER}{arms}"))
        .executable("agent.sh", &format!("{agent}ask one\n"));
    let shown = project.terca(&["-n", "2"]).expect_status(0).stdout;
    let said = "the list of tools is not the same on both sides: also search with";
    assert!(shown.contains(said), "{shown}");
    let results = project.results();
    let warnings = results["summary"]["comparisons"][0]["warnings"].to_string();
    assert!(warnings.contains("no other with `control`"), "{warnings}");
    let wires = results["trials"].as_array().unwrap().iter();
    let wires = wires.map(|trial| &trial["wire"]);
    assert!(
        wires
            .clone()
            .any(|wire| wire["tools"] == json!(["search", "t"]))
    );
    assert!(wires.clone().all(|wire| wire["systemPromptBytes"] == 8));
    project
        .terca(&["report", "--markdown", "run.md", "--html", "run.html"])
        .expect_status(0);
    for page in ["run.md", "run.html"] {
        let page = project.read(page);
        assert!(
            page.to_lowercase()
                .contains("the list of tools is not the same on both sides")
        );
    }
    project.terca(&["verify"]).expect_status(0);
}

/// An agent that does not come to its model is at fault itself.
#[test]
fn an_agent_that_makes_no_request_is_not_the_services_fault() {
    let model = model(&[]);
    let project = suite(&model, "", METER).executable("agent.sh", "#!/bin/sh\nexec sleep 600\n");
    project.terca(&["--timeout", "1"]).expect_status(3);
    let trial = project.only_trial();
    assert_eq!(trial["error"]["kind"], "agent", "{trial:#}");
    let message = trial["error"]["message"].as_str().unwrap();
    assert_eq!(message, "the agent made no request to a model in 1.0s");
}

#[test]
fn of_an_agent_that_was_killed_the_figures_are_those_of_the_wire() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    let script =
        r#"echo '{"inputTokens": 5}' >"$TERCA_STATS_FILE"; ask one; ask one; exec sleep 600"#;
    let project = suite(&model, script, METER);
    project.terca(&["--timeout", "5"]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(trial["timedOut"], true);
    assert_eq!(trial["wire"]["answered"], 2, "{trial:#}");
    assert_eq!(trial["stats"]["inputTokens"], 2000);
    let notes = notes(&trial);
    assert!(
        notes.iter().all(|note| !note.contains("gateway")),
        "{notes:?}"
    );
}

#[test]
fn a_service_that_is_not_there_is_told_to_the_agent() {
    let model = model(&[]);
    let url = model.url();
    let project = suite(&model, "ask one", METER);
    drop(model);
    project.terca(&[]).expect_status(3);
    let error = &project.only_trial()["error"];
    assert_eq!(error["kind"], "modelApi", "{error}");
    let answers = project.trial_file("workspace/answers.txt");
    assert!(
        answers.contains(" 502 ") && answers.contains(&url),
        "{answers}"
    );
    let wire = &project.only_trial()["wire"];
    assert_eq!(
        (&wire["requests"], &wire["answered"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(wire["statuses"], json!({"none": 1}));
}

#[test]
fn an_agent_that_asks_no_model_is_noted() {
    let model = model(&[]);
    let project = suite(&model, "", METER);
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    let note = "no request to a model passed through the gateway, to which `OPENAI_BASE_URL` led the agent: for one that reads \
                its address elsewhere, write `gateway: off`, and its host in `allow`";
    assert_eq!(notes(&trial), [note]);
    assert_eq!(trial["stats"]["requests"], Value::Null);
}

/// Returns the notes of a trial of an agent whose program is a stand-in, with these variables and this file at home.
fn notes_of(agent: &str, program: &str, env: &[(&str, &str)], file: Option<&str>) -> Vec<String> {
    let project = project();
    let bin = project.dir().join("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut project = project
        .env("PATH", &format!("{bin}:{path}"))
        .executable(
            &format!("bin/{program}"),
            "#!/bin/sh\n[ \"$1\" = --version ] && echo 99.9.9\nenv >env.txt\n",
        )
        .file(
            "terca.yaml",
            format!(
                "gateway: meter\nenvironments:\n  - name: e\n    agent: {agent}\n\
                 evals:\n  - name: task\n    prompt: Do it.\n    tests: [fileExists: env.txt]\n"
            ),
        );
    for (name, value) in env {
        project = project.env(name, value);
    }
    if let Some(file) = file {
        let path = project.home().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, r#"{"token": "a-token-of-a-login"}"#).unwrap();
    }
    project.terca(&[]);
    let trial = project.only_trial();
    assert_eq!(trial.get("wire"), None, "{trial:#}");
    notes(&trial).into_iter().map(str::to_owned).collect()
}

#[test]
fn a_sign_in_without_a_key_stays_as_it_is_with_a_note() {
    for (agent, program, env, file, expected) in [
        (
            "claude-code",
            "claude",
            &[][..],
            Some(".claude/.credentials.json"),
            "the gateway is off: the agent signs in with ~/.claude/.credentials.json, not with a key",
        ),
        (
            "claude-code",
            "claude",
            &[("CLAUDE_CODE_OAUTH_TOKEN", "an-oauth-token")],
            None,
            "the gateway is off: it knows no service for $CLAUDE_CODE_OAUTH_TOKEN",
        ),
        (
            "droid",
            "droid",
            &[("FACTORY_API_KEY", KEY)],
            None,
            "the gateway is off: `droid` cannot be pointed at another address, unless `config` has the address of its provider",
        ),
        (
            "codex",
            "codex",
            &[],
            None,
            "the gateway is off: the agent was given neither a key nor the address of a service",
        ),
    ] {
        let notes = notes_of(agent, program, env, file);
        assert!(
            notes.iter().any(|note| note == expected),
            "{agent}: {notes:?}"
        );
    }
}

#[test]
fn a_mode_that_there_is_not_is_a_mistake() {
    let model = model(&[]);
    let project = suite(&model, "", "gateway: taste\n");
    let outcome = project.terca(&["check"]);
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("`off`, `meter` or `record`"),
        "{}",
        outcome.stderr
    );
    let outcome = project.terca(&["--gateway", "taste"]);
    assert_eq!(outcome.status, 2);
}

#[test]
fn the_key_is_not_with_the_tests_either() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    let script = "ask one; echo 'echo \"$OPENAI_API_KEY\" > key.txt' > work.sh";
    let project = suite(&model, script, METER);
    let yaml = project.read("terca.yaml").replace(
        "tests: [{fileExists: env.txt}]",
        "tests: [{commandSuccess: 'sh work.sh; test -z \"$OPENAI_API_KEY\"'}]",
    );
    let project = project.file("terca.yaml", yaml);
    project.terca(&[]).expect_status(0);
    // Without the gateway they have what the suite says.
    let outcome = project.terca(&["--gateway", "off"]);
    assert_eq!(outcome.status, 1, "{}{}", outcome.stdout, outcome.stderr);
}

/// A service that an agent can reach is not one that may have the key of another.
#[test]
fn a_key_is_sent_to_its_own_service_alone() {
    const OTHER_KEY: &str = "sk-the-key-of-another-service";
    let own = model(&[("one", Scenario::saying("Hello."))]);
    let other = model(&[("one", Scenario::saying("Bye."))]);
    // First with the token of the own service, then with that of the other one.
    let script = r#"
ask one
rest=${OTHER_BASE_URL#http://}; host=${rest%%/*}
ask one
OPENAI_API_KEY=$OTHER_API_KEY; ask one
"#;
    let project = suite(&own, script, METER).env("OTHER_API_KEY", OTHER_KEY);
    let variables = format!(
        "env: {{OTHER_API_KEY: \"${{OTHER_API_KEY}}\", OTHER_BASE_URL: {}/v1, ",
        other.url()
    );
    let yaml = project.read("terca.yaml").replace("env: {", &variables);
    let project = project.file("terca.yaml", yaml);
    project.terca(&[]).expect_status(0);
    assert_eq!(
        own.requests()[0].headers["authorization"],
        format!("Bearer {KEY}")
    );
    let [foreign, good] = &other.requests()[..] else {
        panic!("{:?}", other.requests());
    };
    assert!(!foreign.mentions(KEY), "{foreign:?}");
    assert_eq!(good.headers["authorization"], format!("Bearer {OTHER_KEY}"));
    let expected = format!(
        "the agent sent the key of another service to {}, and the gateway left it out",
        other.url()
    );
    assert_eq!(notes(&project.only_trial()), [expected]);
}

/// An agent cannot use the key for anything but asking models.
#[test]
fn a_key_is_passed_to_the_paths_of_models_and_to_those_that_are_allowed() {
    let model = model(&[("one", Scenario::saying("Hello."))]);
    let script = r#"
get() {
  exec 3<>"/dev/tcp/${host%:*}/${host#*:}"
  printf 'GET /%s/files HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer %s\r\n\r\n' "${rest#*/}" "$OPENAI_API_KEY" >&3
  head -n 1 <&3 >>files.txt
  exec 3>&-
}
ask one; get; get
"#;
    let project = suite(&model, script, METER);
    project.terca(&[]).expect_status(0);
    let trial = project.only_trial();
    assert_eq!(
        notes(&trial),
        [
            "the agent sent its key to /v1/files, which the gateway refused: it is not a path that models are asked by; \
             `gateway: {allowPaths: [\"/v1/files\"]}` lets it through"
        ]
    );
    assert_eq!(trial["wire"]["statuses"], json!({"200": 1}));
    let seen = project.trial_file("workspace/files.txt");
    assert_eq!(seen.matches(" 403 ").count(), 2, "{seen}");
    assert_eq!(model.requests().len(), 1);

    let more = "gateway: {mode: meter, allowPaths: [/v1/fil*]}\n";
    let project = suite(&model, script, more);
    project.terca(&[]).expect_status(0);
    assert_eq!(notes(&project.only_trial()), Vec::<&str>::new());
    let asked = model.requests();
    let files = asked.iter().filter(|request| request.path == "/v1/files");
    assert_eq!(files.filter(|request| request.mentions(KEY)).count(), 2);

    let project = suite(&model, script, "gateway: {allowPaths: [v1/files]}\n");
    let outcome = project.terca(&["check"]);
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("a path begins with `/`"),
        "{}",
        outcome.stderr
    );
}
