//! What the errors of pi, and of the services behind it, mean. Droid reports them in the same form.

use crate::trial_error::ErrorKind;

const PATTERNS: [(ErrorKind, &[&str]); 3] = [
    (
        ErrorKind::RateLimit,
        &[
            "rate limit",
            "rate_limit",
            "quota",
            "too many requests",
            "usage limit",
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
            "forbidden",
            "no models available",
            "no model selected",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
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

/// What made a request fail. Clients put the HTTP status first: `429 Too many requests`.
pub(in crate::agent) fn of_request(message: &str) -> ErrorKind {
    let status = message
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .and_then(|word| word.parse::<u16>().ok());
    let by_status = status.and_then(|status| match status {
        401 | 403 => Some(ErrorKind::Auth),
        429 => Some(ErrorKind::RateLimit),
        500..600 => Some(ErrorKind::ModelApi),
        _ => None,
    });
    // What the service refused for another reason, an unknown model say, is trouble with the service too.
    by_status
        .or_else(|| classify(message))
        .unwrap_or(ErrorKind::ModelApi)
}

pub(in crate::agent) fn classify(message: &str) -> Option<ErrorKind> {
    let message = message.to_lowercase();
    let speaks_of = |words: &[&str]| words.iter().any(|word| message.contains(word));
    PATTERNS
        .iter()
        .find(|(_, words)| speaks_of(words))
        .map(|(kind, _)| *kind)
}
