//! The registries of packages that this machine is set up for: variables and files, with the tokens in them.
//!
//! A suite that says `passRegistries: true` gets them for `prepare`, `before` and tests. The agent does not: the variables
//! are not its own, and the files are in the home only while commands of the suite run.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::host::credentials::as_written;
use crate::host::environment::{Host, Variables};
use crate::host::package_caches::PlacedFiles;
use crate::suite::create::new_file;

/// The files in a home that name registries, or have the tokens for them.
const FILES: [&str; 10] = [
    ".npmrc", ".yarnrc.yml", ".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/uv.toml",
    ".netrc", ".cargo/config.toml", ".cargo/config", ".cargo/credentials.toml",
    ".cargo/credentials",
];

/// Variables that name registries, or have the tokens for them.
const VARIABLES: [&str; 21] = [
    "NPM_TOKEN", "NODE_AUTH_TOKEN", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS",
    "PIP_NO_INDEX", "PIP_TRUSTED_HOST", "PIP_CERT", "PIP_CLIENT_CERT", "PIP_PROXY",
    "PIP_KEYRING_PROVIDER", "UV_FIND_LINKS", "UV_KEYRING_PROVIDER", "UV_INSECURE_HOST",
    "UV_NATIVE_TLS", "GOPROXY", "GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOSUMDB", "GOINSECURE",
];

/// The beginnings of the names of other such variables.
const PREFIXES: [&str; 8] = [
    "CARGO_REGISTRIES_", "CARGO_REGISTRY_", "CARGO_SOURCE_", "CARGO_NET_", "CARGO_HTTP_",
    "UV_INDEX", "YARN_NPM_", "POETRY_HTTP_BASIC_",
];

/// The settings of npm that are about registries, as they end in lower case. The others are about directories of this
/// machine, and `npm run` sets them all.
const NPM_SETTINGS: [&str; 12] = [
    "registry", "_auth", "_authtoken", "_password", "username", "always_auth", "ca", "cafile",
    "strict_ssl", "proxy", "https_proxy", "noproxy",
];

/// Parts of the names of settings whose values are secrets.
const SECRET_WORDS: [&str; 5] = ["token", "auth", "password", "secret", "passwd"];

/// Programs that use registries, and the beginnings of the names of their variables and files, in lower case.
const PROGRAMS: [(&[&str], &[&str]); 4] = [
    (
        &["npm", "npx", "pnpm", "yarn", "bun", "bunx", "node"],
        &["npm", "node", "yarn", "netrc"],
    ),
    (
        &[
            "pip", "pip3", "pipx", "uv", "uvx", "poetry", "python", "python3", "tox",
        ],
        &["pip", "config/pip", "uv", "config/uv", "poetry", "netrc"],
    ),
    (&["cargo"], &["cargo", "netrc"]),
    (&["go"], &["go", "netrc"]),
];

/// Returns the variables that name registries.
pub fn variables(host: &Host) -> Variables {
    host.all()
        .filter(|(name, value)| !value.is_empty() && is_about_registries(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn is_about_registries(name: &str) -> bool {
    if VARIABLES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return true;
    }
    if name.starts_with("UV_") && name.contains("INDEX") {
        return true;
    }
    let lower = name.to_ascii_lowercase();
    let Some(setting) = lower.strip_prefix("npm_config_") else {
        return false;
    };
    let setting = setting.replace('-', "_");
    // A setting of one registry or scope: `//host/:_authToken`, `@scope:registry`.
    let last = setting.rsplit(':').next().unwrap_or(&setting);
    NPM_SETTINGS.contains(&last)
}

/// Returns the files of this user that are there, by their names in a home.
pub fn files(host: &Host) -> Vec<(&'static str, Utf8PathBuf)> {
    let Some(home) = host.get("HOME") else {
        return Vec::new();
    };
    let cargo_home = host.get("CARGO_HOME").filter(|path| !path.is_empty());
    FILES
        .into_iter()
        .map(|name| match (name.strip_prefix(".cargo/"), cargo_home) {
            (Some(file), Some(cargo_home)) => (name, Utf8Path::new(cargo_home).join(file)),
            _ => (name, Utf8Path::new(home).join(name)),
        })
        .filter(|(_, path)| path.is_file())
        .collect()
}

/// Returns the names of everything that there is, never the values.
pub fn names(host: &Host) -> Vec<String> {
    as_written(variables(host).into_keys(), &files(host))
}

/// Returns whether a command may need a variable or file of this name, as far as its text tells.
pub fn may_be_needed_by(command: &str, name: &str) -> bool {
    let name = name
        .trim_start_matches(['$', '~', '/', '.'])
        .to_ascii_lowercase();
    let mut words = command.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| {
        let mut kinds = PROGRAMS
            .iter()
            .filter(|(programs, _)| programs.contains(&word));
        kinds.any(|(_, begins)| begins.iter().any(|begin| name.starts_with(begin)))
    })
}

/// Copies the files of registries into a trial's home, readable by its user only. A file that set-up has made there itself
/// stays.
pub fn place(host: &Host, home: &Utf8Path) -> io::Result<PlacedFiles> {
    let mut placed = PlacedFiles::default();
    for (name, path) in files(host) {
        let target = home.join(name);
        if target.symlink_metadata().is_ok() {
            continue;
        }
        let content = fs_err::read(path)?;
        placed.paths.push(target.clone());
        new_file(&target, &content, 0o600)?;
    }
    Ok(placed)
}

/// Returns every value that must not be written down. The address of a registry is none.
pub fn secrets(host: &Host) -> Vec<String> {
    let mut secrets = Vec::new();
    for (name, value) in variables(host) {
        if is_secret_name(&name) {
            secrets.push(value.clone());
        }
        secrets.extend(credentials_in_addresses(&value));
    }
    for (_, path) in files(host) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let is_netrc = path.file_name() == Some(".netrc");
        if is_netrc {
            secrets.extend(netrc_passwords(&text));
        }
        for line in text.lines() {
            secrets.extend(secret_setting(line, host));
            secrets.extend(credentials_in_addresses(line));
        }
    }
    secrets
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word)) && !name.contains("always")
}

/// Returns the value of a line such as `//host/:_authToken=…`, `token = "…"` or `npmAuthToken: …`.
fn secret_setting(line: &str, host: &Host) -> Option<String> {
    let (name, value) = line.split_once('=').or_else(|| line.split_once(": "))?;
    let value = value.trim().trim_matches(['"', '\'']);
    if !is_secret_name(name) || value.is_empty() {
        return None;
    }
    let variable = value
        .strip_prefix("${")
        .and_then(|value| value.strip_suffix('}'));
    match variable {
        Some(name) => host.get(name).map(str::to_owned),
        None => Some(value.to_owned()),
    }
}

/// Returns the names and passwords in addresses such as `https://name:password@host`.
fn credentials_in_addresses(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for after in text.split("://").skip(1) {
        let end = after
            .find(|c: char| c == '/' || c.is_whitespace() || c == '"' || c == '\'')
            .unwrap_or(after.len());
        if let Some((credentials, _)) = after[..end].rsplit_once('@') {
            match credentials.split_once(':') {
                Some((_, password)) if !password.is_empty() => found.push(password.to_owned()),
                // A token may be in the place of the name.
                _ => found.push(credentials.to_owned()),
            }
        }
    }
    found
}

fn netrc_passwords(text: &str) -> Vec<String> {
    let mut words = text.split_whitespace();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if word == "password" {
            found.extend(words.next().map(str::to_owned));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_needs_the_settings_of_its_own_program() {
        for (command, name, is_needed) in [
            ("npm ci", "$PIP_CERT", false),
            ("pip install -r requirements.txt", "$PIP_CERT", true),
            ("cargo build", "$PIP_CERT", false),
            ("python3 -m build", "~/.config/pip/pip.conf", true),
            ("pnpm install", "~/.npmrc", true),
            ("go build", "$GOPROXY", true),
            ("cat go.txt", "$NPM_TOKEN", false),
        ] {
            assert_eq!(
                may_be_needed_by(command, name),
                is_needed,
                "{command} {name}"
            );
        }
    }

    #[test]
    fn settings_of_registries_are_told_from_settings_of_the_machine() {
        for name in [
            "NPM_CONFIG_REGISTRY", "npm_config_@acme:registry",
            "npm_config_//npm.acme.test/:_authToken", "NPM_TOKEN", "PIP_INDEX_URL",
            "UV_INDEX_ACME_PASSWORD", "UV_DEFAULT_INDEX", "CARGO_REGISTRIES_ACME_TOKEN",
            "CARGO_NET_GIT_FETCH_WITH_CLI",
        ] {
            assert!(is_about_registries(name), "{name}");
        }
        for name in [
            "npm_config_prefix", "npm_config_cache", "NPM_CONFIG_USERCONFIG", "PIP_CACHE_DIR",
            "PIP_TARGET", "UV_CACHE_DIR", "CARGO_HOME", "CARGO_TARGET_DIR",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(!is_about_registries(name), "{name}");
        }
    }

    #[test]
    fn tokens_are_secrets_and_addresses_are_none() {
        let host = Host::new(
            [("MY_TOKEN", "from-a-variable")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        );
        for (line, secret) in [
            ("//npm.acme.test/:_authToken=npm_0123", Some("npm_0123")),
            (
                "//npm.acme.test/:_authToken=${MY_TOKEN}",
                Some("from-a-variable"),
            ),
            ("token = \"cargo-0123\"", Some("cargo-0123")),
            ("npmAuthToken: yarn-0123", Some("yarn-0123")),
            ("registry=https://npm.acme.test/", None),
            ("always-auth=true", None),
        ] {
            assert_eq!(secret_setting(line, &host).as_deref(), secret, "{line}");
        }
        assert_eq!(
            credentials_in_addresses(
                "index-url = https://me:pass-0123@pypi.acme.test/simple https://pypi.org"
            ),
            ["pass-0123"]
        );
        assert_eq!(
            netrc_passwords("machine a login b password c-0123\nmachine d"),
            ["c-0123"]
        );
    }
}
