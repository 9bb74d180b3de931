//! The files at hand while configuration is read, and the problems found so far.

use camino::{Utf8Path, Utf8PathBuf};

use super::paths::beside;
use super::surroundings::{PathKind, Surroundings};
use super::yaml::{self, Node, Value};
use crate::text::source::{FileId, Sources};
use crate::text::template::{self, Filled};
use crate::text::{Code, Diagnostic, Diagnostics, Located, Place, excerpt, prose};

/// Reads values and collects problems.
pub(crate) struct Reader<'a> {
    pub sources: &'a Sources,
    pub surroundings: &'a dyn Surroundings,
    pub problems: &'a mut Diagnostics,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        sources: &'a Sources,
        surroundings: &'a dyn Surroundings,
        problems: &'a mut Diagnostics,
    ) -> Self {
        Reader {
            sources,
            surroundings,
            problems,
        }
    }

    /// Parses a file. One that holds nothing is as good as none.
    pub(crate) fn optional_document(&mut self, file: FileId) -> Option<Node> {
        let node = yaml::parse(file, self.sources, self.problems)?;
        (node.value != Value::Null).then_some(node)
    }

    /// Parses a file that must hold something.
    pub(crate) fn document(&mut self, file: FileId) -> Option<Node> {
        let node = yaml::parse(file, self.sources, self.problems)?;
        if node.value != Value::Null {
            return Some(node);
        }
        let place = Place {
            file,
            ..Place::default()
        };
        self.problems.push(
            Diagnostic::error(Code::EmptyFile, "the file is empty")
                .at(place, "expected keys and values, such as `name: …`"),
        );
        None
    }

    /// Reads the value of a key. A problem that only says what was expected gets the key's name.
    pub(crate) fn about<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let known = self.problems.len();
        let value = read(self);
        self.problems.name_since(known, key);
        value
    }

    /// Reports a problem. There is no value then.
    pub(crate) fn refuse<T>(&mut self, problem: Diagnostic) -> Option<T> {
        self.problems.push(problem);
        None
    }

    /// Returns the directory of the file in which a place is.
    pub(crate) fn dir(&self, place: Place) -> &Utf8Path {
        self.sources.get(place.file).dir()
    }

    /// Resolves a path relative to the file that names it.
    pub(crate) fn beside(&self, path: &Located<String>) -> Utf8PathBuf {
        beside(self.dir(path.place), &path.value)
    }

    /// Fills in the variables of a path or a model. Their values are no secrets: a path is shown wherever its file is named.
    pub(crate) fn filled(&mut self, path: &Located<String>) -> Option<Located<String>> {
        let filled = self.filled_secret(path)?;
        Some(Located::new(filled.text, path.place))
    }

    /// Fills in the variables of a text whose values must be kept secret.
    pub(crate) fn filled_secret(&mut self, text: &Located<String>) -> Option<Filled> {
        let surroundings = self.surroundings;
        let filled = template::fill(&text.value, &|name| surroundings.variable(name));
        for name in &filled.unset {
            self.problems.push(template::unset(name, text.place));
        }
        filled.unset.is_empty().then_some(filled)
    }

    /// Fills in the variables of a path that must exist as one of the kinds, and resolves it.
    pub(crate) fn existing(
        &mut self,
        path: &Located<String>,
        what: &str,
        kinds: &[PathKind],
    ) -> Option<Utf8PathBuf> {
        let path = &self.filled(path)?;
        let full = self.beside(path);
        let found = self.surroundings.kind(&full);
        if kinds.iter().any(|kind| self.is_there(&full, *kind)) {
            return Some(full);
        }
        let written = &path.value;
        let problem = match found {
            PathKind::Missing => missing(what, path, &full, self.surroundings),
            found => {
                let (is, expected) = match found {
                    PathKind::Directory => ("a directory", "expected a file in it"),
                    _ => ("a file", "expected a directory"),
                };
                let dir = written.trim_end_matches('/');
                let names = self.surroundings.names_in(&full);
                let name = names.iter().find(|name| name.ends_with(".md"));
                Diagnostic::error(Code::MissingFile, format!("{what} `{written}` is {is}"))
                    .at(path.place, expected)
                    .maybe_help(
                        name.map(|name| format!("name a file in it, such as `{dir}/{name}`")),
                    )
            }
        };
        self.refuse(problem)
    }

    /// Returns whether a path that the suite names is of this kind, or was left out of the part of it that is here.
    pub(crate) fn is_there(&self, path: &Utf8Path, kind: PathKind) -> bool {
        match self.surroundings.kind(path) {
            PathKind::Missing => self.surroundings.is_partial(),
            found => found == kind,
        }
    }

    /// Returns a path that is used when it is there.
    pub(crate) fn optional_path(
        &self,
        dir: &Utf8Path,
        name: &str,
        kind: PathKind,
    ) -> Option<Utf8PathBuf> {
        let path = dir.join(name);
        (self.surroundings.kind(&path) == kind).then_some(path)
    }
}

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
