//! Variables, whose values may hold `${NAME}`.

use serde_json::json;

use crate::reader::{Entries, Kind, Patch, Reader, map_of, plain_text};
use crate::text::{Code, Diagnostic, Located};

/// Text in which `${NAME}` is replaced by a variable of Terca's own environment when the plan is made.
pub type Template = Located<String>;

/// Names and values; `null` removes a variable that a lower layer sets.
pub type Variables = Entries<Template>;

pub(super) fn variables() -> Kind<Variables> {
    map_of(plain_text())
        .with("propertyNames", json!({ "pattern": "^[^=]+$" }))
        .then(named)
}

/// Variables of the commands of a trial.
pub(super) fn trial_variables() -> Kind<Variables> {
    variables().then(|variables, reader| {
        for (name, value) in &variables {
            if let Patch::Set(value) = value
                && PRIVATE.contains(&name.value.as_str())
            {
                reader.problems.push(replaces_private(&name.value, value));
            }
        }
        Some(variables)
    })
}

/// Variables that lead to the directories that each trial has for itself.
const PRIVATE: [&str; 6] = [
    "HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
];

fn replaces_private(name: &str, value: &Template) -> Diagnostic {
    Diagnostic::warning(
        Code::DoubtfulValue,
        format!("`{name}` replaces a private directory of each trial"),
    )
    .at(
        value.place,
        "trials share this one, and find the files of other trials in it",
    )
    .help("remove it; use `before` or `files` to put files where a trial needs them")
}

fn named(entries: Variables, reader: &mut Reader<'_>) -> Option<Variables> {
    for (name, _) in &entries {
        if name.value.is_empty() || name.value.contains(['=', '\0']) {
            reader.problems.push(
                Diagnostic::error(
                    Code::InvalidName,
                    format!(
                        "`{}` cannot be the name of a variable",
                        name.value.escape_debug()
                    ),
                )
                .at(name.place, "a name has at least one character and no `=`"),
            );
        }
    }
    Some(entries)
}

/// Returns the variables that have a value.
pub(super) fn set_only(variables: Option<Variables>) -> Vec<(String, Template)> {
    let variables = variables.unwrap_or_default().into_iter();
    variables
        .filter_map(|(name, value)| match value {
            Patch::Set(value) => Some((name.value, value)),
            Patch::Keep | Patch::Remove => None,
        })
        .collect()
}
