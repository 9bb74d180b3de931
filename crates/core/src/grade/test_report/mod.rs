//! Reports of test runners: the cases of a run with their names, ends and messages.
//!
//! JUnit XML, TAP, the JSON of vitest and jest, `go test -json` and the output of `cargo test` are known by their
//! content. A report is written while the agent's work runs, so it may be anything: memory and time are limited by its
//! length, and only so many cases are kept in results. The count has all of them.

mod go;
mod jest_json;
mod junit;
mod libtest;
mod tap;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::grade::assertion;
use crate::text::excerpt;
use crate::text::stripped::stripped;

/// The most failed cases that are kept, and the most others.
const MOST_KEPT: usize = 100;
/// The longest name that is kept, in characters.
const LONGEST: usize = 300;
/// The longest message of the first failure, in characters.
const LONGEST_MESSAGE: usize = 4_000;

/// The end of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseEnd {
    /// It passed.
    Passed,
    /// It failed, or ended in an error.
    Failed,
    /// It was not run.
    Skipped,
}

impl CaseEnd {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            CaseEnd::Passed => "passed",
            CaseEnd::Failed => "failed",
            CaseEnd::Skipped => "skipped",
        }
    }
}

/// One case of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its end.
    pub end: CaseEnd,
    /// The reason why it failed, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// The cases of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cases {
    /// The number of cases that passed.
    pub passed: u64,
    /// The number of cases that failed.
    pub failed: u64,
    /// The number of cases that were not run. They do not count.
    pub skipped: u64,
    /// The cases in their order. Of a long report there are 100 that failed and 100 others.
    pub cases: Vec<Case>,
    /// The whole message of the first case that failed.
    #[serde(skip)]
    pub first_message: String,
}

impl Cases {
    fn add(&mut self, name: &str, end: CaseEnd, message: &str) {
        let count = match end {
            CaseEnd::Passed => &mut self.passed,
            CaseEnd::Failed => &mut self.failed,
            CaseEnd::Skipped => &mut self.skipped,
        };
        *count += 1;
        if end == CaseEnd::Failed && self.failed == 1 {
            self.first_message = excerpt::beginning(&stripped(message), LONGEST_MESSAGE);
        }
        self.cases.push(Case {
            name: excerpt::beginning(stripped(name).trim(), LONGEST),
            end,
            message: assertion::in_one_line(message),
        });
    }

    /// Leaves out cases that are too many for results.
    pub fn shortened(mut self) -> Self {
        let (mut failed, mut others) = (0, 0);
        self.cases.retain(|case| {
            let count = match case.end {
                CaseEnd::Failed => &mut failed,
                CaseEnd::Passed | CaseEnd::Skipped => &mut others,
            };
            *count += 1;
            *count <= MOST_KEPT
        });
        self
    }

    /// Returns the names of cases that passed. A name that a failed case has, too, did not pass.
    pub fn names_passed(&self) -> BTreeSet<&str> {
        let names = |end: CaseEnd| {
            let cases = self.cases.iter().filter(move |case| case.end == end);
            cases.map(|case| case.name.as_str())
        };
        let mut passed: BTreeSet<&str> = names(CaseEnd::Passed).collect();
        for name in names(CaseEnd::Failed) {
            passed.remove(name);
        }
        passed
    }

    /// Returns the number of cases that count.
    pub fn total(&self) -> u64 {
        self.passed + self.failed
    }

    /// Returns the share of cases that passed; `None` where no case counts.
    pub fn share(&self) -> Option<f64> {
        (self.total() > 0).then(|| self.passed as f64 / self.total() as f64)
    }

    /// Returns the first case that failed.
    pub fn first_failure(&self) -> Option<&Case> {
        self.cases.iter().find(|case| case.end == CaseEnd::Failed)
    }
}

/// Reads a report, with all its cases. The error says what is wrong with it.
pub fn read(text: &str) -> Result<Cases, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err("it is empty".into());
    }
    if text.starts_with('<') {
        return junit::read(text);
    }
    if text.starts_with('{') {
        return match go::read_json(text) {
            Some(cases) => Ok(cases),
            None => jest_json::read(text),
        };
    }
    libtest::read(text)
        .or_else(|| tap::read(text))
        .ok_or_else(|| {
            "it is not JUnit XML, TAP, the JSON of vitest or jest, `go test -json`, or the output of `cargo test`"
                .into()
        })
}

/// Finds a report in the output of a command: JUnit XML, the JSON of vitest and jest, what `go test` prints, or TAP.
pub(super) fn find(output: &str) -> Option<Cases> {
    let from_line = |beginning: &str| {
        let place = match output.starts_with(beginning) {
            true => 0,
            false => output.find(&format!("\n{beginning}"))? + 1,
        };
        Some(&output[place..])
    };
    let junit = || ["<?xml ", "<testsuite"].into_iter().find_map(from_line);
    let cases = from_line("{\"num").and_then(|text| jest_json::read(text).ok());
    let cases = cases.or_else(|| junit().and_then(|text| junit::read(text).ok()));
    let cases = cases.or_else(|| from_line("{\"Time\":").and_then(go::read_json));
    cases
        .or_else(|| go::read_text(output))
        .or_else(|| tap::read(output))
        .map(Cases::shortened)
}
