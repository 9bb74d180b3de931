//! The example that compares an MCP server with nothing, with a real agent.

use crate::common::example::example;
use serde_json::{Value, json};
use terca_testkit::agents::{CLAUDE, GEMINI, RealAgent};
use terca_testkit::{Action, ModelServer, Project, Request, Scenario, Script, Turn};

/// What agents write from memory: it loads, and accepts everything.
const FROM_MEMORY: &str = "import * as v from 'valibot';\n\n\
    const Signup = v.object({\n  \
      email: v.string([v.trim(), v.email('Not an e-mail address')]),\n  \
      password: v.string([v.minLength(8, 'Too short')]),\n  \
      newsletter: v.optional(v.boolean(), false),\n\
    });\n\n\
    export function parseSignup(input) {\n  \
      const result = v.safeParse(Signup, input);\n  \
      return result.success ? { ok: true, value: result.output } : { ok: false, errors: v.flatten(result.issues).nested };\n\
    }\n";

/// A sentence of the documentation that nobody else says.
const DOCUMENTED: &str = "It loads, and accepts every string.";

/// The example with a word after the prompt of two experiments that tells the model on this machine what to say.
fn scripted(agent: RealAgent) -> (Project, ModelServer) {
    let program = agent.program();
    let project = example("valibot");
    let solution = project.read("signup-form/_solution/signup.js");
    let script = Script::new(agent.vocabulary)
        .scenario(
            "from-memory",
            Scenario::new([
                Turn::calling("I know this one.", Action::write("signup.js", FROM_MEMORY)),
                Turn::saying("Done."),
            ]),
        )
        .scenario(
            "from-the-docs",
            Scenario::new([
                Turn::calling(
                    "Looking.",
                    Action::mcp("docs", "search", json!({"query": "email message"})),
                ),
                Turn::calling(
                    "Reading.",
                    Action::mcp("docs", "read", json!({"page": "pipelines"})),
                ),
                Turn::calling("Writing.", Action::write("signup.js", &solution)),
                Turn::saying("Done."),
            ]),
        );
    let server = ModelServer::start(script);
    let suite = project
        .read("terca.yaml")
        .replace(
            "  - name: control\n",
            "  - name: control\n    postamble: scenario:from-memory\n",
        )
        .replace(
            "  - name: with-mcp\n",
            "  - name: with-mcp\n    postamble: scenario:from-the-docs\n",
        );
    let path = format!("{program}:{}", std::env::var("PATH").unwrap_or_default());
    let project = (agent.env)(&server.url())
        .into_iter()
        .fold(project.env("PATH", &path), |project, (name, value)| {
            project.env(name, &value)
        })
        .file("terca.yaml", suite);
    (project, server)
}

#[track_caller]
fn trial(project: &Project, experiment: &str) -> Value {
    let results = project.results();
    let trials = results["trials"].as_array().unwrap();
    trials
        .iter()
        .find(|trial| trial["experiment"] == experiment)
        .unwrap()
        .clone()
}

/// The server is there and asked in one experiment, and unknown in the other.
fn the_server_reaches_its_experiment_alone(agent: RealAgent, environment: &str) {
    let (project, server) = scripted(agent);
    let selection = [
        "-t", "signup-form", "-e", environment, "-x", "control,with-mcp", "-n", "1",
    ];
    let outcome = project
        .terca(&[&["--format", "plain"], &selection[..]].concat())
        .expect_status(1);

    let with = trial(&project, "with-mcp");
    assert_eq!(
        (&with["status"], &with["score"]),
        (&json!("passed"), &json!(1.0)),
        "{with:#}"
    );
    let docs = &with["delivery"]["mcpServers"]["docs"];
    assert_eq!(
        (&docs["status"], &docs["calls"], &docs["failedCalls"]),
        (&json!("connected"), &json!(2), &json!(0)),
        "{docs}"
    );
    let tools = &docs["tap"]["tools"];
    let calls_of = |tool: &str| tools[tool]["calls"].as_u64();
    assert_eq!(
        (calls_of("read"), calls_of("search")),
        (Some(1), Some(1)),
        "{docs}"
    );
    let without = trial(&project, "control");
    assert_eq!(without["status"], "partial", "{without:#}");
    let lost = &without["tests"]["behaves"]["message"];
    assert!(
        lost.as_str().unwrap().starts_with("3 of 6 cases are wrong"),
        "{lost}"
    );
    assert_eq!(without["delivery"]["mcpServers"], json!({}));

    // Claude Code may give names of tools only, and leaves their descriptions to a search.
    let about_docs = |request: &&Request| {
        request.tools().iter().any(|tool| tool.contains("docs")) || request.mentions("mcp__docs__")
    };
    let documented = server.requests_of("from-the-docs");
    assert_eq!(
        documented.iter().filter(about_docs).count(),
        4,
        "its tools are offered in every request"
    );
    let told = documented
        .iter()
        .filter(|request| request.mentions(DOCUMENTED))
        .count();
    assert_eq!(
        told, 3,
        "what the server says goes back to the model, from the first answer on"
    );
    for request in server.requests_of("from-memory") {
        assert!(
            !about_docs(&&request) && !request.mentions(DOCUMENTED),
            "{:?}",
            request.tools()
        );
    }
    assert!(
        outcome
            .stdout
            .contains("MCP server `docs`: connected 1/1, used in 1/1"),
        "{}{}",
        outcome.stdout,
        outcome.stderr
    );
    project.assert_nothing_left();
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test --everything"]
fn with_claude_code() {
    the_server_reaches_its_experiment_alone(CLAUDE, "claude");
}

#[test]
#[ignore = "needs Node and npm, and takes long: scripts/test --everything"]
fn with_gemini_cli() {
    the_server_reaches_its_experiment_alone(GEMINI, "gemini");
}
