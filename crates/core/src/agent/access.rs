//! The service that an agent was led to, and its means to sign in: names and origins, never values.
//!
//! Endpoints and keys come from the caller's shell, from a file or from `config`. Two runs, or two parts of one run, that
//! were led to different services do not compare, and nobody would see it in their plans.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::config_texts::{is_name_of_key, texts_of};
use crate::text::prose;

/// The service and the credentials of an agent, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Access {
    /// The variables (`$NAME`) and files (`~/path`) it could sign in with, and `config` if a key is there.
    pub credentials: Vec<String>,
    /// The origins of services, by the variable or the place in `config` that names them.
    pub endpoints: BTreeMap<String, String>,
}

impl Access {
    /// Returns it in one line.
    pub fn words(&self) -> String {
        let endpoints = self
            .endpoints
            .iter()
            .map(|(name, origin)| format!("{name} {origin}"));
        let parts: Vec<String> = self.credentials.iter().cloned().chain(endpoints).collect();
        if parts.is_empty() {
            "nothing".to_owned()
        } else {
            prose::list(&parts, "and")
        }
    }

    /// Adds the endpoint of a variable, if its value is an address.
    pub fn add_variable(&mut self, name: &str, value: &str) {
        let names_host = ["_URL", "_HOST", "_BASE", "_ENDPOINT"]
            .iter()
            .any(|ending| name.ends_with(ending));
        if names_host || value.contains("://") {
            self.endpoints
                .extend(origin(value).map(|origin| (name.to_owned(), origin)));
        }
    }

    /// Adds the endpoints of an agent's settings, and says if there is a key in them, or the place of one.
    pub fn add_config(&mut self, config: &Value) {
        let mut has_key = false;
        for (place, text) in texts_of(config) {
            has_key |= is_name_of_key(&place) && !text.is_empty();
            if text.contains("://") && !place.ends_with("/$schema") {
                let endpoint = origin(text).map(|origin| (written(&place), origin));
                self.endpoints.extend(endpoint);
            }
        }
        if has_key {
            self.credentials.push("config".to_owned());
        }
    }
}

/// Returns a place in settings as people write it: `config.models[0].url`.
fn written(place: &str) -> String {
    let parts = place.split('/').skip(1);
    let parts = parts.map(|part| match part.parse::<usize>() {
        Ok(_) => format!("[{part}]"),
        Err(_) => format!(".{}", part.replace("~1", "/").replace("~0", "~")),
    });
    format!("config{}", parts.collect::<String>())
}

/// Returns the origin of an address: no user, no password, no path, no query.
pub(super) fn origin(address: &str) -> Option<String> {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, address),
    };
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let is_plain = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_alphanumeric() || ".-_:[]+".contains(c))
    };
    if host.is_empty() || !is_plain(host) || !scheme.is_none_or(is_plain) {
        return None;
    }
    Some(match scheme {
        Some(scheme) => format!("{scheme}://{host}"),
        None => host.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_an_address_the_origin_is_left() {
        for (address, expected) in [
            (
                "https://api.example.com/v1?key=abc",
                Some("https://api.example.com"),
            ),
            (
                "http://me:secret@127.0.0.1:8080/v1#x",
                Some("http://127.0.0.1:8080"),
            ),
            ("http://[::1]:9", Some("http://[::1]:9")),
            ("localhost:11434", Some("localhost:11434")),
            ("me:secret@host/path", Some("host")),
            ("https:///nothing", None),
            ("a secret with blanks", None),
            ("", None),
        ] {
            assert_eq!(origin(address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn names_and_origins_are_found_and_no_values() {
        let mut access = Access::default();
        access.add_variable("ANTHROPIC_BASE_URL", "https://u:p@proxy.example/x");
        access.add_variable("GOOSE_PROVIDER", "openai");
        access.add_config(&json!({
            "$schema": "https://schema.example/x.json",
            "providers": { "mock": { "baseUrl": "http://127.0.0.1:1/v1", "apiKey": "very-secret" } },
        }));
        let shown = serde_json::to_string(&access).unwrap();
        assert_eq!(
            shown,
            r#"{"credentials":["config"],"endpoints":{"ANTHROPIC_BASE_URL":"https://proxy.example","config.providers.mock.baseUrl":"http://127.0.0.1:1"}}"#
        );
        assert_eq!(Access::default().words(), "nothing");
    }
}
