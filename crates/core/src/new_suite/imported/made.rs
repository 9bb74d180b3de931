//! Tasks of files and their texts, for the tests of readers.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Imported, Task};

/// Reads a task. A path that ends in `link` is a symbolic link.
pub(in crate::new_suite) fn read<R>(
    name: &str,
    files: &[(&str, &str)],
    reader: impl FnOnce(&Task<'_>) -> R,
) -> R {
    let texts: BTreeMap<&Utf8Path, &str> = files
        .iter()
        .map(|(path, text)| (Utf8Path::new(*path), *text))
        .collect();
    let paths = texts.keys().map(|path| (*path).to_owned());
    let (links, names): (Vec<Utf8PathBuf>, _) = paths.partition(|path| path.ends_with("link"));
    reader(&Task {
        name,
        files: &names,
        links: &links,
        text: &|path| texts.get(path).map(|text| (*text).to_owned()),
    })
}

impl Imported {
    /// Returns the text of a file that is written.
    pub(in crate::new_suite) fn text_of(&self, path: &str) -> &str {
        let mut files = self.written.iter();
        let file = files.find(|(own, _)| own == path);
        file.map_or_else(|| panic!("{path}: {self:#?}"), |(_, text)| text.as_str())
    }

    /// Returns where each copied file comes from and goes to.
    pub(in crate::new_suite) fn copies(&self) -> Vec<(&str, &str)> {
        let pairs = self.copied.iter();
        pairs
            .map(|(from, to)| (from.as_str(), to.as_str()))
            .collect()
    }

    /// Returns what is lost, in words.
    pub(in crate::new_suite) fn lost(&self) -> Vec<&str> {
        let losses = self.notes.iter().filter(|note| note.loss.is_some());
        losses.map(|note| note.text.as_str()).collect()
    }
}
