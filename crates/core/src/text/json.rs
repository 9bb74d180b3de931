//! JSON documents: merged, written as YAML, and made from pairs.

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

fn must_be_escaped(c: char) -> bool {
    matches!(
        c,
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}

/// Makes an object of names and values.
pub fn object(pairs: &[(String, String)]) -> Value {
    pairs
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
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
}
