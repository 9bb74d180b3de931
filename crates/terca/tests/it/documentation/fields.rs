//! The tables of fields are made of the declarations that read the files.
//!
//! `UPDATE_DOCS=1 cargo test -p terca --test it documentation::fields` brings them up to date.

use std::collections::BTreeSet;

use terca_core::config::schema;
use terca_testkit::generated;

const PAGES: [(&str, &[&str]); 2] = [
    (
        "terca-yaml.md",
        &[
            "suite", "repetitions", "limits", "price", "container", "build", "experiment", "agent",
            "service", "mcpServer", "mcpPreflight", "gateway", "systemPrompt", "workerPool",
        ],
    ),
    (
        "eval-yaml.md",
        &[
            "eval", "action", "command", "test", "commandSuccess", "fileContains", "transcript",
            "changedFiles", "budget", "judge",
        ],
    ),
];

#[test]
fn the_tables_of_fields_are_up_to_date() {
    for (page, names) in PAGES {
        let tables = schema::tables(page);
        for name in names {
            let table = tables.iter().find(|(known, _)| known == name);
            let (_, table) = table.unwrap_or_else(|| panic!("there is no map `{name}`"));
            generated(
                &format!("docs/reference/{page}"),
                &format!("fields of {name}"),
                table,
            );
        }
    }
}

/// An environment has the fields of an experiment but one, and the page says so.
#[test]
fn every_map_has_a_table() {
    let shown: BTreeSet<&str> = PAGES
        .iter()
        .flat_map(|(_, names)| *names)
        .copied()
        .collect();
    let tables = schema::tables("");
    let mut known: BTreeSet<&str> = tables.iter().map(|(name, _)| *name).collect();
    assert!(known.remove("environment"));
    assert_eq!(shown, known);
}

#[test]
fn an_environment_has_the_fields_of_an_experiment_but_one() {
    let tables = schema::tables("");
    let rows = |name: &str| -> BTreeSet<String> {
        let table = tables.iter().find(|(known, _)| *known == name);
        let (_, table) = table.unwrap_or_else(|| panic!("there is no map `{name}`"));
        table.lines().skip(2).map(str::to_owned).collect()
    };
    let (environment, experiment) = (rows("environment"), rows("experiment"));
    let more: Vec<&String> = experiment.difference(&environment).collect();
    assert!(environment.is_subset(&experiment));
    assert!(
        matches!(more.as_slice(), [row] if row.starts_with("| `baseline`")),
        "{more:?}"
    );
}
