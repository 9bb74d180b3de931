//! Messages that differ only in numbers, hashes, times and paths tell of the same cause.

use std::sync::LazyLock;

use regex::RegexSet;

use super::excerpt::first_line;

/// Words that stand for others, and their forms. A commit or a UUID has digits and letters to the base of 16.
static FORMS: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    RegexSet::new([
        r"\p{Alphabetic}.*[/\\]|[/\\].*\p{Alphabetic}",
        r"^[\d.+TZ-]*:[\d.+TZ-]*:[\d:.+TZ-]*$|^\d[\d.]*(?:ms|s|m|h|min|sec|seconds)$",
        r"(?i)^0x[\da-f]+$|^[\da-f-]*(?:\d[a-f-]*[a-f]|[a-f][a-f-]*\d)[\da-f-]*$",
    ])
    .ok()
});
const WORDS: [&str; 3] = ["‹path›", "‹time›", "‹hash›"];
const NUMBER: &str = "‹n›";

/// Returns the first line of a message with a word in the place of each number, hash, time and path. Messages with the same result
/// are about the same.
pub fn alike(message: &str) -> String {
    let is_between = |c: char| c.is_whitespace() || "'\"`()[]{}<>,;=|".contains(c);
    let mut pattern = String::new();
    for piece in first_line(message).split_inclusive(is_between) {
        // Signs at its end belong to the sentence.
        let word = piece.trim_end_matches(|c| is_between(c) || ".:!?".contains(c));
        let forms = FORMS.as_ref().map(|forms| forms.matches(word));
        match forms.and_then(|forms| forms.iter().next()) {
            Some(form) if form < 2 || word.len() >= 7 || word.starts_with("0x") => {
                pattern.push_str(WORDS[form]);
            }
            _ => without_numbers(&mut pattern, word),
        }
        pattern.push_str(&piece[word.len()..]);
    }
    pattern
}

/// Adds a word, with one sign for each number in it.
fn without_numbers(pattern: &mut String, word: &str) {
    let mut rest = word;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        pattern.push_str(&rest[..start]);
        pattern.push_str(NUMBER);
        let number = &rest[start..];
        let end = number.find(|c: char| !(c.is_ascii_digit() || c == '.'));
        rest = &number[end.unwrap_or(number.len())..];
    }
    pattern.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_by_chance_is_replaced() {
        for (message, pattern) in [
            ("", ""),
            ("no such word", "no such word"),
            (
                "exit status 1: Node.js v20.20.2", "exit status ‹n›: Node.js v‹n›",
            ),
            ("expected 200, got 404", "expected ‹n›, got ‹n›"),
            ("3 of 12 tests passed: x", "‹n› of ‹n› tests passed: x"),
            ("cannot open '/tmp/a-17/x.js'.", "cannot open '‹path›'."),
            (
                "src/list.ts(12,3): error TS2304",
                "‹path›(‹n›,‹n›): error TS‹n›",
            ),
            (
                "at 2026-11-14T10:00:00Z and 10:00:07", "at ‹time› and ‹time›",
            ),
            ("after 3.2s, 120ms", "after ‹time›, ‹time›"),
            ("commit 3b18e51f, 0xdeadBEEF", "commit ‹hash›, ‹hash›"),
            ("id 123e4567-e89b-12d3-a456-426614174000", "id ‹hash›"),
            ("deadline exceeded", "deadline exceeded"),
            ("first\nsecond", "first"),
            ("größe 5 日本7", "größe ‹n› 日本‹n›"),
        ] {
            assert_eq!(alike(message), pattern, "{message:?}");
        }
    }

    /// What is alike once is alike again.
    #[test]
    fn a_pattern_is_its_own_pattern() {
        let pattern = alike("after 3.2s at /a/b: 0x12 is 7");
        assert_eq!(alike(&pattern), pattern);
    }
}
