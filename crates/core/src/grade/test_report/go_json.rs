//! The lines of `go test -json`.
//!
//! A test with subtests is no case of its own, unless it failed and none of them did.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{CaseEnd, Cases};

/// The output of a test that is kept, in bytes.
const MOST_OUTPUT: usize = 4_000;
/// More tests than this are not counted.
const MOST_TESTS: usize = 200_000;
/// A longer name is no name of a test.
const LONGEST_NAME: usize = 1_000;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoLine {
    action: String,
    #[serde(default, alias = "ImportPath")]
    package: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    output: String,
}

#[derive(Default)]
struct Test {
    place: usize,
    end: Option<CaseEnd>,
    output: String,
}

/// A package and a test; a package itself has no test.
type Name = (String, String);

/// Reads the lines; `None` where the first one is no line of it.
pub(super) fn read(text: &str) -> Option<Cases> {
    let mut tests: BTreeMap<Name, Test> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let line: GoLine = match serde_json::from_str(line) {
            Ok(line) => line,
            Err(_) if number == 0 => return None,
            // What a test prints itself may be among them.
            Err(_) => continue,
        };
        if line.test.len() > LONGEST_NAME {
            continue;
        }
        let name = (line.package, line.test);
        let place = tests.len();
        if place >= MOST_TESTS && !tests.contains_key(&name) {
            continue;
        }
        let test = tests.entry(name).or_insert_with(|| Test {
            place,
            ..Test::default()
        });
        match line.action.as_str() {
            "pass" => test.end = Some(CaseEnd::Passed),
            "fail" | "build-fail" => test.end = Some(CaseEnd::Failed),
            "skip" => test.end = Some(CaseEnd::Skipped),
            _ if test.output.len() < MOST_OUTPUT => test.output.push_str(&line.output),
            _ => {}
        }
    }
    Some(cases(&tests))
}

fn cases(tests: &BTreeMap<Name, Test>) -> Cases {
    // Packages and tests with tests in them, and whether one of those failed.
    let mut parents: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    for ((package, test), found) in tests.iter().filter(|((_, test), _)| !test.is_empty()) {
        let above = test.match_indices('/').map(|(end, _)| &test[..end]);
        for parent in above.chain([""]) {
            *parents.entry((package, parent)).or_default() |= found.end == Some(CaseEnd::Failed);
        }
    }
    let mut cases = Cases::default();
    let mut in_order: Vec<_> = tests.iter().collect();
    in_order.sort_by_key(|(_, test)| test.place);
    for ((package, test), found) in in_order {
        let failed_below = parents.get(&(package.as_str(), test.as_str()));
        let is_sum = test.is_empty() || failed_below.is_some();
        let end = match found.end {
            Some(end) => end,
            // A test that began and has no end: its program crashed.
            None if test.is_empty() => continue,
            None => CaseEnd::Failed,
        };
        if is_sum && (end != CaseEnd::Failed || failed_below == Some(&true)) {
            continue;
        }
        let shown = if test.is_empty() { package } else { test };
        cases.add(shown, end, telling(&found.output));
    }
    cases
}

/// Returns the first line of a test's output that is not the runner's own.
fn telling(output: &str) -> &str {
    let mut lines = output.lines().map(str::trim);
    let own = ["=== ", "--- ", "FAIL", "ok ", "PASS", "#", "exit status"];
    lines
        .find(|line| !line.is_empty() && !own.iter().any(|own| line.starts_with(own)))
        .unwrap_or_default()
}
