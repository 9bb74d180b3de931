//! The kinds of trouble behind the words of agents and model services.

use std::sync::LazyLock;

use regex::Regex;

use crate::trial_error::ErrorKind;

/// The words by which the errors of all agents and services are known, in lower case. They are looked through in order: the
/// advice that comes with a limit mentions keys too, and every refusal may be called an error of the service.
const WORDS: [(ErrorKind, &[&str]); 5] = [
    (
        ErrorKind::Mcp,
        &[
            "required mcp servers failed to initialize",
            "mcp server(s) failed to load",
        ],
    ),
    (
        ErrorKind::Credit,
        &[
            "credit balance", "insufficient credit", "credits exhausted", "insufficient balance",
            "payment required",
        ],
    ),
    (
        ErrorKind::RateLimit,
        &[
            "rate limit", "rate_limit", "ratelimit", "quota", "too many requests", "usage limit",
            "hour limit", "weekly limit", "budgetexceeded", "premium requests",
            "resource_exhausted", "suggested retry after", "throttl", "(429)", "\"code\":429",
            "status 429", "status: 429", "api error: 429",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "api key", "api_key", "api-key", "apikey", "unauthorized", "unauthenticated",
            "authentication", "auth method", "auth type", "credentials", "oauth token",
            "refresh token", "forbidden", "permission_denied", "permission_error",
            "permissiondenied", "access denied by policy", "sign in", "log in to", "log in again",
            "please log in", "not logged in", "/login", "cn login", "missing environment variable",
            "no models available", "no model selected", "no llm model was specified",
            "no provider configured", "\"code\":401", "\"code\":403", "status 401", "status: 401",
            "status 403", "status: 403", "api error: 401", "api error: 403",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "api error", "apierror", "unable to connect", "cannot connect", "could not connect",
            "connection", "econnre", "enotfound", "etimedout", "fetch failed", "request failed",
            "failed to get response", "error sending request", "network error",
            "waiting for network", "socket", "premature close", "stream disconnected",
            "stream ended without a finish reason", "timed out", "timeout waiting",
            "litellm.timeout", "overloaded", "high demand", "at capacity", "unavailable",
            "server error", "server_error", "servererror", "\"internal\"", "unexpected status",
            "last status", "badgateway", "litellm.badrequest", "litellm.notfound",
        ],
    ),
];

/// Returns the kind of an error, by the HTTP status of the service's answer or else by the words. A text may begin with
/// the status.
pub(super) fn classify(status: Option<u16>, text: &str) -> Option<ErrorKind> {
    let status = status.or_else(|| leading_status(text));
    if let Some(kind) = status.and_then(by_status) {
        return Some(kind);
    }
    let text = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let found = WORDS.iter().find(|(_, words)| says(words));
    found.map(|(kind, _)| *kind)
}

/// Returns the kind of an error that the HTTP status alone tells.
pub(super) fn by_status(status: u16) -> Option<ErrorKind> {
    match status {
        401 | 403 => Some(ErrorKind::Auth),
        402 => Some(ErrorKind::Credit),
        429 => Some(ErrorKind::RateLimit),
        500.. => Some(ErrorKind::ModelApi),
        _ => None,
    }
}

/// Returns the HTTP status that a message begins with: `429 Too many requests`.
fn leading_status(message: &str) -> Option<u16> {
    let digits = message.split(|c: char| !c.is_ascii_digit()).next()?;
    let status = digits.parse().ok()?;
    (100..600).contains(&status).then_some(status)
}

/// Returns whether an error says that the service has no such model, or not for this account.
///
/// Services give it the status 404, 400 or 403, and agents put words of their own around it, so only the words tell it
/// from a wrong address or a refused key.
pub(super) fn is_wrong_model(text: &str) -> bool {
    static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let codes = r"model_?not_?found|no such model|unknown model|invalid model|unsupported model|not a valid model";
        // "The model `x` does not exist", "models/x is not found for API version v1", "the selected model (x). It may
        // not exist".
        let sentence = r"\bmodels?\b.{0,120}(?:does not exist|may not exist|not found|is not supported|is not available|not have access)";
        let access = r"(?:not have access to|not found:?) (?:the )?model\b";
        // Anthropic: `not_found_error … model: x`.
        let field = r"not_found_error.{0,80}\bmodel: ";
        Regex::new(&format!("(?i)(?:{codes}|{sentence}|{access}|{field})")).ok()
    });
    // Codex remarks that "Model metadata for `x`" is not found, and goes on.
    let is_remark = text.starts_with("Model metadata for ");
    !is_remark && WORDS.as_ref().is_some_and(|words| words.is_match(text))
}

/// Returns whether an error says that the conversation has outgrown the model's context.
pub(super) fn is_context_overflow(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "context_length_exceeded", "contextwindowexceeded", "contextoverflow", "context window",
        "context length", "context limit", "context size", "maximum context", "prompt is too long",
        "input is too long", "prompt too long", "reduce the length of the messages",
        "exceeds the maximum number of tokens",
    ];
    let lower = text.to_lowercase();
    WORDS.iter().any(|words| lower.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_counts_before_the_words_and_words_in_their_order() {
        for (status, text, kind) in [
            (Some(401), "rate limit", Some(ErrorKind::Auth)),
            (Some(404), "Rate Limit", Some(ErrorKind::RateLimit)),
            (None, "403 rate limit", Some(ErrorKind::Auth)),
            (
                None,
                "Quota exceeded, see your API key",
                Some(ErrorKind::RateLimit),
            ),
            (None, "[API Error: 403 Forbidden]", Some(ErrorKind::Auth)),
            (None, "[API Error: 500 mock]", Some(ErrorKind::ModelApi)),
            (None, "Something else", None),
            (
                Some(400),
                "Your credit balance is too low to access the Anthropic API",
                Some(ErrorKind::Credit),
            ),
            (Some(503), "", Some(ErrorKind::ModelApi)),
        ] {
            assert_eq!(classify(status, text), kind, "{status:?} {text}");
        }
    }

    #[test]
    fn a_wrong_model_is_known_by_its_words() {
        for text in [
            "[API Error: models/x is not found]",
            "models/nope is not found for API version v1beta, or is not supported for generateContent",
            "The model `gpt5` does not exist or you do not have access to it.",
            "There's an issue with the selected model (x). It may not exist or you may not have access to it.",
            "404 no such model",
            "ProviderModelNotFoundError: Model not found: mock/none.",
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-none"}}"#,
            "Project `p` does not have access to model `gpt-9`",
            "litellm.NotFoundError: model_not_found",
            "The requested model is not supported.",
        ] {
            assert!(is_wrong_model(text), "{text}");
        }
        for text in [
            "404 page not found",
            "Model metadata for `mock-model` not found. Defaulting to fallback metadata",
            "the model's last answer broke off",
            "The model is overloaded. Please try again later.",
            "the session ended with status `error`",
            "fetch failed: getaddrinfo ENOTFOUND api.example.com",
        ] {
            assert!(!is_wrong_model(text), "{text}");
        }
    }

    #[test]
    fn an_overflow_of_the_context_is_known_by_its_words() {
        for text in [
            "This model's maximum context length is 128000 tokens. Please reduce the length of the messages.",
            "prompt is too long: 210000 tokens > 200000 maximum",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "Codex ran out of room in the model's context window.",
            "context_length_exceeded",
        ] {
            assert!(is_context_overflow(text), "{text}");
        }
        for text in [
            "Rate limit reached for tokens per min (TPM)",
            "the model is overloaded",
        ] {
            assert!(!is_context_overflow(text), "{text}");
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
