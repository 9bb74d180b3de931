//! Explains in plain words why a text is not valid YAML.

use serde_saphyr::Error;

use crate::text::{Code, Diagnostic, Place};

/// Returns true when a key is repeated.
pub(super) fn is_duplicate(error: &Error) -> bool {
    matches!(error.without_snippet(), Error::DuplicateMappingKey { .. })
}

/// Turns an error of the library into a problem with a place and advice.
pub(super) fn syntax_problem(place: Place, error: &Error, depth_limit: usize) -> Diagnostic {
    let invalid =
        |message: &str, label: &str| Diagnostic::error(Code::InvalidYaml, message).at(place, label);
    match error.without_snippet() {
        Error::DuplicateMappingKey { key, .. } => {
            let message = duplicate_message(key.as_deref().unwrap_or("?"));
            Diagnostic::error(Code::DuplicateKey, message)
                .at(place, "this key is already set above")
                .help(KEEP_ONE)
        }
        Error::MultipleDocuments { .. } => invalid(
            "more than one YAML document in the file",
            "a second document begins here",
        )
        .help("remove the `---` line, or move the second part to a file of its own"),
        Error::UnknownAnchor { .. } => {
            invalid("unknown alias", "no `&anchor` of this name comes before it")
                .help("text that begins with `*` needs quotes; an alias needs its anchor")
        }
        Error::NonFiniteFloat { .. } => {
            invalid("a number must be finite", "neither a number nor text")
        }
        other => by_text(&other.to_string(), depth_limit, invalid),
    }
}

pub(super) const KEEP_ONE: &str = "keep one of them";

pub(super) fn duplicate_message(key: &str) -> String {
    format!("duplicate key `{key}`")
}

/// Rewords the library's other messages where they would puzzle a reader.
fn by_text(
    text: &str,
    depth_limit: usize,
    invalid: impl Fn(&str, &str) -> Diagnostic,
) -> Diagnostic {
    let reason = text.split(" at line ").next().unwrap_or(text);
    if reason.contains("budget breached") && reason.contains("Depth")
        || reason.contains("recursion limit")
    {
        let message = format!("nested too deeply: more than {depth_limit} levels");
        return invalid(&message, "too deep from here on")
            .help("check for a bracket that is repeated by mistake");
    }
    if reason.contains("budget breached") || reason.contains("replay") {
        return invalid(
            "the document is too large once its aliases are expanded",
            "",
        )
        .help("write values out instead of aliases of aliases");
    }
    if let Some((_, label, help)) = INDENTS.iter().find(|(words, ..)| reason.contains(words)) {
        return invalid("the indentation is wrong", label).help(*help);
    }
    let advice = ADVICE.iter().find(|(words, _)| reason.contains(words));
    invalid("the file is not valid YAML", reason)
        .maybe_help(advice.map(|(_, help)| (*help).to_owned()))
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
