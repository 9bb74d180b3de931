//! The way an agent is led to the gateway: which of its addresses and keys are replaced, and by what.
//!
//! Nothing here knows a server. [`Redirect::find`] says which services and keys an agent would use; the gateway opens a
//! passage to each; [`Redirect::apply`] writes the passage's addresses and tokens in their places.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::access::origin;
use super::config_texts::{is_place_of_address, secret_places, texts_of};
use super::model_service::ModelService;
use super::profile::Profile;
use crate::text::json::{merge, with_texts};

/// The ends of variables that have the address of a service.
const ADDRESS_ENDS: [&str; 2] = ["_BASE_URL", "_API_BASE"];
/// The ends of variables that have the key of the service whose address has the same beginning.
const KEY_ENDS: [&str; 3] = ["_API_KEY", "_AUTH_TOKEN", "_TOKEN"];

/// Returns whether a variable of this name has the key of a service.
pub fn is_key_variable(name: &str) -> bool {
    KEY_ENDS.iter().any(|end| name.ends_with(end))
}

/// The addresses and keys of an agent that are replaced.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Redirect {
    /// The origins of the services, each once: `https://api.openai.com`.
    pub origins: Vec<String>,
    /// The keys, each once.
    pub keys: Vec<ServiceKey>,
    /// The variables with credentials that stay as they are, since their service is not known.
    pub untouched: Vec<String>,
    /// The variables that have settings with the address of a service, which cannot be led. The keys of a program that has one are for
    /// that service, and stay as they are.
    pub elsewhere: Vec<String>,
    /// The places of addresses, as [`ModelService`] has them, with the index of the origin and what follows it.
    addresses: Vec<(String, usize, String)>,
    renamed: Vec<(&'static str, &'static str)>,
}

/// A key, and the services that may have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceKey {
    /// The key.
    pub key: String,
    /// The indexes of their origins.
    pub origins: BTreeSet<usize>,
}

impl Redirect {
    /// Finds the services and keys that an agent would use with these variables and settings.
    pub fn find(
        profile: &Profile,
        env: &BTreeMap<String, String>,
        config: Option<&Value>,
    ) -> Redirect {
        let mut redirect = Redirect::default();
        let mut in_settings: Vec<(String, usize)> = Vec::new();
        for (path, text) in config.map(texts_of).unwrap_or_default() {
            if is_place_of_address(&path) {
                let origin = redirect.add(&path, text);
                in_settings.extend(origin.map(|origin| (path, origin)));
            }
        }
        let (keys, without_key) = keys_in_settings(config.unwrap_or(&Value::Null), &in_settings);
        if profile.takes_command {
            let with_address = env.iter().filter(|(_, value)| has_address(value));
            redirect.elsewhere = with_address.map(|(name, _)| name.clone()).collect();
        }
        let may_guess = redirect.elsewhere.is_empty();
        let mut known: Vec<(String, usize)> = Vec::new();
        let mut services: Vec<&ModelService> = profile.services.iter().collect();
        services.retain(|service| may_guess || env.contains_key(service.address));
        for service in services {
            if let Some(origin) = redirect.add_service(service, env, config) {
                let keys = service.keys.iter();
                known.extend(keys.map(|key| ((*key).to_owned(), origin)));
            }
        }
        for (name, value) in env {
            let Some(prefix) = ADDRESS_ENDS.iter().find_map(|end| name.strip_suffix(end)) else {
                continue;
            };
            let is_own = profile.takes_command || profile.setting_variables.contains(&&**name);
            if is_own && let Some(origin) = redirect.add(name, value) {
                let keys = KEY_ENDS.iter().map(|end| format!("{prefix}{end}"));
                known.extend(keys.map(|key| (key, origin)));
            }
        }
        for (name, value) in env.iter().filter(|(_, value)| !value.is_empty()) {
            let is_credential = profile.credential_variables.contains(&&**name)
                || !may_guess && is_key_variable(name);
            let own = known.iter().filter(|(key, _)| key == name);
            let mut origins: BTreeSet<usize> = own.map(|(_, origin)| *origin).collect();
            if is_credential {
                // Services in the settings may take their key from a variable. One that has a service of its own is not for
                // those that have a key.
                let is_for_all = origins.is_empty() && without_key.is_empty();
                let all = in_settings.iter().map(|(_, origin)| *origin);
                origins.extend(all.filter(|it| is_for_all || without_key.contains(it)));
            }
            if !origins.is_empty() {
                redirect.add_key(value, origins);
            } else if is_credential {
                redirect.untouched.push(name.clone());
            }
        }
        for (key, origins) in keys {
            redirect.add_key(&key, origins);
        }
        redirect
    }

    /// Returns the variables by which the agent is led.
    pub fn variables(&self) -> Vec<&str> {
        let places = self.addresses.iter().map(|(place, _, _)| place.as_str());
        places.filter(|place| !place.starts_with('/')).collect()
    }

    /// Returns whether there is no service that the agent could be led away from.
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// Writes the gateway's addresses in the place of the services', and tokens in the place of keys. Both are given in
    /// the order of [`origins`](Redirect::origins) and [`keys`](Redirect::keys).
    pub fn apply(
        &self,
        addresses: &[String],
        tokens: &[String],
        env: &mut BTreeMap<String, String>,
        config: Option<&Value>,
    ) -> Option<Value> {
        let replaced = |text: &str| self.replaced(text, tokens);
        for value in env.values_mut() {
            *value = replaced(value);
        }
        for (from, to) in &self.renamed {
            if let Some(value) = env.remove(*from) {
                env.insert((*to).to_owned(), value);
            }
        }
        let mut config = config.map(|config| with_texts(config.clone(), &replaced));
        for (place, origin, rest) in &self.addresses {
            let address = addresses.get(*origin).map_or("", String::as_str);
            let address = format!("{address}{rest}");
            let Some(path) = place.strip_prefix('/') else {
                env.insert(place.clone(), address);
                continue;
            };
            let config = config.get_or_insert_with(|| json!({}));
            match config.pointer_mut(place) {
                Some(place) => *place = json!(address),
                None => {
                    let nested = |inner: Value, part: &str| json!({ part: inner });
                    merge(config, &path.rsplit('/').fold(json!(address), nested));
                }
            }
        }
        config
    }

    /// Adds a service if the agent uses it. Returns the index of its origin.
    fn add_service(
        &mut self,
        service: &ModelService,
        env: &BTreeMap<String, String>,
        config: Option<&Value>,
    ) -> Option<usize> {
        let set = |name: &str| env.get(name).filter(|value| !value.is_empty());
        let is_setting = |name: &str| config.is_some_and(|config| config.get(name).is_some());
        let mut unless = service.unless.iter();
        if unless.any(|name| set(name).is_some() || is_setting(name)) {
            return None;
        }
        let written = set(service.address);
        let has_key = service.keys.iter().any(|name| set(name).is_some());
        let usual = has_key.then_some(service.usual);
        let origin = self.add(service.address, written.map(String::as_str).or(usual)?)?;
        if let Some(to) = service.given_as {
            let from = service.keys.iter().copied().filter(|from| *from != to);
            self.renamed.extend(from.map(|from| (from, to)));
        }
        Some(origin)
    }

    /// Adds a place with an address, unless it is there. Returns the index of its origin.
    fn add(&mut self, place: &str, written: &str) -> Option<usize> {
        let mut known = self.addresses.iter();
        if let Some((_, origin, _)) = known.find(|(known, _, _)| *known == place) {
            return Some(*origin);
        }
        let (origin, rest) = split(written)?;
        let index = self.origins.iter().position(|known| *known == origin);
        let index = index.unwrap_or_else(|| {
            self.origins.push(origin);
            self.origins.len() - 1
        });
        self.addresses.push((place.to_owned(), index, rest));
        Some(index)
    }

    fn add_key(&mut self, key: &str, origins: BTreeSet<usize>) {
        match self.keys.iter_mut().find(|known| known.key == key) {
            Some(known) => known.origins.extend(origins),
            None => self.keys.push(ServiceKey {
                key: key.to_owned(),
                origins,
            }),
        }
    }

    /// Returns the token for a text that is a key, or a key after `Bearer`.
    fn replaced(&self, text: &str, tokens: &[String]) -> String {
        for (known, token) in self.keys.iter().zip(tokens) {
            if let Some(before) = text.strip_suffix(known.key.as_str())
                && (before.is_empty() || before.ends_with(' '))
            {
                return format!("{before}{token}");
            }
        }
        text.to_owned()
    }
}

/// Returns the addresses of services that an agent has from the caller's shell, by variable. `shell` returns what the
/// shell has; a user, a password and a query are in no such address.
pub fn addresses_of_shell(
    profile: &Profile,
    env: &BTreeMap<String, String>,
    shell: &dyn Fn(&str) -> Option<String>,
) -> BTreeMap<String, String> {
    let names = profile.setting_variables.iter().copied();
    let values = names.filter_map(|name| {
        let value = env
            .get(name)
            .filter(|value| shell(name).as_ref() == Some(*value))?;
        let (origin, path) = split(value)?;
        Some((name.to_owned(), format!("{origin}{path}")))
    });
    values.collect()
}

/// Gives an agent the addresses that the shell named when its session was recorded, in the place of those of the shell
/// now. An address of the suite stays. A recording may come from anybody: it sets addresses, and no other variable.
pub fn restore_addresses(
    profile: &Profile,
    recorded: &BTreeMap<String, String>,
    env: &mut BTreeMap<String, String>,
    shell: &dyn Fn(&str) -> Option<String>,
) {
    for (name, address) in recorded {
        let is_known = profile.setting_variables.contains(&&**name) && split(address).is_some();
        let is_of_suite = env
            .get(name)
            .is_some_and(|value| !value.is_empty() && shell(name).as_ref() != Some(value));
        if is_known && !is_of_suite {
            env.insert(name.clone(), address.clone());
        }
    }
}

/// Splits an address into its origin and the rest. Only HTTP is served; a user in the address is a way to sign in that
/// the gateway does not replace.
fn split(address: &str) -> Option<(String, String)> {
    let address = address.trim();
    let origin = origin(address)?;
    let path = address.strip_prefix(&origin)?;
    let is_http = origin.starts_with("http://") || origin.starts_with("https://");
    let is_path = path.is_empty() || path.starts_with('/') && !path.contains(['?', '#']);
    (is_http && is_path).then(|| (origin, path.to_owned()))
}

/// Returns whether a text is a document with the address of a service, such as the settings that some agents take from a variable.
fn has_address(text: &str) -> bool {
    let is_document = text.trim_start().starts_with('{');
    let document = is_document.then(|| serde_json::from_str(text).ok());
    let document: Value = document.flatten().unwrap_or_default();
    let mut texts = texts_of(&document).into_iter();
    texts.any(|(place, text)| is_place_of_address(&place) && split(text).is_some())
}

/// Returns the keys that an agent's settings have, with the origins of the services next to them, and the origins of the
/// services that have no key there: it is in a variable. A service is the place of its address, and the index of its
/// origin. Without any service, no key is replaced.
fn keys_in_settings(
    config: &Value,
    services: &[(String, usize)],
) -> (Vec<(String, BTreeSet<usize>)>, BTreeSet<usize>) {
    let mut keys = Vec::new();
    let mut without_key: BTreeSet<usize> = services.iter().map(|(_, origin)| *origin).collect();
    for (place, key) in secret_places(config) {
        let shared = |path: &str| {
            let parts = place.split('/').zip(path.split('/'));
            parts.take_while(|(own, other)| own == other).count()
        };
        let Some(most) = services.iter().map(|(path, _)| shared(path)).max() else {
            break;
        };
        let mut nearest = BTreeSet::new();
        for (path, origin) in services {
            if shared(path) == most {
                nearest.insert(*origin);
            }
            // The key is in the same map as the address, or further down in it.
            if shared(path) + 1 == path.split('/').count() {
                without_key.remove(origin);
            }
        }
        keys.push((key, nearest));
    }
    (keys, without_key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::find;

    const ADDRESSES: [&str; 4] = [
        "http://127.0.0.1:7/t/0", "http://127.0.0.1:7/t/1", "http://127.0.0.1:7/t/2",
        "http://127.0.0.1:7/t/3",
    ];
    const TOKENS: [&str; 3] = ["token-0", "token-1", "token-2"];

    /// Returns what an agent is given with the gateway, of these variables and settings.
    fn redirected(
        agent: &str,
        env: &[(&str, &str)],
        config: Option<&Value>,
    ) -> (Redirect, BTreeMap<String, String>, Option<Value>) {
        let mut env: BTreeMap<String, String> = env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let redirect = Redirect::find(find(agent).unwrap().profile(), &env, config);
        let config = redirect.apply(
            &ADDRESSES.map(str::to_owned),
            &TOKENS.map(str::to_owned),
            &mut env,
            config,
        );
        (redirect, env, config)
    }

    /// Returns the keys, with the origins that may have them.
    fn keys(redirect: &Redirect) -> Vec<(&str, Vec<usize>)> {
        let keys = redirect.keys.iter();
        keys.map(|key| (&*key.key, key.origins.iter().copied().collect()))
            .collect()
    }

    #[test]
    fn agents_with_a_key_are_led_to_the_gateway() {
        for (agent, key, variable, origin, address) in [
            (
                "claude-code", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
                "https://api.anthropic.com", "http://127.0.0.1:7/t/0",
            ),
            (
                "gemini-cli",
                "GEMINI_API_KEY",
                "GOOGLE_GEMINI_BASE_URL",
                "https://generativelanguage.googleapis.com",
                "http://127.0.0.1:7/t/0",
            ),
            (
                "qwen-code", "OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com",
                "http://127.0.0.1:7/t/0/v1",
            ),
            (
                "goose", "OPENAI_API_KEY", "OPENAI_HOST", "https://api.openai.com",
                "http://127.0.0.1:7/t/0",
            ),
            (
                "aider", "OPENAI_API_KEY", "OPENAI_API_BASE", "https://api.openai.com",
                "http://127.0.0.1:7/t/0/v1",
            ),
            (
                "command", "OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com",
                "http://127.0.0.1:7/t/0/v1",
            ),
        ] {
            let (redirect, env, config) = redirected(agent, &[(key, "sk-secret")], None);
            assert_eq!(redirect.origins, [origin], "{agent}");
            assert_eq!(keys(&redirect), [("sk-secret", vec![0])], "{agent}");
            assert_eq!(env[key], "token-0", "{agent}");
            assert_eq!(env[variable], address, "{agent}");
            assert_eq!(config, None, "{agent}");
        }
    }

    #[test]
    fn an_address_of_the_user_is_where_the_gateway_asks() {
        let env = [
            ("ANTHROPIC_AUTH_TOKEN", "sk-secret"),
            (
                "ANTHROPIC_BASE_URL", "https://proxy.example:8443/anthropic/",
            ),
        ];
        let (redirect, env, _) = redirected("claude-code", &env, None);
        assert_eq!(redirect.origins, ["https://proxy.example:8443"]);
        assert_eq!(
            env["ANTHROPIC_BASE_URL"],
            "http://127.0.0.1:7/t/0/anthropic/"
        );
    }

    #[test]
    fn providers_in_settings_are_led_to_the_gateway() {
        let (_, env, config) = redirected("codex", &[("OPENAI_API_KEY", "sk-secret")], None);
        assert_eq!(env["OPENAI_API_KEY"], "token-0");
        assert_eq!(
            config,
            Some(
                json!({"model_providers": {"openai-key": {"base_url": "http://127.0.0.1:7/t/0/v1"}}})
            )
        );

        let (_, env, _) = redirected("codex", &[("CODEX_API_KEY", "sk-secret")], None);
        assert_eq!(
            env,
            BTreeMap::from([("OPENAI_API_KEY".to_owned(), "token-0".to_owned())]),
            "its own provider speaks by WebSocket"
        );

        let own = json!({
            "model_provider": "mock",
            "model_providers": {"mock": {"base_url": "http://10.0.0.1/v1", "env_key": "OPENAI_API_KEY"}},
        });
        let (redirect, env, config) =
            redirected("codex", &[("OPENAI_API_KEY", "sk-secret")], Some(&own));
        assert_eq!(redirect.origins, ["http://10.0.0.1"]);
        assert_eq!(env["OPENAI_API_KEY"], "token-0");
        assert_eq!(
            config.unwrap()["model_providers"],
            json!({"mock": {"base_url": "http://127.0.0.1:7/t/0/v1", "env_key": "OPENAI_API_KEY"}})
        );

        let own = json!({"provider": {"mock": {"options": {"baseURL": "http://10.0.0.1/v1", "apiKey": "sk-other-one"}}}});
        let (redirect, env, config) = redirected(
            "opencode",
            &[("ANTHROPIC_API_KEY", "sk-secret")],
            Some(&own),
        );
        assert_eq!(
            redirect.origins,
            ["http://10.0.0.1", "https://api.anthropic.com"]
        );
        assert_eq!(
            keys(&redirect),
            [("sk-secret", vec![1]), ("sk-other-one", vec![0])]
        );
        assert_eq!(env["ANTHROPIC_API_KEY"], "token-0");
        let provider = &config.unwrap()["provider"];
        assert_eq!(
            provider["mock"]["options"],
            json!({"baseURL": "http://127.0.0.1:7/t/0/v1", "apiKey": "token-1"})
        );
        assert_eq!(
            provider["anthropic"]["options"]["baseURL"],
            "http://127.0.0.1:7/t/1/v1"
        );
    }

    #[test]
    fn a_program_of_any_kind_is_led_by_the_variables_of_the_suite() {
        let env = [
            ("MY_BASE_URL", "http://10.0.0.1/api"),
            ("MY_API_KEY", "sk-secret"),
            ("PATH", "/bin"),
        ];
        let (redirect, env, _) = redirected("command", &env, None);
        assert_eq!(redirect.origins, ["http://10.0.0.1"]);
        assert_eq!(env["MY_API_KEY"], "token-0");
        assert_eq!(env["MY_BASE_URL"], "http://127.0.0.1:7/t/0/api");
        assert_eq!(env["PATH"], "/bin");
    }

    #[test]
    fn one_name_of_an_address_is_enough() {
        for (given, other) in [
            ("OPENAI_HOST", "OPENAI_BASE_URL"),
            ("OPENAI_BASE_URL", "OPENAI_HOST"),
        ] {
            let env = [(given, "http://10.0.0.1"), ("OPENAI_API_KEY", "sk-secret")];
            let (redirect, env, _) = redirected("acp", &env, None);
            assert_eq!(redirect.origins, ["http://10.0.0.1"]);
            assert_eq!(env[given], "http://127.0.0.1:7/t/0");
            assert_eq!(env["OPENAI_API_KEY"], "token-0");
            assert_eq!(env.get(other), None);
        }
        let (_, env, _) = redirected("acp", &[("OPENAI_API_KEY", "sk-secret")], None);
        assert_eq!(env["OPENAI_HOST"], "http://127.0.0.1:7/t/0");
        assert_eq!(env["OPENAI_BASE_URL"], "http://127.0.0.1:7/t/0/v1");
    }

    #[test]
    fn a_key_for_an_address_that_cannot_be_led_is_left_alone() {
        let settings = r#"{"provider": {"mine": {"options": {"baseURL": "http://10.0.0.1/v1"}}}}"#;
        let own = ("OPENCODE_CONFIG_CONTENT", settings);
        let env = [own, ("OPENAI_API_KEY", "sk-secret")];
        let (redirect, after, _) = redirected("acp", &env, None);
        assert!(redirect.is_empty());
        assert_eq!(redirect.elsewhere, ["OPENCODE_CONFIG_CONTENT"]);
        assert_eq!(after["OPENAI_API_KEY"], "sk-secret");

        // A service that the suite names is led, and has the key of its name.
        let env = [
            own,
            ("OPENAI_API_KEY", "sk-secret"),
            ("MY_BASE_URL", "http://10.0.0.2"),
            ("MY_API_KEY", "sk-mine"),
        ];
        let (redirect, after, _) = redirected("command", &env, None);
        assert_eq!(redirect.origins, ["http://10.0.0.2"]);
        assert_eq!(redirect.untouched, ["OPENAI_API_KEY"]);
        assert_eq!(after["OPENAI_API_KEY"], "sk-secret");
        assert_eq!(after["MY_API_KEY"], "token-0");
    }

    #[test]
    fn a_key_is_for_the_service_of_its_name() {
        let env = [
            ("ANTHROPIC_API_KEY", "sk-anthropic"),
            ("MY_BASE_URL", "http://10.0.0.1/api"),
            ("MY_API_KEY", "sk-mine"),
            ("OPENAI_API_BASE", "http://10.0.0.2"),
            ("OPENAI_API_KEY", "sk-openai"),
        ];
        let (redirect, _, _) = redirected("command", &env, None);
        assert_eq!(
            redirect.origins,
            [
                "https://api.anthropic.com", "https://api.openai.com", "http://10.0.0.1",
                "http://10.0.0.2"
            ]
        );
        assert_eq!(
            keys(&redirect),
            [
                ("sk-anthropic", vec![0]),
                ("sk-mine", vec![2]),
                ("sk-openai", vec![1, 3])
            ]
        );

        // A provider of the settings takes its key from any variable.
        let own = json!({"model_providers": {"mock": {"base_url": "http://10.0.0.1/v1", "env_key": "OPENAI_API_KEY"}}});
        let env = [("OPENAI_API_KEY", "sk-secret")];
        let (redirect, _, _) = redirected("codex", &env, Some(&own));
        let mock = redirect
            .origins
            .iter()
            .position(|it| it == "http://10.0.0.1");
        assert!(redirect.keys[0].origins.contains(&mock.unwrap()));
    }

    #[test]
    fn another_way_to_sign_in_is_left_alone() {
        for (agent, env) in [
            ("claude-code", vec![("CLAUDE_CODE_OAUTH_TOKEN", "oauth")]),
            ("claude-code", vec![]),
            (
                "gemini-cli",
                vec![
                    ("GEMINI_API_KEY", "sk-secret"),
                    ("GOOGLE_GENAI_USE_VERTEXAI", "true"),
                ],
            ),
            ("copilot", vec![("GH_TOKEN", "gh-secret")]),
            ("droid", vec![("FACTORY_API_KEY", "sk-secret")]),
        ] {
            let (redirect, after, config) = redirected(agent, &env, None);
            assert!(redirect.is_empty(), "{agent}");
            assert_eq!(after.len(), env.len(), "{agent}");
            assert!(after.values().all(|value| !value.starts_with("token")));
            assert_eq!(config, None);
        }
        let (redirect, _, _) = redirected("claude-code", &[("CLAUDE_CODE_OAUTH_TOKEN", "o")], None);
        assert_eq!(redirect.untouched, ["CLAUDE_CODE_OAUTH_TOKEN"]);
    }

    #[test]
    fn addresses_of_the_shell_are_recorded_and_restored() {
        let profile = find("claude-code").unwrap().profile();
        let map = |entries: &[(&str, &str)]| -> BTreeMap<String, String> {
            let entries = entries.iter();
            entries
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        const NAME: &str = "ANTHROPIC_BASE_URL";
        let then = map(&[(NAME, "http://10.0.0.1/a"), ("ANTHROPIC_API_KEY", "sk")]);
        let recorded = addresses_of_shell(profile, &then, &|name| then.get(name).cloned());
        assert_eq!(recorded, map(&[(NAME, "http://10.0.0.1/a")]));
        let of_suite = addresses_of_shell(profile, &then, &|_| None);
        assert_eq!(of_suite, BTreeMap::new(), "the suite still has it");

        let foreign = map(&[(NAME, "file:///etc/passwd"), ("LD_PRELOAD", "http://x/")]);
        for (recorded, now, shell, expected) in [
            (&recorded, None, None, Some("http://10.0.0.1/a")),
            (
                &recorded,
                Some("http://b"),
                Some("http://b"),
                Some("http://10.0.0.1/a"),
            ),
            (
                &recorded,
                Some("http://suite"),
                Some("http://b"),
                Some("http://suite"),
            ),
            (&foreign, None, None, None),
        ] {
            let mut env: BTreeMap<String, String> = BTreeMap::new();
            env.extend(now.map(|value: &str| (NAME.to_owned(), value.to_owned())));
            restore_addresses(profile, recorded, &mut env, &|_| shell.map(str::to_owned));
            assert_eq!(env.get(NAME).map(String::as_str), expected);
            assert!(env.len() < 2, "{env:?}");
        }
    }

    #[test]
    fn what_is_no_address_of_http_is_left_alone() {
        for address in [
            "localhost:11434", "unix:///run/model", "https://me:secret@proxy.example",
            "https:///nothing", "https://proxy.example/?key=abc",
        ] {
            assert_eq!(split(address), None, "{address}");
        }
        assert_eq!(
            split(" https://[::1]:9/v1 "),
            Some(("https://[::1]:9".into(), "/v1".into()))
        );
    }

    #[test]
    fn a_key_is_for_the_service_next_to_it() {
        let config = json!({"provider": {
            "a": {"options": {"baseURL": "http://a", "apiKey": "key-of-a"}},
            "b": {"options": {"baseURL": "http://b"}, "headers": {"Authorization": "key-of-b"}},
            "c": {"options": {"baseURL": "http://c"}},
        }, "token": "key-of-all"});
        let paths = ["a", "b", "c"].map(|name| format!("/provider/{name}/options/baseURL"));
        let services: Vec<(String, usize)> = paths.into_iter().zip(0..).collect();
        let (keys, without_key) = keys_in_settings(&config, &services);
        let keys: Vec<(&str, Vec<usize>)> = keys
            .iter()
            .map(|(key, origins)| (key.as_str(), origins.iter().copied().collect()))
            .collect();
        assert_eq!(
            keys,
            [
                ("key-of-a", vec![0]),
                ("key-of-b", vec![1]),
                ("key-of-all", vec![0, 1, 2])
            ]
        );
        assert_eq!(
            without_key,
            BTreeSet::from([1, 2]),
            "the others may have theirs in a variable"
        );
        assert_eq!(keys_in_settings(&config, &[]), Default::default());
    }
}
