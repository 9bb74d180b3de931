//! What aider's words about errors mean.

use crate::trial_error::ErrorKind;

/// `litellm.AuthenticationError: AuthenticationError: OpenAIException - …`: the name of the error.
pub(super) fn name(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("litellm.")?.split_once(':')?;
    name.chars()
        .all(|c| c.is_ascii_alphanumeric())
        .then_some(name)
}

/// The name says most; the service's own words are looked at where it says nothing.
pub(super) fn classify(line: &str) -> ErrorKind {
    let speaks_of = |words: &[&str]| words.iter().any(|word| line.contains(word));
    match name(line) {
        Some("AuthenticationError" | "PermissionDeniedError") => ErrorKind::Auth,
        Some("RateLimitError" | "BudgetExceededError") => ErrorKind::RateLimit,
        Some("APIError") if speaks_of(&["Forbidden", "forbidden", "ermission"]) => ErrorKind::Auth,
        Some(_) => ErrorKind::ModelApi,
        None if speaks_of(&["No LLM model was specified", "API key"]) => ErrorKind::Auth,
        None => ErrorKind::Agent,
    }
}
