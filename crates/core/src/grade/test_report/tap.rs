//! TAP, the Test Anything Protocol, with the subtests of Node, tap and vitest.
//!
//! A point whose children were listed is no case of its own, unless it failed and none of them did: a hook failed then.

use super::{CaseEnd, Cases, MOST_KEPT};
use crate::text::prose;

/// The most lines of a point that are looked at for its message.
const MOST_LINES: usize = 60;

/// A line `ok 1 - name # SKIP`.
struct Point<'a> {
    indent: usize,
    end: CaseEnd,
    name: &'a str,
}

/// Reads TAP, perhaps with other lines around it; `None` where there is no sign of it.
pub(super) fn read(text: &str) -> Option<Cases> {
    let mut cases = Cases::default();
    let (mut is_tap, mut planned, mut at_top) = (false, None, 0_u64);
    // The indents of subtests whose parents have not come yet, and whether one of them failed.
    let mut levels: Vec<(usize, bool)> = Vec::new();
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
            // vitest opens the list of a point's children with a brace.
            if !line.ends_with('{') {
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
fn settle(point: &Point<'_>, levels: &mut Vec<(usize, bool)>, rest: &str, cases: &mut Cases) {
    let first_below = levels.partition_point(|(indent, _)| *indent <= point.indent);
    let is_parent = first_below < levels.len();
    let failed_below = levels.drain(first_below..).any(|(_, failed)| failed);
    let failed = point.end == CaseEnd::Failed;
    if !is_parent || (failed && !failed_below) {
        // A message is looked for only as long as it is kept.
        let is_kept = failed && cases.failed < MOST_KEPT as u64;
        let said = match is_kept {
            true => message(rest),
            false => String::new(),
        };
        cases.add(point.name, point.end, &said);
    }
    match levels.last_mut() {
        Some((indent, has_failed)) if *indent == point.indent => *has_failed |= failed,
        _ => levels.push((point.indent, failed)),
    }
}

/// Reads the plan of the top level, `1..4`.
fn plan(line: &str) -> Option<u64> {
    let number = line.strip_prefix("1..")?;
    number.split_whitespace().next()?.parse().ok()
}

fn point(line: &str) -> Option<Point<'_>> {
    let trimmed = line.trim_start();
    let (ok, rest) = match trimmed.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        // `okay` is a word, and `ok` alone is the end of a Go package.
        None => (true, trimmed.strip_prefix("ok ")?),
    };
    let numbered = rest.trim_start();
    let rest = numbered.trim_start_matches(|digit: char| digit.is_ascii_digit());
    if rest.len() == numbered.len() {
        return None;
    }
    let rest = rest.trim_start();
    let name = rest.strip_prefix("- ").unwrap_or(rest);
    let (name, directive) = name.split_once(" # ").unwrap_or((name, ""));
    let directive = directive.trim_start().to_ascii_lowercase();
    Some(Point {
        indent: line.len() - trimmed.len(),
        end: match ok {
            _ if directive.starts_with("skip") || directive.starts_with("todo") => CaseEnd::Skipped,
            true => CaseEnd::Passed,
            false => CaseEnd::Failed,
        },
        name: name.trim(),
    })
}

/// Returns the message of a point that failed, from the lines below it: a block of YAML, or comments.
fn message(below: &str) -> String {
    let is_end = |line: &str| {
        let text = line.trim_start();
        text == "..." || text.starts_with("# Subtest") || point(line).is_some()
    };
    let lines = below.lines().take(MOST_LINES).map(str::trim_end);
    let lines: Vec<&str> = lines.take_while(|line| !is_end(line)).collect();
    let said = ["message:", "error:"].iter();
    let said = said.filter_map(|key| value(&lines, key));
    let Some(mut said) = said.into_iter().find(|said| !said.trim().is_empty()) else {
        let comments = lines.iter().map_while(|line| line.trim().strip_prefix('#'));
        return prose::joined(comments.take(2).map(str::trim), " ");
    };
    // The words may be the test's own, without the values.
    for key in ["expected:", "actual:"] {
        if let Some(value) = value(&lines, key).filter(|value| !value.trim().is_empty()) {
            said += &format!(
                "\n{key} {}",
                prose::joined(value.lines().map(str::trim), " ")
            );
        }
    }
    said
}

/// Returns the value of a key in the lines of a block of YAML: in its line, in quotes over several lines, or in the lines
/// further in after a `|`.
fn value(lines: &[&str], key: &str) -> Option<String> {
    let place = lines
        .iter()
        .position(|line| line.trim_start().starts_with(key))?;
    let value = lines[place].trim_start()[key.len()..].trim();
    let below = &lines[place + 1..];
    if value.starts_with(['|', '>']) {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let further = |line: &&&str| line.is_empty() || indent(line) > indent(lines[place]);
        let block = below.iter().take_while(further);
        return Some(prose::joined(block, "\n"));
    }
    let is_closed = |text: &str| text.ends_with('"') && !text.ends_with("\\\"");
    if value.starts_with('"') && (value.len() == 1 || !is_closed(value)) {
        let end = below.iter().position(|line| is_closed(line))?;
        let rest = below[..=end].join("\\n");
        return serde_json::from_str(&format!("{value}\\n{rest}")).ok();
    }
    let plain = |_| value.trim_matches('\'').replace("''", "'");
    Some(serde_json::from_str(value).unwrap_or_else(plain))
}
