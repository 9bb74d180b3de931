//! Reads an environment or an experiment: they take the same fields.

use crate::config::raw::{RawAgent, RawMcpServer, RawSetup, RawTransport, RawVariables};
use crate::config::read::{self, Fields};
use crate::config::read_action::{action, command};
use crate::config::yaml::{Node, Value};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::source::{Located, Place};

pub(super) fn setup(node: Node, problems: &mut Diagnostics) -> Option<RawSetup> {
    let file = node.place.file;
    let mut fields = Fields::open(node, "an environment or experiment", problems)?;
    let setup = RawSetup {
        file,
        name: fields.required("name", read::filled_text),
        agent: fields.patch("agent", agent),
        model: fields.patch("model", read::filled_text),
        rules: fields.patch("rules", read::texts),
        mcp_servers: fields.patch("mcpServers", mcp_servers),
        skills: fields.patch("skills", read::texts),
        config: fields.patch("config", config),
        env: fields.patch("env", variables),
        command: fields.patch("command", command),
        before: fields.list("before", action),
        preamble: fields.optional("preamble", read::text),
        postamble: fields.optional("postamble", read::text),
        timeout_seconds: fields.patch("timeoutSeconds", read::positive),
        baseline: fields.optional("baseline", read::boolean),
    };
    fields.close();
    Some(setup)
}

pub(super) fn variables(node: Node, problems: &mut Diagnostics) -> Option<RawVariables> {
    let variables = read::map_of(node, problems, read::plain_text)?;
    for (name, _) in &variables {
        if name.value.is_empty() || name.value.contains(['=', '\0']) {
            problems.push(
                Diagnostic::error(
                    Code::InvalidName,
                    format!(
                        "`{}` cannot be the name of a variable",
                        name.value.escape_debug()
                    ),
                )
                .at(name.place, "a name has at least one character and no `=`"),
            );
        }
    }
    Some(variables)
}

pub(super) fn agent(node: Node, problems: &mut Diagnostics) -> Option<RawAgent> {
    if !matches!(node.value, Value::Map(_)) {
        return read::filled_text(node, problems).map(|name| RawAgent {
            name,
            command: None,
        });
    }
    let mut fields = Fields::open(node, "an agent", problems)?;
    let name = fields.required("name", read::filled_text);
    let command = fields.optional("command", read::filled_text);
    fields.close();
    Some(RawAgent {
        name: name?,
        command,
    })
}

fn mcp_servers(
    node: Node,
    problems: &mut Diagnostics,
) -> Option<Vec<(Located<String>, read::Patch<RawMcpServer>)>> {
    read::map_of(node, problems, mcp_server)
}

fn mcp_server(node: Node, problems: &mut Diagnostics) -> Option<RawMcpServer> {
    let place = node.place;
    let mut fields = Fields::open(node, "an MCP server", problems)?;
    let keys: Vec<Located<String>> = fields.remaining().cloned().collect();
    let command = fields.given("command", read::filled_text);
    let args = fields.list("args", read::plain_text);
    let env = fields.optional("env", variables).unwrap_or_default();
    let cwd = fields.optional("cwd", read::filled_text);
    let url = fields.given("url", read::filled_text);
    let headers = fields.optional("headers", variables).unwrap_or_default();
    let kind = fields.optional("type", transport_kind);
    fields.close();
    one_transport(&keys, kind.as_ref(), place, problems)?;
    let transport = match command {
        Some(command) => RawTransport::Stdio {
            command,
            args,
            env,
            cwd,
        },
        None => RawTransport::Remote {
            url: url?,
            headers,
            kind,
        },
    };
    Some(RawMcpServer { transport })
}

/// Exactly one of `command` and `url`, and no key that belongs to the other: it would be ignored.
fn one_transport(
    keys: &[Located<String>],
    kind: Option<&Located<String>>,
    place: Place,
    problems: &mut Diagnostics,
) -> Option<()> {
    let key = |name: &str| keys.iter().find(|key| key.value == name);
    let (is, is_not, foreign): (&str, &str, &[&str]) = match (key("command"), key("url")) {
        (Some(_), None) => ("command", "url", &["headers"]),
        (None, Some(_)) => ("url", "command", &["args", "env", "cwd"]),
        (command, url) => {
            let message = "an MCP server needs either a `command` or a `url`";
            let both = command.and(url);
            let code = if both.is_some() {
                Code::ConflictingKeys
            } else {
                Code::MissingKey
            };
            let at = both.map_or(place, |url| url.place);
            problems.push(
                Diagnostic::error(code, message).at(at, "exactly one of the two is expected"),
            );
            return None;
        }
    };
    for key in foreign.iter().filter_map(|name| key(name)) {
        problems.push(
            Diagnostic::error(
                Code::MisplacedKey,
                format!("`{}` is for an MCP server with a `{is_not}`", key.value),
            )
            .at(key.place, format!("this one has a `{is}`")),
        );
    }
    if let Some(kind) = kind.filter(|kind| (kind.value == "stdio") != (is == "command")) {
        problems.push(
            Diagnostic::error(
                Code::MisplacedKey,
                format!(
                    "`type: {}` is for an MCP server with a `{is_not}`",
                    kind.value
                ),
            )
            .at(kind.place, format!("this one has a `{is}`")),
        );
    }
    Some(())
}

fn transport_kind(node: Node, problems: &mut Diagnostics) -> Option<Located<String>> {
    let kind = read::text(node, problems)?;
    if matches!(kind.value.as_str(), "http" | "sse" | "stdio") {
        return Some(kind);
    }
    problems.push(
        Diagnostic::error(
            Code::WrongValue,
            format!("unknown transport `{}`", kind.value),
        )
        .at(kind.place, "expected `http`, `sse` or `stdio`"),
    );
    None
}

/// The agent's own settings: any map, carried over as it stands.
pub(super) fn config(node: Node, problems: &mut Diagnostics) -> Option<Located<serde_json::Value>> {
    if !matches!(node.value, Value::Map(_)) {
        return read::wrong_type(node, "a map of the agent's settings", problems);
    }
    let place = node.place;
    Some(Located::new(json(node), place))
}

fn json(node: Node) -> serde_json::Value {
    match node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool { value, .. } => value.into(),
        Value::Number {
            integer: Some(value),
            ..
        } => value.into(),
        Value::Number { value, .. } => value.into(),
        Value::Text(text) => text.into(),
        Value::List(items) => items.into_iter().map(json).collect(),
        Value::Map(entries) => entries
            .into_iter()
            .map(|(key, node)| (key.value, json(node)))
            .collect(),
    }
}
