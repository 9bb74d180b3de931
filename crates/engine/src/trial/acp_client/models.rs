//! The choice of a model, by the two ways that agents offer: `session/set_model`, and an option of the session.

use serde_json::{Value, json};
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;

use super::printed::Failure;

/// The most models that a message names.
const MOST_NAMED: usize = 12;

/// A model of a session, and the way to choose it.
#[derive(Debug, PartialEq)]
pub(super) struct ModelChoice {
    /// The agent's id of the model.
    pub(super) value: String,
    way: Way,
}

#[derive(Debug, PartialEq)]
enum Way {
    /// It is the model of the session already.
    None,
    SetModel,
    SetOption(String),
}

impl ModelChoice {
    /// Returns the request that chooses the model, if one is needed.
    pub(super) fn request(&self, session: &str) -> Option<(&'static str, Value)> {
        match &self.way {
            Way::None => None,
            Way::SetModel => {
                let params = json!({ "sessionId": session, "modelId": self.value });
                Some(("session/set_model", params))
            }
            Way::SetOption(option) => {
                let params =
                    json!({ "sessionId": session, "configId": option, "value": self.value });
                Some(("session/set_config_option", params))
            }
        }
    }
}

/// A model that an agent offers.
struct Offered<'a> {
    id: &'a str,
    name: &'a str,
}

/// Everything that an agent says about the models of a session.
struct Offer<'a> {
    current: Option<&'a str>,
    models: Vec<Offered<'a>>,
    way: Way,
}

/// Returns the model that the session has by itself.
pub(super) fn current(session: &Value) -> Option<ModelChoice> {
    let value = offer(session)?.current?.to_owned();
    let way = Way::None;
    Some(ModelChoice { value, way })
}

/// Returns the way to choose a model, by its id or its name.
pub(super) fn choice(model: &str, session: &Value) -> Result<ModelChoice, Failure> {
    let Some(offer) = offer(session) else {
        let message = format!(
            "the agent offers no choice of a model by the Agent Client Protocol, so `{model}` cannot be chosen"
        );
        return Err(Failure::of_kind(ErrorKind::Model, message));
    };
    let by_id = offer.models.iter().find(|offered| offered.id == model);
    let found = by_id.or_else(|| offer.models.iter().find(|offered| offered.name == model));
    match found {
        Some(found) => Ok(ModelChoice {
            value: found.id.to_owned(),
            way: match offer.current == Some(found.id) {
                true => Way::None,
                false => offer.way,
            },
        }),
        None => {
            let ids: Vec<&str> = offer.models.iter().map(|offered| offered.id).collect();
            let ids = prose::quoted_list(&ids[..ids.len().min(MOST_NAMED)], "and");
            let message = format!("the agent does not offer the model `{model}`; it offers {ids}");
            Err(Failure::of_kind(ErrorKind::Model, message))
        }
    }
}

fn offer(session: &Value) -> Option<Offer<'_>> {
    of_option(session).or_else(|| of_models(session))
}

fn of_models(session: &Value) -> Option<Offer<'_>> {
    let models = session["models"]["availableModels"].as_array()?;
    Some(Offer {
        current: session["models"]["currentModelId"].as_str(),
        models: offered(models, "modelId"),
        way: Way::SetModel,
    })
}

fn of_option(session: &Value) -> Option<Offer<'_>> {
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
    Some(Offer {
        current: option["currentValue"].as_str(),
        models,
        way: Way::SetOption(option["id"].as_str()?.to_owned()),
    })
}

fn offered<'a>(models: &'a [Value], key: &str) -> Vec<Offered<'a>> {
    let models = models.iter().filter_map(|model| {
        let id = model[key].as_str()?;
        let name = model["name"].as_str().unwrap_or_default();
        Some(Offered { id, name })
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
                let choice = choice(wanted, session).unwrap();
                assert_eq!(choice.value, "b");
                assert_eq!(choice.request("s").unwrap().0, method);
            }
            assert_eq!(choice("a", session).unwrap().request("s"), None);
            assert_eq!(current(session).unwrap().value, "a");
            let failure = choice("c", session).unwrap_err();
            assert!(
                failure.message.contains("offers `a` and `b`"),
                "{failure:?}"
            );
        }
        let failure = choice("a", &json!({})).unwrap_err();
        assert_eq!(failure.kind, Some(ErrorKind::Model));
        assert_eq!(current(&json!({})), None);
    }
}
