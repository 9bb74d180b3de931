//! Environments and experiments: known agents, existing rules, commands anchored to their file.

use std::time::Duration;

use camino::Utf8PathBuf;

use crate::agent;
use crate::agent::AgentChoice;
use crate::agent::mcp::{McpServer, RemoteTransport};
use crate::config::paths::beside;
use crate::config::raw::{RawAgent, RawMcpServer, RawSetup, RawTransport, RawVariables};
use crate::config::read::Patch;
use crate::config::resolver::Resolver;
use crate::config::suite::{Setup, Template, Variables};
use crate::config::{PathKind, resolve_action};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::prose;
use crate::text::source::Located;

pub(super) fn setup(
    raw: RawSetup,
    layers: &[Utf8PathBuf],
    resolver: &mut Resolver<'_>,
) -> Option<Setup> {
    let name = raw.name?;
    Some(Setup {
        name: name.value,
        place: Some(name.place),
        stands_for: None,
        agent: raw.agent.try_map(|agent| choose_agent(&agent, resolver)),
        model: raw.model.try_map(|model| Some(model.value)),
        rules: raw
            .rules
            .try_map(|rules| Some(rules_files(&rules, resolver))),
        skills: raw
            .skills
            .try_map(|skills| Some(skill_directories(&skills, resolver))),
        mcp_servers: raw
            .mcp_servers
            .try_map(|servers| Some(mcp_servers(servers, resolver))),
        config: raw.config.try_map(|config| Some(config.value)),
        drops_env: raw.env == Patch::Remove,
        env: raw.env.set().cloned().map(variables).unwrap_or_default(),
        command: raw
            .command
            .try_map(|command| Some(resolve_action::command(command, resolver))),
        before: resolve_action::actions(raw.before, layers, resolver),
        preamble: raw.preamble.map(|text| text.value),
        postamble: raw.postamble.map(|text| text.value),
        timeout: raw
            .timeout_seconds
            .try_map(|seconds| Some(Duration::from_secs_f64(seconds.value))),
    })
}

pub(super) fn choose_agent(raw: &RawAgent, resolver: &mut Resolver<'_>) -> Option<AgentChoice> {
    let Some(agent) = agent::find(&raw.name.value) else {
        let names = agent::names();
        let diagnostic = Diagnostic::error(
            Code::UnknownAgent,
            format!("unknown agent `{}`", raw.name.value),
        )
        .at(
            raw.name.place,
            format!("expected one of {}", prose::quoted_list(&names, "or")),
        );
        resolver
            .problems
            .push(match agent::probably(&raw.name.value) {
                Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
                None => diagnostic
                    .help("any program can be run with `agent: {name: command, command: …}`"),
            });
        return None;
    };
    let takes_command = agent.profile().takes_command;
    match &raw.command {
        Some(command) if takes_command => {
            let command = resolve_action::anchored(command, resolver)?;
            Some(AgentChoice {
                agent,
                command: Some(command),
            })
        }
        None if !takes_command => Some(AgentChoice {
            agent,
            command: None,
        }),
        Some(command) => {
            let message = format!("the agent `{}` takes no `command`", raw.name.value);
            resolver.problems.push(
                Diagnostic::error(Code::MisplacedKey, message)
                    .at(command.place, "only `command` runs a command of your own")
                    .help("remove `command`, or write `agent: {name: command, command: …}`"),
            );
            None
        }
        None => {
            let message = format!("the agent `{}` needs a `command`", raw.name.value);
            resolver.problems.push(
                Diagnostic::error(Code::MissingKey, message)
                    .at(raw.name.place, "which command?")
                    .help("write `agent: {name: command, command: ./my-agent}`"),
            );
            None
        }
    }
}

fn rules_files(rules: &[Located<String>], resolver: &mut Resolver<'_>) -> Vec<Utf8PathBuf> {
    rules
        .iter()
        .filter_map(|path| resolver.existing(path, "rules file", &[PathKind::File]))
        .collect()
}

/// A skill is a directory with a `SKILL.md`; its name is the directory's, which no other skill may have.
fn skill_directories(skills: &[Located<String>], resolver: &mut Resolver<'_>) -> Vec<Utf8PathBuf> {
    let mut found: Vec<Utf8PathBuf> = Vec::new();
    for written in skills {
        let Some(dir) = resolver.existing(written, "skill", &[PathKind::Directory]) else {
            continue;
        };
        if resolver.surroundings.kind(&dir.join("SKILL.md")) != PathKind::File {
            let message = format!("skill `{}` has no SKILL.md", written.value);
            resolver.problems.push(
                Diagnostic::error(Code::MissingFile, message)
                    .at(written.place, format!("looked in {dir}"))
                    .help("a skill is a directory with a SKILL.md in it"),
            );
        } else if found
            .iter()
            .any(|other| other.file_name() == dir.file_name())
        {
            let message = format!(
                "two skills are named `{}`",
                dir.file_name().unwrap_or_default()
            );
            resolver.problems.push(
                Diagnostic::error(Code::DuplicateName, message)
                    .at(written.place, "the second is here")
                    .help("a skill is named after its directory: rename one"),
            );
        } else {
            found.push(dir);
        }
    }
    found
}

fn mcp_servers(
    raw: Vec<(Located<String>, Patch<RawMcpServer>)>,
    resolver: &mut Resolver<'_>,
) -> Vec<(String, Patch<McpServer<Template>>)> {
    raw.into_iter()
        .map(|(name, server)| {
            (
                name.value,
                server.try_map(|server| mcp_server(server.transport, resolver)),
            )
        })
        .collect()
}

fn mcp_server(raw: RawTransport, resolver: &mut Resolver<'_>) -> Option<McpServer<Template>> {
    Some(match raw {
        RawTransport::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
            let program = server_program(&command, resolver)?;
            let cwd = cwd.map(|dir| anchored(dir, resolver));
            McpServer::Stdio {
                command: program,
                args,
                env: set_only(env),
                cwd,
            }
        }
        RawTransport::Remote { url, headers, kind } => {
            let transport = match kind.as_ref().map(|kind| kind.value.as_str()) {
                Some("sse") => RemoteTransport::Sse,
                None if url.value.trim_end_matches('/').ends_with("/sse") => RemoteTransport::Sse,
                _ => RemoteTransport::Http,
            };
            McpServer::Remote {
                url,
                headers: set_only(headers),
                transport,
            }
        }
    })
}

/// A directory relative to the YAML file. One that begins with a variable is left as it will be filled in.
fn anchored(dir: Template, resolver: &Resolver<'_>) -> Template {
    if dir.value.starts_with("${") {
        return dir;
    }
    Located::new(
        beside(resolver.dir(dir.place), &dir.value).into_string(),
        dir.place,
    )
}

/// `./server` is relative to the YAML file; `node` is looked up on `PATH`.
fn server_program(command: &Template, resolver: &mut Resolver<'_>) -> Option<Template> {
    if !command.value.starts_with("./") && !command.value.starts_with("../") {
        return Some(command.clone());
    }
    if command.value.contains("${") {
        return Some(anchored(command.clone(), resolver));
    }
    let path = resolver.existing(command, "MCP server program", &[PathKind::File])?;
    Some(Located::new(path.into_string(), command.place))
}

fn set_only(raw: RawVariables) -> Vec<(String, Template)> {
    raw.into_iter()
        .filter_map(|(name, value)| match value {
            Patch::Set(value) => Some((name.value, value)),
            Patch::Keep | Patch::Remove => None,
        })
        .collect()
}

pub(super) fn variables(raw: RawVariables) -> Variables {
    raw.into_iter()
        .map(|(name, value)| (name.value, value))
        .collect()
}
