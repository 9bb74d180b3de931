//! An agent of the registry of the Agent Client Protocol: the file that lists it, and the command that starts it.
//!
//! The file is the registry's `registry.json`, or the `agent.json` of one agent. Terca downloads nothing: packages are left to `npx` and
//! `uvx`, and a program must be on `PATH`, or unpacked beside the file.

use camino::Utf8Path;
use serde_json::Value;

use super::{PathKind, Reader};
use crate::text::{Code, Diagnostic, Located, prose, shell};

/// Returns the command of the agent with this id, of a registry's file. The problem of one that cannot be started is reported.
pub(super) fn command(
    file: &Located<String>,
    id: &Located<String>,
    reader: &mut Reader<'_>,
) -> Option<String> {
    let path = reader.existing(file, "the registry", &[PathKind::File])?;
    let text = match reader.surroundings.read_text(&path) {
        Ok(text) => text,
        Err(reason) => {
            let message = format!("the registry `{}` cannot be read", file.value);
            return reader
                .refuse(Diagnostic::error(Code::UnreadableFile, message).at(file.place, reason));
        }
    };
    let document: Value = match serde_json::from_str(&text) {
        Ok(document) => document,
        Err(reason) => return reader.refuse(no_registry(file, &reason.to_string())),
    };
    let listed = document["agents"].as_array().map(Vec::as_slice);
    let listed = listed.unwrap_or(std::slice::from_ref(&document));
    let id_of = |agent: &&Value| agent["id"].as_str().map(str::to_owned);
    let ids: Vec<String> = listed.iter().filter_map(|agent| id_of(&agent)).collect();
    if ids.is_empty() {
        return reader.refuse(no_registry(file, "it has no `agents`, and no `id`"));
    }
    let wanted = |agent: &&Value| id_of(agent).as_ref() == Some(&id.value);
    let Some(agent) = listed.iter().find(wanted) else {
        return reader.refuse(unknown(file, id, &ids));
    };
    match start(&agent["distribution"], &path, reader) {
        Ok(command) => Some(command),
        Err((found, help)) => {
            let message = format!(
                "the agent `{}` cannot be started from the registry",
                id.value
            );
            let problem = Diagnostic::error(Code::MissingFile, message);
            reader.refuse(problem.at(id.place, found).help(help))
        }
    }
}

fn no_registry(file: &Located<String>, found: &str) -> Diagnostic {
    let message = format!("`{}` is no registry of ACP agents", file.value);
    Diagnostic::error(Code::WrongValue, message)
        .at(file.place, found)
        .help(
            "name a `registry.json` of the Agent Client Protocol, or the `agent.json` of one agent",
        )
}

fn unknown(file: &Located<String>, id: &Located<String>, ids: &[String]) -> Diagnostic {
    const NAMED: usize = 12;
    let known = ids.iter().map(String::as_str);
    let message = format!("the registry `{}` has no agent `{}`", file.value, id.value);
    let problem = Diagnostic::error(Code::UnknownAgent, message);
    let help = match prose::did_you_mean(&id.value, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => {
            let shown = &ids[..ids.len().min(NAMED)];
            let rest = if ids.len() > NAMED {
                ", among others"
            } else {
                ""
            };
            format!("it has {}{rest}", prose::quoted_list(shown, "and"))
        }
    };
    problem.at(id.place, "no agent has this id").help(help)
}

/// Returns the command of a distribution, or why there is none and what to do. Packages come first: they need no download.
fn start(
    distribution: &Value,
    registry: &Utf8Path,
    reader: &Reader<'_>,
) -> Result<String, (String, String)> {
    for (kind, runner) in [
        (
            "npx",
            &["npx", "--prefer-offline", "--fetch-retries=1", "-y"][..],
        ),
        ("uvx", &["uvx"]),
    ] {
        if let Some(package) = distribution[kind]["package"].as_str() {
            let words = runner.iter().copied().chain([package]).map(str::to_owned);
            return Ok(with_own(&distribution[kind], shell::joined(words)));
        }
    }
    let platform = platform();
    let binary = &distribution["binary"][&platform];
    let Some(cmd) = binary["cmd"].as_str() else {
        let found = format!("it has neither a package nor a program for {platform}");
        let help = "install the agent, and write its program: `agent: {name: acp, command: …}`";
        return Err((found, help.to_owned()));
    };
    let dir = registry.parent().unwrap_or(registry);
    let unpacked = dir.join(cmd.trim_start_matches("./"));
    let name = Utf8Path::new(cmd).file_name().unwrap_or(cmd);
    let is_file = |path: &Utf8Path| reader.surroundings.kind(path) == PathKind::File;
    let programs = reader.surroundings.variable("PATH").unwrap_or_default();
    let mut programs = programs.split(':').filter(|dir| !dir.is_empty());
    let program = if is_file(&unpacked) {
        shell::in_quotes(unpacked.as_str())
    } else if programs.any(|dir| is_file(&Utf8Path::new(dir).join(name))) {
        shell::quoted(name)
    } else {
        let found = format!("`{name}` is neither on PATH nor at {unpacked}");
        let archive = binary["archive"].as_str().unwrap_or("its archive");
        let help = format!(
            "Terca downloads no programs: unpack {archive} in {dir}, or put `{name}` on PATH"
        );
        return Err((found, help));
    };
    Ok(with_own(binary, program))
}

/// Returns a command with the variables and arguments that a distribution has for it.
fn with_own(distribution: &Value, program: String) -> String {
    let variables = distribution["env"].as_object().into_iter().flatten();
    let is_name = |name: &str| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    let variables = variables.filter_map(|(name, value)| {
        let value = value.as_str().filter(|_| is_name(name))?;
        Some(format!("{name}={}", shell::in_quotes(value)))
    });
    let args = distribution["args"].as_array().into_iter().flatten();
    let args = args.filter_map(|arg| arg.as_str().map(shell::quoted));
    let words: Vec<String> = variables.chain([program]).chain(args).collect();
    words.join(" ")
}

/// Returns the platform that Terca runs on, as the registry calls it.
fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    format!("{system}-{}", std::env::consts::ARCH)
}
