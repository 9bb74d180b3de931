//! Finds settings of a variant that its agent does not know, and rules that are longer than it reads.

use serde_json::Value;

use crate::config::suite::{Setup, Suite};
use crate::plan::Variant;
use crate::reader::Surroundings;
use crate::text::{Code, Diagnostic, prose};

/// Warns of both in one variant.
pub(super) fn check(
    variant: &Variant,
    suite: &Suite,
    surroundings: &dyn Surroundings,
) -> Vec<Diagnostic> {
    // An experiment's settings come first: they replace those of its environment.
    let of_experiment = suite.experiments.iter();
    let of_experiment = of_experiment.filter(|setup| setup.name == variant.experiment);
    let of_environment = suite.environments.iter();
    let of_environment = of_environment.filter(|setup| setup.name == variant.environment);
    let setups: Vec<&Setup> = of_experiment.chain(of_environment).collect();
    let mut found = unknown_settings(variant, &setups);
    found.extend(long_rules(variant, &setups, surroundings));
    found
}

/// Most agents ignore a key that they do not know, and the variant is then the same as its baseline.
fn unknown_settings(variant: &Variant, setups: &[&Setup]) -> Vec<Diagnostic> {
    let profile = variant.agent.agent.profile();
    let known: Value = serde_json::from_str(profile.known_settings).unwrap_or_default();
    let mut unknown = Vec::new();
    if let Some(config) = &variant.config {
        find_unknown(config, &known, &mut Vec::new(), &mut unknown);
    }
    let warning = |(path, meant): (Vec<&str>, Option<&str>)| {
        let message = format!(
            "`config` has `{}`, which is not a known setting of `{}`",
            path.join("."),
            profile.name
        );
        let mut configs = setups.iter().filter_map(|setup| setup.config.set());
        let place = configs.find_map(|config| config.place_of_key(&path));
        let warning = Diagnostic::warning(Code::UnknownSetting, message)
            .maybe_at(place, "the agent may ignore it");
        warning.help(match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "look the key up in the agent's documentation".to_owned(),
        })
    };
    unknown.into_iter().map(warning).collect()
}

/// Collects the paths of keys that are not known, each with the known name next to it.
fn find_unknown<'a>(
    config: &'a Value,
    known: &'a Value,
    path: &mut Vec<&'a str>,
    unknown: &mut Vec<(Vec<&'a str>, Option<&'a str>)>,
) {
    let (Value::Object(config), Value::Object(known)) = (config, known) else {
        return;
    };
    for (key, value) in config {
        path.push(key);
        match known.get(key).or(known.get("*")) {
            Some(below) => find_unknown(value, below, path, unknown),
            None => {
                let names = known.keys().map(String::as_str);
                unknown.push((path.clone(), prose::did_you_mean(key, names)));
            }
        }
        path.pop();
    }
}

fn long_rules(
    variant: &Variant,
    setups: &[&Setup],
    surroundings: &dyn Surroundings,
) -> Option<Diagnostic> {
    let profile = variant.agent.agent.profile();
    let readable = profile.rules_bytes?;
    let texts = (variant.rules.iter()).filter_map(|path| surroundings.read_text(path).ok());
    let bytes: usize = texts.map(|text| text.len()).sum();
    if bytes as u64 <= readable {
        return None;
    }
    let message = format!(
        "the rules have {bytes} bytes, but `{}` is known to read only {readable}",
        profile.name
    );
    let place = setups.iter().find(|setup| setup.rules.set().is_some());
    let warning = Diagnostic::warning(Code::LongRules, message).maybe_at(
        place.and_then(|setup| setup.place),
        "the agent may not see the rest",
    );
    Some(warning.help("shorten the rules, or move parts of them to a skill"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_settings_of_every_agent_are_names() {
        let texts = crate::agent::profiles().map(|profile| profile.known_settings);
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        assert!(texts.len() >= 5, "{}", texts.len());
        for text in texts {
            let known: Value = serde_json::from_str(text).unwrap();
            assert_names(&known);
        }
    }

    fn assert_names(known: &Value) {
        match known {
            Value::Null => {}
            Value::Object(names) => names.values().for_each(assert_names),
            other => panic!("{other}"),
        }
    }
}
