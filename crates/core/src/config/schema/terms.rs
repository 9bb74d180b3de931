//! The words that schemas are made of: one for each reader in `config::read`, under the same name.

use serde_json::{Map, Value, json};

pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

/// Text that says something.
pub(super) fn filled_text() -> Value {
    json!({ "type": "string", "pattern": "\\S" })
}

/// Text where numbers and booleans need no quotes.
pub(super) fn plain_text() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

/// A shell command: `true` and `false` are some.
pub(super) fn command_line() -> Value {
    json!({ "type": ["string", "boolean"], "pattern": "\\S" })
}

pub(super) fn boolean() -> Value {
    json!({ "type": "boolean" })
}

pub(super) fn count() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": 1_000_000 })
}

pub(super) fn times() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": 1_000 })
}

pub(super) fn positive() -> Value {
    json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1e9 })
}

pub(super) fn whole() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

pub(super) fn not_negative() -> Value {
    json!({ "type": "number", "minimum": 0 })
}

pub(super) fn list(items: Value) -> Value {
    with(json!({ "type": "array" }), "items", items)
}

/// One text, or a list of them.
pub(super) fn texts() -> Value {
    json!({ "anyOf": [filled_text(), list(filled_text())] })
}

/// A map whose keys are the user's own.
pub(super) fn map_of(value: Value) -> Value {
    with(json!({ "type": "object" }), "additionalProperties", value)
}

/// A map with these keys and no others.
pub(super) fn object<const N: usize>(properties: [(&str, Value); N]) -> Value {
    let properties: Map<String, Value> = properties
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// A key may be there without a value, which is the same as not being there (or, in an experiment, removes).
pub(super) fn optional(schema: Value) -> Value {
    let Value::Object(mut entries) = schema else {
        return schema;
    };
    match entries.get_mut("type") {
        Some(Value::String(kind)) => {
            let kinds = json!([kind, "null"]);
            entries.insert("type".into(), kinds);
        }
        Some(Value::Array(kinds)) => kinds.push("null".into()),
        _ => match entries.get_mut("anyOf") {
            Some(Value::Array(choices)) => choices.push(json!({ "type": "null" })),
            _ => return json!({ "anyOf": [entries, { "type": "null" }] }),
        },
    }
    Value::Object(entries)
}

/// With words for whoever hovers over the key.
pub(super) fn about(words: &str, schema: Value) -> Value {
    with(schema, "description", words.into())
}

/// With a further demand.
pub(super) fn with(schema: Value, keyword: &str, value: Value) -> Value {
    let Value::Object(mut entries) = schema else {
        return schema;
    };
    entries.insert(keyword.to_owned(), value);
    Value::Object(entries)
}

/// With keys that must be there.
pub(super) fn requiring(keys: &[&str], schema: Value) -> Value {
    with(schema, "required", json!(keys))
}

/// With exactly one of these keys.
pub(super) fn one_of(keys: &[&str], schema: Value) -> Value {
    let choices: Vec<Value> = keys
        .iter()
        .map(|key| json!({ "required": [key] }))
        .collect();
    with(schema, "oneOf", choices.into())
}

/// A key's older name: it loads with a warning, and editors strike it through.
pub(super) fn older(name: &str, schema: Value) -> Value {
    with(
        about(&format!("The older spelling of `{name}`."), schema),
        "deprecated",
        true.into(),
    )
}
