//! Finds the answer in a text that was to leave it out.
//!
//! Names and signatures are wanted in a task. So a line that declares something, brings it in or comments on it is no answer,
//! and neither is a short line in a sentence: `return a + b` may well be said.

use std::collections::BTreeSet;

use camino::Utf8Path;

use super::choice::{Chosen, Role, language_of, role_of};
use super::code::Code;
use super::code::declared::{Declared, declared};
use super::commit::Change;
use super::contents::added_lines;

/// A line of the source with so many characters is an answer wherever it is. Spaces are not counted.
const LONG_LINE: usize = 18;
/// So many lines of the tests are a copy of them.
const TEST_LINES: usize = 3;
/// The characters of a hash by which a commit can be found.
const HASH: usize = 7;
/// The beginnings of lines that only a diff has.
const DIFF: [&str; 4] = ["diff --git ", "@@ -", "+++ ", "--- a/"];

const COMMENTS: [&str; 7] = ["//", "#", "/*", "*", "\"\"\"", "'''", "--"];
const DECLARING: &str = "pub fn def class func function export interface type struct enum trait impl async static public \
                         private protected abstract unsafe extern default module mod namespace package";
const BRINGING: &str = "use import from require include using";

/// Returns which part of a commit a text gives away, if it does.
pub(super) fn leak(text: &str, chosen: &Chosen) -> Option<String> {
    if text
        .lines()
        .any(|line| DIFF.iter().any(|start| line.starts_with(start)))
    {
        return Some("it has lines of a diff".to_owned());
    }
    for id in [&chosen.commit.id, &chosen.parent] {
        if id.get(..HASH).is_some_and(|start| text.contains(start)) {
            return Some("it has the hash of a commit".to_owned());
        }
    }
    let all = without_spaces(text);
    let repeated = |file: &Change| {
        let lines = telling_lines(file);
        lines.iter().filter(|line| all.contains(*line)).count()
    };
    let is_source = |file: &&Change| !matches!(role_of(&file.path), Role::Other);
    for file in chosen.solution.iter().filter(is_source) {
        if repeated(file) > 0 {
            return Some(format!("it repeats a line of {}", file.path));
        }
    }
    for file in &chosen.tests {
        if repeated(file) >= TEST_LINES {
            return Some(format!("it repeats lines of {}", file.path));
        }
    }
    None
}

/// Returns the new lines of a file that do more than name something.
fn telling_lines(file: &Change) -> BTreeSet<String> {
    let [old, new] = file.texts();
    let signatures = signature_lines(&file.path, new);
    let lines = added_lines(old, new).into_iter().map(str::trim);
    let lines = lines.filter(|line| !only_names(line) && !signatures.contains(line));
    let lines = lines.map(without_spaces);
    let is_long = |line: &String| line.chars().count() >= LONG_LINE;
    lines.filter(is_long).collect()
}

/// Returns the lines that are wholly in the signature of a declaration, which may have many.
fn signature_lines<'a>(path: &Utf8Path, text: &'a str) -> BTreeSet<&'a str> {
    let Some(language) = language_of(path) else {
        return BTreeSet::new();
    };
    let mut lines = BTreeSet::new();
    for Declared { span, .. } in declared(language, &Code::read(language, text)) {
        // A bracket or a colon may follow.
        let end = (span.1 + 2).min(text.len());
        let part = text.get(span.0..end).unwrap_or(&text[span.0..span.1]);
        let is_whole = text[span.0 + part.len()..].starts_with('\n') || part.contains('\n');
        let within = part.lines().map(str::trim).filter(|_| is_whole);
        lines.extend(within);
    }
    lines
}

/// Tells whether a line is a comment, a signature, or brings names in.
fn only_names(line: &str) -> bool {
    if COMMENTS.iter().any(|start| line.starts_with(start)) {
        return true;
    }
    let first = line
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let is_one_of = |words: &str| words.split_whitespace().any(|word| word == first);
    if is_one_of(BRINGING) {
        return true;
    }
    let goes_on = line.ends_with(['{', ':', '(', ',']);
    let is_bodiless = line.ends_with(';') && !line.contains('=');
    is_one_of(DECLARING) && (goes_on || is_bodiless)
}

/// A line may be broken, or have other spaces.
fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::new_suite::mine::commit::{Commit, Kind, Object};

    const SOURCE: &str = "use std::fmt;\n/// Returns the number of words in a text.\npub fn words(text: &str) -> usize {\n    \
                          text.split_whitespace().count()\n}\npub fn twelve() -> u8 { 6 + 6 }\n    all += b;\n";
    const TESTS: &str = "def test_words():\n    assert words('a b') == 2\n    assert words('a b c') == 3\n    \
                         assert words('') == 0\n";

    fn found(text: &str) -> Option<String> {
        let file = |path: &str, new: &str| {
            let old = "fn was_there_before() -> usize { 12_345_678 }\n";
            let object = |text: String| {
                Some(Object {
                    kind: Kind::File(false),
                    id: String::new(),
                    text,
                })
            };
            Change {
                path: path.into(),
                old: object(old.to_owned()),
                new: object(format!("{old}{new}")),
            }
        };
        let chosen = Chosen {
            commit: Commit {
                id: "3f2a1b9c0d".repeat(4),
                parents: Vec::new(),
                seconds: 0,
                message: String::new(),
            },
            parent: "1a2b3c4d5e".repeat(4),
            tests: vec![file("tests/a.py", TESTS)],
            solution: vec![
                file("src/lib.rs", SOURCE),
                file("README.md", "The function `words` counts the words.\n"),
            ],
            run: Vec::new(),
            inline: Vec::new(),
        };
        leak(text, &chosen)
    }

    #[test]
    fn names_signatures_and_behaviour_are_no_answer() {
        for text in [
            "Add `pub fn words(text: &str) -> usize {` to src/lib.rs.",
            "```rust\nuse std::fmt;\npub fn words(text: &str) -> usize {\n```",
            "Returns the number of words in a text.",
            "The function `words` counts the words.",
            "It says how much all += b; changes",
            "`fn was_there_before() -> usize { 12_345_678 }` stays.",
            "For example, `assert words('a b') == 2` holds.",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn lines_of_the_change_are_an_answer() {
        for (text, detail) in [
            (
                "Use `text.split_whitespace()\n  .count()` for it.",
                Some("it repeats a line of src/lib.rs"),
            ),
            (
                "Use `text.split_whitespace().count()` for it.",
                Some("it repeats a line of src/lib.rs"),
            ),
            (
                "Write pub fn twelve() -> u8 {  6 + 6 } there.",
                Some("it repeats a line of src/lib.rs"),
            ),
            ("It is in 3f2a1b9.", Some("it has the hash of a commit")),
            (
                "It comes after 1a2b3c4d5e1a.",
                Some("it has the hash of a commit"),
            ),
            ("@@ -1 +1 @@", Some("it has lines of a diff")),
            (
                "```py\nassert words('a b') == 2\nassert words('a b c') == 3\nassert words('') == 0\n```",
                Some("it repeats lines of tests/a.py"),
            ),
        ] {
            assert_eq!(found(text).as_deref(), detail, "{text}");
        }
    }
}
