//! The credentials of agents.

use std::io;
use std::os::unix::fs::OpenOptionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use terca_core::agent::Profile;
use terca_core::text::prose;

use crate::host::environment::{Host, Variables};

/// The length of the shortest secret in a credential file. Shorter texts are words like `Bearer`.
const SHORTEST_TOKEN: usize = 16;

/// Returns the names of the agent's credential variables that are set.
pub fn variables(host: &Host, profile: &Profile) -> Vec<&'static str> {
    profile
        .credential_variables
        .iter()
        .copied()
        .filter(|name| host.get(name).is_some_and(|value| !value.is_empty()))
        .collect()
}

/// Returns the agent's credential files that are in the user's home.
pub fn files(host: &Host, profile: &'static Profile) -> Vec<(&'static str, Utf8PathBuf)> {
    let Some(home) = host.get("HOME") else {
        return Vec::new();
    };
    profile
        .credential_files
        .iter()
        .map(|file| (*file, Utf8Path::new(home).join(file)))
        .filter(|(_, path)| path.is_file())
        .collect()
}

/// Copies the agent's credential files into its home, readable by its user only. They are removed with the trial. When
/// a variable is set, the files are not needed and not copied.
pub fn install(host: &Host, profile: &'static Profile, agent_home: &Utf8Path) -> io::Result<()> {
    if !variables(host, profile).is_empty() {
        return Ok(());
    }
    for (file, path) in files(host, profile) {
        let target = agent_home.join(file);
        fs_err::create_dir_all(target.parent().unwrap_or(agent_home))?;
        let mut copy = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&target)?;
        io::Write::write_all(&mut copy, &fs_err::read(path)?)?;
    }
    Ok(())
}

/// Describes the credentials of an agent that could not sign in, by their names, never by their values.
pub fn given(host: &Host, profile: &'static Profile, env: &Variables) -> String {
    const NAMED: usize = 3;
    let accepted = profile.credential_variables.iter();
    let is_set = |name: &&&str| env.get(**name).is_some_and(|value| !value.is_empty());
    let mut given: Vec<String> = accepted
        .clone()
        .filter(is_set)
        .map(|name| format!("${name}"))
        .collect();
    if variables(host, profile).is_empty() {
        given.extend(
            files(host, profile)
                .into_iter()
                .map(|(file, _)| format!("~/{file}")),
        );
    }
    if !given.is_empty() {
        return format!("it was given {}", prose::list(&given, "and"));
    }
    let names: Vec<String> = accepted
        .take(NAMED)
        .map(|name| format!("${name}"))
        .collect();
    match names.as_slice() {
        [] => "it was given nothing to sign in with".into(),
        names => format!(
            "it was given nothing to sign in with: set {}",
            prose::list(names, "or")
        ),
    }
}

/// Returns every value that must not be written down: those of the variables, and the tokens in the files.
pub fn secrets(host: &Host, profile: &'static Profile) -> Vec<String> {
    let mut secrets: Vec<String> = variables(host, profile)
        .into_iter()
        .filter_map(|name| host.get(name))
        .map(str::to_owned)
        .collect();
    for (_, path) in files(host, profile) {
        let document = std::fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(document) = document {
            collect_tokens(&document, &mut secrets);
        }
    }
    secrets
}

fn collect_tokens(document: &Value, tokens: &mut Vec<String>) {
    match document {
        Value::String(text) if text.len() >= SHORTEST_TOKEN => tokens.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_tokens(item, tokens)),
        Value::Object(entries) => entries
            .values()
            .for_each(|value| collect_tokens(value, tokens)),
        _ => {}
    }
}
