//! Looks into the files that a commit changes: they have to be text, small, and without secrets.

use std::collections::{HashMap, HashSet};

use regex::Regex;

use super::choice::Chosen;
use super::commit::Change;
use super::{Reason, Refusal};
use crate::agent::is_name_of_key;

/// Tests may change so many times the lines that the code may.
const TEST_LINES: usize = 3;

/// Returns a content as text, if it is some.
pub fn text(content: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(content).ok()?;
    (!text.contains('\0')).then_some(text)
}

/// Refuses a commit whose files were read.
pub fn check(chosen: &Chosen, most_lines: usize) -> Result<(), Refusal> {
    if let Some(kind) = secret_in(&chosen.commit.message) {
        let detail = format!("{kind} in its message");
        return Err(Refusal::with(Reason::Secret, detail));
    }
    let most_of_tests = most_lines.saturating_mul(TEST_LINES);
    for (changes, noun, most) in [
        (&chosen.solution, "code", most_lines),
        (&chosen.tests, "tests", most_of_tests),
    ] {
        let number = lines(changes)?;
        if number > most {
            let detail = format!("{number} lines of {noun} are changed, and {most} may be");
            return Err(Refusal::with(Reason::TooLarge, detail));
        }
    }
    Ok(())
}

fn lines(changes: &[Change]) -> Result<usize, Refusal> {
    let mut number = 0;
    for change in changes {
        let [old, new] = change.texts();
        let changed = [added_lines(old, new), added_lines(new, old)].concat();
        number += changed.len();
        if let Some(kind) = secret_in(&changed.join("\n")) {
            let detail = format!("{kind} in {}", change.path);
            return Err(Refusal::with(Reason::Secret, detail));
        }
    }
    Ok(number)
}

/// Returns the lines that only the new side has.
pub(super) fn added_lines<'a>(old: &str, new: &'a str) -> Vec<&'a str> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for line in old.lines() {
        *left.entry(line).or_default() += 1;
    }
    let mut added = Vec::new();
    for line in new.lines() {
        match left.get_mut(line).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => added.push(line),
        }
    }
    added
}

/// Shapes of keys, each with a word for it that does not repeat the key.
const SHAPES: [(&str, &str); 11] = [
    (
        "a private key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----",
    ),
    ("a key of AWS", r"\b(AKIA|ASIA)[0-9A-Z]{16}\b"),
    (
        "a token of GitHub",
        r"\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    ),
    ("a token of GitLab", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("a key of a model's service", r"\bsk-[A-Za-z0-9_-]{20,}"),
    ("a key of Google", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a token of Slack", r"\bxox[abeoprs]-[0-9A-Za-z-]{10,}"),
    ("a token of npm", r"\bnpm_[A-Za-z0-9]{36}"),
    ("a token of PyPI", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("a key of Stripe", r"\b[rs]k_live_[0-9A-Za-z]{20,}"),
    (
        "a signed token",
        r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ),
];

/// A name, a sign, and a text in quotes that has no space in it.
const ASSIGNED: &str = r#"([A-Za-z0-9_-]+)["']?\s*(?::|=|=>)\s*["']([A-Za-z0-9+/_=.~-]{16,})["']"#;

/// Characters that are different in a random text, at least.
const DIFFERENT: usize = 9;

/// Returns what kind of key a text has in it, if it has one.
pub(super) fn secret_in(text: &str) -> Option<&'static str> {
    let has = |pattern: &str| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text));
    let shape = SHAPES.iter().find(|(_, pattern)| has(pattern));
    if let Some((kind, _)) = shape {
        return Some(kind);
    }
    let assigned = Regex::new(ASSIGNED).ok()?;
    let is_key = assigned
        .captures_iter(text)
        .any(|found| is_name_of_key(&found[1]) && looks_random(&found[2]));
    is_key.then_some("a key, a token or a password")
}

/// Random text has digits, letters and few repetitions.
fn looks_random(text: &str) -> bool {
    let has = |of: fn(&char) -> bool| text.chars().any(|c| of(&c));
    let different: HashSet<char> = text.chars().collect();
    has(char::is_ascii_digit) && has(char::is_ascii_alphabetic) && different.len() >= DIFFERENT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::new_suite::mine::commit::{Commit, Kind, Object};

    fn refused(old: &str, new: &str) -> Option<Refusal> {
        let object = |text: &str| {
            Some(Object {
                kind: Kind::File(false),
                id: String::new(),
                text: text.to_owned(),
            })
        };
        let chosen = Chosen {
            commit: Commit {
                id: String::new(),
                parents: Vec::new(),
                seconds: 0,
                message: "Fix it".into(),
            },
            parent: String::new(),
            tests: Vec::new(),
            solution: vec![Change {
                path: "a.py".into(),
                old: object(old),
                new: object(new),
            }],
            run: Vec::new(),
            inline: Vec::new(),
        };
        check(&chosen, 3).err()
    }

    #[test]
    fn files_that_are_large_or_not_text_are_refused() {
        assert_eq!(refused("a\nb\n", "b\na\nc\n"), None);
        let reason = |old, new| refused(old, new).map(|refusal| refusal.reason);
        assert_eq!(reason("", "1\n2\n3\n4\n"), Some(Reason::TooLarge));
        assert_eq!(reason("1\n2\n3\n4\n", ""), Some(Reason::TooLarge));
        assert_eq!(super::text(b"\0".to_vec()), None);
        assert_eq!(super::text(b"\xff".to_vec()), None);
    }

    #[test]
    fn a_secret_is_named_by_its_kind_alone() {
        let key = format!("AKIA{}", "IOSFODNN7EXAMPLE");
        let text = format!("key = '{key}'\n");
        for (old, new) in [("", text.as_str()), (text.as_str(), "")] {
            let refusal = refused(old, new).unwrap();
            assert_eq!(
                refusal,
                Refusal::with(Reason::Secret, "a key of AWS in a.py")
            );
        }
        // The secret was there before, and is not a part of the change.
        let more = format!("{text}x\n");
        assert_eq!(refused(&text, &more), None);
    }

    #[test]
    fn keys_are_found_and_words_are_not() {
        // Joined here, so that no other program takes them for keys.
        for (one, other) in [
            ("-----BEGIN RSA PRIVATE", " KEY-----"),
            ("key = AKIA", "IOSFODNN7EXAMPLE"),
            ("ghp_", "0123456789abcdefghijABCDEFGHIJ012345"),
            ("sk-ant", "-api03-0123456789abcdefghij"),
            ("password = \"hX7", "kQ2vR9wLm4TzP1\""),
            ("{\"api_key\": \"a8f5f167", "f44f4964e6c998de\"}"),
        ] {
            assert!(secret_in(&format!("x\n{one}{other}\ny")).is_some(), "{one}");
        }
        for text in [
            "token = next_token_of_the_stream()",
            "password: \"${PASSWORD_OF_DATABASE}\"",
            "secret = \"aaaaaaaaaaaaaaaaaaaaaaaa\"",
            "api_key = \"your-api-key-goes-here\"",
            "sha = \"a8f5f167f44f4964e6c998de\"",
            "let tokens = \"a8f5f167f44f4964e6c998de\";",
        ] {
            assert_eq!(secret_in(text), None, "{text}");
        }
    }
}
