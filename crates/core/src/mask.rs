//! Hides the values of secrets in what Terca writes.

/// Values shorter than this are left alone: masking every `8080` would garble more than it hides.
const SHORTEST: usize = 6;
pub const MASK: &str = "***";

/// The secrets of a run, longest first, so that a secret inside another does not leave its ends behind.
#[derive(Debug, Clone, Default)]
pub struct Mask {
    secrets: Vec<Vec<u8>>,
}

impl Mask {
    pub fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        let mut secrets: Vec<Vec<u8>> = Vec::new();
        let values: Vec<S> = values.into_iter().collect();
        // A key of several lines is printed, logged and compared line by line, so that each counts as a secret too.
        let lines = values.iter().flat_map(|value| value.as_ref().lines());
        for value in values.iter().map(AsRef::as_ref).chain(lines).filter(|value| value.len() >= SHORTEST) {
            secrets.push(value.as_bytes().to_vec());
            // In JSON the same value may stand escaped.
            let escaped = serde_json::Value::from(value).to_string();
            let escaped = &escaped[1..escaped.len() - 1];
            if escaped != value {
                secrets.push(escaped.as_bytes().to_vec());
            }
        }
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Mask { secrets }
    }

    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// How many bytes before a cut may belong to a secret that goes on after it.
    pub fn overlap(&self) -> usize {
        self.secrets.first().map_or(0, |longest| longest.len() - 1)
    }

    pub fn text(&self, text: &str) -> String {
        if self.is_empty() {
            return text.to_owned();
        }
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }

    pub fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        self.bytes_up_to(bytes, bytes.len()).0
    }

    /// Masks the secrets that begin before `limit`. Returns the result and how many bytes it stands for: more
    /// than `limit` when a secret goes on beyond it.
    pub fn bytes_up_to(&self, bytes: &[u8], limit: usize) -> (Vec<u8>, usize) {
        let mut masked = Vec::with_capacity(limit);
        let mut at = 0;
        while at < limit {
            let rest = &bytes[at..];
            if let Some(secret) = self.secrets.iter().find(|secret| rest.starts_with(secret)) {
                masked.extend_from_slice(MASK.as_bytes());
                at += secret.len();
                continue;
            }
            // On to the next byte that could begin a secret.
            let next = bytes[at + 1..limit]
                .iter()
                .position(|byte| self.begins(*byte))
                .map_or(limit, |found| at + 1 + found);
            masked.extend_from_slice(&bytes[at..next]);
            at = next;
        }
        (masked, at)
    }

    fn begins(&self, byte: u8) -> bool {
        self.secrets.iter().any(|secret| secret[0] == byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_masked_wherever_they_stand() {
        let mask = Mask::new(["sk-secret", "sk-secret-longer", "8080", "with\"quote"]);
        assert_eq!(mask.text("a sk-secret-longer b sk-secret, 8080"), "a *** b ***, 8080");
        assert_eq!(mask.text(r#"{"k":"with\"quote"}"#), r#"{"k":"***"}"#);
        assert_eq!(mask.bytes(b"sk-secre"), b"sk-secre");
        assert_eq!(Mask::default().text("x"), "x");
        let key = Mask::new(["BEGIN KEY\nline one\nline two"]);
        assert_eq!(key.text("+line one\n+line two"), "+***\n+***");
    }
}
