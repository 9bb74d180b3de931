//! `allowWarnings`: the warnings that a suite or an eval does not want to hear.

use serde_json::json;

use crate::reader::values::filled_text;
use crate::reader::{Kind, Reader, one_or_more};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::prose;
use crate::text::source::Located;

/// The text of the reference.
pub(super) const ABOUT: &str =
    "[Codes of warnings](terca-yaml.md#warnings) that are not shown, such as `skipped-eval`.";

/// One or more codes of warnings.
pub(super) fn allowed_warnings() -> Kind<Vec<Code>> {
    let words: Vec<&str> = Code::ALLOWABLE.iter().map(|code| code.as_str()).collect();
    let code = filled_text().called("code").with("enum", json!(words));
    one_or_more(code.then(|word, reader| code_of(&word, reader)))
}

fn code_of(word: &Located<String>, reader: &mut Reader<'_>) -> Option<Code> {
    let found = Code::find(&word.value);
    if let Some(code) = found.filter(|code| Code::ALLOWABLE.contains(code)) {
        return Some(code);
    }
    let known: Vec<&str> = Code::ALLOWABLE.iter().map(|code| code.as_str()).collect();
    let (message, label) = match found {
        Some(_) => (
            format!("`{}` cannot be allowed", word.value),
            "it is an error, not a warning",
        ),
        None => (
            format!("`{}` is not the code of a warning", word.value),
            "no warning has this code",
        ),
    };
    let problem = Diagnostic::error(Code::WrongValue, message).at(word.place, label);
    let meant = prose::meant(&word.value, known.iter().copied());
    reader.refuse(
        problem
            .help(meant.unwrap_or_else(|| format!("the codes are {}", prose::list(&known, "and")))),
    )
}
