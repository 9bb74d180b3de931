//! Keys that a suite writes in the settings of its agents.

use serde_json::Value;

/// The ends of names whose values are keys, in lower case and without `_` and `-`.
const NAMES: &[&str] = &[
    "apikey", "accesskey", "secretkey", "token", "secret", "password", "authorization",
];
/// A shorter value is no key, and masking it would hide words.
const SHORTEST: usize = 6;

/// Returns the keys in an agent's settings: the texts of fields such as `apiKey`, `auth_token` or `secret`. Some agents
/// take a key in no other way.
pub fn secrets_in_config(config: &Value) -> Vec<String> {
    let places = secret_places(config).into_iter();
    places.map(|(_, secret)| secret).collect()
}

/// Returns the keys in an agent's settings, each with its place.
pub(super) fn secret_places(config: &Value) -> Vec<(Vec<String>, String)> {
    let mut secrets = Vec::new();
    collect(config, &mut Vec::new(), &mut secrets);
    secrets
}

/// Tells whether an agent's settings have a key, or say where it is.
pub(super) fn has_key(config: &Value) -> bool {
    match config {
        Value::Object(fields) => fields.iter().any(|(name, field)| match field {
            Value::String(text) => is_name_of_key(name) && !text.is_empty(),
            field => has_key(field),
        }),
        Value::Array(items) => items.iter().any(has_key),
        _ => false,
    }
}

fn collect(value: &Value, place: &mut Vec<String>, secrets: &mut Vec<(Vec<String>, String)>) {
    for (name, field) in entries_of(value) {
        place.push(name);
        match (field, place.last()) {
            (Value::String(text), Some(name)) if value.is_object() && is_name_of_key(name) => {
                secrets.extend(key_in(text).map(|key| (place.clone(), key)));
            }
            (field, _) => collect(field, place, secrets),
        }
        place.pop();
    }
}

/// Returns the entries of a map or a list, each with its name or its number.
pub(super) fn entries_of(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(items) => items
            .iter()
            .zip(0..)
            .map(|(item, at)| (format!("{at}"), item))
            .collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn is_name_of_key(name: &str) -> bool {
    let name: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_lowercase();
    NAMES.iter().any(|end| name.ends_with(end))
}

/// Returns the key in a text, unless the text only says where the key is.
fn key_in(text: &str) -> Option<String> {
    let key = text.strip_prefix("Bearer ").unwrap_or(text).trim();
    let is_reference = key.starts_with('$') || key.starts_with('{') || key.starts_with('!');
    // `OPENAI_API_KEY`: the name of a variable.
    let is_variable = key.contains('_')
        && key
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    (key.len() >= SHORTEST && !is_reference && !is_variable).then(|| key.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_known_by_their_names() {
        let config = json!({
            "providers": { "mock": { "apiKey": "sk-pi-123456", "baseUrl": "http://localhost" } },
            "customModels": [{ "api_key": "sk-droid-123456", "maxOutputTokens": 100, "model": "secretive" }],
            "auth-token": "t0ken-123456",
            "headers": { "Authorization": "Bearer b3arer-123456" },
            "model": { "token": "${TOKEN}", "apiKey": "OPENAI_API_KEY", "secret": "no" },
            "apiKey": "{env:KEY_OF_MINE}",
            "tokens": "of no interest",
        });
        let mut secrets = secrets_in_config(&config);
        secrets.sort();
        assert_eq!(
            secrets,
            [
                "b3arer-123456", "sk-droid-123456", "sk-pi-123456", "t0ken-123456"
            ]
        );
    }
}
