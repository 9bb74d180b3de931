//! JSON documents: one laid over another, and made from pairs.

use serde_json::Value;

/// Lays one JSON value over another: objects key by key, `null` removes, anything else replaces (RFC 7396).
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

/// Names and values as an object.
pub fn object(pairs: &[(String, String)]) -> Value {
    pairs.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}
