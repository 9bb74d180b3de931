//! Finds settings of a variant that its agent does not know, and rules that are longer than it reads.

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
    let known = profile.config_keys;
    let config = variant
        .config
        .iter()
        .filter_map(|config| config.as_object());
    let keys = config.flat_map(|config| config.keys());
    let unknown = keys.filter(|key| !known.is_empty() && !known.contains(&key.as_str()));
    let warning = |key: &String| {
        let message = format!(
            "`config` has `{key}`, which is not a known setting of `{}`",
            profile.name
        );
        let mut configs = setups.iter().filter_map(|setup| setup.config.set());
        let place = configs.find_map(|config| config.place_of_key(key));
        let warning = Diagnostic::warning(Code::UnknownSetting, message)
            .maybe_at(place, "the agent may ignore it");
        let meant = prose::did_you_mean(key, known.iter().copied());
        warning.help(match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "look the key up in the agent's documentation".to_owned(),
        })
    };
    unknown.map(warning).collect()
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
