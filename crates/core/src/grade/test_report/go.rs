//! What `go test` prints, as lines of JSON (`-json`) or as text.
//!
//! A test with subtests is no case of its own, unless it failed and none of them did.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
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

/// Tests by package and name; a package itself has no name.
#[derive(Default)]
struct Tests(BTreeMap<(String, String), Test>);

impl Tests {
    /// Adds what is said of a test: its end, or words of its output.
    fn hear(&mut self, package: &str, test: &str, end: Option<CaseEnd>, output: &str) {
        let name = (package.to_owned(), test.to_owned());
        let place = self.0.len();
        if test.len() > LONGEST_NAME || (place >= MOST_TESTS && !self.0.contains_key(&name)) {
            return;
        }
        let test = self.0.entry(name).or_insert_with(|| Test {
            place,
            ..Test::default()
        });
        test.end = end.or(test.end);
        if test.output.len() < MOST_OUTPUT {
            test.output.push_str(output);
        }
    }
}

/// Reads lines of JSON; `None` where the first one is none.
pub(super) fn read_json(text: &str) -> Option<Cases> {
    let mut tests = Tests::default();
    for (number, line) in text.lines().enumerate() {
        let line: GoLine = match serde_json::from_str(line) {
            Ok(line) => line,
            Err(_) if number == 0 => return None,
            // What a test prints itself may be among them.
            Err(_) => continue,
        };
        let end = match line.action.as_str() {
            "pass" => Some(CaseEnd::Passed),
            "fail" | "build-fail" => Some(CaseEnd::Failed),
            "skip" => Some(CaseEnd::Skipped),
            _ => None,
        };
        tests.hear(&line.package, &line.test, end, &line.output);
    }
    Some(cases(&tests))
}

/// Reads the text; `None` where no test has failed.
///
/// With `-v` the output of a test stands between its beginning and its end, and else below its end.
pub(super) fn read_text(text: &str) -> Option<Cases> {
    if !text.contains("--- FAIL: ") {
        return None;
    }
    let (mut tests, mut current) = (Tests::default(), "");
    for line in text.lines() {
        let trimmed = line.trim_start();
        let ended = [
            ("--- FAIL: ", CaseEnd::Failed),
            ("--- PASS: ", CaseEnd::Passed),
            ("--- SKIP: ", CaseEnd::Skipped),
        ];
        let mut ended = ended.iter();
        let ended = ended.find_map(|(sign, end)| Some((trimmed.strip_prefix(sign)?, *end)));
        let begun = ["=== RUN ", "=== CONT ", "=== NAME ", "=== PAUSE "];
        let begun = begun.iter().find_map(|sign| line.strip_prefix(sign));
        let is_over = line.starts_with("FAIL") || line.starts_with("ok ") || line == "PASS";
        if let Some((name, end)) = ended {
            current = name.split(" (").next().unwrap_or_default();
            tests.hear("", current, Some(end), "");
        } else if let Some(name) = begun {
            current = name.trim();
            tests.hear("", current, None, "");
        } else if is_over {
            current = "";
        } else {
            tests.hear("", current, None, line);
            tests.hear("", current, None, "\n");
        }
    }
    Some(cases(&tests))
}

fn cases(tests: &Tests) -> Cases {
    // Packages and tests with tests in them, and whether one of those failed.
    let mut parents: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    for ((package, test), found) in tests.0.iter().filter(|((_, test), _)| !test.is_empty()) {
        let above = test.match_indices('/').map(|(end, _)| &test[..end]);
        for parent in above.chain([""]) {
            *parents.entry((package, parent)).or_default() |= found.end == Some(CaseEnd::Failed);
        }
    }
    let mut cases = Cases::default();
    let mut in_order: Vec<_> = tests.0.iter().collect();
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
        cases.add(shown, end, &telling(&found.output));
    }
    cases
}

/// The place that Go puts before the words of a test, and words about values.
static PATTERNS: LazyLock<Option<[Regex; 2]>> = LazyLock::new(|| {
    let place = Regex::new(r"^\s+\S+\.go:\d+:\s*").ok()?;
    let values = Regex::new(r"(?i)\b(?:got|want|expected|actual|differ|error|mismatch)").ok()?;
    Some([place, values])
});

/// Returns the words of a test that tell most: of a panic, or the first about values, or the last ones. Lines that are not
/// the runner's own and stand below words belong to them.
fn telling(output: &str) -> String {
    let Some([place, values]) = PATTERNS.as_ref() else {
        return String::new();
    };
    let own = ["=== ", "--- ", "FAIL", "ok ", "PASS", "#", "exit status"];
    let mut said: Vec<String> = Vec::new();
    for line in output.lines() {
        let trimmed = line.trim();
        // testify names the place twice.
        if trimmed.is_empty()
            || own.iter().any(|own| trimmed.starts_with(own))
            || trimmed.starts_with("Error Trace:")
        {
            continue;
        }
        if let Some(panic) = trimmed.strip_prefix("panic: ") {
            return format!("panic: {}", panic.trim_end_matches(" [recovered]"));
        }
        let words = trimmed.strip_prefix("Error:").unwrap_or(trimmed).trim();
        match (place.find(line), said.last_mut()) {
            (Some(found), _) => said.push(line[found.end()..].to_owned()),
            (None, Some(before)) => *before += &format!("\n{words}"),
            (None, None) => said.push(words.to_owned()),
        }
    }
    let found = said.iter().find(|words| values.is_match(words));
    found.or(said.last()).cloned().unwrap_or_default()
}
