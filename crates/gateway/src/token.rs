//! Tokens: an agent has them in the place of keys, and in the addresses of its passages.

/// The beginning of every token.
const PREFIX: &str = "terca-";
/// The random bytes in a token.
const BYTES: usize = 16;

/// Makes a token that nobody can guess.
pub(crate) fn random_token() -> String {
    let mut bytes = [0_u8; BYTES];
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            // The kernel has them as soon as it runs; a signal may come in between.
            Err(_) => continue,
        }
    }
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{PREFIX}{hex}")
}

/// Returns whether a text looks like a token.
pub(crate) fn is_token(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(|hex| {
        hex.len() == 2 * BYTES && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_looks_like_one() {
        let token = random_token();
        assert!(is_token(&token), "{token}");
        assert_ne!(token, random_token());
        for other in ["", "v1", "terca-", "terca-0123", &token[1..], &token[..20]] {
            assert!(!is_token(other), "{other}");
        }
    }
}
