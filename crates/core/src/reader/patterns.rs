//! Paths in the workspace, globs and regular expressions.

use std::path::Path;

use camino::Utf8PathBuf;
use globset::GlobMatcher;
use regex::Regex;
use serde_json::json;

use super::paths::inside;
use super::values::filled_text;
use super::{Kind, Reader};
use crate::text::{Code, Diagnostic, Located, excerpt, globs};

/// A path in the workspace, which may have wildcards.
///
/// Frameworks name files `[id]` and `{name}`, so a path is first of all itself, and brackets beside a wildcard have two
/// readings: as a class, and as themselves.
#[derive(Debug, Clone)]
pub struct PathPattern {
    /// The pattern as its author wrote it.
    pub written: String,
    /// The path that the pattern is when none of its characters is a wildcard.
    pub path: Utf8PathBuf,
    readings: Vec<GlobMatcher>,
}

impl PathPattern {
    /// Returns whether other paths than its own may match.
    pub fn has_wildcards(&self) -> bool {
        !self.readings.is_empty()
    }

    /// Returns whether a path of the workspace is this one, or matches its wildcards.
    pub fn is_match(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        path == self.path || self.readings.iter().any(|reading| reading.is_match(path))
    }

    /// Reads a path that is inside the workspace. The error is a reason in a few words.
    pub(crate) fn new(written: &str, path: Utf8PathBuf) -> Result<Self, String> {
        let mut readings = Vec::new();
        if let Some(pattern) = globs::literal_names(path.as_str()) {
            readings.push(globs::compiled(&pattern, true)?);
            if path.as_str().contains(['[', '{']) {
                let literal = globs::literal_brackets(path.as_str());
                readings.push(globs::compiled(&literal, true)?);
            }
        }
        Ok(PathPattern {
            written: written.to_owned(),
            path,
            readings,
        })
    }
}

/// A glob over names, compiled and as its author wrote it.
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
                            .help(r"put a `\` before a character that is meant literally"),
                    )
                },
                Some,
            )
        })
        .called("regular expression")
}

/// Text in a form that a pattern describes, to the schema too. `what` is its name with an article.
pub(crate) fn text_of_form(
    what: &'static str,
    pattern: &'static str,
    reason: &'static str,
) -> Kind<Located<String>> {
    let text = filled_text().with("pattern", json!(pattern));
    text.then(move |text, reader| {
        if has_form(&text.value, pattern) {
            return Some(text);
        }
        let message = format!("`{}` is not {what}", text.value.escape_debug());
        reader.refuse(Diagnostic::error(Code::WrongValue, message).at(text.place, reason))
    })
}

/// Tells whether a text has the form that a pattern describes.
pub(crate) fn has_form(text: &str, pattern: &str) -> bool {
    Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
}

/// A path inside the workspace.
pub(crate) fn workspace_path() -> Kind<Utf8PathBuf> {
    filled_text()
        .then(|path, reader| in_workspace(&path, reader))
        .called("path")
}

/// A path inside the workspace, which may have wildcards. `called` is its name in the reference.
pub(crate) fn path_pattern(called: &'static str) -> Kind<PathPattern> {
    filled_text()
        .then(|written, reader| {
            let path = in_workspace(&written, reader)?;
            match PathPattern::new(&written.value, path) {
                Ok(pattern) => Some(pattern),
                Err(reason) => refuse_glob(&written, reason, reader),
            }
        })
        .called(called)
}

/// A glob over the names of tools.
pub(crate) fn tool_glob() -> Kind<Glob> {
    filled_text()
        .then(|name, reader| match globs::compiled(&name.value, true) {
            Ok(matcher) => Some(Glob {
                written: name.value,
                matcher,
            }),
            Err(reason) => refuse_glob(&name, reason, reader),
        })
        .called("glob")
}

pub(crate) fn refuse_glob<T>(
    written: &Located<String>,
    reason: String,
    reader: &mut Reader<'_>,
) -> Option<T> {
    reader.refuse(
        Diagnostic::error(
            Code::InvalidPattern,
            format!("invalid glob `{}`", excerpt::beginning(&written.value, 60)),
        )
        .at(written.place, reason)
        .help("put a character that is meant literally in brackets, as in `[[]`"),
    )
}

/// Returns a path that must be inside the workspace. The trial refuses one that leaves it through a link.
pub(crate) fn in_workspace(path: &Located<String>, reader: &mut Reader<'_>) -> Option<Utf8PathBuf> {
    inside(&path.value).map_or_else(
        |reason| {
            reader.refuse(
                Diagnostic::error(
                    Code::OutsideWorkspace,
                    format!("path `{}` is outside the workspace", path.value),
                )
                .at(path.place, reason)
                .help("write a path inside the workspace, such as `src/app.js`"),
            )
        },
        Some,
    )
}
