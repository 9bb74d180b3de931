//! Judges values by the schemas, as an editor would. It knows the keywords that they use and stops at any other, so
//! that nothing in a schema is silently without effect.

use serde_json::{Map, Value};

/// Returns true when a schema accepts a value.
pub(crate) fn accepts(document: &Value, value: &Value) -> bool {
    Checker { document }.accepts(document, value)
}

struct Checker<'a> {
    document: &'a Value,
}

impl Checker<'_> {
    fn accepts(&self, schema: &Value, value: &Value) -> bool {
        match schema {
            Value::Bool(verdict) => *verdict,
            Value::Object(keywords) => keywords
                .iter()
                .all(|(keyword, demand)| self.meets(schema, keyword, demand, value)),
            _ => panic!("not a schema: {schema}"),
        }
    }

    fn meets(&self, schema: &Value, keyword: &str, demand: &Value, value: &Value) -> bool {
        let choices = || demand.as_array().expect("a list");
        let limit = || demand.as_f64().expect("a number");
        match (keyword, value) {
            ("$schema" | "$defs" | "title" | "description" | "deprecated" | "default", _) => true,
            ("$ref", _) => {
                let pointer = demand.as_str().and_then(|text| text.strip_prefix('#'));
                let target = pointer.and_then(|pointer| self.document.pointer(pointer));
                self.accepts(target.expect("a definition"), value)
            }
            ("anyOf", _) => choices().iter().any(|schema| self.accepts(schema, value)),
            ("oneOf", _) => {
                let accepted = choices()
                    .iter()
                    .filter(|schema| self.accepts(schema, value));
                accepted.count() == 1
            }
            ("enum", _) => choices().contains(value),
            ("type", _) => match demand {
                Value::Array(types) => types.iter().any(|kind| is(kind, value)),
                kind => is(kind, value),
            },
            ("pattern", Value::String(text)) => {
                let pattern = regex::Regex::new(demand.as_str().expect("a pattern"));
                pattern.expect("a regular expression").is_match(text)
            }
            ("minimum", Value::Number(_)) => value.as_f64() >= Some(limit()),
            ("exclusiveMinimum", Value::Number(_)) => value.as_f64() > Some(limit()),
            ("maximum", Value::Number(_)) => value.as_f64() <= Some(limit()),
            ("items", Value::Array(items)) => items.iter().all(|item| self.accepts(demand, item)),
            ("minItems", Value::Array(items)) => items.len() as f64 >= limit(),
            (_, Value::Object(entries)) => self.meets_as_map(schema, keyword, demand, entries),
            (keyword, _) => KEYWORDS.contains(&keyword) || panic!("`{keyword}` is not known here"),
        }
    }

    fn meets_as_map(
        &self,
        schema: &Value,
        keyword: &str,
        demand: &Value,
        entries: &Map<String, Value>,
    ) -> bool {
        match keyword {
            "required" => {
                let keys = demand.as_array().expect("keys").iter();
                keys.filter_map(Value::as_str)
                    .all(|key| entries.contains_key(key))
            }
            "minProperties" => entries.len() as f64 >= demand.as_f64().expect("a number"),
            "properties" => entries.iter().all(|(key, value)| {
                let schema = demand.get(key);
                schema.is_none_or(|schema| self.accepts(schema, value))
            }),
            "additionalProperties" => entries.iter().all(|(key, value)| {
                schema["properties"].get(key).is_some()
                    || patterns_of(schema).any(|(pattern, _)| pattern.is_match(key))
                    || self.accepts(demand, value)
            }),
            "patternProperties" => patterns_of(schema).all(|(pattern, demand)| {
                let mut matched = entries.iter().filter(|(key, _)| pattern.is_match(key));
                matched.all(|(_, value)| self.accepts(demand, value))
            }),
            "propertyNames" => entries
                .keys()
                .all(|key| self.accepts(demand, &Value::from(key.as_str()))),
            keyword => KEYWORDS.contains(&keyword) || panic!("`{keyword}` is not known here"),
        }
    }
}

/// Returns the patterns of keys that a schema allows, and what their values must be.
fn patterns_of(schema: &Value) -> impl Iterator<Item = (regex::Regex, &Value)> {
    let patterns = schema["patternProperties"]
        .as_object()
        .into_iter()
        .flatten();
    patterns.map(|(pattern, demand)| {
        let pattern = regex::Regex::new(pattern).expect("a regular expression");
        (pattern, demand)
    })
}

/// Keywords that say nothing about values of other types.
const KEYWORDS: [&str; 12] = [
    "pattern", "minimum", "exclusiveMinimum", "maximum", "items", "minItems", "required",
    "minProperties", "properties", "additionalProperties", "patternProperties", "propertyNames",
];

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
