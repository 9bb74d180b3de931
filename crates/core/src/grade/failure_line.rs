//! The line of a command's output that tells why it failed.
//!
//! The last line seldom tells: test runners end with counts and times, npm with an advertisement. So the outputs of
//! well-known runners and compilers are understood ([`patterns`]); of any other output it is the first line that looks like
//! an error, and then the last line. The output may be anything, so only the beginning and the end of a long one are looked at.

mod patterns;
mod plain;

use crate::grade::test_report::{self, Cases};
use crate::text::excerpt::{beginning, without_middle};
use crate::text::mask::Masked;
use crate::text::stripped::stripped;

/// The bytes of an output that are looked at. Of a longer one it is the beginning and the end.
const LOOKED_AT: usize = 2 * 1024 * 1024;
/// The longest line that is looked at, in characters.
const LONGEST_LINE: usize = 1_000;
/// The longest line that is returned, in characters.
const LONGEST: usize = 300;
/// The number of last lines that are kept of an output.
const LAST_LINES: usize = 10;

/// Returns a failure in a line: `TEST: REASON (and 2 more)`.
fn complaint(test: &str, said: &str, more: usize) -> String {
    let more = match more {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let line = match (test.trim(), said.trim()) {
        ("", said) => said.to_owned(),
        (test, said) => format!("{test}: {said}"),
    };
    beginning(&line, LONGEST - more.len()) + &more
}

/// Returns the line of an output that tells most about a failure; `None` where there is nothing but white space.
pub fn failure_line(output: &Masked) -> Option<String> {
    let reported = test_report::find(output.as_str());
    if let Some(line) = reported.as_ref().and_then(first_failed) {
        return Some(line);
    }
    let text = stripped(&without_middle(output.as_str(), LOOKED_AT));
    let cut: Vec<String> = text
        .lines()
        .map(|line| beginning(line.trim_end(), LONGEST_LINE))
        .collect();
    let found = patterns::complaint(&cut.join("\n"));
    found.or_else(|| Some(complaint("", plain::complaint(&cut)?, 0)))
}

/// Returns the last ten lines of an output, without blank ones at its end.
pub fn last_lines(output: &Masked) -> Vec<String> {
    let text = output.as_str().trim_end();
    let mut lines: Vec<String> = text
        .rsplit('\n')
        .take(LAST_LINES)
        .map(|line| beginning(stripped(line).trim_end(), LONGEST))
        .collect();
    lines.reverse();
    if text.is_empty() { Vec::new() } else { lines }
}

/// Returns the first failure of a report, and the number of others.
pub(super) fn first_failed(cases: &Cases) -> Option<String> {
    let first = cases.first_failure()?;
    let said = if first.message.is_empty() {
        "failed"
    } else {
        &first.message
    };
    let more = usize::try_from(cases.failed - 1).unwrap_or(usize::MAX);
    Some(complaint(&first.name, said, more))
}
