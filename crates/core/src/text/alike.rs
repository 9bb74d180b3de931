//! Messages that differ only in numbers, hashes, times and paths tell of the same cause.

use super::excerpt::first_line;

/// Characters at which a word ends, besides white space.
const BETWEEN: &str = "'\"`()[]{}<>,;=|";
const PATH: &str = "‹path›";
const HASH: &str = "‹hash›";
const TIME: &str = "‹time›";
const NUMBER: &str = "‹n›";

/// Returns the first line of a message with a word in the place of each number, hash, time and path. Messages with the same result
/// are about the same.
pub fn alike(message: &str) -> String {
    let line = first_line(message);
    let mut pattern = String::with_capacity(line.len());
    let mut word = String::new();
    for c in line.chars() {
        if c.is_whitespace() || BETWEEN.contains(c) {
            put(&mut pattern, &word);
            word.clear();
            pattern.push(if c.is_whitespace() { ' ' } else { c });
        } else {
            word.push(c);
        }
    }
    put(&mut pattern, &word);
    pattern
}

/// Adds a word, or what it is instead. Signs at its end belong to the sentence.
fn put(pattern: &mut String, word: &str) {
    let core = word.trim_end_matches(['.', ':', '!', '?']);
    let end = &word[core.len()..];
    match kind(core) {
        Some(kind) => pattern.push_str(kind),
        None => without_numbers(pattern, core),
    }
    pattern.push_str(end);
}

fn kind(word: &str) -> Option<&'static str> {
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = word.chars().any(char::is_alphabetic);
    if has_letter && (word.contains('/') || word.contains('\\')) {
        return Some(PATH);
    }
    if !has_digit {
        return None;
    }
    if is_time(word) {
        return Some(TIME);
    }
    is_hash(word).then_some(HASH)
}

/// `2026-11-14T10:00:00Z`, `10:00:07`, `3.2s`, `120ms`.
fn is_time(word: &str) -> bool {
    let is_clock = |c: char| c.is_ascii_digit() || ":-.+TZ".contains(c);
    if word.matches(':').count() >= 2 && word.chars().all(is_clock) {
        return true;
    }
    let number = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let unit = &word[number.len()..];
    let is_number = number.chars().all(|c| c.is_ascii_digit() || c == '.');
    is_number && matches!(unit, "ms" | "s" | "m" | "h" | "min" | "sec" | "seconds")
}

/// `0x7f3a`, a commit, a UUID: digits and letters to the base of 16, some of both.
fn is_hash(word: &str) -> bool {
    const SHORTEST: usize = 7;
    if let Some(digits) = word.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let is_hex = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    let has_letter = word.bytes().any(|byte| byte.is_ascii_alphabetic());
    word.len() >= SHORTEST && has_letter && word.bytes().all(is_hex)
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
