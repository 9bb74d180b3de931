//! The credentials of agents.

use std::fmt::Display;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use terca_core::agent::access::Access;
use terca_core::agent::redirect::is_key_variable;
use terca_core::agent::{FilesYield, Profile, names_variable, provider_of};
use terca_core::text::prose;

use crate::host::environment::{Host, Variables};
use crate::suite::create::new_file;
use crate::workspace::trial_dirs::CommandDirs;

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

/// Returns the variables of an agent: the base, its credentials and settings, and those that it is given.
pub fn environment(
    host: &Host,
    dirs: CommandDirs<'_>,
    profile: &'static Profile,
    config: Option<&Value>,
    env: &[(String, String)],
) -> Variables {
    let mut variables = host.base(dirs);
    variables.extend(own_variables(host, profile, config, env));
    variables
}

/// Returns the credentials and settings of an agent, and the variables that it is given.
pub fn own_variables(
    host: &Host,
    profile: &'static Profile,
    config: Option<&Value>,
    env: &[(String, String)],
) -> Variables {
    let own = profile.credential_variables.iter();
    let own = own.chain(profile.setting_variables);
    let own = own.filter(|name| !is_withheld(host, profile, config, name));
    let own = own.filter_map(|name| {
        let value = host.get(name)?;
        Some(((*name).to_owned(), value.to_owned()))
    });
    own.chain(env.iter().cloned()).collect()
}

/// The credentials that an agent is given.
#[derive(Debug)]
struct Chosen {
    variables: Vec<&'static str>,
    files: Vec<(&'static str, Utf8PathBuf)>,
    /// Providers whose entries in the files are left out, since a variable takes their place.
    left_out: Vec<String>,
}

/// Chooses among the variables that the agent would be started with and the files of the user's home.
fn choose(host: &Host, profile: &'static Profile, env: &Variables) -> Chosen {
    let is_set = |name: &&str| env.get(*name).is_some_and(|value| !value.is_empty());
    let mut chosen = Chosen {
        variables: profile
            .credential_variables
            .iter()
            .copied()
            .filter(|name| is_set(name))
            .collect(),
        files: files(host, profile),
        left_out: Vec::new(),
    };
    let replaces = |names: &[&str]| names.iter().any(is_set);
    match profile.files_yield {
        FilesYield::ToAnyVariable if !chosen.variables.is_empty() => chosen.files.clear(),
        FilesYield::To(names) | FilesYield::ByProvider(names) if replaces(names) => {
            chosen.files.clear();
        }
        FilesYield::ByProvider(_) => {
            let providers = chosen.variables.iter();
            chosen.left_out = providers.map(|name| provider_of(name)).collect();
        }
        FilesYield::ToAnyVariable | FilesYield::To(_) => {}
    }
    chosen
}

/// Returns whether a credential variable of the user's shell stays there, since a file comes before it. One that the
/// settings name, as the key of a service of their own, is passed on.
fn is_withheld(host: &Host, profile: &'static Profile, config: Option<&Value>, name: &str) -> bool {
    let FilesYield::To(first) = profile.files_yield else {
        return false;
    };
    let is_set = |name: &&str| host.get(name).is_some_and(|value| !value.is_empty());
    profile.credential_variables.contains(&name)
        && !first.iter().any(is_set)
        && !files(host, profile).is_empty()
        && !config.is_some_and(|config| names_variable(config, name))
}

/// Copies the agent's credential files into its home, readable by its user only. They are removed with the trial.
pub fn install(
    host: &Host,
    profile: &'static Profile,
    env: &Variables,
    agent_home: &Utf8Path,
) -> io::Result<()> {
    let chosen = choose(host, profile, env);
    for (file, path) in chosen.files {
        let target = agent_home.join(file);
        let content = without_providers(fs_err::read(path)?, &chosen.left_out);
        // One that set-up has made may be open to others, or a link.
        let _ = std::fs::remove_file(&target);
        new_file(&target, &content, 0o600)?;
    }
    Ok(())
}

/// Leaves entries out of a file that has one for each provider.
fn without_providers(content: Vec<u8>, providers: &[String]) -> Vec<u8> {
    let Ok(Value::Object(mut entries)) = serde_json::from_slice(&content) else {
        return content;
    };
    let before = entries.len();
    entries.retain(|name, _| !providers.contains(name));
    if entries.len() == before {
        return content;
    }
    Value::Object(entries).to_string().into_bytes()
}

/// Returns variables and files of the home as people write them.
pub fn as_written(
    variables: impl IntoIterator<Item = impl Display>,
    files: &[(&str, Utf8PathBuf)],
) -> Vec<String> {
    let variables = variables.into_iter().map(|name| format!("${name}"));
    let files = files.iter().map(|(file, _)| format!("~/{file}"));
    variables.chain(files).collect()
}

/// Returns the names of the credentials that an agent is given, and the origins of the services that it is led to.
pub fn access(
    host: &Host,
    profile: &'static Profile,
    env: &Variables,
    config: Option<&Value>,
) -> Access {
    let chosen = choose(host, profile, env);
    let mut access = Access {
        credentials: as_written(chosen.variables, &chosen.files),
        ..Access::default()
    };
    for (name, value) in env {
        // The suite may lead any agent elsewhere, also one whose variables Terca does not know.
        let mut services = profile.services.iter();
        let is_address = ["_BASE_URL", "_API_BASE"]
            .iter()
            .any(|ending| name.ends_with(ending))
            || services.any(|service| service.address == name);
        if is_address || profile.setting_variables.contains(&name.as_str()) {
            access.add_variable(name, value);
        }
        // Nobody but the suite gives a key to a program that it names.
        if profile.takes_command && is_key_variable(name) && !value.is_empty() {
            access.credentials.push(format!("${name}"));
        }
    }
    if let Some(config) = config {
        access.add_config(config);
    }
    access
}

/// Describes the credentials that an agent had, by their names, never by their values. `None` where it
/// was given none.
pub fn given(access: &Access) -> Option<String> {
    let given: Vec<String> = access
        .credentials
        .iter()
        .map(|name| match name.as_str() {
            "config" => "the key in `config`".to_owned(),
            name => name.to_owned(),
        })
        .collect();
    (!given.is_empty()).then(|| {
        format!(
            "the service refused its credentials: replace {}",
            prose::list(&given, "and")
        )
    })
}

/// Says which variables an agent can sign in with; `None` where it has none.
pub fn how_to_sign_in(profile: &Profile) -> Option<String> {
    const NAMED: usize = 3;
    let names = profile.credential_variables.iter().take(NAMED);
    let names: Vec<String> = names.map(|name| format!("${name}")).collect();
    (!names.is_empty()).then(|| format!("set {}", prose::list(&names, "or")))
}

/// Says that an agent was given nothing to sign in with, and what to do about it.
pub fn missing(profile: &Profile) -> String {
    let missing = format!("no credentials for {}", profile.name);
    how_to_sign_in(profile).map_or(missing.clone(), |help| format!("{missing}: {help}"))
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
