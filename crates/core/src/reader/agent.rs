//! An agent as a suite chooses it, and its settings.

use camino::Utf8Path;
use serde_json::json;

use super::values::filled_text;
use super::{Kind, PathKind, Reader, object, or_map, unlike};
use crate::agent::{self, AgentChoice};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::prose;
use crate::text::source::Located;

/// An agent's name, or `{name, command}`. The place is the name's.
pub(crate) fn agent_choice() -> Kind<Located<AgentChoice>> {
    let names = known_agents();
    let without_command: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !agent::find(name).is_some_and(|agent| agent.profile().takes_command))
        .collect();
    let short = filled_text()
        .with("enum", json!(without_command))
        .called("name")
        .then(|name, reader| choose(&name, None, reader));
    let long = object("agent", "an agent", move |fields| {
        let name = fields.required(
            "name",
            filled_text().with("enum", json!(names)),
            "`command`, or the name of any [agent](agents.md).",
        );
        let command = fields.optional(
            "command",
            filled_text().called("a shell command"),
            "For the agent `command`: the shell command that is the agent. `./program` is relative to the YAML file.",
        );
        choose(&name?, command.as_ref(), fields.reader)
    })
    .linked("[map](terca-yaml.md#an-agent-of-your-own)")
    .kind();
    or_map(short, long)
}

/// Returns the names and aliases of all agents, in the order of their table.
pub(crate) fn known_agents() -> Vec<&'static str> {
    agent::profiles()
        .flat_map(|profile| std::iter::once(&profile.name).chain(profile.aliases))
        .copied()
        .collect()
}

/// The agent's own settings: any map.
pub(crate) fn agent_settings() -> Kind<Located<serde_json::Value>> {
    Kind::scalar("map", json!({ "type": "object" }), |node, reader| {
        if node.is_map() {
            Some(Located::new(node.to_json(), node.place))
        } else {
            reader.refuse(unlike(&node, "a map of the agent's settings"))
        }
    })
}

fn choose(
    name: &Located<String>,
    command: Option<&Located<String>>,
    reader: &mut Reader<'_>,
) -> Option<Located<AgentChoice>> {
    let Some(agent) = agent::find(&name.value) else {
        return reader.refuse(unknown(name));
    };
    let chosen = |command| Located::new(AgentChoice { agent, command }, name.place);
    match (agent.profile().takes_command, command) {
        (true, Some(command)) => Some(chosen(Some(anchored(command, reader)?))),
        (false, None) => Some(chosen(None)),
        (false, Some(command)) => reader.refuse(
            Diagnostic::error(
                Code::MisplacedKey,
                format!("the agent `{}` takes no `command`", name.value),
            )
            .at(command.place, "only `command` runs a command of your own")
            .help("remove `command`, or write `agent: {name: command, command: …}`"),
        ),
        (true, None) => reader.refuse(
            Diagnostic::error(
                Code::MissingKey,
                format!("the agent `{}` needs a `command`", name.value),
            )
            .at(name.place, "which command?")
            .help("write `agent: {name: command, command: ./my-agent}`"),
        ),
    }
}

fn unknown(name: &Located<String>) -> Diagnostic {
    let problem = Diagnostic::error(
        Code::UnknownAgent,
        format!("unknown agent `{}`", name.value),
    )
    .at(
        name.place,
        format!(
            "expected one of {}",
            prose::quoted_list(&agent::names(), "or")
        ),
    );
    problem.help(match agent::probably(&name.value) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "any program can be run with `agent: {name: command, command: …}`".to_owned(),
    })
}

/// Makes the program of a command absolute when it is a path relative to the YAML file, such as `./agent.sh`.
fn anchored(command: &Located<String>, reader: &mut Reader<'_>) -> Option<String> {
    let text = command.value.trim_start();
    if !text.starts_with("./") && !text.starts_with("../") {
        return Some(command.value.clone());
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (program, arguments) = text.split_at(end);
    let path = reader.beside(&Located::new(program.to_owned(), command.place));
    if reader.surroundings.kind(&path) == PathKind::File {
        return Some(format!("{}{arguments}", shell_quoted(&path)));
    }
    reader.refuse(
        Diagnostic::error(
            Code::MissingFile,
            format!("program `{program}` does not exist"),
        )
        .at(command.place, format!("looked for {path}"))
        .help("a relative path is relative to the file that names it"),
    )
}

fn shell_quoted(path: &Utf8Path) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    if path.as_str().chars().all(is_safe) {
        path.to_string()
    } else {
        format!("'{}'", path.as_str().replace('\'', r"'\''"))
    }
}
