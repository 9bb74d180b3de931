//! TAP, the Test Anything Protocol, with the subtests of Node, tap and vitest.
//!
//! A point whose children were listed is no case of its own, unless it failed and none of them did: a hook failed then.

use super::{CaseEnd, Cases, MOST_KEPT};

/// The most lines of a point that are looked at for its message.
const MOST_LINES: usize = 60;

/// A line `ok 1 - name # SKIP`.
struct Point<'a> {
    indent: usize,
    ok: bool,
    name: &'a str,
    is_skipped: bool,
    /// vitest opens the list of its children with a brace.
    opens: bool,
}

/// A level of subtests whose parent has not come yet.
struct Level {
    indent: usize,
    failed: bool,
}

/// Reads TAP, perhaps with other lines around it; `None` where there is no sign of it.
pub(super) fn read(text: &str) -> Option<Cases> {
    let mut cases = Cases::default();
    let (mut is_tap, mut planned, mut at_top) = (false, None, 0_u64);
    let mut levels: Vec<Level> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        let line = line.trim_end();
        if line.starts_with("TAP version ") {
            is_tap = true;
        } else if let Some(number) = plan(line) {
            planned = Some(number);
        } else if let Some(reason) = line.strip_prefix("Bail out!") {
            cases.add("Bail out!", CaseEnd::Failed, reason);
        } else if let Some(point) = point(line) {
            at_top += u64::from(point.indent == 0);
            if !point.opens {
                settle(&point, &mut levels, rest, &mut cases);
            }
        }
    }
    if let Some(planned) = planned.filter(|planned| *planned > at_top && is_tap) {
        let message = format!("{planned} were planned, and {at_top} ran");
        cases.add("the plan", CaseEnd::Failed, &message);
    }
    let is_tap = (is_tap || planned.is_some()) && cases.total() + cases.skipped > 0;
    is_tap.then_some(cases)
}

/// Counts a point, unless it only sums up its children.
fn settle(point: &Point<'_>, levels: &mut Vec<Level>, rest: &str, cases: &mut Cases) {
    let (mut is_parent, mut failed_below) = (false, false);
    while levels
        .last()
        .is_some_and(|level| level.indent > point.indent)
    {
        is_parent = true;
        failed_below |= levels.pop().is_some_and(|level| level.failed);
    }
    let end = match (point.is_skipped, point.ok) {
        (true, _) => CaseEnd::Skipped,
        (false, true) => CaseEnd::Passed,
        (false, false) => CaseEnd::Failed,
    };
    let failed = end == CaseEnd::Failed;
    if !is_parent || (failed && !failed_below) {
        // A message is looked for only as long as it is kept.
        let is_kept = failed && cases.failed < MOST_KEPT as u64;
        let said = if is_kept {
            message(rest)
        } else {
            String::new()
        };
        cases.add(point.name, end, &said);
    }
    match levels.last_mut() {
        Some(level) if level.indent == point.indent => level.failed |= failed,
        _ => levels.push(Level {
            indent: point.indent,
            failed,
        }),
    }
}

/// Reads the plan of the top level, `1..4`.
fn plan(line: &str) -> Option<u64> {
    let number = line.strip_prefix("1..")?;
    number.split_whitespace().next()?.parse().ok()
}

fn point(line: &str) -> Option<Point<'_>> {
    let trimmed = line.trim_start();
    let (ok, rest) = match trimmed.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, trimmed.strip_prefix("ok")?),
    };
    // `okay` is a word, and `ok` alone is the end of a Go package.
    let rest = rest.strip_prefix(' ')?.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return None;
    }
    let rest = rest[digits..].trim_start();
    let name = rest.strip_prefix("- ").unwrap_or(rest);
    let opens = name.ends_with('{');
    let (name, directive) = name.split_once(" # ").unwrap_or((name, ""));
    let directive = directive.trim_start().to_ascii_lowercase();
    Some(Point {
        indent: line.len() - trimmed.len(),
        ok,
        name: name.trim(),
        is_skipped: directive.starts_with("skip") || directive.starts_with("todo"),
        opens,
    })
}

/// Returns the message of a point that failed, from the lines below it: a block of YAML, or comments.
fn message(below: &str) -> String {
    let mut lines = below.lines().take(MOST_LINES).peekable();
    let mut comments = Vec::new();
    let mut error = String::new();
    let mut in_block = false;
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        match trimmed {
            "---" => in_block = true,
            "..." => break,
            _ if in_block => {
                let Some((key, value)) = trimmed.split_once(':') else {
                    continue;
                };
                if !matches!(key, "error" | "message") {
                    continue;
                }
                let value = value.trim();
                let said = if value.is_empty() || value.starts_with(['|', '>']) {
                    let indent = line.len() - line.trim_start().len();
                    if value.is_empty() {
                        String::new()
                    } else {
                        block(&mut lines, indent)
                    }
                } else {
                    unquoted(value)
                };
                if key == "message" || error.is_empty() {
                    error = said;
                }
            }
            _ if trimmed.starts_with("# Subtest") || point(line).is_some() => break,
            _ => match trimmed.strip_prefix('#') {
                Some(comment) if comments.len() < 2 => comments.push(comment.trim()),
                _ => break,
            },
        }
    }
    if error.trim().is_empty() {
        comments.join(" ")
    } else {
        error
    }
}

/// Returns the lines of a block of YAML: those that are further in than its key.
fn block<'a>(
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    indent: usize,
) -> String {
    let mut text = String::new();
    let is_further =
        |line: &&str| line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
    while let Some(line) = lines.next_if(is_further) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Returns a value of YAML without its quotes.
fn unquoted(value: &str) -> String {
    let inner = |quote: char| {
        value
            .strip_prefix(quote)
            .and_then(|value| value.strip_suffix(quote))
    };
    match (inner('"'), inner('\'')) {
        (Some(text), _) => serde_json::from_str(value).unwrap_or_else(|_| text.to_owned()),
        (None, Some(text)) => text.replace("''", "'"),
        (None, None) => value.to_owned(),
    }
}
