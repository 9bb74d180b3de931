//! Says why a file that the suite names is not there.

use camino::Utf8Path;

use super::surroundings::Surroundings;
use crate::text::{Code, Diagnostic, Located, excerpt, prose};

/// The longest text that is quoted whole.
const LONGEST: usize = 60;

/// Returns the problem of a path that leads nowhere, with the most likely cause.
pub(super) fn missing(
    what: &str,
    path: &Located<String>,
    full: &Utf8Path,
    surroundings: &dyn Surroundings,
) -> Diagnostic {
    let written = path.value.as_str();
    let is_text = written.contains('\n') || written.split_whitespace().count() > 3;
    if is_text {
        let words = excerpt::beginning(written, LONGEST);
        let message = format!("{what} is not a path, but text: `{}`", words.trim());
        return Diagnostic::error(Code::MissingFile, message.replace('\n', " "))
            .at(path.place, "expected the path of a file")
            .help("put the text into a file, and write the file's path here");
    }
    let problem = Diagnostic::error(
        Code::MissingFile,
        format!("{what} `{written}` does not exist"),
    )
    .at(path.place, format!("looked for {full}"));
    if written.starts_with('~') {
        let rest = written.trim_start_matches('~').trim_start_matches('/');
        return problem.help(format!(
            "`~` is not expanded in a YAML file: write `${{HOME}}/{rest}`"
        ));
    }
    if written.contains("://") {
        return problem.help("Terca does not download files: download it, and write its path");
    }
    // The name in the same directory that was probably meant.
    let names = full.parent().map(|dir| surroundings.names_in(dir));
    let names = names.unwrap_or_default();
    let name = full.file_name().unwrap_or_default();
    match prose::did_you_mean(name, names.iter().map(String::as_str)) {
        Some(meant) => {
            let path = Utf8Path::new(written).with_file_name(meant);
            problem.help(format!("did you mean `{path}`?"))
        }
        None => problem.help("a relative path is relative to the file that names it"),
    }
}
