//! The JSON Schemas of `terca.yaml` and `eval.terca.yaml`, for editors.
//!
//! The readers of this configuration are written by hand, since a derived one would stop at the first mistake; so is
//! this description of what they accept. A schema says less than the readers (nothing about paths, or names that
//! stand twice) but must not say anything else: [`drift`](self) tests put an unknown key and a value of every type at
//! every place of the schema, and both have to agree.

mod action;
#[cfg(test)]
mod checker;
#[cfg(test)]
mod drift;
mod eval;
mod kinds;
mod setup;
mod suite;
mod terms;

use serde_json::{Map, Value, json};

/// The schema of `terca.yaml`.
pub fn suite() -> Value {
    document(
        "terca.yaml: a suite of coding tasks for coding agents",
        suite::suite(),
    )
}

/// The schema of `eval.terca.yaml`.
pub fn eval() -> Value {
    document(
        "eval.terca.yaml: a prompt, and the tests that verify the work",
        json!({ "$ref": "#/$defs/eval" }),
    )
}

/// As it is printed and kept in files.
pub fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// Each document is complete in itself, so that it can be copied anywhere.
fn document(title: &str, root: Value) -> Value {
    let mut document = Map::new();
    document.insert(
        "$schema".into(),
        "https://json-schema.org/draft/2020-12/schema".into(),
    );
    document.insert("title".into(), title.into());
    if let Value::Object(root) = root {
        document.extend(root);
    }
    let mut all = definitions();
    let used = used_by(&Value::Object(document.clone()), &all);
    all.retain(|name, _| used.contains(name));
    document.insert("$defs".into(), all.into());
    Value::Object(document)
}

fn definitions() -> Map<String, Value> {
    let all = [
        ("action", action::action()),
        ("command", action::command()),
        ("variables", setup::variables()),
        ("agent", setup::agent()),
        ("mcpServer", setup::mcp_server()),
        ("environment", setup::environment()),
        ("experiment", setup::experiment()),
        ("eval", eval::eval()),
        ("test", kinds::test()),
    ];
    all.into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect()
}

/// The names of the definitions that a schema refers to, also by way of others.
fn used_by(schema: &Value, all: &Map<String, Value>) -> Vec<String> {
    let mut used = Vec::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        match schema {
            Value::Array(items) => open.extend(items),
            Value::Object(entries) => {
                open.extend(entries.values());
                let name = entries
                    .get("$ref")
                    .and_then(Value::as_str)
                    .and_then(|to| to.strip_prefix("#/$defs/"));
                if let Some((name, definition)) = name.and_then(|name| all.get_key_value(name))
                    && !used.contains(name)
                {
                    used.push(name.clone());
                    open.push(definition);
                }
            }
            _ => {}
        }
    }
    used
}
