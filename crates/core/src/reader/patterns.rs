//! Paths in the workspace, globs and regular expressions.

use camino::Utf8PathBuf;
use globset::GlobMatcher;
use regex::Regex;

use super::paths::inside;
use super::values::filled_text;
use super::{Kind, Reader};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::source::Located;
use crate::text::{excerpt, globs};

/// A path, or a glob over paths.
#[derive(Debug, Clone)]
pub enum PathPattern {
    /// A path inside the workspace.
    Path(Utf8PathBuf),
    /// A glob over the paths of the workspace.
    Glob(Glob),
}

impl PathPattern {
    /// Returns the pattern as its author wrote it.
    pub fn written(&self) -> &str {
        match self {
            PathPattern::Path(path) => path.as_str(),
            PathPattern::Glob(glob) => &glob.written,
        }
    }
}

/// A glob, compiled and as its author wrote it.
#[derive(Debug, Clone)]
pub struct Glob {
    /// The glob as written.
    pub written: String,
    /// The compiled glob.
    pub matcher: GlobMatcher,
}

/// A regular expression.
pub(crate) fn regex() -> Kind<Regex> {
    filled_text()
        .then(|pattern, reader| {
            Regex::new(&pattern.value).map_or_else(
                |error| {
                    let reason = error.to_string();
                    let reason = reason.lines().last().unwrap_or_default();
                    reader.refuse(
                        Diagnostic::error(Code::InvalidPattern, "invalid regular expression")
                            .at(pattern.place, reason.trim_start_matches("error: "))
                            .help(r"a sign that is meant literally needs a `\` before it"),
                    )
                },
                Some,
            )
        })
        .called("regular expression")
}

/// A path inside the workspace.
pub(crate) fn workspace_path() -> Kind<Utf8PathBuf> {
    filled_text()
        .then(|path, reader| in_workspace(&path, reader))
        .called("path")
}

/// A path inside the workspace, or a glob when it has one of `*?[{`.
pub(crate) fn path_or_glob() -> Kind<PathPattern> {
    filled_text()
        .then(|path, reader| {
            let clean = in_workspace(&path, reader)?;
            if path.value.contains(['*', '?', '[', '{']) {
                glob(&path, clean.as_str(), reader).map(PathPattern::Glob)
            } else {
                Some(PathPattern::Path(clean))
            }
        })
        .called("path or glob")
}

/// A glob over the paths of a workspace. A path without wildcards matches itself.
pub(crate) fn path_glob() -> Kind<Glob> {
    filled_text()
        .then(|path, reader| {
            let clean = in_workspace(&path, reader)?;
            glob(&path, clean.as_str(), reader)
        })
        .called("glob")
}

/// A glob over the names of tools.
pub(crate) fn tool_glob() -> Kind<Glob> {
    filled_text()
        .then(|name, reader| glob(&name, &name.value, reader))
        .called("glob")
}

/// Compiles a glob. `*` stays within a directory, `**` does not.
fn glob(written: &Located<String>, pattern: &str, reader: &mut Reader<'_>) -> Option<Glob> {
    let compiled = globs::compiled(pattern, |builder| {
        builder.literal_separator(true);
    });
    match compiled {
        Ok(matcher) => Some(Glob {
            written: written.value.clone(),
            matcher,
        }),
        Err(reason) => reader.refuse(
            Diagnostic::error(
                Code::InvalidPattern,
                format!("invalid glob `{}`", excerpt::beginning(&written.value, 60)),
            )
            .at(written.place, reason)
            .help("a sign that is meant literally is written in brackets, as in `[[]`"),
        ),
    }
}

fn in_workspace(path: &Located<String>, reader: &mut Reader<'_>) -> Option<Utf8PathBuf> {
    inside(&path.value).map_or_else(
        |reason| {
            reader.refuse(
                Diagnostic::error(
                    Code::OutsideWorkspace,
                    format!("path `{}` lies outside the workspace", path.value),
                )
                .at(path.place, reason)
                .help("a path is one inside the workspace, such as `src/app.js`"),
            )
        },
        Some,
    )
}
