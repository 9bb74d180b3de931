//! Command lines of Terca that can be typed where it was started.

use camino::Utf8Path;
use terca_core::run::settings::SelectionSettings;
use terca_core::text::shell::quoted;

use crate::args::Common;

/// Returns the beginning of a command for the same suite.
pub fn terca(common: &Common) -> String {
    let dir = common.typed_dir.as_ref().unwrap_or(&common.dir);
    if dir == Utf8Path::new(".") {
        "terca".to_owned()
    } else {
        format!("terca -C {}", quoted(dir.as_str()))
    }
}

/// Returns the flags that chose evals and variants, each with a space before it.
pub fn selection(settings: &SelectionSettings) -> String {
    let chosen = [
        ("-t", &settings.evals),
        ("-x", &settings.experiments),
        ("-e", &settings.environments),
    ];
    let flags = chosen
        .into_iter()
        .flat_map(|(flag, names)| names.iter().map(move |name| (flag, name)));
    flags
        .map(|(flag, name)| format!(" {flag} {}", quoted(name)))
        .collect()
}

/// Returns the flag that put another agent in the place of the suite's own.
pub fn agent(settings: &SelectionSettings) -> String {
    settings
        .agent
        .as_deref()
        .map_or_else(String::new, |name| format!(" --agent {}", quoted(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_chosen_is_chosen_again() {
        let settings = SelectionSettings {
            evals: vec!["fib".into(), "a b".into()],
            environments: vec!["gemini".into()],
            agent: Some("oracle".into()),
            ..SelectionSettings::default()
        };
        assert_eq!(selection(&settings), " -t fib -t 'a b' -e gemini");
        assert_eq!(agent(&settings), " --agent oracle");
    }
}
