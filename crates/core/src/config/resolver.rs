//! What every part of resolving has at hand.

use camino::{Utf8Path, Utf8PathBuf};

use crate::config::paths::beside;
use crate::config::{PathKind, Surroundings};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::explain::Code;
use crate::text::source::{Located, Place, Sources};

pub(super) struct Resolver<'a> {
    pub(super) sources: &'a Sources,
    pub(super) surroundings: &'a dyn Surroundings,
    pub(super) problems: &'a mut Diagnostics,
}

impl Resolver<'_> {
    /// The directory of the file that a place lies in.
    pub(super) fn dir(&self, place: Place) -> &Utf8Path {
        self.sources.get(place.file).dir()
    }

    /// A path relative to the file that names it; it must exist as one of the kinds.
    pub(super) fn existing(
        &mut self,
        path: &Located<String>,
        what: &str,
        kinds: &[PathKind],
    ) -> Option<Utf8PathBuf> {
        let full = beside(self.dir(path.place), &path.value);
        let found = self.surroundings.kind(&full);
        if kinds.contains(&found) {
            return Some(full);
        }
        let (message, label) = match found {
            PathKind::Missing => (
                format!("{what} `{}` does not exist", path.value),
                format!("looked for {full}"),
            ),
            PathKind::Directory => (
                format!("{what} `{}` is a directory", path.value),
                "expected a file".into(),
            ),
            PathKind::File => (
                format!("{what} `{}` is a file", path.value),
                "expected a directory".into(),
            ),
        };
        let diagnostic = Diagnostic::error(Code::MissingFile, message).at(path.place, label);
        self.problems.push(match found {
            PathKind::Missing => {
                diagnostic.help("a relative path is relative to the file that names it")
            }
            PathKind::File | PathKind::Directory => diagnostic,
        });
        None
    }

    pub(super) fn not_yet(&mut self, what: &str, place: Place) {
        self.problems.push(
            Diagnostic::error(Code::NotSupported, format!("{what} is not supported yet"))
                .at(place, "this version of Terca cannot do that")
                .help("remove it; nothing is run while it stands here, so that it is never silently ignored"),
        );
    }

    /// A directory that is used when it is there.
    pub(super) fn optional_directory(&self, dir: &Utf8Path, name: &str) -> Option<Utf8PathBuf> {
        let path = dir.join(name);
        (self.surroundings.kind(&path) == PathKind::Directory).then_some(path)
    }

    /// A file that is used when it is there.
    pub(super) fn optional_file(&self, dir: &Utf8Path, name: &str) -> Option<Utf8PathBuf> {
        let path = dir.join(name);
        (self.surroundings.kind(&path) == PathKind::File).then_some(path)
    }
}
