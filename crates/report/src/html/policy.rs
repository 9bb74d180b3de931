//! The policy of a page: the browser may use its own script and style, each known by its hash, and nothing else.

use sha2::{Digest, Sha256};

use super::assets::{Kind, SCRIPT, STYLE};

/// Returns the value of `Content-Security-Policy`.
pub fn policy(kind: Kind) -> String {
    // The live view asks its own server for what is new; a file asks nobody for anything.
    let connect = match kind {
        Kind::File => "'none'",
        Kind::Served => "'self'",
    };
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; connect-src {connect}; base-uri 'none'; \
         form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

fn hash(content: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(content.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn nothing_unsafe() {
        for kind in [Kind::File, Kind::Served] {
            let policy = policy(kind);
            assert!(
                policy.starts_with("default-src 'none'; script-src 'sha256-"),
                "{policy}"
            );
            assert!(
                !policy.contains("unsafe") && !policy.contains('*') && !policy.contains("data:"),
                "{policy}"
            );
        }
        assert!(policy(Kind::File).contains("connect-src 'none'"));
    }
}
