//! Knows the keys of services by the way they are written.

use std::borrow::Cow;

/// The beginnings of keys: of model services, and of services for code and packages.
const BEGINNINGS: [&str; 12] = [
    "sk-", "sk_live_", "AIza", "gsk_", "hf_", "xai-", "ghp_", "gho_", "github_pat_", "glpat-",
    "npm_", "AKIA",
];
const SHORTEST: usize = 20;

/// Tells whether a word is probably a key.
pub(crate) fn is_key(word: &str) -> bool {
    let is_begun = BEGINNINGS.iter().any(|begin| word.starts_with(begin));
    is_begun
        && word.len() >= SHORTEST
        && word.chars().all(is_of_key)
        && word.contains(|c: char| c.is_ascii_digit())
}

fn is_of_key(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
}

/// Puts stars over the keys in a text, one for each character, so that columns stay.
pub(crate) fn hidden(text: &str) -> Cow<'_, str> {
    let mut words = text.split(|c| !is_of_key(c));
    if !words.any(is_key) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for part in text.split_inclusive(|c| !is_of_key(c)) {
        let word = part.trim_end_matches(|c| !is_of_key(c));
        if is_key(word) {
            shown.extend(std::iter::repeat_n('*', word.len()));
            shown.push_str(&part[word.len()..]);
        } else {
            shown.push_str(part);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_and_hidden() {
        let key = "sk-ant-api03-aBcDeFgHiJkLmNoP";
        assert!(is_key(key));
        for word in [
            "sk-", "sk-a-name-that-is-quite-long", "claude-sonnet-4-5-20250929",
        ] {
            assert!(!is_key(word), "{word}");
        }
        let stars = "*".repeat(key.len());
        assert_eq!(
            hidden(&format!("a: \"{key}\"\nä: b\n")),
            format!("a: \"{stars}\"\nä: b\n")
        );
        assert_eq!(hidden("a: b"), "a: b");
    }
}
