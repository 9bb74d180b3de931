//! The answers to an agent that asks for permissions.

use serde_json::{Value, json};

/// The kinds of options that allow a call, the best first: an agent that is told "always" asks less often.
const ALLOWING: [&str; 2] = ["allow_always", "allow_once"];

/// Returns the result for the agent, and the kind of the option that was chosen.
pub(super) fn answer(params: &Value) -> (Value, Option<String>) {
    let options = params["options"].as_array();
    let chosen = ALLOWING.iter().find_map(|kind| {
        let option = options?.iter().find(|option| option["kind"] == **kind)?;
        Some((option["optionId"].as_str()?, *kind))
    });
    match chosen {
        Some((option, kind)) => {
            let outcome = json!({ "outcome": "selected", "optionId": option });
            (json!({ "outcome": outcome }), Some(kind.to_owned()))
        }
        None => (json!({ "outcome": { "outcome": "cancelled" } }), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_permission_is_given_and_none_is_refused() {
        let option = |id: &str, kind: &str| json!({ "optionId": id, "kind": kind, "name": id });
        let all = [
            option("no", "reject_once"),
            option("yes", "allow_once"),
            option("always", "allow_always"),
        ];
        for (count, chosen, kind) in [
            (3, "always", Some("allow_always")),
            (2, "yes", Some("allow_once")),
        ] {
            let (result, answer) = answer(&json!({ "options": all[..count] }));
            assert_eq!(result["outcome"]["optionId"], chosen);
            assert_eq!(answer.as_deref(), kind);
        }
        for params in [
            json!({ "options": all[..1] }),
            json!({}),
            json!({ "options": 7 }),
        ] {
            let (result, answer) = answer(&params);
            assert_eq!(result["outcome"]["outcome"], "cancelled");
            assert_eq!(answer, None);
        }
    }
}
