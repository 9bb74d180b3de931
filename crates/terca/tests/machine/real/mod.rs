//! Real agents, driven by Terca, with a model on this machine that says what it was told to say.
//!
//! Every agent goes through the same tests; what differs from one to the next is in its [`RealAgent`]. They
//! get a false key and an address of this machine, and see neither its home nor its variables.

mod complaints;
mod figures;
mod gateway;
mod mcp_claims;
mod on_a_worker;
mod replay;
mod rules;
mod service;

pub use complaints::Complaints;
pub use figures::figures_and_models_are_those_served;
pub use gateway::{contained_and_metered, metered_by_the_gateway};
pub use mcp_claims::{mcp_claims_agree_with_the_server, remote_mcp_servers_are_recorded};
pub use on_a_worker::works_on_a_worker_as_it_does_here;
pub use replay::a_recorded_session_comes_to_the_same;
pub use rules::{
    long_rules_arrive_or_are_not_claimed, rules_are_proven_on_the_wire,
    skills_are_proven_on_the_wire,
};
pub use service::{
    a_dead_service_is_no_failure, options_reach_the_requests, the_wire_decides,
    the_wire_decides_at_once,
};

use std::cell::Cell;

use serde_json::{Value, json};
use terca_testkit::agents::RealAgent;
use terca_testkit::{
    Action, Fault, ModelServer, Outcome, Project, Request, Scenario, Script, Turn, tiny_mcp_server,
};

use crate::common::project;

/// What stands in every file that must not reach an agent.
pub const LEAK: &str = "LEAKED";
/// What stands in the rules of an experiment.
pub const RULE: &str = "Always begin with RULE-OF-THE-EXPERIMENT.";

/// An agent, its model, and a suite.
pub struct Bench {
    pub agent: RealAgent,
    pub server: ModelServer,
    pub project: Project,
}

impl Bench {
    pub fn new(agent: RealAgent, scenarios: &[(&str, Scenario)]) -> Self {
        let program = agent.program();
        let script = scenarios
            .iter()
            .fold(Script::new(agent.vocabulary), |script, (name, scenario)| {
                script.scenario(name, scenario.clone())
            });
        let server = ModelServer::start(script);
        let path = format!("{program}:{}", std::env::var("PATH").unwrap_or_default());
        let project = (agent.env)(&server.url())
            .into_iter()
            .fold(project().env("PATH", &path), |project, (name, value)| {
                project.env(name, &value)
            });
        Bench {
            agent,
            server,
            project,
        }
    }

    /// The suite of these evals and experiments. JSON is YAML.
    pub fn suite(mut self, experiments: &Value, evals: &Value) -> Self {
        let mut environment =
            json!({"name": "real", "agent": self.agent.name, "model": self.agent.model});
        let config = (self.agent.config)(&self.server.url());
        if !config.is_null() {
            environment["config"] = config;
        }
        // The agents find out whether a server answers: their claims about it are tested.
        // Many evals need no tests: the claims about their sessions are tested here.
        let suite = json!({
            "mcpPreflight": false, "allowWarnings": "no-tests", "environments": [environment], "experiments": experiments, "evals": evals,
        });
        self.project = self.project.file("terca.yaml", format!("{suite:#}"));
        self
    }

    pub fn file(mut self, path: &str, content: &str) -> Self {
        self.project = self.project.file(path, content);
        self
    }

    pub fn run(&self) -> Outcome {
        self.terca(&["--format", "plain"])
    }

    fn terca(&self, args: &[&str]) -> Outcome {
        let outcome = self.project.terca(args);
        self.keep();
        outcome
    }

    /// Several trials at once: they wait more than they work, unless the agent takes long to start.
    pub fn run_together(&self) -> Outcome {
        self.run_some_together(&[])
    }

    /// The same, but first the eval that is refused its key, in a run of its own, since it stops its variant. Returns its
    /// trial. There are errors in both runs.
    #[track_caller]
    pub fn run_refused_and_others(&self, refused: &str) -> Value {
        self.run_some_together(&["-t", refused]).expect_status(3);
        let trial = self.trial(refused, "only");
        let others = format!("!{refused}");
        self.run_some_together(&["-t", &others]).expect_status(3);
        trial
    }

    pub fn run_some_together(&self, selection: &[&str]) -> Outcome {
        // Some take all processors while they start.
        let trials = match start_of(self.agent) {
            ..3 => "5",
            3 => "3",
            _ => "1",
        };
        self.terca(&[&["--format", "plain", "-c", trials], selection].concat())
    }

    #[track_caller]
    pub fn trial(&self, eval: &str, experiment: &str) -> Value {
        let results = self.project.results();
        let trials = results["trials"].as_array().unwrap();
        let wanted = |trial: &&Value| trial["eval"] == eval && trial["experiment"] == experiment;
        trials
            .iter()
            .find(wanted)
            .unwrap_or_else(|| panic!("no trial {eval}/{experiment}: {results:#}"))
            .clone()
    }

    /// What the model was asked in a scenario: proper requests in the agent's protocol, with its false key.
    pub fn requests(&self, scenario: &str) -> Vec<Request> {
        let requests = self.server.requests_of(scenario);
        for request in &requests {
            assert_eq!(request.dialect, self.agent.dialect, "{}", request.path);
            assert_eq!(request.model(), self.agent.asked_for);
        }
        requests
    }
}

/// Where the runs of the tests are kept, with what the model was asked: to find out why an agent did what it did.
const KEEP: &str = "TERCA_TEST_KEEP";

impl Bench {
    /// Keeps what happened, where somebody asks for it.
    fn keep(&self) {
        let Some(dir) = std::env::var_os(KEEP) else {
            return;
        };
        let test = std::thread::current()
            .name()
            .unwrap_or("test")
            .replace("::", "-");
        let place = std::path::Path::new(&dir).join(test);
        std::fs::create_dir_all(&place).unwrap();
        let requests: String = self
            .server
            .requests()
            .iter()
            .map(|request| {
                let served = request.served.as_ref().map(|served| format!("{served:?}"));
                let line = json!({
                    "scenario": request.scenario, "status": request.status, "path": request.path,
                    "served": served, "body": request.body,
                });
                format!("{line}\n")
            })
            .collect();
        std::fs::write(place.join("requests.jsonl"), requests).unwrap();
        if self.project.has_run() {
            let copy = std::process::Command::new("cp")
                .args(["-r", self.project.run_dir().as_str()])
                .arg(&place)
                .status();
            assert!(
                copy.is_ok_and(|status| status.success()),
                "a copy in {place:?}"
            );
        }
    }
}

/// Agents whose figures are known without the gateway: by their own names, and as agents of the protocol.
const REPORTING: [&str; 7] = [
    "claude-code", "codex", "gemini-cli", "opencode", "kilo", "qwen-code", "copilot",
];

/// Whether the figures of a trial are known: from the gateway, or from its agent.
pub fn has_figures(trial: &Value) -> bool {
    let agent = trial["agent"].as_str().expect("the name of an agent");
    let agent = agent.strip_prefix("acp:").unwrap_or(agent);
    trial["wire"].is_object() || REPORTING.contains(&agent)
}

/// The figures of so many turns of a scenario, exactly.
#[track_caller]
pub fn assert_used(trial: &Value, scenario: &Scenario, turns: usize, calls: usize) {
    if !has_figures(trial) {
        let stats = &trial["stats"];
        let unknown = [
            &stats["requests"], &stats["inputTokens"], &stats["outputTokens"],
        ];
        assert_eq!(unknown, [&Value::Null; 3], "{trial:#}");
        assert_eq!(stats["toolCalls"], calls, "{trial:#}");
        return;
    }
    let usage = scenario.usage_of(turns);
    let mut stats = trial["stats"].clone();
    for key in ["durationSeconds", "costUsd", "costSource"] {
        stats[key] = Value::Null;
    }
    let expected = json!({
        "requests": turns, "inputTokens": usage.input, "cachedInputTokens": usage.cached,
        "outputTokens": usage.output(), "toolCalls": calls, "costUsd": null, "costSource": null,
        "durationSeconds": null,
    });
    assert_eq!(stats, expected, "{trial:#}");
}

#[track_caller]
pub fn assert_passed(trial: &Value) {
    let tests = trial["tests"].as_object();
    let expected = match tests.is_some_and(|tests| !tests.is_empty()) {
        true => "passed",
        false => "unverified",
    };
    assert_eq!(trial["status"], expected, "{trial:#}");
    assert_eq!(trial["timedOut"], false, "{trial:#}");
    let notes = trial["notes"].as_array().into_iter().flatten();
    // In a sandbox an agent may ask in vain for what it does not need.
    let is_refusal = |note: &&Value| {
        note.as_str()
            .is_some_and(|note| note.contains("refused, to"))
    };
    let others = notes.filter(|note| !is_refusal(note)).count();
    assert_eq!(others, 0, "{trial:#}");
}

#[track_caller]
pub fn assert_error(trial: &Value, kind: &str) {
    assert_eq!(
        (&trial["status"], &trial["error"]["kind"]),
        (&json!("error"), &json!(kind)),
        "{trial:#}"
    );
    assert_eq!(trial["score"], Value::Null);
}

/// Two tools, exact figures, the rules where they belong, and nothing of a hostile neighbourhood.
pub fn works_in_a_hostile_place(agent: RealAgent) {
    let scenario = Scenario::new([
        Turn::calling(
            "Writing the file.",
            Action::write("fib.txt", "0 1 1 2 3 5 8\n"),
        ),
        Turn::calling(
            "Looking around.",
            Action::run("cat fib.txt; env; git rev-parse --show-toplevel || true"),
        ),
        Turn::saying("Done."),
    ]);
    let bench = Bench::new(agent, &[("two-tools", scenario.clone())]);
    let bench = bench.file("_rules.md", RULE).suite(
        &json!([{"name": "control"}, {"name": "ruled", "rules": "_rules.md"}]),
        &json!([{
            "name": "fib",
            "prompt": "Write the numbers, please. scenario:two-tools",
            "tests": [{"fileContains": {"path": "fib.txt", "text": "0 1 1 2 3 5 8"}}],
        }]),
    );
    make_hostile(&bench.project);
    bench.run().expect_status(0);

    for experiment in ["control", "ruled"] {
        let trial = bench.trial("fib", experiment);
        assert_passed(&trial);
        assert_used(&trial, &scenario, 3, 2);
        assert_eq!(trial["agentVersion"], agent.version());
        assert_eq!(trial["delivery"]["modelRequested"], agent.model);
        assert_eq!(
            trial["delivery"]["rules"].as_array().map(Vec::len),
            Some(usize::from(experiment == "ruled"))
        );
    }
    let requests = bench.requests("two-tools");
    assert_eq!(requests.len(), 6, "three for each of the two");
    assert_eq!(
        bench
            .server
            .requests()
            .iter()
            .filter(|request| request.status != 200)
            .count(),
        0
    );
    let ruled = requests
        .iter()
        .filter(|request| request.mentions(RULE))
        .count();
    assert_eq!(
        ruled, 3,
        "the experiment has the rules and the control has not"
    );
    let seen: Vec<_> = requests
        .iter()
        .filter(|request| request.mentions("TERCA_TRIAL_DIR"))
        .collect();
    assert!(
        seen.is_empty(),
        "the agent may not know which trial it is in"
    );
    let variables = |request: &Request| request.mentions("GIT_CEILING_DIRECTORIES=");
    assert!(
        requests.iter().any(variables),
        "what the command printed went back to the model"
    );
    for request in bench.server.requests() {
        let text = request.body.to_string();
        let leak = text
            .find(LEAK)
            .map(|at| text[at..].chars().take(80).collect::<String>());
        assert_eq!(
            leak, None,
            "something of the neighbourhood got into {}",
            request.path
        );
    }
    assert!(
        !bench.project.home().join("STARTED").exists(),
        "a stranger's MCP server was started"
    );
    bench.project.assert_nothing_left();
}

/// Puts what must not be found into the project and into the user's home. Trials run beside them; Terca refuses to
/// run them below such a place.
pub fn make_hostile(project: &Project) {
    let write = |path: camino::Utf8PathBuf, text: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let started = project.home().join("STARTED");
    let server = json!({"command": "touch", "args": [started]});
    let servers = json!({"mcpServers": {"leaked": server}, "mcp": {"leaked": {"type": "local", "command": ["touch", started]}}});
    let home = project.home();
    for dir in [project.dir(), home.clone()] {
        for rules in [
            "AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", ".goosehints",
        ] {
            write(dir.join(rules), &format!("{LEAK}: {rules} of {dir}\n"));
        }
        for settings in [
            ".mcp.json", ".gemini/settings.json", ".qwen/settings.json", "opencode.json",
            "kilo.json", ".factory/mcp.json",
        ] {
            write(dir.join(settings), &servers.to_string());
        }
        write(dir.join(".clinerules/rules.md"), LEAK);
        write(
            dir.join(".claude/settings.json"),
            &json!({"env": {"LEAKED_BY_CLAUDE": "1"}}).to_string(),
        );
        let models = [
            "GEMINI_MODEL", "OPENAI_MODEL", "ANTHROPIC_MODEL", "GOOSE_MODEL",
        ];
        let variables: String = models
            .iter()
            .map(|name| format!("{name}={LEAK}-model\n"))
            .collect();
        write(dir.join(".env"), &format!("{variables}LEAKED_BY_ENV=1\n"));
        write(dir.join(".git/HEAD"), "ref: refs/heads/main\n");
        for part in ["objects", "refs"] {
            std::fs::create_dir_all(dir.join(".git").join(part)).unwrap();
        }
    }
    for rules in [
        ".gemini/GEMINI.md", ".qwen/QWEN.md", ".claude/CLAUDE.md", ".codex/AGENTS.md",
        ".config/opencode/AGENTS.md", ".config/goose/.goosehints",
        ".copilot/copilot-instructions.md", "Documents/Cline/Rules/rules.md", ".agents/AGENTS.md",
        ".pi/agent/AGENTS.md", ".config/kilo/AGENTS.md", ".factory/AGENTS.md",
    ] {
        write(home.join(rules), &format!("{LEAK}: the user's {rules}\n"));
    }
    for settings in [
        ".copilot/mcp-config.json",
        ".cline/data/settings/cline_mcp_settings.json",
    ] {
        write(home.join(settings), &servers.to_string());
    }
    write(
        home.join(".codex/config.toml"),
        &format!("developer_instructions = \"{LEAK}\"\n"),
    );
}

/// A server that works is offered and called; with one that does not the agent was not tested.
pub fn mcp_servers_are_offered_called_and_missed(agent: RealAgent) {
    let scenario = Scenario::new([
        Turn::calling("Asking.", Action::mcp("tiny", "magic", json!({"x": 42}))),
        Turn::saying("Done."),
    ]);
    let bench = Bench::new(agent, &[("magic", scenario.clone())]);
    let bench = bench.suite(
        &json!([
            {"name": "working", "mcpServers": {"tiny": {"command": "node", "args": [tiny_mcp_server()]}}},
            {"name": "broken", "mcpServers": {"tiny": {"command": "node", "args": ["-e", "process.exit(3)"]}}},
        ]),
        &json!([{"name": "magic", "prompt": "The magic word, please. scenario:magic"}]),
    );
    bench.run().expect_status(3);

    let trial = bench.trial("magic", "working");
    assert_passed(&trial);
    assert_used(&trial, &scenario, 2, 1);
    let server = &trial["delivery"]["mcpServers"]["tiny"];
    assert_eq!(
        (&server["status"], &server["calls"]),
        (&json!("connected"), &json!(1)),
        "{trial:#}"
    );
    // Not every agent shows which calls fail.
    let failed = &server["failedCalls"];
    assert!(failed.is_null() || *failed == 0, "{trial:#}");
    let answered = bench
        .requests("magic")
        .iter()
        .filter(|request| request.mentions("MAGIC-WORD-42"))
        .count();
    assert_eq!(answered, 1, "what the server said goes back to the model");

    assert_error(&bench.trial("magic", "broken"), "mcp");
    bench.project.assert_nothing_left();
}

/// A tool that is hidden is in no request to the model, although its server is connected.
pub fn hidden_tools_are_not_offered(agent: RealAgent) {
    let scenario = Scenario::new([Turn::saying("Done.")]);
    let bench = Bench::new(agent, &[("plain", scenario)]);
    let args = json!([tiny_mcp_server(), "/dev/null", "two"]);
    let servers = json!({"tiny": {"command": "node", "args": args}});
    let bench = bench.suite(
        &json!([
            {"name": "all", "mcpServers": servers},
            {"name": "few", "mcpServers": servers, "hideTools": {"tiny": ["magic"]}},
        ]),
        &json!([{"name": "plain", "prompt": "Say hello. scenario:plain"}]),
    );
    bench.run().expect_status(0);
    for (experiment, tools) in [("all", vec!["magic", "pause"]), ("few", vec!["pause"])] {
        let trial = bench.trial("plain", experiment);
        assert_passed(&trial);
        let server = &trial["delivery"]["mcpServers"]["tiny"];
        assert_eq!(server["status"], "connected", "{trial:#}");
        let offered = server["tap"]["tools"].as_object().unwrap();
        assert_eq!(offered.keys().collect::<Vec<_>>(), tools, "{trial:#}");
    }
    let requests = bench.requests("plain");
    // Some agents give the names of tools only, and leave their descriptions to a search.
    let is_offering = |request: &&Request| {
        request.tools().iter().any(|tool| tool.contains("magic"))
            || request.mentions("mcp__tiny__magic")
    };
    let offering = requests.iter().filter(is_offering).count();
    let tools: Vec<Vec<String>> = requests.iter().map(Request::tools).collect();
    assert_eq!(
        2 * offering,
        requests.len(),
        "half of the trials have the tool: {tools:?}"
    );
    assert!(!requests.is_empty());
    bench.project.assert_nothing_left();
}

thread_local! {
    /// Counts the attempts at the test of this thread.
    static ATTEMPT: Cell<u64> = const { Cell::new(1) };
}

/// Runs a test again when it fails: what these programs do on a busy machine is theirs to decide.
pub fn up_to_three_times(test: fn(RealAgent), agent: RealAgent) {
    for attempt in 1..3 {
        ATTEMPT.set(attempt);
        if std::panic::catch_unwind(|| test(agent)).is_ok() {
            return;
        }
    }
    ATTEMPT.set(3);
    test(agent);
}

/// How many times longer than usual an agent may take to get going: as many as there are programs that wait for each
/// processor, at most three. A test that is tried again has more time, so that one in a busy moment costs no more than that.
pub fn patience() -> u64 {
    let asked = std::env::var("TERCA_TEST_PATIENCE").ok();
    if let Some(times) = asked.and_then(|times| times.parse().ok()) {
        return times;
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let waiting: f64 = load
        .split(' ')
        .next()
        .and_then(|load| load.parse().ok())
        .unwrap_or(1.0);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (waiting / processors as f64).ceil().clamp(1.0, 3.0) as u64 * ATTEMPT.get()
}

/// How many times longer than most an agent takes to start.
fn start_of(agent: RealAgent) -> u64 {
    match agent.program_name() {
        "kilo" => 4,
        "opencode" | "aider" | "mini-swe-agent" => 3,
        "cline" | "copilot" | "qwen-code" => 2,
        _ => 1,
    }
}

/// The limit for a session that takes so many seconds on an idle machine, with an agent that starts at once.
pub fn limit_of(agent: RealAgent, seconds: u64) -> u64 {
    seconds * patience() * start_of(agent)
}

/// Trouble of every kind has its name, its end, and the figures up to then.
pub fn trouble_is_told_from_failure(agent: RealAgent) {
    let sleeper = Scenario::new([Turn::calling(
        "Waiting.",
        Action::run("echo on > asleep.txt; sleep 300"),
    )]);
    let scenarios = [
        (
            "refused",
            Scenario::saying("Done.").fault(Fault::always(401)),
        ),
        (
            "throttled",
            Scenario::saying("Done.").fault(Fault::always(429)),
        ),
        (
            "recovered",
            Scenario::two_tools().fault(Fault::first(1, 500)),
        ),
        ("down", Scenario::saying("Done.").fault(Fault::always(500))),
        ("asleep", sleeper.clone()),
    ];
    let bench = Bench::new(agent, &scenarios);
    let played = |name: &str| agent.gives_up || name != "down";
    let evals: Vec<Value> = scenarios
        .iter()
        .filter(|(name, _)| played(name))
        .map(|(name, _)| {
            let seconds = match *name {
                // These stop waiting for a command after half a minute, or after two.
                "asleep" if matches!(agent.name, "codex" | "cline") => (15 * patience()).min(25),
                "asleep" => limit_of(agent, 15).min(110),
                _ => 90 * patience(),
            };
            json!({"name": name, "prompt": format!("Go on. scenario:{name}"), "timeoutSeconds": seconds})
        })
        .collect();
    let bench = bench.suite(&json!([{"name": "only"}]), &json!(evals));
    let refused = bench.run_refused_and_others("refused");

    for (eval, kind) in [
        ("refused", "auth"),
        ("throttled", "rateLimit"),
        ("down", "modelApi"),
    ] {
        if !played(eval) {
            continue;
        }
        let trial = match eval {
            "refused" => refused.clone(),
            eval => bench.trial(eval, "only"),
        };
        assert_error(&trial, kind);
        assert_eq!(trial["timedOut"], false, "{eval} ends by itself");
        assert!(
            !bench.requests(eval).is_empty(),
            "{eval}: the model was asked"
        );
    }
    let mut trial = bench.trial("recovered", "only");
    // An agent that tells of the request that failed has a note of it, and of nothing else.
    if let Some(notes) = trial["notes"].as_array_mut() {
        notes.retain(|note| !note.to_string().contains("the script says 500"));
    }
    assert_passed(&trial);
    assert_used(&trial, &scenarios[2].1, 3, 2);
    assert_eq!(bench.requests("recovered").len(), 4, "one was refused");

    let trial = bench.trial("asleep", "only");
    assert_eq!(
        (&trial["status"], &trial["timedOut"]),
        (&json!("unverified"), &json!(true)),
        "{trial:#}"
    );
    if agent.goes_on {
        // It may not have the time.
        if trial["stats"]["inputTokens"] != Value::Null {
            assert_used(&trial, &sleeper, bench.requests("asleep").len(), 1);
        }
    } else if agent.tells_as_it_goes {
        assert_used(&trial, &sleeper, 1, 1);
    } else {
        assert_eq!(
            trial["stats"]["inputTokens"],
            Value::Null,
            "what is not known is not 0"
        );
    }
    let folder = bench.project.run_dir().join(trial["dir"].as_str().unwrap());
    let kept = bench.project.workspace_of(&folder).join("asleep.txt");
    assert!(kept.exists(), "the tool had begun");
    bench.project.assert_nothing_left();
}

/// However a prompt begins and however long it is, the model gets it.
pub fn prompts_arrive_as_written(agent: RealAgent) {
    let filler: String = (0..5000)
        .map(|n| format!("Line {n} of a prompt that is very long indeed.\n"))
        .collect();
    assert!(
        filler.len() > 200_000,
        "longer than one argument of a program may be"
    );
    let prompts = [
        ("dash", "--help me with - a list. scenario:dash".to_owned()),
        (
            "slash",
            "/nonsense is no command. scenario:slash".to_owned(),
        ),
        (
            "at",
            "@someone said `$HOME` and \"äöü\" 🦀. scenario:at".to_owned(),
        ),
        ("long", format!("{filler}And that was all. scenario:long")),
    ];
    let scenarios = prompts
        .each_ref()
        .map(|(name, _)| (*name, Scenario::saying("Understood.")));
    let bench = Bench::new(agent, &scenarios);
    let evals: Vec<Value> = prompts
        .iter()
        .map(|(name, prompt)| json!({"name": name, "prompt": prompt}))
        .collect();
    let bench = bench.suite(&json!([{"name": "only"}]), &json!(evals));
    bench.run().expect_status(0);
    for (name, prompt) in &prompts {
        assert_used(&bench.trial(name, "only"), &scenarios[0].1, 1, 0);
        let requests = bench.requests(name);
        assert_eq!(requests.len(), 1, "{name}");
        let said = requests[0].said();
        assert!(
            said.iter().any(|text| text.contains(prompt)),
            "{name} did not arrive as written: {said:.300?}"
        );
    }
}

/// The model is told of a skill, and of none where there is none.
pub fn skills_are_offered(agent: RealAgent) {
    let bench = Bench::new(agent, &[("skilled", Scenario::saying("Done."))]);
    let about = "Sorts numbers the way that SKILL-OF-THE-EXPERIMENT has it.";
    let skill = format!("---\nname: sorting\ndescription: {about}\n---\n\nSort them downwards.\n");
    let bench = bench.file("_skills/sorting/SKILL.md", &skill).suite(
        &json!([{"name": "control"}, {"name": "skilled", "skills": ["_skills/sorting"]}]),
        &json!([{"name": "skilled", "prompt": "Go on. scenario:skilled"}]),
    );
    bench.run().expect_status(0);
    for (experiment, count) in [("control", 0), ("skilled", 1)] {
        let trial = bench.trial("skilled", experiment);
        assert_eq!(
            trial["delivery"]["skills"].as_array().map(Vec::len),
            Some(count),
            "{trial:#}"
        );
    }
    let requests = bench.requests("skilled");
    assert_eq!(requests.len(), 2, "one for each of the two");
    assert_eq!(
        requests
            .iter()
            .filter(|request| request.mentions(about))
            .count(),
        1
    );
}

/// Asked to judge what another did, it reads that between the fences, and its verdict and figures are told.
pub fn judges(agent: RealAgent) {
    let scenario = Scenario::saying(
        "```json\n{\"score\": 0.75, \"summary\": \"fair\", \
         \"reasons\": [{\"criterion\": \"short\", \"score\": 0.75, \"reason\": \"one line\"}]}\n```",
    );
    let mut bench = Bench::new(agent, &[("verdict", scenario.clone())]);
    let mut judge = json!({
        "rubric": "It is short. scenario:verdict", "agent": agent.name, "model": agent.model, "passScore": 0.7,
    });
    let config = (agent.config)(&bench.server.url());
    if !config.is_null() {
        judge["config"] = config;
    }
    let suite = json!({
        "environments": [{
            "name": "default", "rules": "_rules.md",
            "agent": {"name": "command", "command": "echo 'let fib' > fib.js; echo 'All of it is done.'"},
        }],
        "evals": [{
            "name": "fib", "prompt": "Write fib.js, please.",
            "tests": [{"name": "taste", "judge": judge, "timeoutSeconds": 120 * patience()}],
        }],
    });
    bench.project = bench
        .project
        .file("terca.yaml", format!("{suite:#}"))
        .file("_rules.md", RULE);
    make_hostile(&bench.project);
    bench.run().expect_status(0);

    let trial = bench.trial("fib", "default");
    assert_passed(&trial);
    assert_eq!(
        trial["stats"]["inputTokens"],
        Value::Null,
        "what the judge used is not the agent's: {trial:#}"
    );
    let judged = &trial["tests"]["taste"]["judge"];
    assert_used(judged, &scenario, 1, 0);
    assert_eq!(
        (&judged["score"], &judged["agent"]),
        (&json!(0.75), &json!(agent.name))
    );
    assert_eq!(judged["agentVersion"], agent.version());
    assert_eq!(judged["reasons"][0]["reason"], "one line");
    let requests = bench.requests("verdict");
    assert_eq!(requests.len(), 1, "it needs no tool and no second thought");
    let said = requests[0].said().join("\n");
    for part in [
        "Write fib.js, please.", "+let fib", "All of it is done.", "END CHANGES",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for request in bench.server.requests() {
        assert!(
            !request.mentions(LEAK) && !request.mentions(RULE),
            "{}",
            request.path
        );
    }
    bench.project.assert_nothing_left();
}

/// The tests that agents go through, of those in this module: a row for each agent, or one without a module of its own.
macro_rules! tests_of {
    ($needs:literal; $($module:ident: $agent:ident [$($test:ident)+])+) => {
        $(mod $module {
            crate::real::tests_of!($needs; $agent [$($test)+]);
        })+
    };
    ($needs:literal; $agent:ident [$($test:ident)+]) => {
        $(
            #[test]
            #[ignore = $needs]
            fn $test() {
                crate::real::up_to_three_times(crate::real::$test, terca_testkit::agents::$agent);
            }
        )+
    };
}
pub(crate) use tests_of;
