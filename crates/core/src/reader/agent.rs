//! An agent as a suite chooses it, and its settings.

use camino::Utf8PathBuf;
use serde_json::json;

use super::acp_registry;
use super::context::missing;
use super::patterns::in_workspace;
use super::values::filled_text;
use super::{Kind, Node, PathKind, Reader, object, or_map, unlike, unstartable};
use crate::agent::{self, AgentChoice, Profile};
use crate::text::{Code, Diagnostic, Located, prose, shell};

/// An agent's name, or `{name, command, …}`. The place is the name's.
pub(crate) fn agent_choice() -> Kind<Located<AgentChoice>> {
    let names = agent::names_and_aliases();
    let without_command: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !agent::find(name).is_some_and(|agent| agent.profile().takes_command))
        .collect();
    let short = filled_text()
        .with("enum", json!(without_command))
        .called("name")
        .then(|name, reader| choose(&name, &Own::default(), reader));
    let long = object("agent", "an agent", move |fields| {
        let name = fields.required(
            "name",
            filled_text().with("enum", json!(names)),
            "`command`, `acp`, or the name of any other [agent](agents.md).",
        );
        let command = fields.optional(
            "command",
            filled_text().called("a shell command"),
            "For the agents `command` and `acp`: the shell command that is the agent. `./program` is relative to the YAML file.",
        );
        let program = fields.optional(
            "program",
            filled_text().called("a program"),
            "A program in place of the agent's own, such as another version of it. A path with a `/` is relative to the YAML \
             file.",
        );
        let version = fields.optional(
            "version",
            filled_text().called("a version"),
            "The version of the agent that [Terca installs](terca-yaml.md#versions-of-agents), such as `0.166.0`, or \
             `latest`. Default: the program on `PATH`.",
        );
        let rules_file = fields.optional(
            "rulesFile",
            filled_text().called("a path in the workspace"),
            "For the agents `command` and `acp`: the file that it reads its rules from. Default: `AGENTS.md`.",
        );
        let registry = fields.optional(
            "registry",
            filled_text().called("a path"),
            "For the agent `acp`, in place of `command`: a file in the format of the ACP registry. Relative to the YAML file.",
        );
        let id = fields.optional("id", filled_text(), "The id of the agent in `registry`.");
        let own = Own {
            registry,
            id,
            command,
            program,
            version,
            rules_file,
        };
        choose(&name?, &own, fields.reader)
    })
    .linked("[map](terca-yaml.md#an-agent-of-your-own)")
    .kind();
    or_map(short, long)
}

/// The agent's own settings: any map. Variables are filled in later.
pub(crate) fn agent_settings() -> Kind<Node> {
    Kind::scalar("map", json!({ "type": "object" }), |node, reader| {
        if node.is_map() {
            return Some(node);
        }
        reader.refuse(unlike(&node, "a map of the agent's settings"))
    })
}

/// The parts of an agent that are the user's own.
#[derive(Default)]
struct Own {
    registry: Option<Located<String>>,
    id: Option<Located<String>>,
    command: Option<Located<String>>,
    program: Option<Located<String>>,
    version: Option<Located<String>>,
    rules_file: Option<Located<String>>,
}

fn choose(
    name: &Located<String>,
    own: &Own,
    reader: &mut Reader<'_>,
) -> Option<Located<AgentChoice>> {
    let Some(agent) = agent::find(&name.value) else {
        return reader.refuse(unknown(name));
    };
    let mut choice = AgentChoice::of(agent);
    if let Some(part) = own.registry.as_ref().or(own.id.as_ref()) {
        choice.command = Some(from_registry(name, part, own, agent.profile(), reader)?);
        return finished(name, choice, own, reader);
    }
    match (agent.profile().takes_command, &own.command) {
        (true, Some(command)) => choice.command = Some(anchored(command, reader)?),
        (false, None) => {}
        (false, Some(command)) => {
            return reader.refuse(
                takes_no(name, "command")
                    .at(command.place, "only the agents `command` and `acp` run your own command")
                    .help("for a program of your own, write `program`; or write `agent: {name: command, command: …}`"),
            );
        }
        (true, None) => {
            return reader.refuse(
                Diagnostic::error(
                    Code::MissingKey,
                    format!("the agent `{}` needs a `command`", name.value),
                )
                .at(name.place, "the command is missing")
                .help(format!(
                    "write `agent: {{name: {}, command: ./my-agent}}`",
                    name.value
                )),
            );
        }
    }
    finished(name, choice, own, reader)
}

/// Returns a choice with the program and the rules file that the user has for it.
fn finished(
    name: &Located<String>,
    mut choice: AgentChoice,
    own: &Own,
    reader: &mut Reader<'_>,
) -> Option<Located<AgentChoice>> {
    if let Some(program) = &own.program {
        let program = own_program(name, program, choice.agent.profile(), reader)?;
        // An empty variable names no program.
        choice.program = Some(program).filter(|program| !program.is_empty());
    }
    if let Some(version) = &own.version {
        let version = own_version(name, version, own.program.as_ref(), &choice, reader)?;
        choice.version = Some(version).filter(|version| !version.is_empty());
    }
    if let Some(rules_file) = &own.rules_file {
        choice.rules_file = Some(own_rules_file(
            name,
            rules_file,
            choice.agent.profile(),
            reader,
        )?);
    }
    Some(Located::new(choice, name.place))
}

/// Returns the command of an agent that a registry lists. `part` is one of the keys that say so.
fn from_registry(
    name: &Located<String>,
    part: &Located<String>,
    own: &Own,
    profile: &Profile,
    reader: &mut Reader<'_>,
) -> Option<String> {
    let example = "write `agent: {name: acp, registry: registry.json, id: my-agent}`";
    let problem = match (&own.registry, &own.id, &own.command) {
        _ if !profile.takes_registry => takes_no(name, "registry")
            .at(part.place, "only the agent `acp` has a registry")
            .help(example),
        (_, _, Some(command)) => Diagnostic::error(
            Code::ConflictingKeys,
            "an agent has a `command` or a `registry`, not both",
        )
        .at(command.place, "the registry says how to start the agent")
        .help("remove `command`, or remove `registry` and `id`"),
        (Some(registry), Some(id), None) => return acp_registry::command(registry, id, reader),
        _ => Diagnostic::error(Code::MissingKey, "`registry` and `id` belong together")
            .at(part.place, "the other one is missing")
            .help(example),
    };
    reader.refuse(problem)
}

fn takes_no(name: &Located<String>, key: &str) -> Diagnostic {
    let message = format!("the agent `{}` takes no `{key}`", name.value);
    Diagnostic::error(Code::MisplacedKey, message)
}

/// Returns the program that takes the place of an agent's own.
fn own_program(
    name: &Located<String>,
    program: &Located<String>,
    profile: &Profile,
    reader: &mut Reader<'_>,
) -> Option<String> {
    if profile.program.is_none() {
        return reader.refuse(
            takes_no(name, "program")
                .at(program.place, "it has no program of its own")
                .help("remove `program`"),
        );
    }
    let program = &reader.filled(program)?;
    if !program.value.contains('/') {
        return Some(program.value.clone());
    }
    startable(program, reader).map(Utf8PathBuf::into_string)
}

/// Returns the version of an agent that Terca installs. It becomes an argument and the name of a directory.
fn own_version(
    name: &Located<String>,
    version: &Located<String>,
    program: Option<&Located<String>>,
    choice: &AgentChoice,
    reader: &mut Reader<'_>,
) -> Option<String> {
    let profile = choice.agent.profile();
    if profile.package.is_none() {
        let message = format!("`version` is not supported for `{}`", name.value);
        let help = match profile.program {
            Some(_) => "remove `version`; for another version of it, write `program`",
            None => "remove `version`",
        };
        return reader.refuse(
            Diagnostic::error(Code::MisplacedKey, message)
                .at(
                    version.place,
                    "there is no package that Terca could install",
                )
                .help(help),
        );
    }
    if program.is_some() {
        let message = format!("`{}` has both `version` and `program`", name.value);
        return reader.refuse(
            Diagnostic::error(Code::MisplacedKey, message)
                .at(
                    version.place,
                    "Terca would install a program and not use it",
                )
                .help("remove one of them"),
        );
    }
    let version = reader.filled(version)?;
    let text = &version.value;
    let is_number = text.starts_with(|c: char| c.is_ascii_digit())
        && (text.chars()).all(|c| c.is_ascii_alphanumeric() || ".-+_".contains(c));
    if is_number || text == agent::LATEST || text.is_empty() {
        return Some(version.value);
    }
    reader.refuse(
        Diagnostic::error(Code::WrongValue, format!("`{text}` is not a version")).at(
            version.place,
            "expected a version, such as `1.2.3`, or `latest`",
        ),
    )
}

/// Returns the file that a command reads its rules from.
fn own_rules_file(
    name: &Located<String>,
    file: &Located<String>,
    profile: &Profile,
    reader: &mut Reader<'_>,
) -> Option<String> {
    if !profile.takes_command {
        return reader.refuse(
            takes_no(name, "rulesFile")
                .at(file.place, format!("it reads `{}`", profile.rules_file))
                .help("remove `rulesFile`"),
        );
    }
    in_workspace(file, reader).map(Utf8PathBuf::into_string)
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
    let any = match name.value.starts_with("acp:") {
        true => "any agent that speaks ACP can be run with `agent: {name: acp, command: …}`",
        false => {
            "any program can be run with `agent: {name: command, command: …}`, and one that speaks ACP with \
             `agent: {name: acp, command: …}`"
        }
    };
    problem.help(match agent::probably(&name.value) {
        Some(meant) => format!("did you mean `{meant}`? {any}"),
        None => any.to_owned(),
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
    let path = startable(&Located::new(program.to_owned(), command.place), reader)?;
    // Always in quotes: the copy of the suite that a run uses may be at a path that needs them.
    Some(format!("{}{arguments}", shell::in_quotes(path.as_str())))
}

/// Returns the file of an agent's program, beside the YAML file. Refuses one that could not be started.
fn startable(program: &Located<String>, reader: &mut Reader<'_>) -> Option<Utf8PathBuf> {
    let path = reader.beside(program);
    if !reader.is_there(&path, PathKind::File) {
        let problem = missing("program", program, &path, reader.surroundings);
        return reader.refuse(problem);
    }
    let Some(found) = unstartable(&path, false, reader.surroundings) else {
        return Some(path);
    };
    let name = path.file_name().unwrap_or(path.as_str());
    reader.refuse(
        Diagnostic::error(Code::NotExecutable, format!("`{name}` {}", found.why))
            .at(program.place, "the agent could not be started")
            .help(format!("`{} {}`", found.fix, shell::quoted(path.as_str()))),
    )
}
