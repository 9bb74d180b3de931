//! `inputs` of a command in `prepare`: the files outside of the suite that its result depends on.

use camino::{Utf8Path, Utf8PathBuf};

use crate::reader::values::filled_text;
use crate::reader::{Fields, PathKind, Reader};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::globs;
use crate::text::source::Located;

/// The key.
pub(super) const KEY: &str = "inputs";

/// A file or a directory that a command reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The path as its author would write it. It does not depend on the directory of the suite.
    pub name: String,
    /// The absolute path.
    pub path: Utf8PathBuf,
}

/// Declares the inputs of a command.
pub(super) fn inputs(fields: &mut Fields<'_, '_>) -> Vec<Input> {
    let found = fields.list(
        KEY,
        filled_text().then(|written, reader| one_input(&written, reader)),
        "Files, directories and globs that the `command` reads, relative to the YAML file; they may be outside of the \
         suite. The command runs again when one of them changes. In `prepare` only.",
    );
    found.into_iter().flatten().collect()
}

fn one_input(written: &Located<String>, reader: &mut Reader<'_>) -> Option<Vec<Input>> {
    let filled = reader.filled(written)?;
    if reader.surroundings.kind(&reader.beside(&filled)) == PathKind::Missing
        && globs::literal_names(&filled.value).has_wildcards
    {
        return matching(&filled, reader);
    }
    let path = reader.existing(written, "the input", &[PathKind::File, PathKind::Directory])?;
    if reader.dir(written.place).starts_with(&path) {
        let message = format!("the input `{}` contains the suite", filled.value);
        return reader.refuse(
            Diagnostic::error(Code::WrongValue, message)
                .at(written.place, "every run would change it")
                .help("name the files and directories that the command reads, such as `../src`"),
        );
    }
    Some(vec![Input {
        name: filled.value,
        path,
    }])
}

/// Returns the files that match a glob. There must be one.
fn matching(glob: &Located<String>, reader: &mut Reader<'_>) -> Option<Vec<Input>> {
    let (above, pattern) = split(&glob.value);
    let pattern = globs::literal_names(pattern).text;
    let compiled = globs::compiled(&pattern, |builder| {
        builder.literal_separator(true);
    });
    let matcher = match compiled {
        Ok(matcher) => matcher,
        Err(reason) => {
            let message = format!("invalid glob `{}`", glob.value);
            return reader
                .refuse(Diagnostic::error(Code::InvalidPattern, message).at(glob.place, reason));
        }
    };
    let dir = reader.beside(&Located::new(above.to_owned(), glob.place));
    let files = reader.surroundings.files_below(&dir);
    let found: Vec<Input> = files
        .iter()
        .filter_map(|path| Some((path, path.strip_prefix(&dir).ok()?)))
        .filter(|(_, relative)| matcher.is_match(relative))
        .map(|(path, relative)| Input {
            name: Utf8Path::new(above).join(relative).into_string(),
            path: path.clone(),
        })
        .collect();
    if found.is_empty() && !reader.surroundings.is_partial() {
        return reader.refuse(
            Diagnostic::error(
                Code::MissingFile,
                format!("the input `{}` matches no file", glob.value),
            )
            .at(glob.place, format!("looked for files in {dir}"))
            .help("a relative path is relative to the file that names it"),
        );
    }
    Some(found)
}

/// Splits a glob into the directory before the first wildcard, and the rest.
fn split(glob: &str) -> (&str, &str) {
    let mut end = 0;
    for (slash, _) in glob.match_indices('/') {
        if globs::literal_names(&glob[..slash]).has_wildcards {
            break;
        }
        end = slash + 1;
    }
    let (above, rest) = glob.split_at(end);
    if above.is_empty() {
        (".", rest)
    } else {
        (above, rest)
    }
}
