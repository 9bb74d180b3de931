//! The message of a failed assertion in one line, with the value that was expected and the one that was found.
//!
//! Runners put the values below the first line, each in its own way: a diff with a legend, two lines with labels, or a
//! comparison. Of long values the part with the difference is kept.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::excerpt::beginning;
use crate::text::stripped::stripped;

/// The longest line, in characters.
pub(super) const LONGEST: usize = 300;
/// The longest value, and the longest words before two values, in characters.
const LONGEST_VALUE: usize = 80;
/// The characters before a difference that are kept of a long value.
const BEFORE: usize = 20;

struct Patterns {
    /// Words that a runner adds to each first line.
    needless: Regex,
    /// A line of a stack.
    stack: Regex,
    /// A line with both values, and its operator.
    comparison: Regex,
    /// A sentence with both values.
    sentence: Regex,
    /// A line that names one of the values.
    label: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    Some(Patterns {
        needless: Regex::new(r" \[ERR_\w+\]| // (?:Object\.is|deep|strict).*$").ok()?,
        stack: Regex::new(r"^at .*(?::\d+:\d+\)?|\(<anonymous>\))(?: \{)?$").ok()?,
        comparison: Regex::new(r"^(?<left>.*\S) (?<operator>[!=]==?) (?<right>\S.*)$")
            .ok()?,
        sentence: Regex::new(
            r"(?i)\bexpected\b.+\b(?:to|got|but|received|found|actual)\b|\bgot\b.+\bwant",
        )
        .ok()?,
        label: Regex::new(r"(?i)^(?<label>(?:expected|received|actual|left|right|want|got)\b[^:]{0,40}?) *:(?:\s+(?<value>.*))?$").ok()?,
    })
});

/// Returns a message in one line: its first line, and the values where the first line does not have them.
pub(super) fn in_one_line(message: &str) -> String {
    let Some(patterns) = PATTERNS.as_ref() else {
        return String::new();
    };
    let message = stripped(message);
    let lines = message.lines().map(str::trim);
    let lines: Vec<&str> = lines
        .filter(|line| !line.is_empty() && !patterns.stack.is_match(line))
        .collect();
    let Some((first, rest)) = lines.split_first() else {
        return String::new();
    };
    let head = patterns.needless.replace_all(first, "");
    let line = match patterns.values(&head, rest) {
        Some(values) => {
            // Of values that the runner has cut, nothing is kept.
            let words = head.split(": ").next().filter(|_| is_cut(&head));
            let words = words.unwrap_or(head.trim_end_matches(':'));
            format!("{}: {values}", beginning(words, LONGEST_VALUE))
        }
        None => patterns.fitted(&head),
    };
    beginning(&line, LONGEST)
}

impl Patterns {
    /// Returns the values that are told in the lines below the first one, where that does not tell them.
    fn values(&self, head: &str, rest: &[&str]) -> Option<String> {
        let leads = head.ends_with(':');
        let has_both = self.comparison.is_match(head) || self.sentence.is_match(head);
        // Rust names the two values, and tells them below.
        if has_both && !leads && !is_cut(head) && !head.contains("`left ") {
            return None;
        }
        let next = rest.first().filter(|next| self.comparison.is_match(next));
        let found = next.map(|next| self.fitted(next));
        let found = found.or_else(|| difference(rest));
        let found = found.or_else(|| self.labelled(rest));
        let found = found.or_else(|| first_element(rest));
        let compared = || rest.iter().find(|line| self.comparison.is_match(line));
        let found = found.or_else(|| Some(self.fitted(compared()?)));
        found.or_else(|| leads.then(|| rest.first().map(|next| (*next).to_owned()))?)
    }

    /// Returns two lines with labels: `Expected: 3, Received: -1`.
    fn labelled(&self, lines: &[&str]) -> Option<String> {
        let mut found: Vec<(&str, &str)> = Vec::new();
        for (place, line) in lines.iter().enumerate() {
            let Some(one) = self.label.captures(line) else {
                continue;
            };
            let label = one.name("label").map_or("", |label| label.as_str());
            let value = one.name("value").map_or("", |value| value.as_str());
            let value = match value.trim() {
                "" => lines.get(place + 1)?,
                value => value,
            };
            let word = |label: &str| label.split(' ').next().map(str::to_owned);
            if found.iter().all(|(other, _)| word(other) != word(label)) {
                found.push((label, value.trim_end_matches(',')));
            }
            if let [(first, one), (second, other)] = found[..] {
                // A value that goes on below is not in its line.
                let is_whole = |value: &str| !matches!(value, "{" | "[" | "(" | "{ {");
                let (a, b) = differing(one, other);
                return (is_whole(one) && is_whole(other))
                    .then(|| format!("{first}: {a}, {second}: {b}"));
            }
        }
        None
    }

    /// Shortens both sides of a comparison that is too long.
    fn fitted(&self, line: &str) -> String {
        if line.chars().count() <= 2 * LONGEST_VALUE {
            return line.to_owned();
        }
        let Some(found) = self.comparison.captures(line) else {
            return line.to_owned();
        };
        let [left, operator, right] = ["left", "operator", "right"]
            .map(|name| found.name(name).map_or("", |part| part.as_str()));
        // Words may stand before the first value: `AssertionError: assert `.
        let words = left.find(['\'', '"', '[', '{', '(']).unwrap_or(0);
        let words = if words > LONGEST_VALUE { 0 } else { words };
        let (a, b) = differing(&left[words..], right);
        format!("{}{a} {operator} {b}", &left[..words])
    }
}

/// Returns whether a runner has left out a part of the values.
fn is_cut(head: &str) -> bool {
    ["…", "...", " chars]"]
        .iter()
        .any(|sign| head.contains(sign))
}

/// Reads a diff with a legend: `expected 'subtract', got 'sum'`.
fn difference(lines: &[&str]) -> Option<String> {
    let legend = |line: &str| match line {
        _ if line.starts_with("+ actual - expected") => Some('-'),
        _ if line.starts_with("- Expected") => Some('-'),
        _ if line.starts_with("+ expected - actual") => Some('+'),
        _ => None,
    };
    let (at, sign) = lines
        .iter()
        .enumerate()
        .find_map(|(at, line)| Some((at, legend(line)?)))?;
    let (mut expected, mut actual) = (Vec::new(), Vec::new());
    for line in lines[at + 1..]
        .iter()
        .take_while(|line| legend(line).is_none())
    {
        let mut letters = line.chars();
        let first = letters.next();
        let is_number = letters.next().is_some_and(|next| next.is_ascii_digit());
        if !matches!(first, Some('+' | '-')) || is_number || line.starts_with("+ Received") {
            continue;
        }
        let value = line[1..].trim().trim_end_matches(',');
        match first == Some(sign) {
            true => expected.push(value),
            false => actual.push(value),
        }
    }
    let said = |lines: &[&str]| match lines {
        [] => "nothing".to_owned(),
        lines => lines.join(" "),
    };
    let (a, b) = differing(&said(&expected), &said(&actual));
    let is_empty = expected.is_empty() && actual.is_empty();
    (!is_empty).then(|| format!("expected {a}, got {b}"))
}

/// Reads what `unittest` says about long lists: `First differing element 0:`, and both values below.
fn first_element(lines: &[&str]) -> Option<String> {
    let at = lines
        .iter()
        .position(|line| line.starts_with("First differing element"))?;
    let (a, b) = differing(lines.get(at + 1)?, lines.get(at + 2)?);
    Some(format!("{a} != {b}"))
}

/// Shortens two values to where they differ.
fn differing(one: &str, other: &str) -> (String, String) {
    let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b);
    let before = common.count().saturating_sub(BEFORE);
    let is_short = |value: &str| value.chars().count() <= LONGEST_VALUE;
    let part = |value: &str| {
        let rest: String = value.chars().skip(before).collect();
        let mark = if before > 0 { "…" } else { "" };
        format!("{mark}{}", beginning(&rest, LONGEST_VALUE))
    };
    match is_short(one) && is_short(other) {
        true => (one.to_owned(), other.to_owned()),
        false => (part(one), part(other)),
    }
}
