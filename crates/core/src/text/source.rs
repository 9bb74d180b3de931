//! The files a user wrote, and places in them.
//!
//! Every value read from YAML remembers its place. So a problem that is found long after parsing, say in
//! the merge of two files, can still show the line it comes from.

use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};

use crate::text::excerpt::char_boundary;

/// A file in a [`Sources`] table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(usize);

/// A range of bytes in one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// A value together with the place it was written at.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// The place in its file.
    pub place: Place,
}

impl<T> Located<T> {
    /// Joins a value with its place.
    pub fn new(value: T, place: Place) -> Self {
        Located { value, place }
    }

    /// Changes the value and keeps the place.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Located<U> {
        Located {
            value: change(self.value),
            place: self.place,
        }
    }
}

/// One file: where it is on disk, how people name it, and its text.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// The absolute path.
    pub path: Utf8PathBuf,
    /// The path as shown to people: relative to the suite.
    pub label: String,
    /// The whole text.
    pub text: String,
}

impl SourceFile {
    /// Returns the directory that relative paths in this file start from.
    pub fn dir(&self) -> &Utf8Path {
        self.path.parent().unwrap_or(Utf8Path::new("/"))
    }
}

/// All the files that were read.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file and returns its id.
    pub fn add(
        &mut self,
        path: impl Into<Utf8PathBuf>,
        label: impl Into<String>,
        text: impl Into<String>,
    ) -> FileId {
        self.files.push(SourceFile {
            path: path.into(),
            label: label.into(),
            text: text.into(),
        });
        FileId(self.files.len() - 1)
    }

    /// Returns a file that was added.
    pub fn get(&self, id: FileId) -> &SourceFile {
        &self.files[id.0]
    }

    /// Returns the ids of all files, in the order they were added.
    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len()).map(FileId)
    }

    /// Returns the text at a place, exactly as written.
    pub fn slice(&self, place: Place) -> &str {
        self.get(place.file)
            .text
            .get(place.start..place.end)
            .unwrap_or("")
    }

    /// Returns line and column, both from 1, counted in characters.
    pub fn line_and_column(&self, place: Place) -> (usize, usize) {
        let text = &self.get(place.file).text;
        let before = &text[..char_boundary(text, place.start)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
    }

    /// Returns the part of a place that is on its first line, which a one-line marker can underline.
    pub fn first_line(&self, place: Place) -> Range<usize> {
        let text = &self.get(place.file).text;
        let start = char_boundary(text, place.start);
        let end = char_boundary(text, place.end.max(start));
        let line_end = text[start..end]
            .find('\n')
            .map_or(end, |newline| start + newline);
        start..line_end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters() {
        let mut sources = Sources::default();
        let file = sources.add("/s/terca.yaml", "terca.yaml", "ä: 1\nnäme: x\n");
        let at = |start, end| Place { file, start, end };
        assert_eq!(sources.line_and_column(at(0, 1)), (1, 1));
        assert_eq!(sources.line_and_column(at(13, 14)), (2, 7));
        assert_eq!(sources.slice(at(13, 14)), "x");
        assert_eq!(sources.line_and_column(at(999, 1000)), (3, 1));
    }

    #[test]
    fn a_marker_stays_on_its_first_line() {
        let mut sources = Sources::default();
        let file = sources.add("/s/terca.yaml", "terca.yaml", "a: |\n  one\n  two\n");
        assert_eq!(
            sources.first_line(Place {
                file,
                start: 7,
                end: 17
            }),
            7..10
        );
    }
}
