//! How the layers of a suite come together, as tables of YAML and what it comes to.

#[cfg(test)]
mod support;

use std::time::Duration;

use serde_json::{Map, Value, json};
use support::{Project, coordinates, indented, plan, plan_of, with_nop};
use terca_core::agent::mcp::McpServer;
use terca_core::config::suite::Action;
use terca_core::plan::expand::Overrides;
use terca_core::plan::selection::Selection;
use terca_core::plan::{Case, Plan};

const EVAL: (&str, &str) = ("fib/eval.terca.yaml", "prompt: go\n");

/// A suite of one environment and one experiment laid over it.
fn two_setups(environment: &str, experiment: &str) -> String {
    let (below, above) = (indented(environment, 4), indented(experiment, 4));
    format!(
        "environments:\n  - name: below\n    {below}\nexperiments:\n  - name: above\n    {above}\n"
    )
}

fn project(suite: &str) -> Project {
    Project::new(&[
        ("one.md", ""),
        ("two.md", ""),
        ("server", ""),
        EVAL,
        ("terca.yaml", suite),
    ])
    .variable("HOST", "example.com")
    .variable("TOKEN", "s3cret")
    .variable("EMPTY", "")
}

/// The plan with the agent `nop`, and the one case that it has.
fn planned(project: Project) -> Plan {
    plan_of(project, &Selection::default(), &with_nop())
}

fn only_case(plan: &Plan) -> &Case {
    assert_eq!(plan.trials.len(), 1);
    &plan.trials[0].case
}

/// What a field comes to, as JSON, so that one table can hold them all.
fn field(case: &Case, name: &str) -> Value {
    let variant = &case.variant;
    match name {
        "model" => json!(variant.model),
        "rules" => json!(variant.rules),
        "config" => json!(variant.config),
        "command" => json!(variant.command.as_ref().map(|command| &command.command)),
        "timeoutSeconds" => json!(case.timeout.as_secs_f64()),
        "env" => object(case.env.iter().map(|(name, value)| (name, json!(value)))),
        "mcpServers" => object(
            variant
                .mcp_servers
                .iter()
                .map(|(name, server)| (name, brief(server))),
        ),
        other => json!(format!("no field {other}")),
    }
}

fn object<'a>(entries: impl Iterator<Item = (&'a String, Value)>) -> Value {
    Value::Object(
        entries
            .map(|(name, value)| (name.clone(), value))
            .collect::<Map<_, _>>(),
    )
}

fn brief(server: &McpServer<String>) -> Value {
    match server {
        McpServer::Stdio {
            command,
            args,
            env,
            cwd,
        } => json!([command, args, env, cwd]),
        McpServer::Remote {
            url,
            headers,
            transport,
        } => json!([url, headers, transport]),
    }
}

#[test]
fn an_experiment_is_laid_over_an_environment() {
    let server = |name: &str| json!([name, [], [], null]);
    for (name, below, above, result) in [
        // A scalar or a list replaces, `null` removes, silence keeps.
        ("model", "model: a", "model: b", json!("b")),
        ("model", "model: a", "", json!("a")),
        ("model", "model: a", "model: null", json!(null)),
        ("model", "", "model: b", json!("b")),
        (
            "rules",
            "rules: one.md",
            "rules: [two.md]",
            json!(["/suite/two.md"]),
        ),
        (
            "rules",
            "rules: [two.md, one.md]",
            "",
            json!(["/suite/two.md", "/suite/one.md"]),
        ),
        ("rules", "rules: one.md", "rules: null", json!([])),
        ("rules", "rules: one.md", "rules: []", json!([])),
        ("command", "command: a", "command: {command: b}", json!("b")),
        ("command", "command: a", "command: null", json!(null)),
        (
            "timeoutSeconds",
            "timeoutSeconds: 1",
            "timeoutSeconds: 2.5",
            json!(2.5),
        ),
        (
            "timeoutSeconds",
            "timeoutSeconds: 1",
            "timeoutSeconds: null",
            json!(300.0),
        ),
        // A map is merged key by key.
        (
            "env",
            "env: {A: a, B: b}",
            "env: {B: c, C: c}",
            json!({"A": "a", "B": "c", "C": "c"}),
        ),
        (
            "env",
            "env: {A: a, B: b}",
            "env: {A: null}",
            json!({"B": "b"}),
        ),
        ("env", "env: {A: a, B: b}", "env: null", json!({})),
        ("env", "env: {A: a}", "env: {}", json!({"A": "a"})),
        (
            "mcpServers",
            "mcpServers: {a: {command: x}, b: {command: y}}",
            "mcpServers: {b: {command: z}, c: {command: z}}",
            json!({"a": server("x"), "b": server("z"), "c": server("z")}),
        ),
        (
            "mcpServers",
            "mcpServers: {a: {command: x}, b: {command: y}}",
            "mcpServers: {a: null}",
            json!({"b": server("y")}),
        ),
        (
            "mcpServers",
            "mcpServers: {a: {command: x}}",
            "mcpServers: null",
            json!({}),
        ),
        (
            "config",
            "config: {a: {b: 1, c: 2}}",
            "config: {a: {c: 3}, d: 4}",
            json!({"a": {"b": 1, "c": 3}, "d": 4}),
        ),
        (
            "config",
            "config: {a: {b: 1, c: 2}}",
            "config: {a: {b: null}}",
            json!({"a": {"c": 2}}),
        ),
        (
            "config",
            "config: {a: [1, 2]}",
            "config: {a: [3]}",
            json!({"a": [3]}),
        ),
        (
            "config",
            "config: {a: 1}",
            "config: {a: {b: 1, c: null}}",
            json!({"a": {"b": 1}}),
        ),
        ("config", "", "config: {a: 1, b: null}", json!({"a": 1})),
        ("config", "config: {a: 1}", "config: null", json!(null)),
    ] {
        let plan = planned(project(&two_setups(below, above)));
        assert_eq!(field(only_case(&plan), name), result, "{below} + {above}");
    }
}

#[test]
fn the_agent_of_an_experiment_replaces_and_that_of_the_command_line_wins() {
    let suite = two_setups(
        "agent: gemini",
        "agent: {name: command, command: ../suite/server --fast}",
    );
    let chosen = |overrides: &Overrides| {
        let agent = only_case(&plan_of(project(&suite), &Selection::default(), overrides))
            .variant
            .agent
            .clone();
        (agent.agent.profile().name, agent.command)
    };
    assert_eq!(
        chosen(&Overrides::default()),
        ("command", Some("'/suite/server' --fast".into()))
    );
    assert_eq!(chosen(&with_nop()), ("nop", None));
}

#[test]
fn the_prompt_has_its_parts_in_order_and_leaves_out_the_missing() {
    let around = |name: &str| format!("preamble: {name} before\npostamble: {name} after\n");
    for (suite, below, above, prompt) in [
        ("", "", "", "go"),
        ("suite", "", "", "suite before\n\ngo\n\nsuite after"),
        (
            "suite",
            "",
            "above",
            "suite before\n\nabove before\n\ngo\n\nabove after\n\nsuite after",
        ),
        (
            "suite",
            "below",
            "above",
            "suite before\n\nbelow before\n\nabove before\n\ngo\n\nabove after\n\nbelow after\n\nsuite after",
        ),
    ] {
        let [suite, below, above] = [suite, below, above].map(|name| {
            if name.is_empty() {
                String::new()
            } else {
                around(name)
            }
        });
        let plan = planned(project(&format!("{suite}{}", two_setups(&below, &above))));
        assert_eq!(only_case(&plan).prompt, prompt);
    }
    let blocks = "preamble: |\n  one\n\n  two\npostamble: ''\n";
    assert_eq!(
        only_case(&planned(project(blocks))).prompt,
        "one\n\ntwo\n\ngo"
    );
}

#[test]
fn actions_run_from_the_suite_inwards() {
    let before = |name: &str| format!("before: [{{command: {name}-1}}, {{command: {name}-2}}]\n");
    let suite = format!(
        "{}{}",
        before("suite"),
        two_setups(&before("below"), &before("above"))
    );
    let plan = plan(&[
        ("terca.yaml", &suite),
        (
            "fib/eval.terca.yaml",
            &format!("prompt: go\n{}", before("eval")),
        ),
    ]);
    let commands: Vec<String> = only_case(&plan)
        .actions
        .iter()
        .map(|action| match action {
            Action::Run(command) => format!("{} in {}", command.command, command.dir),
            other => panic!("not a command: {other:?}"),
        })
        .collect();
    let expected = [
        ("suite", "/suite"),
        ("eval", "/suite/fib"),
        ("below", "/suite"),
        ("above", "/suite"),
    ];
    let expected: Vec<String> = expected
        .iter()
        .flat_map(|(name, dir)| [1, 2].map(|number| format!("{name}-{number} in {dir}")))
        .collect();
    assert_eq!(commands, expected);
}

#[test]
fn the_nearest_timeout_counts() {
    let written =
        |seconds: Option<u32>| seconds.map_or(String::new(), |s| format!("timeoutSeconds: {s}\n"));
    for (suite, below, above, eval, flag, seconds) in [
        (None, None, None, None, None, 300),
        (Some(1), None, None, None, None, 1),
        (Some(1), Some(2), None, None, None, 2),
        (Some(1), Some(2), Some(3), None, None, 3),
        (Some(1), Some(2), Some(3), Some(4), None, 4),
        (Some(1), Some(2), Some(3), Some(4), Some(5), 5),
        (Some(1), None, None, None, Some(5), 5),
    ] {
        let suite = format!(
            "{}{}",
            written(suite),
            two_setups(&written(below), &written(above))
        );
        let eval = format!("prompt: go\n{}", written(eval));
        let timeout = flag.map(Duration::from_secs);
        let files = [
            ("terca.yaml", suite.as_str()),
            ("fib/eval.terca.yaml", &eval),
        ];
        let overrides = Overrides {
            timeout,
            ..with_nop()
        };
        let plan = plan_of(Project::new(&files), &Selection::default(), &overrides);
        assert_eq!(
            only_case(&plan).timeout,
            Duration::from_secs(seconds),
            "{files:?}"
        );
    }
}

#[test]
fn variables_of_the_eval_win_then_of_the_experiment_the_environment_the_suite() {
    let suite = format!(
        "env: {{A: suite, B: suite, C: suite, D: suite, GONE: x}}\n{}",
        two_setups(
            "env: {B: below, C: below, D: below}", "env: {C: above, D: above}"
        )
    );
    let eval = "prompt: go\nenv: {D: eval, GONE: null}\n";
    let plan = plan(&[("terca.yaml", &suite), ("fib/eval.terca.yaml", eval)]);
    assert_eq!(
        field(only_case(&plan), "env"),
        json!({"A": "suite", "B": "below", "C": "above", "D": "eval"})
    );
}

#[test]
fn variables_are_filled_in_and_remembered_as_secrets() {
    let nothing: &[&str] = &[];
    for (written, value, secrets) in [
        ("plain $TOKEN {x}", "plain $TOKEN {x}", nothing),
        ("${TOKEN}", "s3cret", &["s3cret"]),
        (
            "Bearer ${TOKEN} at ${HOST}/${TOKEN}",
            "Bearer s3cret at example.com/s3cret",
            &["s3cret", "example.com"],
        ),
        ("${NOPE:-default}", "default", nothing),
        ("${NOPE:-}", "", nothing),
        ("${NOPE:-a:-b}", "a:-b", nothing),
        ("${TOKEN:-default}", "s3cret", &["s3cret"]),
        ("${EMPTY:-default}", "default", nothing),
        ("${EMPTY}", "", nothing),
        ("${TOKEN", "${TOKEN", nothing),
        ("a ${", "a ${", nothing),
        ("größe ${HOST} ß", "größe example.com ß", &["example.com"]),
    ] {
        let plan = planned(project(&format!("env: {{A: '{written}'}}\n")));
        assert_eq!(
            field(only_case(&plan), "env"),
            json!({"A": value}),
            "{written}"
        );
        assert_eq!(plan.secrets, secrets, "{written}");
    }
}

#[test]
fn every_string_of_an_mcp_server_is_filled_in_and_its_paths_start_from_the_file() {
    for (written, server) in [
        (
            "{command: ./server, args: ['--token=${TOKEN}', 1.10], env: {T: '${TOKEN}'}, cwd: sub}",
            json!([
                "/suite/server",
                ["--token=s3cret", "1.10"],
                [["T", "s3cret"]],
                "/suite/sub"
            ]),
        ),
        (
            "{command: '${HOST}', cwd: '${HOST}/x'}",
            json!(["example.com", [], [], "example.com/x"]),
        ),
        (
            "{url: 'https://${HOST}/mcp', headers: {Authorization: 'Bearer ${TOKEN}'}}",
            json!([
                "https://example.com/mcp",
                [["Authorization", "Bearer s3cret"]],
                "http"
            ]),
        ),
        ("{url: 'http://x/sse'}", json!(["http://x/sse", [], "sse"])),
        (
            "{url: 'http://x/sse', type: http}",
            json!(["http://x/sse", [], "http"]),
        ),
        (
            "{url: 'http://x', type: sse}",
            json!(["http://x", [], "sse"]),
        ),
    ] {
        let plan = planned(project(&two_setups(
            "agent: gemini",
            &format!("mcpServers: {{s: {written}}}"),
        )));
        assert_eq!(
            field(only_case(&plan), "mcpServers"),
            json!({"s": server}),
            "{written}"
        );
    }
}

#[test]
fn values_of_variables_keep_their_spelling() {
    for written in [
        "1.10", "true", "False", "0x1F", "1_000", "007", "1e3", "+5", "12:30", "2026-11-14", "no",
        "~x",
    ] {
        let plan = planned(project(&format!("env: {{A: {written}}}\n")));
        assert_eq!(field(only_case(&plan), "env"), json!({"A": written}));
    }
}

#[test]
fn anchors_and_merge_keys_work() {
    let suite = "environments:\n  \
        - &base {name: below, model: a, env: &shared {A: 1, B: 2}}\n\
        experiments:\n  \
        - <<: *base\n    name: above\n    env: {<<: *shared, B: 3}\n";
    let plan = planned(project(suite));
    let case = only_case(&plan);
    assert_eq!(field(case, "env"), json!({"A": "1", "B": "3"}));
    assert_eq!(
        (case.variant.label().as_str(), case.variant.model.as_deref()),
        ("below.above", Some("a"))
    );
}

#[test]
fn an_evals_repetitions_replace_the_suites_and_the_command_line_all() {
    let files = [
        ("terca.yaml", "repetitions: 3\n"),
        ("a/eval.terca.yaml", "prompt: go\n"),
        ("b/eval.terca.yaml", "prompt: go\nrepetitions: 2\n"),
    ];
    let dirs = |repetitions| -> Vec<String> {
        let overrides = Overrides {
            repetitions,
            ..with_nop()
        };
        let plan = plan_of(Project::new(&files), &Selection::default(), &overrides);
        plan.trials
            .iter()
            .map(|trial| trial.dir.to_string())
            .collect()
    };
    let of = |eval: &str, count: u32| {
        (1..=count)
            .map(|n| format!("{eval}/default.default.{n:02}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(dirs(None), [of("a", 3), of("b", 2)].concat());
    assert_eq!(dirs(Some(1)), [of("a", 1), of("b", 1)].concat());
}

#[test]
fn selections() {
    let files = [
        (
            "terca.yaml",
            "environments: [{name: node}, {name: deno}]\nexperiments: [{name: with}, {name: without}]\n",
        ),
        (
            "1/eval.terca.yaml",
            "prompt: go\nname: fib\ntags: [maths, slow]\n",
        ),
        (
            "2/eval.terca.yaml",
            "prompt: go\nname: fib-fast\ntags: [maths]\n",
        ),
        (
            "3/eval.terca.yaml",
            "prompt: go\nname: 'sort, stable'\ntags: [lists]\n",
        ),
        ("4/eval.terca.yaml", "prompt: go\nname: 'odd[1]'\n"),
    ];
    let all = ["fib", "fib-fast", "sort, stable", "odd[1]"];
    for (patterns, names) in [
        (&[][..], &all[..]),
        (&["*"], &all),
        (&["fib"], &all[..1]),
        (&["fib*"], &all[..2]),
        (&["fib-fast,fib"], &all[..2]),
        (&["fib-fast", "fib", "fib"], &all[..2]),
        (&["fib{,-fast}"], &all[..2]),
        (&["sort, stable"], &all[2..3]),
        (&["odd[1]"], &all[3..]),
        (&["tag:maths"], &all[..2]),
        (&["tag:sl*, odd*"], &[all[0], all[3]]),
    ] {
        let evals = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let selection = Selection {
            evals,
            experiments: vec!["without".into()],
            environments: vec!["n*".into()],
        };
        let plan = plan_of(Project::new(&files), &selection, &with_nop());
        let found: Vec<_> = plan.trials.iter().map(coordinates).collect();
        let expected: Vec<_> = names
            .iter()
            .map(|&name| (name.to_owned(), "node".to_owned(), "without".to_owned(), 1))
            .collect();
        assert_eq!(found, expected, "{patterns:?}");
    }
}
