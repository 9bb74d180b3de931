//! Explains in plain words why a text is not valid YAML.

use serde_saphyr::Error;

use super::doubts::straight;
use super::unclosed::unclosed;
use crate::text::{Code, Diagnostic, Place};

/// Returns true when a key is repeated.
pub(super) fn is_duplicate(error: &Error) -> bool {
    matches!(error.without_snippet(), Error::DuplicateMappingKey { .. })
}

/// Turns an error of the library into a problem with a place and advice.
pub(super) fn syntax_problem(
    place: Place,
    error: &Error,
    text: &str,
    depth_limit: usize,
) -> Diagnostic {
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
        other => by_words(&other.to_string(), depth_limit, invalid)
            .or_else(|| by_cause(place, text))
            .unwrap_or_else(|| reworded(&other.to_string(), invalid)),
    }
}

/// Finds the cause in the text, which is often before the place where the library noticed it.
fn by_cause(place: Place, text: &str) -> Option<Diagnostic> {
    let found = |at: usize, sign: char, message: &str, label: &str| {
        let place = Place {
            start: at,
            end: at + sign.len_utf8(),
            ..place
        };
        Diagnostic::error(Code::InvalidYaml, message).at(place, label)
    };
    let upto = text.get(..place.start).unwrap_or(text);
    let line = upto.rfind('\n').map_or(0, |end| end + 1);
    if let Some(tab) = tab_in_indentation(text, line) {
        let problem = found(tab, '\t', "the indentation has a tab", "this is a tab");
        return Some(problem.help("YAML is indented with spaces, never with tabs"));
    }
    if let Some((at, sign)) = curly_quote(text, line) {
        let problem = found(
            at, sign, "a text in curly quotes", "YAML does not know curly quotes",
        );
        return Some(problem.maybe_help(straight(&text[at..])));
    }
    let (at, close) = unclosed(text).filter(|(at, _)| *at <= place.start)?;
    let (message, label, more) = match close {
        ']' => (
            "a bracket is not closed",
            "this bracket is not closed",
            ", or put quotes around text that begins with `[`",
        ),
        '}' => (
            "a bracket is not closed",
            "this bracket is not closed",
            ", or put quotes around text that begins with `{`",
        ),
        _ => ("a quote is not closed", "this quote is not closed", ""),
    };
    let problem = found(at, close, message, label);
    Some(problem.help(format!("add the closing `{close}`{more}")))
}

/// Returns the first tab in the indentation of a line, or of the next.
fn tab_in_indentation(text: &str, line: usize) -> Option<usize> {
    let mut start = line;
    for line in text[line..].split_inclusive('\n').take(2) {
        let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
        if let Some(tab) = line[..indentation].find('\t') {
            return Some(start + tab);
        }
        start += line.len();
    }
    None
}

/// Returns the curly quote that a value of a line begins with.
fn curly_quote(text: &str, line: usize) -> Option<(usize, char)> {
    let shown = text[line..].lines().next()?;
    let found = shown.char_indices().find(|(at, sign)| {
        let before = shown[..*at].trim_end();
        straight(&sign.to_string()).is_some()
            && (before.is_empty() || before.ends_with([':', '-', ',', '[', '{']))
    });
    found.map(|(at, sign)| (line + at, sign))
}

pub(super) const KEEP_ONE: &str = "keep one of them";

pub(super) fn duplicate_message(key: &str) -> String {
    format!("duplicate key `{key}`")
}

/// Explains a limit of the reader.
fn by_words(
    text: &str,
    depth_limit: usize,
    invalid: impl Fn(&str, &str) -> Diagnostic,
) -> Option<Diagnostic> {
    let is_of_depth = text.contains("budget breached") && text.contains("Depth");
    if is_of_depth || text.contains("recursion limit") {
        let message = format!("nested too deeply: more than {depth_limit} levels");
        let problem = invalid(&message, "too deep from here on");
        return Some(problem.help("check for a bracket that is repeated by mistake"));
    }
    (text.contains("budget breached") || text.contains("replay")).then(|| {
        let message = "the document is too large once its aliases are expanded";
        invalid(message, "").help("write values out instead of aliases of aliases")
    })
}

/// Rewords the library's other messages where they would puzzle a reader.
fn reworded(text: &str, invalid: impl Fn(&str, &str) -> Diagnostic) -> Diagnostic {
    let reason = text.split(" at line ").next().unwrap_or(text);
    if let Some((_, message, label, help)) =
        CAUSES.iter().find(|(words, ..)| reason.contains(words))
    {
        return invalid(message, label).help(*help);
    }
    let advice = ADVICE.iter().find(|(words, _)| reason.contains(words));
    invalid("the file is not valid YAML", reason)
        .maybe_help(advice.map(|(_, help)| (*help).to_owned()))
}

/// The library's messages whose cause is known, in plain words.
const CAUSES: [(&str, &str, &str, &str); 4] = [
    (
        "did not find expected ','",
        "a comma is missing",
        "a comma is missing before this value",
        "put `, ` between the entries of a map or a list in brackets",
    ),
    (
        "mapping values are not allowed",
        "`: ` in the middle of a text",
        "YAML takes what is before it for a key",
        "text that contains `: ` needs quotes, or a block that begins with `|`",
    ),
    (
        "did not find expected '-' indicator",
        "the indentation is wrong",
        "this line is not in the column of the list's other entries",
        "put the `-` signs of a list in one column, and the keys of an entry in one column",
    ),
    (
        "did not find expected key",
        "the indentation is wrong",
        "this line is not in the column of the keys above it",
        "put the keys of a map in one column",
    ),
];

/// The usual causes of the library's messages.
const ADVICE: [(&str, &str); 4] = [
    ("simple key expected ':'", "expected `key: value` here"),
    (
        "unexpected character",
        "text that begins with such a character needs quotes",
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
