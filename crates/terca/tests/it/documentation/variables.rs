//! The variables that Terca sets and reads are documented.

use std::collections::BTreeSet;

use regex::Regex;

use crate::documentation::{pages_below, repository};

/// What makes a shell ask for completions, and what leads the shell to a `_solution.sh`: nobody else's business.
const INTERNAL: [&str; 2] = ["TERCA_COMPLETE", "TERCA_SOLUTION"];

#[test]
fn every_variable_is_documented() {
    let name = Regex::new(r#""(TERCA_[A-Z_]+)""#).unwrap();
    let mut named = BTreeSet::new();
    for part in ["core", "engine", "report", "terca"] {
        let mut open = vec![repository().join("crates").join(part).join("src")];
        while let Some(dir) = open.pop() {
            for entry in dir.read_dir_utf8().unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path().to_owned());
                } else if entry.path().extension() == Some("rs") {
                    let text = std::fs::read_to_string(entry.path()).unwrap();
                    named.extend(name.captures_iter(&text).map(|found| found[1].to_owned()));
                }
            }
        }
    }
    assert!(named.len() > 8, "{named:?}");
    let book: String = pages_below("docs/reference")
        .iter()
        .map(|page| std::fs::read_to_string(repository().join(page)).unwrap())
        .collect();
    for variable in named
        .iter()
        .filter(|variable| !INTERNAL.contains(&variable.as_str()))
    {
        assert!(
            book.contains(variable.as_str()),
            "`{variable}` is nowhere in the reference"
        );
    }
}
