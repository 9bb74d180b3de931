//! The texts in an agent's settings: addresses of services, and keys that a suite writes there.

use serde_json::Value;

/// The ends of names whose values are keys, in lower case and without `_` and `-`.
const KEYS: [&str; 7] = [
    "apikey", "accesskey", "secretkey", "token", "secret", "password", "authorization",
];
/// The ends of names whose values are addresses of services.
const ADDRESSES: [&str; 2] = ["baseurl", "apibase"];
/// A shorter value is no key, and masking it would hide words.
const SHORTEST: usize = 6;

/// Returns all texts in an agent's settings, each with its place: a JSON pointer, such as `/models/0/url`.
pub(super) fn texts_of(config: &Value) -> Vec<(String, &str)> {
    let mut texts = Vec::new();
    collect(config, "", &mut texts);
    texts
}

/// Returns whether a text in an agent's settings names this variable.
pub fn names_variable(config: &Value, name: &str) -> bool {
    texts_of(config).iter().any(|(_, text)| text.contains(name))
}

fn collect<'a>(value: &'a Value, place: &str, texts: &mut Vec<(String, &'a str)>) {
    match value {
        Value::String(text) => texts.push((place.to_owned(), text)),
        Value::Object(entries) => {
            for (name, value) in entries {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect(value, &format!("{place}/{name}"), texts);
            }
        }
        Value::Array(items) => {
            for (item, at) in items.iter().zip(0..) {
                collect(item, &format!("{place}/{at}"), texts);
            }
        }
        _ => {}
    }
}

/// Returns the keys in an agent's settings: the texts of fields such as `apiKey`, `auth_token` or `secret`. Some agents
/// take a key in no other way.
pub fn secrets_in_config(config: &Value) -> Vec<String> {
    let places = secret_places(config).into_iter();
    places.map(|(_, secret)| secret).collect()
}

/// Returns the keys in an agent's settings, each with its place.
pub(super) fn secret_places(config: &Value) -> Vec<(String, String)> {
    let texts = texts_of(config).into_iter();
    let keys = texts.filter(|(place, _)| is_name_of_key(place));
    keys.filter_map(|(place, text)| Some((place, key_in(text)?)))
        .collect()
}

/// Returns whether the value of this name, or at a place that ends in it, is a key.
pub(crate) fn is_name_of_key(name: &str) -> bool {
    ends_with(name, &KEYS)
}

/// Returns whether the value at a place is the address of a service.
pub(super) fn is_place_of_address(place: &str) -> bool {
    ends_with(place, &ADDRESSES)
}

fn ends_with(name: &str, ends: &[&str]) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let name = letters.collect::<String>().to_lowercase();
    ends.iter().any(|end| name.ends_with(end))
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
