//! Real agents in a sandbox: they find their programs, their runtimes and their model, and come to the same.

use crate::common::history::History;
use crate::common::project;
use crate::common::sandboxes::has_landlock;
use crate::real::Bench;
use serde_json::{Value, json};
use terca_testkit::agents::{CLAUDE, CODEX, GEMINI, GOOSE, OPENCODE, QWEN, RealAgent};
use terca_testkit::{Action, Fault, ModelServer, Request, Scenario, Script, Turn};

// What is true of them without a sandbox, where `needs_real_agents` has other tests of theirs.
crate::real::tests_of! {
    "needs bwrap, Node and npm";
    acp_claude: ACP_CLAUDE [contained_and_metered the_wire_decides options_reach_the_requests]
    acp_codex: ACP_CODEX [contained_and_metered the_wire_decides_at_once options_reach_the_requests]
    acp_gemini: ACP_GEMINI [contained_and_metered]
    acp_goose: ACP_GOOSE [contained_and_metered the_wire_decides options_reach_the_requests]
    acp_opencode: ACP_OPENCODE [contained_and_metered]
    acp_qwen: ACP_QWEN [contained_and_metered]
    claude: CLAUDE [contained_and_metered the_wire_decides options_reach_the_requests]
    codex: CODEX [contained_and_metered the_wire_decides options_reach_the_requests]
    gemini: GEMINI [contained_and_metered the_wire_decides options_reach_the_requests]
    goose: GOOSE [contained_and_metered the_wire_decides options_reach_the_requests]
    opencode: OPENCODE [contained_and_metered the_wire_decides_at_once options_reach_the_requests]
    qwen: QWEN [contained_and_metered the_wire_decides_at_once options_reach_the_requests]
}

/// What a trial came to, without its times, without what the gateway alone knows, and without what the agent asked in vain
/// of the rest of the world.
fn outcome(trial: &Value) -> Value {
    let notes = trial["notes"].as_array().into_iter().flatten();
    let notes: Vec<&Value> = notes
        .filter(|note| {
            !note
                .as_str()
                .is_some_and(|note| note.contains("refused, to"))
        })
        .collect();
    let mut stats = trial["stats"].clone();
    for name in ["durationSeconds", "costUsd", "costSource"] {
        stats[name] = Value::Null;
    }
    let mut delivery = trial["delivery"].clone();
    delivery["modelObserved"] = Value::Null;
    json!([
        trial["agentVersion"], trial["status"], trial["score"], trial["exitCode"], trial["error"],
        stats, delivery, notes,
    ])
}

fn comes_to_the_same(agent: RealAgent) {
    comes_to_the_same_in("bwrap", agent);
}

fn comes_to_the_same_in(sandbox: &str, agent: RealAgent) {
    let path = format!(
        "{}:{}",
        agent.program(),
        std::env::var("PATH").unwrap_or_default()
    );
    let script = Script::new(agent.vocabulary).scenario("both", Scenario::two_tools());
    let server = ModelServer::start(script);
    let mut environment = json!({"name": agent.name, "agent": agent.name, "model": agent.model});
    let config = (agent.config)(&server.url());
    if !config.is_null() {
        environment["config"] = config;
    }
    let eval = json!({"name": "both", "prompt": "scenario:both", "tests": [{"fileExists": ["fib.txt", "checked.txt"]}]});
    let document = json!({"environments": [environment], "evals": [eval]});
    let suite = (agent.env)(&server.url())
        .into_iter()
        .fold(project(), |suite, (name, value)| suite.env(name, &value))
        .env("PATH", &path)
        .file("terca.yaml", format!("{document:#}"));
    let run = |sandbox: &str| -> Value {
        suite
            .terca(&["--format", "plain", "--sandbox", sandbox])
            .expect_status(0);
        suite.only_trial()
    };
    let open = run("none");
    let contained = run(sandbox);
    assert_eq!(open["containedBy"], "none");
    assert_eq!(contained["containedBy"], sandbox);
    assert_eq!(contained["network"]["mode"], "model");
    assert_eq!(outcome(&open), outcome(&contained), "{}", agent.name);
    suite.assert_nothing_left();
}

#[test]
#[ignore = "needs bwrap, Node and npm"]
fn claude_code() {
    comes_to_the_same(CLAUDE);
}

#[test]
#[ignore = "needs bwrap, Node and npm"]
fn claude_code_by_rules_of_the_kernel() {
    if has_landlock() {
        return comes_to_the_same_in("landlock", CLAUDE);
    }
    // An older kernel refuses, and nothing is run.
    let suite = project().agent("true");
    suite
        .terca(&["run", "--sandbox", "landlock"])
        .expect_status(2);
    assert!(!suite.has_run());
}

#[test]
#[ignore = "needs bwrap, Node and npm"]
fn codex() {
    comes_to_the_same(CODEX);
}

#[test]
#[ignore = "needs bwrap, Node and npm"]
fn gemini_cli() {
    comes_to_the_same(GEMINI);
}

#[test]
#[ignore = "needs bwrap, Node and npm"]
fn opencode() {
    comes_to_the_same(OPENCODE);
}

#[test]
#[ignore = "needs bwrap, Node and npm"]
fn qwen_code() {
    comes_to_the_same(QWEN);
}

#[test]
#[ignore = "needs bwrap, Node and npm"]
fn goose() {
    comes_to_the_same(GOOSE);
}

/// An agent that a suite names by its command alone is led by the variables that the suite gives it.
#[test]
#[ignore = "needs bwrap, Node and npm"]
fn goose_by_a_command_that_speaks_acp() {
    let scenario = Scenario::two_tools();
    let script = Script::new(GOOSE.vocabulary)
        .scenario("both", scenario.clone())
        .scenario(
            "refused",
            Scenario::saying("Done.").fault(Fault::always(401)),
        );
    let server = ModelServer::start(script);
    let path = std::env::var("PATH").unwrap_or_default();
    let environment = json!({
        "name": "goose", "agent": {"name": "acp", "command": "goose acp"},
        "env": {
            "OPENAI_HOST": server.url(), "OPENAI_API_KEY": "false-key-for-tests", "GOOSE_PROVIDER": "openai",
            "GOOSE_MODEL": GOOSE.asked_for, "GOOSE_MODE": "auto", "GOOSE_DISABLE_KEYRING": "1", "GOOSE_DISABLE_SESSION_NAMING": "true",
        },
    });
    let eval = |name: &str| json!({"name": name, "prompt": format!("scenario:{name}"), "tests": [{"fileExists": ["fib.txt", "checked.txt"]}]});
    let document = json!({"environments": [environment], "evals": [eval("both"), eval("refused")]});
    let suite = project()
        .env("PATH", &format!("{}:{path}", GOOSE.program()))
        .file("terca.yaml", format!("{document:#}"));
    let run = |eval: &str, status: i32| {
        let args = ["--format", "plain", "--sandbox", "bwrap", "-t", eval];
        suite.terca(&args).expect_status(status);
        suite.only_trial()
    };
    let trial = run("both", 0);
    let served = scenario.usage_of(3);
    let figures =
        ["requests", "inputTokens", "outputTokens"].map(|name| trial["stats"][name].as_u64());
    assert_eq!(
        figures,
        [3, served.input, served.output()].map(Some),
        "{trial:#}"
    );
    assert_eq!(run("refused", 3)["error"]["kind"], "auth");
}

/// The question reaches its model, and the file that it writes becomes the prompt.
#[test]
#[ignore = "needs bwrap, Node and npm"]
fn claude_code_writes_the_prompt_of_a_mined_commit() {
    const TASK: &str = "Write greet.sh so that it greets the name that it is given.";
    let scenario = Scenario::new([
        Turn::calling("Writing it.", Action::write("task.md", TASK)),
        Turn::saying("Done."),
    ]);
    let bench = Bench::new(CLAUDE, &[("describe", scenario)]);
    let mut history = History::new(&bench.project);
    let test = "tests/greet_test.sh";
    history.commit(
        "Start the whole project",
        &[
            ("greet.sh", "echo hello\n"),
            (test, "[ \"$(sh ./greet.sh)\" = hello ]\n"),
        ],
    );
    let commit = history.commit(
        "Greet everybody by name scenario:describe",
        &[
            ("greet.sh", "echo \"hello $1\"\n"),
            (test, "[ \"$(sh ./greet.sh you)\" = 'hello you' ]\n"),
        ],
    );
    let args = ["mine", "repository", "--since", "100y", "--format", "json"];
    let described = ["--describe-with", CLAUDE.name, "--model", CLAUDE.model];
    let outcome = bench
        .project
        .terca(&[&args[..], &described].concat())
        .expect_status(0);
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let entry = &answer["commits"][0];
    assert_eq!(entry["commit"], *commit, "{answer:#}");
    assert_eq!(
        entry["described"]["reason"],
        Value::Null,
        "{answer:#}{}",
        outcome.stderr
    );
    let prompt = format!(
        "repository-evals/{}/prompt.md",
        entry["eval"].as_str().unwrap()
    );
    assert!(bench.project.read(&prompt).starts_with(TASK));
    let requests = bench.requests("describe");
    let shows_diff = |request: &Request| request.mentions("+echo \"hello $1\"");
    assert!(requests.iter().all(shows_diff), "{requests:?}");
    assert!(!requests.is_empty());
}
