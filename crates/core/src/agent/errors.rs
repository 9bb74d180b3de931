//! The kinds of trouble behind the words of agents and model services.

use crate::trial_error::ErrorKind;

/// Words by which errors are known, looked through in order. Words in lower case are found in any spelling; words with
/// an upper-case letter only as they are written.
pub(super) type Patterns = &'static [(ErrorKind, &'static [&'static str])];

/// The words of clients that report the errors of model services as they are.
pub(super) const COMMON: Patterns = &[
    (
        ErrorKind::RateLimit,
        &[
            "rate limit",
            "rate_limit",
            "quota",
            "too many requests",
            "usage limit",
            "insufficient credit",
            "resource_exhausted",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "api key",
            "api_key",
            "unauthorized",
            "unauthenticated",
            "authentication",
            "credentials",
            "forbidden",
            "sign in",
            "no models available",
            "no model selected",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "unable to connect",
            "cannot connect",
            "connection",
            "econnre",
            "enotfound",
            "fetch failed",
            "overloaded",
            "socket",
            "timed out",
        ],
    ),
];

/// Returns the kind of an error, by the HTTP status of the service's answer or else by the words.
pub(super) fn classify(patterns: Patterns, status: Option<u16>, text: &str) -> Option<ErrorKind> {
    if let Some(kind) = status.and_then(by_status) {
        return Some(kind);
    }
    let lower = text.to_lowercase();
    for (kind, words) in patterns {
        for word in *words {
            let exact = word.contains(|c: char| c.is_ascii_uppercase());
            if (if exact { text } else { &lower }).contains(word) {
                return Some(*kind);
            }
        }
    }
    None
}

/// Returns the kind of an error that the HTTP status alone tells.
pub(super) fn by_status(status: u16) -> Option<ErrorKind> {
    match status {
        401 | 403 => Some(ErrorKind::Auth),
        429 => Some(ErrorKind::RateLimit),
        500.. => Some(ErrorKind::ModelApi),
        _ => None,
    }
}

/// Returns the HTTP status that a message begins with: `429 Too many requests`.
pub(super) fn leading_status(message: &str) -> Option<u16> {
    let digits = message.split(|c: char| !c.is_ascii_digit()).next()?;
    let status = digits.parse().ok()?;
    (100..600).contains(&status).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_counts_before_the_words_and_words_in_their_order() {
        let patterns: Patterns = &[
            (ErrorKind::RateLimit, &["slow down"]),
            (ErrorKind::Auth, &["KEY", "down"]),
        ];
        for (status, text, kind) in [
            (Some(401), "slow down", Some(ErrorKind::Auth)),
            (Some(404), "Slow Down", Some(ErrorKind::RateLimit)),
            (None, "the KEY", Some(ErrorKind::Auth)),
            (None, "the key", None),
            (Some(503), "", Some(ErrorKind::ModelApi)),
        ] {
            assert_eq!(classify(patterns, status, text), kind, "{status:?} {text}");
        }
    }

    #[test]
    fn a_status_is_a_number_at_the_beginning() {
        for (message, status) in [
            ("429 Too many requests", Some(429)),
            ("503", Some(503)),
            ("5000 tokens", None),
            ("HTTP 429", None),
        ] {
            assert_eq!(leading_status(message), status, "{message}");
        }
    }
}
