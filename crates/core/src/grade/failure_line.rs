//! The failure that a command's output tells of.
//!
//! The last line seldom tells: test runners end with counts and times, npm with an advertisement. So the reports and outputs
//! of well-known runners and compilers are understood ([`test_report`], [`patterns`]), and those of `diff`; of any other
//! output it is the first line that looks like an error, and then the last line. The output may be anything, so only the
//! beginning and the end of a long one are looked at.

mod difference;
mod patterns;
mod plain;

use super::assertion::{self, LONGEST};
use crate::grade::test_report::{self, Cases};
use crate::text::excerpt::{beginning, without_middle};
use crate::text::mask::Masked;
use crate::text::stripped::stripped;

/// The bytes of an output that are looked at. Of a longer one it is the beginning and the end.
const LOOKED_AT: usize = 2 * 1024 * 1024;
/// The longest line that is looked at, in characters.
const LONGEST_LINE: usize = 1_000;
/// The part of a test's name that is left when its reason is long, in characters.
const SHORTEST_NAME: usize = 40;
/// The number of lines that are kept of an output.
const KEPT_LINES: usize = 10;

/// A failure.
#[derive(Debug, Default)]
struct Failure {
    /// The name of what failed; empty where it has none.
    test: String,
    /// The reason, in all its lines.
    said: String,
    /// The number of other failures.
    others: usize,
}

impl Failure {
    /// Returns it in a line: `TEST: REASON (and 2 more)`.
    fn line(&self) -> String {
        let more = match self.others {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let room = LONGEST - more.len();
        let said = assertion::in_one_line(&self.said);
        let line = match self.test.trim() {
            "" => said,
            test => {
                let left = room.saturating_sub(said.chars().count() + 3);
                format!("{}: {said}", beginning(test, left.max(SHORTEST_NAME)))
            }
        };
        beginning(&line, room) + &more
    }
}

/// What is kept of the output of a command that failed.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The line that tells most.
    pub line: Option<String>,
    /// The lines of the failed assertion, where the runner is known.
    pub assertion: Vec<String>,
    /// The last lines, without blank ones at the end.
    pub end: Vec<String>,
}

/// Returns the line of an output that tells most about a failure; `None` where there is nothing but white space.
pub fn failure_line(output: &Masked) -> Option<String> {
    told(output).line
}

/// Reads the output of a command that failed.
pub(super) fn told(output: &Masked) -> Told {
    let text = stripped(&without_middle(output.as_str(), LOOKED_AT));
    let cut: Vec<String> = text
        .lines()
        .map(|line| beginning(line.trim_end(), LONGEST_LINE))
        .collect();
    let reported = test_report::find(output.as_str());
    let found = reported.as_ref().and_then(first_failed);
    let found = found.or_else(|| patterns::failure(&cut.join("\n")));
    let line = match &found {
        Some(failure) => Some(failure.line()),
        None => difference::complaint(&cut)
            .or_else(|| plain::complaint(&cut).map(str::to_owned))
            .map(|line| beginning(&line, LONGEST)),
    };
    let said = found.map(|failure| failure.said).unwrap_or_default();
    let kept = |line: &str| beginning(stripped(line).trim_end(), LONGEST);
    let ending = output.as_str().trim_end();
    let mut end: Vec<String> = ending.rsplit('\n').take(KEPT_LINES).map(kept).collect();
    end.reverse();
    Told {
        line,
        assertion: unindented(&said).into_iter().map(kept).collect(),
        end: if ending.is_empty() { Vec::new() } else { end },
    }
}

/// Returns the first lines of a reason, without blank ones and the space before all but the first.
fn unindented(said: &str) -> Vec<&str> {
    let lines = said.trim().lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = lines.take(KEPT_LINES).collect();
    let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let common = lines.iter().skip(1).map(indent).min().unwrap_or(0);
    let cut = |line: &&str| common.min(indent(line));
    lines.iter().map(|line| &line[cut(line)..]).collect()
}

/// Returns the first failure of a report, in a line.
pub(super) fn first_failed_line(cases: &Cases) -> Option<String> {
    first_failed(cases).map(|failure| failure.line())
}

fn first_failed(cases: &Cases) -> Option<Failure> {
    let first = cases.first_failure()?;
    let said = match first.message.as_str() {
        "" => "failed".to_owned(),
        message if cases.first_message.is_empty() => message.to_owned(),
        _ => cases.first_message.clone(),
    };
    Some(Failure {
        test: first.name.clone(),
        said,
        others: usize::try_from(cases.failed - 1).unwrap_or(usize::MAX),
    })
}
