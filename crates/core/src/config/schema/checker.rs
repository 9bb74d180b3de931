//! Judges values by the schemas of this directory. It knows the words that they use and stops at any other, so that
//! nothing in a schema is silently without effect.

use serde_json::Value;

/// Whether a schema, which stands in a document, accepts a value.
pub(crate) fn accepts(document: &Value, schema: &Value, value: &Value) -> bool {
    match schema {
        Value::Bool(verdict) => *verdict,
        Value::Object(words) => words
            .iter()
            .all(|(word, demand)| meets(document, schema, word, demand, value)),
        _ => panic!("not a schema: {schema}"),
    }
}

/// The schema that a reference leads to.
pub(crate) fn target<'a>(document: &'a Value, reference: &str) -> &'a Value {
    let name = reference
        .strip_prefix('#')
        .expect("references stay within the document");
    document
        .pointer(name)
        .unwrap_or_else(|| panic!("{reference} leads nowhere"))
}

fn meets(document: &Value, schema: &Value, word: &str, demand: &Value, value: &Value) -> bool {
    let accepted = |schema: &Value| accepts(document, schema, value);
    let choices = || demand.as_array().expect("a list of schemas");
    match word {
        "$schema" | "$defs" | "title" | "description" | "deprecated" => true,
        "$ref" => accepted(target(document, demand.as_str().expect("a reference"))),
        "anyOf" => choices().iter().any(accepted),
        "oneOf" => choices().iter().filter(|schema| accepted(schema)).count() == 1,
        "enum" => choices().contains(value),
        "type" => match demand {
            Value::Array(kinds) => kinds.iter().any(|kind| is(kind, value)),
            kind => is(kind, value),
        },
        "pattern" => value
            .as_str()
            .is_none_or(|text| pattern(demand).is_match(text)),
        "minimum" => value.as_f64().is_none_or(|number| number >= limit(demand)),
        "exclusiveMinimum" => value.as_f64().is_none_or(|number| number > limit(demand)),
        "maximum" => value.as_f64().is_none_or(|number| number <= limit(demand)),
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| accepts(document, demand, item))),
        "minItems" => value
            .as_array()
            .is_none_or(|items| items.len() as f64 >= limit(demand)),
        _ => meets_as_map(document, schema, word, demand, value),
    }
}

fn meets_as_map(
    document: &Value,
    schema: &Value,
    word: &str,
    demand: &Value,
    value: &Value,
) -> bool {
    let Value::Object(entries) = value else {
        return is_word_of_maps(word);
    };
    let declared = |key: &str| schema["properties"].get(key).is_some();
    match word {
        "required" => demand
            .as_array()
            .expect("keys")
            .iter()
            .all(|key| entries.contains_key(key.as_str().expect("a key"))),
        "minProperties" => entries.len() as f64 >= limit(demand),
        "properties" => entries.iter().all(|(key, value)| {
            demand
                .get(key)
                .is_none_or(|schema| accepts(document, schema, value))
        }),
        "additionalProperties" => entries
            .iter()
            .all(|(key, value)| declared(key) || accepts(document, demand, value)),
        "propertyNames" => entries
            .keys()
            .all(|key| accepts(document, demand, &Value::from(key.as_str()))),
        _ => panic!("`{word}` is not known here"),
    }
}

fn is_word_of_maps(word: &str) -> bool {
    let known = [
        "required",
        "minProperties",
        "properties",
        "additionalProperties",
        "propertyNames",
    ]
    .contains(&word);
    assert!(known, "`{word}` is not known here");
    known
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str().expect("a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type: {other}"),
    }
}

fn pattern(demand: &Value) -> regex::Regex {
    regex::Regex::new(demand.as_str().expect("a pattern")).expect("a regular expression")
}

fn limit(demand: &Value) -> f64 {
    demand.as_f64().expect("a number")
}
