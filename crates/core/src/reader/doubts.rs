//! Finds texts that are valid YAML and probably not what their author means: quotes of a word processor, and keys.

use crate::text::keys::is_key;
use crate::text::{Code, Diagnostic, Diagnostics, Located, Place};

/// The quotes that word processors make, and the sign that YAML knows.
const CURLY: [(char, char, char); 4] = [
    ('“', '”', '"'),
    ('„', '“', '"'),
    ('«', '»', '"'),
    ('‘', '’', '\''),
];

/// Warns of a text between curly quotes, which are part of it.
pub(super) fn report_quotes(text: &str, place: Place, problems: &mut Diagnostics) {
    let is_around = |(open, close, _): &&(char, char, char)| {
        text.len() > open.len_utf8() && text.starts_with(*open) && text.ends_with(*close)
    };
    if CURLY.iter().any(|pair| is_around(&pair)) {
        let message = "a text between curly quotes, which YAML takes as part of the text";
        problems.push(
            Diagnostic::warning(Code::DoubtfulValue, message)
                .at(place, "the quotes are part of this text")
                .maybe_help(straight(text)),
        );
    }
}

/// Says what to write instead of the curly quotes that a text begins with.
pub(super) fn straight(text: &str) -> Option<String> {
    let first = text.chars().next()?;
    let (open, close, right) = CURLY.iter().find(|(open, ..)| *open == first)?;
    Some(format!("replace `{open}` and `{close}` with `{right}`"))
}

/// Warns of a key that is written into a file.
pub(super) fn report_key(
    name: &Located<String>,
    text: &str,
    place: Place,
    problems: &mut Diagnostics,
) {
    if is_key(text) {
        let is_variable =
            (name.value.chars()).all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let variable = if is_variable { &name.value } else { "NAME" };
        let help = format!(
            "write `${{{variable}}}`, and set the variable ${variable} in your shell; if the file was shared, replace the key"
        );
        problems.push(
            Diagnostic::warning(
                Code::KeyInFile,
                format!(
                    "`{}` is a key that everybody who has this file can use",
                    name.value
                ),
            )
            .at(place, "a key")
            .help(help),
        );
    }
}
