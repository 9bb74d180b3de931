//! The readers and the schemas say the same.
//!
//! Every place where a schema has a map is given an unknown key: the complaint lists the keys that the reader knows,
//! and they must be those of the schema. Every key is given a value of every type, and both must accept or refuse it.
//! So a field cannot be added, renamed or changed in one of the two alone.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::checker::{accepts, target};
use crate::config::read::missing;
use crate::config::{read_eval, read_suite, yaml};
use crate::text::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::text::source::Sources;

/// A map of a schema: how it is reached in a document, and what it is.
struct Spot<'a> {
    before: String,
    after: String,
    schema: &'a Value,
}

impl<'a> Spot<'a> {
    fn root(schema: &'a Value) -> Self {
        Spot {
            before: String::new(),
            after: String::new(),
            schema,
        }
    }

    fn within(&self, before: &str, after: &str, schema: &'a Value) -> Self {
        Spot {
            before: format!("{}{before}", self.before),
            after: format!("{after}{}", self.after),
            schema,
        }
    }

    fn key(&self, key: &str, schema: &'a Value) -> Self {
        self.within(&format!("{{\"{key}\": "), "}", schema)
    }
}

/// Every spot of a document, maps or not.
fn spots<'a>(document: &'a Value, spot: Spot<'a>, found: &mut Vec<Spot<'a>>) {
    let schema = spot.schema;
    if let Some(reference) = schema["$ref"].as_str() {
        spots(
            document,
            spot.within("", "", target(document, reference)),
            found,
        );
    }
    for choice in schema["anyOf"].as_array().into_iter().flatten() {
        spots(document, spot.within("", "", choice), found);
    }
    if schema["items"].is_object() {
        spots(document, spot.within("[", "]", &schema["items"]), found);
    }
    if schema["additionalProperties"].is_object() {
        // A key that may stand in every map of the user's own keys, `concurrency` included.
        spots(
            document,
            spot.key("default", &schema["additionalProperties"]),
            found,
        );
    }
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        // What stands below an older name stands below the present one, too.
        if property["deprecated"] != true {
            spots(document, spot.key(key, property), found);
        }
    }
    found.push(spot);
}

/// What the reader has against a document.
fn complaints(text: &str, is_suite: bool) -> Vec<Diagnostic> {
    let mut sources = Sources::default();
    let file = sources.add("/suite/x.yaml", "x.yaml", text);
    let mut problems = Diagnostics::default();
    let node =
        yaml::parse(file, &sources, &mut problems).unwrap_or_else(|| panic!("no YAML: {text}"));
    if is_suite {
        read_suite::suite(file, node, &mut problems);
    } else {
        read_eval::eval(node, &mut problems);
    }
    problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .cloned()
        .collect()
}

fn in_backquotes(text: &str) -> BTreeSet<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

fn documents() -> [(Value, bool); 2] {
    [(super::suite(), true), (super::eval(), false)]
}

#[test]
fn the_keys_are_the_same() {
    const UNKNOWN: &str = "qqqqqqqqqqqqqqqqqqqqqqqq";
    let mut met = BTreeSet::new();
    for (document, is_suite) in documents() {
        let mut found = Vec::new();
        spots(&document, Spot::root(&document), &mut found);
        for spot in found
            .iter()
            .filter(|spot| spot.schema["additionalProperties"] == false)
        {
            let text = format!("{}{{\"{UNKNOWN}\": 1}}{}", spot.before, spot.after);
            let problems = complaints(&text, is_suite);
            let unknown = problems
                .iter()
                .find(|problem| problem.message.contains(UNKNOWN));
            let unknown = unknown.unwrap_or_else(|| panic!("nobody complains about {text}"));
            let what = unknown.labels[0]
                .text
                .trim_start_matches("not a key of ")
                .to_owned();
            let mut known = in_backquotes(&unknown.help[0]);
            let properties = spot.schema["properties"].as_object().unwrap();
            let described: BTreeSet<String> = properties
                .iter()
                .filter(|(_, property)| property["deprecated"] != true)
                .map(|(key, _)| key.clone())
                .collect();
            if spot.before.contains("environments") && what == "an environment or experiment" {
                // Read for both, and refused in an environment when it is resolved.
                assert!(known.remove("baseline"));
            }
            assert_eq!(
                known, described,
                "{what}: the reader's keys, and the schema's ({text})"
            );
            met.insert(what);
        }
    }
    assert_eq!(
        met,
        maps_that_are_read(),
        "maps of the schemas, and maps that the readers open"
    );
}

/// What the readers open, by the words they say of it.
fn maps_that_are_read() -> BTreeSet<String> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/src/config");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(dir)
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.path().is_file())
    {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        for opened in text.split("Fields::open(").skip(1) {
            found.insert(opened.split('"').nth(1).unwrap().to_owned());
        }
    }
    found
}

/// A value of every type, and some that are special somewhere.
fn probes() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(2.5),
        json!(2_000_000_000),
        json!(""),
        json!(" "),
        json!("text"),
        json!("http"),
        json!("bwrap"),
        json!("codex"),
        json!([]),
        json!(["a"]),
        json!([1]),
        json!([null]),
        json!([""]),
        json!({}),
        json!({ "a": 1 }),
        json!({ "a": "b" }),
        json!({ "a": null }),
        json!({ "a": [] }),
        json!({ "name": "codex" }),
        json!({ "command": "x" }),
        json!({ "docker": "x" }),
    ]
}

/// Whether the schema rightly knows better: names are looked up when the file is resolved, not when it is read.
fn is_looked_up_later(key: &str, probe: &Value) -> bool {
    match key {
        "agent" => probe.is_string(),
        "name" => probe.is_string(), // of an agent
        "concurrency" => probe.is_object(),
        _ => false,
    }
}

#[test]
fn the_values_are_the_same() {
    let mut compared = 0;
    let mut differences = Vec::new();
    for (document, is_suite) in documents() {
        let mut found = Vec::new();
        spots(&document, Spot::root(&document), &mut found);
        for spot in &found {
            for (key, property) in spot.schema["properties"].as_object().into_iter().flatten() {
                for probe in probes() {
                    let at = spot.key(key, property);
                    let text = format!("{}{probe}{}", at.before, at.after);
                    let (start, end) = (at.before.len(), at.before.len() + probe.to_string().len());
                    let about_it = |problem: &Diagnostic| {
                        // A required key without a value counts as missing.
                        probe.is_null() && problem.message == missing(key)
                            || problem.labels.iter().any(|label| {
                                label.primary && (start..=end).contains(&label.place.start)
                            })
                    };
                    let problems = complaints(&text, is_suite);
                    if problems
                        .iter()
                        .any(|problem| problem.message.ends_with("asks for nothing"))
                    {
                        continue; // said of the whole test, whose parts were not looked at
                    }
                    let read = !problems.iter().any(about_it);
                    let described = accepts(&document, property, &probe);
                    compared += 1;
                    if read != described && !(read && is_looked_up_later(key, &probe)) {
                        differences.push(format!("{text}: read {read}, described {described}"));
                    }
                }
            }
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
    assert!(compared > 1_500, "{compared}");
}

/// Needed for what is written down: the keys that must be there.
#[test]
fn what_is_required_is_required() {
    let accepted = |document: &Value, value: Value| accepts(document, document, &value);
    let (suite, eval) = (super::suite(), super::eval());
    assert!(accepted(&suite, json!({})));
    assert!(accepted(
        &suite,
        json!({ "evals": [{ "name": "a", "prompt": "b" }] })
    ));
    for wrong in [
        json!({ "evals": [{ "prompt": "b" }] }),
        json!({ "evals": [{ "name": "a" }] }),
        json!({ "environments": [{ "agent": "codex" }] }),
        json!({ "environments": [{ "name": "a", "baseline": true }] }),
        json!({ "environments": [{ "name": "a", "agent": "command" }] }),
        json!({ "environments": [{ "name": "a", "mcpServers": { "b": {} } }] }),
        json!({ "environments": [{ "name": "a", "mcpServers": { "b": { "command": "c", "url": "d" } } }] }),
        json!({ "environments": [{ "name": "a", "mcpServers": { "b": { "url": "c", "args": [] } } }] }),
        json!({ "environments": [{ "name": "a", "mcpServers": { "b": { "url": "c", "type": "stdio" } } }] }),
    ] {
        assert!(!accepted(&suite, wrong.clone()), "{wrong}");
    }
    assert!(accepted(
        &eval,
        json!({ "prompt": "a", "tests": [{ "fileExists": "b" }] })
    ));
    for wrong in [
        json!({}),
        json!({ "prompt": "a", "promptFile": "b" }),
        json!({ "prompt": "a", "tests": [{ "name": "b" }] }),
        json!({ "prompt": "a", "tests": [{ "fileExists": "b", "commandScore": "c" }] }),
        json!({ "prompt": "a", "before": [{ "command": "b", "files": {} }] }),
    ] {
        assert!(!accepted(&eval, wrong.clone()), "{wrong}");
    }
}
