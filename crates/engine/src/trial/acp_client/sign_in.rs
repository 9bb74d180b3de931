//! The choice of a way to sign in: one that uses a key which is set.

use serde_json::Value;
use terca_core::agent::provider_of;
use terca_core::agent::redirect::is_key_variable;
use terca_core::text::prose;

use super::Failure;

/// Returns the id of the first way to sign in that needs no person: all of its variables are set, or it names a key that is set, or
/// it is for the provider of such a key. `set` are the names of the variables that are set.
pub(super) fn method<'a>(agent: &'a Value, set: &[String]) -> Option<&'a str> {
    let methods = agent["authMethods"].as_array()?;
    let method = methods.iter().find(|method| uses_key(method, set))?;
    method["id"].as_str()
}

fn uses_key(method: &Value, set: &[String]) -> bool {
    let is_set = |name: &str| set.iter().any(|known| known == name);
    if let Some(variables) = method["vars"].as_array() {
        let mut needed = variables.iter().filter(|it| it["optional"] != true);
        return !variables.is_empty() && needed.all(|it| it["name"].as_str().is_some_and(is_set));
    }
    let texts = ["id", "name", "description", "varName"].map(|field| method[field].as_str());
    let words = texts
        .into_iter()
        .flatten()
        .flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    let mut names = words.filter(|word| is_key_variable(word));
    if names.any(is_set) {
        return true;
    }
    // `openai-api-key`, `use_openai` and `openai` are the ways of one provider.
    let id = method["id"].as_str().unwrap_or_default().replace('_', "-");
    let id = id.strip_prefix("use-").unwrap_or(&id);
    let id = id.strip_suffix("-api-key").unwrap_or(id);
    let provider = method["_meta"]["api-key"]["provider"].as_str();
    let mut keys = set.iter().filter(|name| is_key_variable(name));
    keys.any(|name| {
        let of_key = provider_of(name);
        of_key == id || Some(&*of_key) == provider
    })
}

/// Adds the ways to sign in to the failure of an agent that asks for it and has none for a key that is set.
pub(super) fn with_ways(mut failure: Failure, agent: &Value) -> Failure {
    let methods = agent["authMethods"].as_array().into_iter().flatten();
    let names: Vec<&str> = methods
        .filter_map(|method| method["name"].as_str())
        .collect();
    if !names.is_empty() {
        let names = prose::quoted_list(&names, "or");
        failure.message = format!(
            "{} (its ways to sign in are {names}, and none is known to use a key that is set)",
            failure.message
        );
    }
    failure
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_way_is_known_by_the_key_that_it_uses() {
        let agent = json!({ "authMethods": [
            { "id": "chatgpt", "name": "Login with ChatGPT" },
            { "id": "env", "name": "Corporate", "type": "env_var", "vars": [
                { "name": "CORP_KEY" }, { "name": "CORP_REGION", "optional": true },
            ]},
            { "id": "codex-api-key", "name": "Use CODEX_API_KEY" },
            { "id": "api-key", "name": "API Key", "_meta": { "api-key": { "provider": "openai" } } },
            { "id": "use_anthropic", "name": "Key of Anthropic" },
            { "id": "gemini-api-key", "description": "Requires setting the `GEMINI_API_KEY` variable" },
            { "id": "google", "name": "Sign in with Google" },
            { "id": "mine", "varName": "MY_TOKEN" },
        ]});
        for (set, expected) in [
            (
                &["CODEX_API_KEY", "OPENAI_API_KEY"][..],
                Some("codex-api-key"),
            ),
            (&["OPENAI_API_KEY"], Some("api-key")),
            (&["ANTHROPIC_API_KEY"], Some("use_anthropic")),
            (&["GEMINI_API_KEY"], Some("gemini-api-key")),
            (&["CORP_KEY"], Some("env")),
            (&["MY_TOKEN"], Some("mine")),
            (&["CORP_REGION", "PATH", "OTHER_API_KEY"], None),
        ] {
            let set: Vec<String> = set.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(method(&agent, &set), expected, "{set:?}");
        }
        assert_eq!(method(&json!({}), &["OPENAI_API_KEY".to_owned()]), None);
    }
}
