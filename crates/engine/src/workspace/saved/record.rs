//! `changes.json`: the layers of a saved workspace, and the paths of them that are gone.
//!
//! A path may have bytes that are no text. In the file each such byte is `%` and two hexadecimal digits, and so is `%`
//! itself.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The name of the file.
pub(super) const NAME: &str = "changes.json";
/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// The content of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The version of the format.
    pub(super) version: u32,
    /// The names of the layers that the workspace started from, lowest first.
    pub(super) layers: Vec<String>,
    /// The paths of the layers that are not in the workspace, with everything below them.
    pub(super) removed: Vec<String>,
}

impl Record {
    /// Returns the paths that are gone; `None` for a record with a path that is not written as paths are.
    pub(super) fn removed_paths(&self) -> Option<Vec<PathBuf>> {
        self.removed.iter().map(|text| path_of(text)).collect()
    }
}

/// Writes a path as text.
pub(super) fn text_of(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02x}");
        }
    }
    text
}

/// Reads a path from text.
fn path_of(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(OsString::from_vec(bytes).into())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn every_path_comes_back_from_its_text() {
        let all: Vec<u8> = (1..=255).collect();
        for (bytes, text) in [
            (&b"src/a.rs"[..], "src/a.rs"),
            (b"100%/\xff\xfe.txt", "100%25/%ff%fe.txt"),
            ("ä\n".as_bytes(), "ä\n"),
            (b"%41", "%2541"),
        ] {
            let path = Path::new(OsStr::from_bytes(bytes));
            assert_eq!(text_of(path), text);
            assert_eq!(path_of(text).unwrap(), path);
        }
        let path = Path::new(OsStr::from_bytes(&all));
        assert_eq!(path_of(&text_of(path)).unwrap(), path);
    }

    #[test]
    fn a_text_that_is_not_written_so_is_no_path() {
        for text in ["a%", "a%4", "%zz", "%ä"] {
            assert_eq!(path_of(text), None, "{text}");
        }
    }
}
