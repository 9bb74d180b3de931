//! The paths of a service that a key is passed to: those that models are asked by.

use terca_core::text::prose;

use crate::models::dialect::Dialect;

/// The ends of further paths that a model is asked by, or that tokens are counted by.
const ENDS: [&str; 14] = [
    "/messages/count_tokens", "/responses/compact", "/completions", "/embeddings", ":countTokens",
    ":embedContent", ":batchEmbedContents", ":predict", ":rawPredict", ":streamRawPredict",
    "/invoke", "/invoke-with-response-stream", "/converse", "/converse-stream",
];

/// Returns whether a request is one of a model's API, or to a path that the suite allows. One that ends in `*` is the beginning of
/// others.
pub(crate) fn is_of_api(method: &str, path: &str, allowed: &[String]) -> bool {
    let lower = path.to_ascii_lowercase();
    // A service may take it for another path than it looks like.
    let is_crooked = lower.contains("..") || lower.contains("%2e");
    let is_allowed = |allowed: &String| match allowed.strip_suffix('*') {
        Some(beginning) => path.starts_with(beginning),
        None => path == allowed,
    };
    let is_usual = match method {
        "POST" => Dialect::of(method, path).is_some() || ENDS.iter().any(|end| path.ends_with(end)),
        "GET" => path.ends_with("/models") || path.contains("/models/"),
        _ => false,
    };
    !is_crooked && (is_usual || allowed.iter().any(is_allowed))
}

/// Returns a remark about paths that the key was not passed to.
pub(crate) fn note<'a>(refused: impl IntoIterator<Item = &'a String>) -> Option<String> {
    let refused: Vec<&str> = refused.into_iter().map(String::as_str).collect();
    let first = refused.first()?;
    Some(format!(
        "the agent sent its key to {}, which the gateway refused: it is not a path that models are asked by; \
         `gateway: {{allowPaths: [\"{first}\"]}}` lets it through",
        prose::list(&refused, "and")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_for_paths_that_models_are_asked_by() {
        let allowed = ["/v1/rerank".to_owned(), "/v1/files/*".to_owned()];
        for (method, path, expected) in [
            ("POST", "/v1/messages", true),
            ("POST", "/v1/messages/count_tokens", true),
            ("POST", "/v1/messages/batches", false),
            ("POST", "/openai/deployments/x/chat/completions", true),
            ("POST", "/v1/responses", true),
            ("POST", "/v1beta/models/m:streamGenerateContent", true),
            ("GET", "/v1/models", true),
            ("GET", "/v1/models/openai/gpt", true),
            ("DELETE", "/v1/models/my-own", false),
            ("GET", "/v1/models/../organization/admin_api_keys", false),
            ("GET", "/v1/models/%2E./files", false),
            ("GET", "/v1/organization/admin_api_keys", false),
            ("GET", "/v1/files", false),
            ("GET", "/v1/files/x", true),
            ("POST", "/v1/rerank", true),
            ("POST", "/v1/rerank/x", false),
            ("GET", "/v1/files/../keys", false),
        ] {
            assert_eq!(
                is_of_api(method, path, &allowed),
                expected,
                "{method} {path}"
            );
        }
    }
}
