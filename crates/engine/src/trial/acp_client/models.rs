//! The choice of a model, by the two ways that agents offer: `session/set_model`, and an option of the session.

use serde_json::{Value, json};
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;

use super::Failure;

/// The most models that a message names.
const MOST_NAMED: usize = 12;

/// The method and the parameters of a request.
pub(super) type Request = (&'static str, Value);

/// Everything that an agent says about the models of a session.
struct ModelOffer<'a> {
    current: Option<&'a str>,
    /// The id and the name of each.
    models: Vec<(&'a str, &'a str)>,
    /// The option that a model is chosen by; `None` is `session/set_model`.
    option: Option<&'a str>,
}

/// Returns the request that chooses a model; `None` if it is the model of the session already.
pub(super) fn choice(model: &str, session: &Value) -> Result<Option<Request>, Failure> {
    let Some(offer) = offer(session) else {
        let message = format!(
            "the agent offers no choice of a model by the Agent Client Protocol, so `{model}` cannot be chosen"
        );
        return Err(Failure::of_kind(ErrorKind::Model, message));
    };
    let by_id = offer.models.iter().find(|(id, _)| *id == model);
    let found = by_id.or_else(|| offer.models.iter().find(|(_, name)| *name == model));
    let Some((value, _)) = found else {
        let ids: Vec<&str> = offer.models.iter().map(|(id, _)| *id).collect();
        let ids = prose::quoted_list(&ids[..ids.len().min(MOST_NAMED)], "and");
        let message = format!("the agent does not offer the model `{model}`; it offers {ids}");
        return Err(Failure::of_kind(ErrorKind::Model, message));
    };
    let id = &session["sessionId"];
    let request = match offer.option {
        None => (
            "session/set_model",
            json!({ "sessionId": id, "modelId": value }),
        ),
        Some(option) => (
            "session/set_config_option",
            json!({ "sessionId": id, "configId": option, "value": value }),
        ),
    };
    Ok((offer.current != Some(value)).then_some(request))
}

fn offer(session: &Value) -> Option<ModelOffer<'_>> {
    of_option(session).or_else(|| {
        let models = &session["models"];
        Some(ModelOffer {
            current: models["currentModelId"].as_str(),
            models: offered(models["availableModels"].as_array()?, "modelId"),
            option: None,
        })
    })
}

fn of_option(session: &Value) -> Option<ModelOffer<'_>> {
    let options = session["configOptions"].as_array()?;
    let is_model = |option: &&Value| option["category"] == "model" || option["id"] == "model";
    let option = options.iter().find(is_model)?;
    let values = option["options"].as_array()?;
    // Values may be in groups.
    let groups = values
        .iter()
        .filter_map(|group| group["options"].as_array());
    let mut models = offered(values, "value");
    models.extend(groups.flat_map(|group| offered(group, "value")));
    Some(ModelOffer {
        current: option["currentValue"].as_str(),
        models,
        option: Some(option["id"].as_str()?),
    })
}

fn offered<'a>(models: &'a [Value], key: &str) -> Vec<(&'a str, &'a str)> {
    let models = models.iter().filter_map(|model| {
        let name = model["name"].as_str().unwrap_or_default();
        Some((model[key].as_str()?, name))
    });
    models.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_chosen_by_either_way_or_not_at_all() {
        let models = json!({ "models": {
            "currentModelId": "a", "availableModels": [{ "modelId": "a", "name": "A" }, { "modelId": "b", "name": "B" }],
        }});
        let options = json!({ "configOptions": [
            { "id": "mode", "category": "mode", "currentValue": "x", "options": [{ "value": "x" }] },
            { "id": "llm", "category": "model", "currentValue": "a", "options": [
                { "value": "a", "name": "A" },
                { "group": "g", "name": "G", "options": [{ "value": "b", "name": "B" }] },
            ]},
        ]});
        for (session, method) in [
            (&models, "session/set_model"),
            (&options, "session/set_config_option"),
        ] {
            for wanted in ["b", "B"] {
                let (chosen_by, params) = choice(wanted, session).unwrap().unwrap();
                assert_eq!(chosen_by, method);
                assert!(
                    params["modelId"] == "b" || params["value"] == "b",
                    "{params}"
                );
            }
            assert_eq!(choice("a", session).unwrap(), None);
            let failure = choice("c", session).unwrap_err();
            assert!(
                failure.message.contains("offers `a` and `b`"),
                "{failure:?}"
            );
        }
        let failure = choice("a", &json!({})).unwrap_err();
        assert_eq!(failure.kind, Some(ErrorKind::Model));
    }
}
