//! Hides the values of secrets in everything that Terca writes.

use aho_corasick::{AhoCorasick, MatchKind};

/// Values shorter than this are left alone: masking every `8080` would garble more than it hides.
const SHORTEST: usize = 6;
/// The text in the place of a secret.
pub const MASK: &str = "***";

/// The secrets of a run. It looks for all of them at once, at the speed of memory, because everything that
/// agents print passes through here.
#[derive(Debug, Clone, Default)]
pub struct Mask {
    /// Prefers the longer of two secrets with the same beginning, so that no end of it stays behind.
    secrets: Option<AhoCorasick>,
}

impl Mask {
    /// Makes a mask for these values and each of their lines.
    pub fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        let mut secrets: Vec<String> = Vec::new();
        let values: Vec<S> = values.into_iter().collect();
        // A key of several lines is printed and logged line by line, so each line is a secret too.
        let lines = values.iter().flat_map(|value| value.as_ref().lines());
        for value in values
            .iter()
            .map(AsRef::as_ref)
            .chain(lines)
            .filter(|value| value.len() >= SHORTEST)
        {
            secrets.push(value.to_owned());
            // JSON may hold the same value with escapes.
            let escaped = serde_json::Value::from(value).to_string();
            secrets.push(escaped[1..escaped.len() - 1].to_owned());
        }
        secrets.sort_unstable();
        secrets.dedup();
        if secrets.is_empty() {
            return Mask::default();
        }
        // Fails only for more secrets than fit into memory.
        Mask {
            secrets: AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(secrets)
                .ok(),
        }
    }

    /// Returns whether there are no secrets.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_none()
    }

    /// Returns the number of bytes before a cut that may be part of a secret continued after it.
    pub fn overlap(&self) -> usize {
        self.secrets
            .as_ref()
            .map_or(0, |secrets| secrets.max_pattern_len() - 1)
    }

    /// Returns whether the bytes contain a secret.
    pub fn hides(&self, bytes: &[u8]) -> bool {
        self.secrets
            .as_ref()
            .is_some_and(|secrets| secrets.is_match(bytes))
    }

    /// Masks a text.
    pub fn text(&self, text: &str) -> String {
        if !self.hides(text.as_bytes()) {
            return text.to_owned();
        }
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }

    /// Masks bytes.
    pub fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        self.bytes_up_to(bytes, bytes.len()).0
    }

    /// Masks the secrets that begin before `limit`. Returns the result and the number of input bytes it covers,
    /// which is more than `limit` when a secret crosses it.
    pub fn bytes_up_to(&self, bytes: &[u8], limit: usize) -> (Vec<u8>, usize) {
        let mut masked = Vec::with_capacity(limit);
        let mut at = 0;
        let secrets = self
            .secrets
            .iter()
            .flat_map(|secrets| secrets.find_iter(bytes));
        for secret in secrets.take_while(|secret| secret.start() < limit) {
            masked.extend_from_slice(&bytes[at..secret.start()]);
            masked.extend_from_slice(MASK.as_bytes());
            at = secret.end();
        }
        if at < limit {
            masked.extend_from_slice(&bytes[at..limit]);
            at = limit;
        }
        (masked, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_masked_wherever_they_stand() {
        let mask = Mask::new(["sk-secret", "sk-secret-longer", "8080", "with\"quote"]);
        assert_eq!(
            mask.text("a sk-secret-longer b sk-secret, 8080"),
            "a *** b ***, 8080"
        );
        assert_eq!(mask.text(r#"{"k":"with\"quote"}"#), r#"{"k":"***"}"#);
        assert_eq!(mask.bytes(b"sk-secre"), b"sk-secre");
        assert_eq!(Mask::default().text("x"), "x");
        let key = Mask::new(["BEGIN KEY\nline one\nline two"]);
        assert_eq!(key.text("+line one\n+line two"), "+***\n+***");
    }
}
