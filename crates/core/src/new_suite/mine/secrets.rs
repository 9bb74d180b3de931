//! Keys that are written in a text, known by their shape or by the name before them.

use std::collections::HashMap;

use regex::Regex;

use crate::agent::is_name_of_key;

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

/// The bits per character above which a text looks drawn at random.
const RANDOM: f64 = 3.0;

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

fn looks_random(text: &str) -> bool {
    let has = |of: fn(&char) -> bool| text.chars().any(|c| of(&c));
    let mut counts: HashMap<char, usize> = HashMap::new();
    for c in text.chars() {
        *counts.entry(c).or_default() += 1;
    }
    let total = text.chars().count() as f64;
    let bits = |count: &usize| {
        let share = *count as f64 / total;
        -share * share.log2()
    };
    let entropy: f64 = counts.values().map(bits).sum();
    has(char::is_ascii_digit) && has(char::is_ascii_alphabetic) && entropy > RANDOM
}

#[cfg(test)]
mod tests {
    use super::secret_in;

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
