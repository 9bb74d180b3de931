//! JSON documents: merged, made from pairs, and written as YAML or TOML.

use crate::text::prose;
use serde_json::Value;

/// Merges one JSON value into another: objects key by key, `null` removes, anything else replaces (RFC 7396).
pub fn merge(base: &mut Value, over: &Value) {
    let Value::Object(over) = over else {
        *base = over.clone();
        return;
    };
    // A `null` that finds nothing to remove is left out too: no settings file should have to know of it.
    let mut merged = base.as_object_mut().map(std::mem::take).unwrap_or_default();
    for (key, value) in over {
        if value.is_null() {
            merged.remove(key);
        } else {
            merge(merged.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
    *base = Value::Object(merged);
}

/// Writes a document as YAML. JSON is YAML, except for characters that YAML does not allow in a file and those
/// that it takes for the end of a line.
pub fn yaml(document: &Value) -> String {
    let text = format!("{document:#}\n");
    let mut yaml = String::with_capacity(text.len());
    for c in text.chars() {
        if must_be_escaped(c) {
            // Such a character can only be inside a string, where the escape is valid.
            yaml.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            yaml.push(c);
        }
    }
    yaml
}

/// Writes a document as YAML on one line.
pub fn yaml_line(document: &Value) -> String {
    // Line breaks in texts are escaped, so every other one comes from the layout.
    let text = yaml(document);
    prose::joined(text.lines().map(str::trim), " ")
}

fn must_be_escaped(c: char) -> bool {
    matches!(
        c,
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}

/// Writes a document as TOML, which has no `null`: such values are left out. A document that is not an object is
/// empty.
pub fn toml(document: &Value) -> String {
    match without_null(document) {
        Some(toml::Value::Table(table)) => table.to_string(),
        _ => String::new(),
    }
}

fn without_null(value: &Value) -> Option<toml::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => (*value).into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(values) => {
            toml::Value::Array(values.iter().filter_map(without_null).collect())
        }
        Value::Object(object) => {
            let pairs = object.iter();
            let kept = pairs.filter_map(|(name, value)| Some((name.clone(), without_null(value)?)));
            toml::Value::Table(kept.collect())
        }
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.into(),
            // TOML has no larger integers.
            None => number.as_f64()?.into(),
        },
    })
}

/// Makes an object of names and values.
pub fn object(pairs: &[(String, String)]) -> Value {
    pairs
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Returns a document with each of its texts changed. Keys stay.
pub fn with_texts(document: Value, change: &impl Fn(&str) -> String) -> Value {
    match document {
        Value::String(text) => Value::String(change(&text)),
        Value::Array(items) => (items.into_iter())
            .map(|item| with_texts(item, change))
            .collect(),
        Value::Object(entries) => (entries.into_iter())
            .map(|(key, value)| (key, with_texts(value, change)))
            .collect(),
        other => other,
    }
}

/// Writes pairs of names and values as the names alone: values may be secrets. Values that are read are empty.
pub mod names_only {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the names.
    pub fn serialize<T, S: Serializer>(
        pairs: &[(String, T)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(pairs.iter().map(|(name, _)| name))
    }

    /// Reads the names.
    pub fn deserialize<'de, T: Default, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, T)>, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        Ok(names.into_iter().map(|name| (name, T::default())).collect())
    }
}

/// Writes pairs of names and values as an object, and keeps their order.
pub mod map {
    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::{MapAccess, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes the object.
    pub fn serialize<T: Serialize, S: Serializer>(
        pairs: &[(String, T)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
    }

    /// Reads the object.
    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, T)>, D::Error> {
        deserializer.deserialize_map(InOrder(PhantomData))
    }

    struct InOrder<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
        type Value = Vec<(String, T)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            std::iter::from_fn(|| entries.next_entry().transpose()).collect()
        }
    }
}

/// Writes a duration as a number of seconds.
pub mod seconds {
    use std::time::Duration;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the seconds.
    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(duration.as_secs_f64())
    }

    /// Reads the seconds.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        Duration::try_from_secs_f64(seconds).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_yaml_does_not_take_is_written_otherwise() {
        let document = json!({ "text": "a\u{7f}b\u{2028}c\u{85}d äöü 🦀" });
        let yaml = yaml(&document);
        assert_eq!(
            yaml,
            "{\n  \"text\": \"a\\u007fb\\u2028c\\u0085d äöü 🦀\"\n}\n"
        );
        assert_eq!(serde_json::from_str::<Value>(&yaml).unwrap(), document);
    }

    #[test]
    fn toml_has_tables_and_text_arrives_as_it_is() {
        let document = json!({
            "a": { "deep": { "x": 1 }, "y": [1, 2.5, true], "gone": null },
            "text": "say \"hi\"\\\n\ttab\r\u{1}\u{7f}é",
            "x.y": { "http-h_1": -4, "": 2 },
            "list": [{ "a": "b", "c": { "d": [] } }, null, []],
            "empty": {},
            "gone": null,
        });
        let read: Value = ::toml::from_str(&toml(&document)).unwrap();
        let expected = json!({
            "a": { "deep": { "x": 1 }, "y": [1, 2.5, true] },
            "text": "say \"hi\"\\\n\ttab\r\u{1}\u{7f}é",
            "x.y": { "http-h_1": -4, "": 2 },
            "list": [{ "a": "b", "c": { "d": [] } }, []],
            "empty": {},
        });
        assert_eq!(read, expected);
        assert_eq!(toml(&json!("text")), "");
    }
}
