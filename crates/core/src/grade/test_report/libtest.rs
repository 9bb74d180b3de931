//! The output of `cargo test`: a line `test NAME ... ok` for each test, below the name of its target.
//!
//! Targets are told on standard error, so a report has both streams. A test that was begun and has no end is none.

use super::{CaseEnd, Cases};

/// Reads the output; `None` where no target says that it runs tests.
pub(super) fn read(text: &str) -> Option<Cases> {
    let mut cases = Cases::default();
    let (mut target, mut is_libtest) = (String::new(), false);
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(running) = trimmed.strip_prefix("Running ") {
            let name = running.split(" (").next().unwrap_or_default();
            target = name.strip_prefix("unittests ").unwrap_or(name).to_owned();
        } else if let Some(name) = trimmed.strip_prefix("Doc-tests ") {
            target = format!("Doc-tests {name}");
        } else if line.starts_with("running ") && trimmed.ends_with(['t', 's']) {
            is_libtest |= trimmed.ends_with(" tests") || trimmed.ends_with(" test");
        } else if let Some((name, end)) = ended(line) {
            let name = match target.as_str() {
                "" => name.to_owned(),
                target => format!("{target} > {name}"),
            };
            cases.add(&name, end, "");
        }
    }
    is_libtest.then_some(cases)
}

/// Reads `test NAME ... ok`, `FAILED` or `ignored, REASON`.
fn ended(line: &str) -> Option<(&str, CaseEnd)> {
    let (name, end) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    // With `--report-time` the time follows.
    let end = match end.split([' ', ',']).next()? {
        "ok" => CaseEnd::Passed,
        "FAILED" => CaseEnd::Failed,
        "ignored" => CaseEnd::Skipped,
        _ => return None,
    };
    Some((name, end))
}
