//! Commands of Terca's own that can be typed as they stand, where it was started.

use camino::Utf8Path;

use crate::args::{Common, NameArgs, SelectionArgs};

/// How Terca is called for the same suite again.
pub fn terca(common: &Common) -> String {
    if common.dir == Utf8Path::new(".") {
        "terca".to_owned()
    } else {
        format!("terca -C {}", word(common.dir.as_str()))
    }
}

/// The flags that chose evals and variants, each with a space before it.
pub fn selection(args: &NameArgs) -> String {
    let chosen = [
        ("-t", &args.evals),
        ("-x", &args.experiments),
        ("-e", &args.environments),
    ];
    let flags = chosen
        .into_iter()
        .flat_map(|(flag, names)| names.iter().map(move |name| (flag, name)));
    flags
        .map(|(flag, name)| format!(" {flag} {}", word(name)))
        .collect()
}

/// The flag that put another agent in the place of the suite's own.
pub fn agent(args: &SelectionArgs) -> String {
    args.agent
        .as_deref()
        .map_or_else(String::new, |name| format!(" --agent {}", word(name)))
}

/// A word as a shell takes it.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=@%+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        for (text, typed) in [
            ("fib", "fib"),
            ("tag:slow,größe", "tag:slow,größe"),
            ("my suite", "'my suite'"),
            ("fib-*", "'fib-*'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(word(text), typed);
        }
    }

    #[test]
    fn what_was_chosen_is_chosen_again() {
        let names = NameArgs {
            evals: vec!["fib".into(), "a b".into()],
            environments: vec!["gemini".into()],
            ..NameArgs::default()
        };
        assert_eq!(selection(&names), " -t fib -t 'a b' -e gemini");
        let args = SelectionArgs {
            agent: Some("oracle".into()),
            ..SelectionArgs::default()
        };
        assert_eq!(agent(&args), " --agent oracle");
    }
}
