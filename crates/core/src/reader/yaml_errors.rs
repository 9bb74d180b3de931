//! Explains in plain words why a text is not valid YAML.

use serde_saphyr::Error;

use crate::text::{Code, Diagnostic, Place};

/// Returns true when a key is repeated.
pub(super) fn is_duplicate(error: &Error) -> bool {
    matches!(error.without_snippet(), Error::DuplicateMappingKey { .. })
}

/// Turns an error of the library into a problem with a place and advice.
pub(super) fn syntax_problem(place: Place, error: &Error, depth_limit: usize) -> Diagnostic {
    let (message, label, help) = describe(error.without_snippet(), depth_limit);
    let code = if is_duplicate(error) {
        Code::DuplicateKey
    } else {
        Code::InvalidYaml
    };
    let diagnostic = Diagnostic::error(code, message).at(place, label);
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

pub(super) const KEEP_ONE: &str = "keep one of them";

pub(super) fn duplicate_message(key: &str) -> String {
    format!("duplicate key `{key}`")
}

fn describe(error: &Error, depth_limit: usize) -> (String, String, Option<String>) {
    match error {
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or("?");
            (
                duplicate_message(key),
                "this key is already set above".into(),
                Some(KEEP_ONE.into()),
            )
        }
        Error::MultipleDocuments { .. } => (
            "more than one YAML document in the file".into(),
            "a second document begins here".into(),
            Some("remove the `---` line, or move the second part to a file of its own".into()),
        ),
        Error::UnknownAnchor { .. } => {
            let help = "text that begins with `*` needs quotes; an alias needs its anchor";
            (
                "unknown alias".into(),
                "no `&anchor` of this name comes before it".into(),
                Some(help.into()),
            )
        }
        Error::NonFiniteFloat { .. } => (
            "a number must be finite".into(),
            "neither a number nor text".into(),
            None,
        ),
        other => describe_by_text(&other.to_string(), depth_limit),
    }
}

/// Rewords the library's other messages where they would puzzle a reader.
fn describe_by_text(text: &str, depth_limit: usize) -> (String, String, Option<String>) {
    let reason = text.split(" at line ").next().unwrap_or(text);
    if reason.contains("budget breached") && reason.contains("Depth")
        || reason.contains("recursion limit")
    {
        let message = format!("nested too deeply: more than {depth_limit} levels");
        let help = "check for a bracket that is repeated by mistake";
        return (message, "too deep from here on".into(), Some(help.into()));
    }
    if reason.contains("budget breached") || reason.contains("replay") {
        let message = "the document is too large once its aliases are expanded";
        return (
            message.into(),
            String::new(),
            Some("write values out instead of aliases of aliases".into()),
        );
    }
    if let Some((_, label, help)) = INDENTS.iter().find(|(words, ..)| reason.contains(words)) {
        let message = "the indentation is wrong".to_owned();
        return (message, (*label).to_owned(), Some((*help).to_owned()));
    }
    let help = ADVICE
        .iter()
        .find(|(words, _)| reason.contains(words))
        .map(|(_, help)| (*help).to_owned());
    ("the file is not valid YAML".into(), reason.to_owned(), help)
}

/// The library's messages about indentation, in plain words.
const INDENTS: [(&str, &str, &str); 2] = [
    (
        "did not find expected '-' indicator",
        "this line is not in the column of the list's other entries",
        "put the `-` signs of a list in one column, and the keys of an entry in one column",
    ),
    (
        "did not find expected key",
        "this line is not in the column of the keys above it",
        "put the keys of a map in one column",
    ),
];

/// The usual causes of the library's messages.
const ADVICE: [(&str, &str); 9] = [
    (
        "tabs disallowed",
        "YAML is indented with spaces, never with tabs",
    ),
    (
        "mapping values are not allowed",
        "text that contains `: ` needs quotes, or a block that begins with `|`",
    ),
    ("multiline quoted scalar", "is a quote above not closed?"),
    (
        "illegal placement of ':'",
        "is a bracket or a quote above not closed?",
    ),
    ("simple key expected ':'", "expected `key: value` here"),
    (
        "unexpected character",
        "text that begins with such a character needs quotes",
    ),
    (
        "unclosed bracket",
        "close it, or put quotes around text that begins with `{` or `[`",
    ),
    (
        "trailing content after",
        "put quotes around the whole text, or use none",
    ),
    (
        "merge value",
        "`<<` takes a map, or an alias (`*name`) of one",
    ),
];
