//! Scores and the reasons for them.

use regex::Regex;

use super::failure_line::failure_line;
use crate::text::excerpt;
use crate::text::mask::Masked;

/// The reason why a test could not be judged. It is no failure of the agent's.
#[derive(Debug, Clone, PartialEq)]
pub struct NoVerdict(pub String);

/// Returns the weighted mean of pairs of weight and score, or `None` when there are none.
pub fn score(grades: &[(f64, f64)]) -> Option<f64> {
    let total: f64 = grades.iter().map(|(weight, _)| weight).sum();
    if grades.is_empty() || total <= 0.0 {
        return None;
    }
    // All passed is exactly 1, also when the weights do not add up exactly.
    if grades.iter().all(|(_, score)| *score >= 1.0) {
        return Some(1.0);
    }
    Some(
        grades
            .iter()
            .map(|(weight, score)| weight * score)
            .sum::<f64>()
            / total,
    )
}

/// Writes a pattern on one line, with its line ends visible.
pub(super) fn on_one_line(pattern: &Regex) -> String {
    pattern.as_str().replace('\n', "\\n").replace('\t', "\\t")
}

/// Matches a pattern. `$` also matches before a last line end: `^55$` matches the output of `echo 55`.
pub(super) fn is_match(pattern: &Regex, text: &str) -> bool {
    pattern.is_match(text)
        || text
            .strip_suffix('\n')
            .is_some_and(|text| pattern.is_match(text))
}

/// Returns the last line of an output that is not blank.
pub(super) fn last_line(output: &str) -> Option<&str> {
    output
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
}

/// Cuts a line to the length of a message. The log has all of it.
pub(super) fn shortened(line: &Masked) -> String {
    excerpt::beginning(line.as_str(), 200)
}

/// Adds the line of the output that tells most to a reason.
pub fn with_failure_line(reason: &str, output: &Masked) -> String {
    with_line(reason, failure_line(output))
}

pub(super) fn with_line(reason: &str, line: Option<String>) -> String {
    match line {
        None => reason.to_owned(),
        Some(line) => format!("{reason}: {line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights() {
        assert_eq!(score(&[]), None);
        assert_eq!(score(&[(1.0, 1.0), (3.0, 0.0)]), Some(0.25));
        assert_eq!(score(&[(0.1, 1.0), (0.2, 1.0), (0.3, 1.0)]), Some(1.0));
        assert_eq!(score(&[(2.0, 0.0)]), Some(0.0));
    }
}
