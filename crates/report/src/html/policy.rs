//! The policy of a page: the browser may use its own script and style, each known by its hash, and nothing else.

use sha2::{Digest, Sha256};

use super::assets::{Kind, SCRIPT, STYLE};
use super::base64::base64;

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

#[cfg(test)]
mod tests {
    use super::*;

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
