//! Environments and experiments.

use serde_json::{Map, Value, json};

use super::terms::{
    about, boolean, filled_text, list, map_of, object, optional, plain_text, positive,
};
use super::terms::{reference, requiring, text, texts, with};
use crate::agent;

pub(super) fn environment() -> Value {
    about(
        "A set-up that the evals run in.",
        requiring(&["name"], setup()),
    )
}

/// The same fields, and the one that only experiments have.
pub(super) fn experiment() -> Value {
    let mut schema = requiring(&["name"], setup());
    let baseline = about(
        "The experiment that the others are compared with (default: the first).",
        optional(boolean()),
    );
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.insert("baseline".into(), baseline);
    }
    about(
        "A change laid over an environment: `null` removes, maps are merged, the rest replaces.",
        schema,
    )
}

fn setup() -> Value {
    object([
        ("name", filled_text()),
        ("agent", optional(reference("agent"))),
        (
            "model",
            about(
                "Passed to the agent in the agent's own way.",
                optional(filled_text()),
            ),
        ),
        (
            "rules",
            about(
                "Rules files, installed where the agent reads its project rules.",
                optional(texts()),
            ),
        ),
        (
            "mcpServers",
            about(
                "MCP servers by name.",
                optional(map_of(optional(reference("mcpServer")))),
            ),
        ),
        (
            "skills",
            about(
                "Directories with a SKILL.md, installed where the agent reads its project skills.",
                optional(texts()),
            ),
        ),
        (
            "config",
            about(
                "The agent's own settings, merged into its settings file.",
                optional(json!({ "type": "object" })),
            ),
        ),
        ("env", optional(reference("variables"))),
        (
            "command",
            about(
                "Run in the workspace after all `before` actions.",
                optional(reference("command")),
            ),
        ),
        (
            "before",
            about(
                "Run in every trial, before the agent.",
                optional(list(reference("action"))),
            ),
        ),
        (
            "preamble",
            about(
                "Put before the prompt, inside the suite's.",
                optional(text()),
            ),
        ),
        (
            "postamble",
            about(
                "Put after the prompt, inside the suite's.",
                optional(text()),
            ),
        ),
        (
            "timeoutSeconds",
            about(
                "Limit for the agent in one trial; overrides the suite's.",
                optional(positive()),
            ),
        ),
    ])
}

pub(super) fn variables() -> Value {
    let schema = map_of(optional(plain_text()));
    about(
        "Environment variables. `${NAME}` and `${NAME:-default}` are taken from your own environment, and masked in everything that is written.",
        with(schema, "propertyNames", json!({ "pattern": "^[^=]+$" })),
    )
}

pub(super) fn agent() -> Value {
    let names = known_agents();
    let custom = object([
        ("name", json!({ "enum": names })),
        (
            "command",
            about(
                "For `command`: the shell command that is the agent.",
                optional(filled_text()),
            ),
        ),
    ]);
    let named: Vec<&str> = names
        .into_iter()
        .filter(|name| !takes_command(name))
        .collect();
    about(
        "An agent's name, or `{name: command, command: …}` for one of your own.",
        json!({ "anyOf": [{ "enum": named }, requiring(&["name"], custom)] }),
    )
}

/// Names and aliases, in the order of the table.
pub(super) fn known_agents() -> Vec<&'static str> {
    agent::profiles()
        .flat_map(|profile| std::iter::once(&profile.name).chain(profile.aliases))
        .copied()
        .collect()
}

fn takes_command(name: &str) -> bool {
    agent::find(name).is_some_and(|agent| agent.profile().takes_command)
}

/// Either a program or an address, and nothing that belongs to the other.
pub(super) fn mcp_server() -> Value {
    let server = object([
        (
            "command",
            about("The program of a local server.", filled_text()),
        ),
        ("args", optional(list(plain_text()))),
        ("env", optional(reference("variables"))),
        (
            "cwd",
            about("Relative to this file.", optional(filled_text())),
        ),
        (
            "url",
            about("The address of a remote server.", filled_text()),
        ),
        ("headers", optional(reference("variables"))),
        (
            "type",
            about(
                "Where it cannot be told from the address.",
                json!({ "enum": ["http", "sse", "stdio", null] }),
            ),
        ),
    ]);
    let without = |keys: &[&str], kinds: Value| {
        let mut properties: Map<String, Value> = keys
            .iter()
            .map(|key| ((*key).to_owned(), Value::Bool(false)))
            .collect();
        properties.insert("type".into(), json!({ "enum": kinds }));
        properties
    };
    let choices = json!([
        { "required": ["command"], "properties": without(&["url", "headers"], json!(["stdio", null])) },
        { "required": ["url"], "properties": without(&["command", "args", "env", "cwd"], json!(["http", "sse", null])) },
    ]);
    with(server, "oneOf", choices)
}
