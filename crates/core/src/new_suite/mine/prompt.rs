//! The first words of a task: a commit's message, without the answer and without what only its repository knows.

use regex::Regex;

use super::{Reason, Refusal};

/// A message with fewer words is no task.
const FEWEST_WORDS: usize = 3;
/// A longer message is cut at the end of a line.
const LONGEST: usize = 4_000;

/// Lines that say who and where, in the form `Name: value`.
const TRAILERS: &str = r"(?i)^\s*(signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|reported-by|suggested-by|helped-by|cc|change-id|reviewed-on|fixes|closes|resolves|refs?|see-also|related|issue|bug|pr|link|differential revision|cherry picked from|\(cherry picked from)\b.*[:#( ]";
/// Numbers of issues, with the word before them.
const ISSUES: &str = r"(?i)[ \t]*[(\[]?(?:\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?|see|refs?)[ \t]+)?(?:(?:\b[\w.-]+/[\w.-]+)?#\d+\b|\bgh-\d+\b)[)\]]?";
/// An address leads to more than the task.
const ADDRESS: &str = "://";
const HASH: &str = r"\b[0-9a-f]{7,40}\b";

/// Makes a prompt from a message.
pub(super) fn prompt(message: &str) -> Result<String, Refusal> {
    let text = without_pointers(&without_answers(message));
    if !has_words(&text) {
        return Err(Reason::SaysNothing.into());
    }
    let start = "Make this change to the project in this directory:";
    Ok(described(&format!("{start}\n\n{text}")))
}

/// Makes a prompt from a text that describes the task.
pub(super) fn described(text: &str) -> String {
    format!("{text}\n\nHidden tests check the behaviour when you are done.\n")
}

/// Tells whether a text has enough words for a task.
pub(super) fn has_words(text: &str) -> bool {
    let words = text
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphabetic));
    words.count() >= FEWEST_WORDS
}

/// Leaves out trailers, code in fences, and lines of diffs.
fn without_answers(message: &str) -> String {
    let trailer = Regex::new(TRAILERS).ok();
    let is_trailer = |line: &str| {
        trailer
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(line))
    };
    let mut kept: Vec<&str> = Vec::new();
    let (mut is_fenced, mut is_diff, mut length) = (false, false, 0);
    for line in message.lines().map(str::trim_end) {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        is_diff |= line.starts_with("diff --git ") || line.starts_with("@@ ");
        length += line.len();
        if length > LONGEST || is_diff {
            break;
        }
        if !is_fence && !is_fenced && !is_trailer(line) {
            kept.push(line);
        }
    }
    kept.join("\n")
}

/// Leaves out lines with addresses, numbers of issues, and hashes.
pub(super) fn without_pointers(text: &str) -> String {
    let mut text = text.to_owned();
    if let Ok(pattern) = Regex::new(ISSUES) {
        text = pattern.replace_all(&text, "").into_owned();
    }
    if let Ok(pattern) = Regex::new(HASH) {
        let named = |found: &regex::Captures<'_>| {
            let word = &found[0];
            let is_hash = word.bytes().any(|byte| byte.is_ascii_digit())
                && word.bytes().any(|byte| byte.is_ascii_alphabetic());
            if is_hash {
                "an earlier commit".to_owned()
            } else {
                word.to_owned()
            }
        };
        text = pattern.replace_all(&text, named).into_owned();
    }
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        let is_second_blank = line.is_empty() && lines.last().is_none_or(|last| last.is_empty());
        if !is_second_blank && !line.contains(ADDRESS) {
            lines.push(line);
        }
    }
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_and_the_pointers_are_left_out() {
        let message = "Parse empty lines (#12)\n\nThey were an error since 3f2a1b9c0d.\n\
                       See https://example.com/issues/12 for more.\n\n```\nreturn []\n```\n\n\
                       Fixes: #12\nCloses #13\nSigned-off-by: A <a@example.com>\nCo-authored-by: B <b@example.com>\n";
        assert_eq!(
            prompt(message).unwrap(),
            "Make this change to the project in this directory:\n\nParse empty lines\n\n\
             They were an error since an earlier commit.\n\nHidden tests check the behaviour when you are done.\n"
        );
        let diff = prompt("Add a flag for colours\n\ndiff --git a/x b/x\n+secret\n").unwrap();
        assert!(!diff.contains("secret"), "{diff}");
    }

    #[test]
    fn numbers_and_words_stay() {
        let text = prompt("Decade of 1234567 faced words: accept 42 items").unwrap();
        assert!(
            text.contains("Decade of 1234567 faced words: accept 42 items"),
            "{text}"
        );
    }

    #[test]
    fn a_message_without_words_is_refused() {
        for message in ["", "wip", "fix bug", "#12 #13 #14", "1 2 3 4"] {
            assert_eq!(
                prompt(message),
                Err(Reason::SaysNothing.into()),
                "{message}"
            );
        }
    }
}
