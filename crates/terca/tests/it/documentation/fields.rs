//! The tables of fields have the fields of the schemas, which other tests compare with the readers.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use serde_json::Value;
use terca_core::config::schema;

use crate::documentation::page::{Page, Table};
use crate::documentation::repository;

/// What a table is called, and where in the schema of `terca.yaml` its fields are.
const TABLES: [(&str, &str); 15] = [
    ("suite", ""),
    ("repetitions", "/properties/repetitions/anyOf/1"),
    // An environment has the same fields but one; the page says so.
    ("experiment", "/$defs/experiment"),
    ("agent", "/$defs/agent/anyOf/1"),
    ("mcpServer", "/$defs/mcpServer"),
    ("eval", "/$defs/eval"),
    ("action", "/$defs/action"),
    ("command", "/$defs/command/anyOf/1"),
    ("test", "/$defs/test"),
    (
        "commandSuccess",
        "/$defs/test/properties/commandSuccess/anyOf/1",
    ),
    ("fileContains", "/$defs/test/properties/fileContains"),
    ("transcript", "/$defs/test/properties/transcript"),
    ("changedFiles", "/$defs/test/properties/changedFiles"),
    ("budget", "/$defs/test/properties/budget"),
    ("judge", "/$defs/test/properties/judge"),
];

fn tables() -> BTreeMap<String, Table> {
    let pages = [
        "docs/reference/terca-yaml.md",
        "docs/reference/eval-yaml.md",
    ];
    let mut found = BTreeMap::new();
    for page in pages.map(|path| Page::load(&repository(), Utf8Path::new(path))) {
        for (directive, table) in page.tables("fields") {
            let again = found.insert(
                directive.argument.clone(),
                Table {
                    rows: table.rows.clone(),
                },
            );
            assert!(again.is_none(), "{} stands twice", directive.argument);
        }
    }
    found
}

/// The fields of a map that stands in a schema, without the older spellings.
fn described(map: &Value) -> BTreeSet<String> {
    let properties = map["properties"].as_object().unwrap();
    let present = properties
        .iter()
        .filter(|(_, property)| property["deprecated"] != true);
    present.map(|(key, _)| key.clone()).collect()
}

#[test]
fn every_field_is_documented() {
    let schema = schema::suite();
    let tables = tables();
    for (name, pointer) in TABLES {
        let map = schema
            .pointer(pointer)
            .unwrap_or_else(|| panic!("the schema has no {pointer}"));
        let table = tables
            .get(name)
            .unwrap_or_else(|| panic!("no table of the fields of {name}"));
        assert_eq!(
            table.first_column(),
            described(map),
            "{name}: what is documented, and what there is"
        );
        for required in map["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            let row = table.rows.iter().find(|row| row[0] == required).unwrap();
            let says_so = row.iter().any(|cell| cell.contains("required"));
            assert!(says_so, "{name}: nobody says that `{required}` is required");
        }
    }
    assert_eq!(tables.len(), TABLES.len(), "{:?}", tables.keys());
}

#[test]
fn every_map_has_a_table() {
    let mut found = Vec::new();
    maps(&schema::suite(), String::new(), &mut found);
    maps(&schema::eval()["$defs"], "/$defs".into(), &mut found);
    let known: BTreeSet<&str> = TABLES
        .iter()
        .map(|(_, pointer)| *pointer)
        .chain(["/$defs/environment"])
        .collect();
    for pointer in &found {
        assert!(
            known.contains(pointer.as_str()),
            "{pointer} of the schema is in no table"
        );
    }
    assert!(found.len() > TABLES.len(), "{found:?}");
}

/// Where maps with known keys stand in a schema.
fn maps(schema: &Value, pointer: String, found: &mut Vec<String>) {
    match schema {
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                maps(item, format!("{pointer}/{number}"), found);
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                maps(value, format!("{pointer}/{key}"), found);
            }
            if schema["additionalProperties"] == false {
                found.push(pointer);
            }
        }
        _ => {}
    }
}

#[test]
fn an_environment_has_the_fields_of_an_experiment_but_one() {
    let schema = schema::suite();
    let mut experiment = described(&schema["$defs"]["experiment"]);
    assert!(experiment.remove("baseline"));
    assert_eq!(described(&schema["$defs"]["environment"]), experiment);
}
