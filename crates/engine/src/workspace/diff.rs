//! Changes as a unified diff, in the form that `git apply` takes.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use camino::Utf8Path;
use similar::TextDiff;
use terca_core::agent::delivery::sha256;
use terca_core::text::mask::Mask;
use terca_core::text::prose;

use crate::tree::{Dir, Options, TreeError, hash_file};

/// The size of the largest file whose lines are shown.
pub(super) const LARGEST_SHOWN: u64 = 1024 * 1024;
/// The size of a diff after which the remaining files are only counted.
const LARGEST_DIFF: usize = 16 * 1024 * 1024;
/// The time for one comparison. After it, the diff is correct but longer than need be.
const PATIENCE: Duration = Duration::from_secs(2);

const LINK: u32 = 0o120_000;
const TYPE: u32 = 0o170_000;

/// A changed file.
#[derive(Debug)]
pub struct Change {
    /// Its path in the workspace.
    pub path: PathBuf,
    /// The file before; `None` if it is new.
    pub before: Option<Version>,
    /// The file now; `None` if it was removed.
    pub after: Option<Version>,
    /// The path that it had before, and the similarity of the contents in percent.
    pub renamed: Option<(PathBuf, u8)>,
}

/// A file at one moment: its mode as git records it, and its text.
#[derive(Debug)]
pub struct Version {
    mode: u32,
    /// The size of a regular file.
    size: Option<u64>,
    content: Content,
    /// The hash of the content, once somebody asked for it.
    digest: OnceLock<Option<String>>,
}

#[derive(Debug)]
enum Content {
    Text(String),
    /// In a tree that Terca alone changes.
    Kept(Arc<Dir>, PathBuf),
    /// Binary, too large, or no file.
    Opaque,
    /// It could be shown, but there is too much else.
    NotRead,
}

impl Version {
    fn new(mode: u32, size: Option<u64>, content: Content) -> Self {
        Version {
            mode: git_mode(mode),
            size,
            content,
            digest: OnceLock::new(),
        }
    }

    /// Describes a file that was read as a whole, with the mode that the system has.
    pub fn read(mode: u32, bytes: Vec<u8>) -> Self {
        let (size, digest) = (bytes.len() as u64, sha256(&bytes));
        let text = String::from_utf8(bytes).ok();
        let text = text.filter(|text| !text.contains('\0'));
        Version {
            digest: Some(digest).into(),
            ..Version::new(
                mode,
                Some(size),
                text.map_or(Content::Opaque, Content::Text),
            )
        }
    }

    /// Describes a file that is too large to be shown. The hash is that of `tree::hash_file`.
    pub fn large(mode: u32, size: u64, digest: Option<String>) -> Self {
        Version {
            digest: digest.into(),
            ..Version::new(mode, Some(size), Content::Opaque)
        }
    }

    /// Describes a file that was not read, because there is too much to show.
    pub fn not_read(mode: u32, size: u64) -> Self {
        Version::new(mode, Some(size), Content::NotRead)
    }

    /// Describes a file that is in a tree of Terca's or of the suite.
    pub fn kept(mode: u32, size: u64, tree: &Arc<Dir>, path: &Path) -> Self {
        let content = Content::Kept(tree.clone(), path.to_owned());
        Version::new(mode, Some(size), content)
    }

    /// Describes a symbolic link.
    pub fn link(target: &Path) -> Self {
        let text = target.to_string_lossy().into_owned();
        Version::new(LINK, None, Content::Text(text))
    }

    /// Describes a file whose content is not known.
    pub fn opaque(mode: u32) -> Self {
        Version::new(mode, None, Content::Opaque)
    }

    /// Returns whether this file may have been renamed to the other. Links and empty files never are.
    pub fn may_become(&self, other: &Version) -> bool {
        self.mode & TYPE == other.mode & TYPE && self.size.unwrap_or(0) > 0
    }

    /// Returns whether both have the same bytes.
    pub fn has_bytes_of(&self, other: &Version, options: &Options<'_>) -> Result<bool, TreeError> {
        if self.size != other.size {
            return Ok(false);
        }
        let Some(digest) = self.digest(options)? else {
            return Ok(false);
        };
        Ok(other.digest(options)? == Some(digest))
    }

    /// Returns the hash of the content. It is made once: every pair of files is asked for it.
    fn digest(&self, options: &Options<'_>) -> Result<Option<&str>, TreeError> {
        if self.digest.get().is_none() {
            let made = match &self.content {
                Content::Kept(tree, path) if self.size > Some(LARGEST_SHOWN) => {
                    match tree.open_file(path) {
                        Ok(file) => Some(hash_file(&file, options)?),
                        Err(_) => None,
                    }
                }
                Content::Kept(tree, path) => {
                    let bytes = tree.read_file(path, LARGEST_SHOWN).ok();
                    bytes.map(|bytes| sha256(&bytes))
                }
                _ => None,
            };
            let _ = self.digest.set(made);
        }
        Ok(self.digest.get().and_then(Option::as_deref))
    }

    /// Returns the size of a regular file.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Returns the text, or `None` if it cannot be shown.
    pub fn text(&self) -> Option<String> {
        match &self.content {
            Content::Text(text) => Some(text.clone()),
            Content::Kept(tree, path) => {
                let bytes = tree.read_file(path, LARGEST_SHOWN).ok()?;
                let text = String::from_utf8(bytes).ok()?;
                Some(text).filter(|text| !text.contains('\0'))
            }
            Content::Opaque | Content::NotRead => None,
        }
    }
}

/// Returns the mode that git records: it knows files, executable files and links.
fn git_mode(mode: u32) -> u32 {
    match mode {
        link if link & TYPE == LINK => LINK,
        executable if executable & 0o100 != 0 => 0o100_755,
        _ => 0o100_644,
    }
}

/// Writes all changes, with a note about those that are ignored. Secrets are masked.
pub fn write(
    changes: &[Change],
    ignored: usize,
    to: &Utf8Path,
    mask: &Mask,
    options: &Options<'_>,
) -> io::Result<()> {
    let mut out = io::BufWriter::new(fs_err::File::create(to)?);
    let mut written = 0;
    for (index, change) in changes.iter().enumerate() {
        if options.should_stop.should_stop() {
            return Err(TreeError::Stopped.into());
        }
        if written > LARGEST_DIFF {
            let rest = prose::count(changes.len() - index, "more changed file");
            writeln!(out, "# {rest} not shown: the diff would be too large")?;
            break;
        }
        let text = mask.text(&diff_of(change));
        written += text.len();
        out.write_all(text.as_bytes())?;
    }
    if ignored > 0 {
        let number = prose::count(ignored, "changed file");
        writeln!(
            out,
            "# {number} not shown: ignored by .gitignore, or git's own"
        )?;
    }
    out.flush()
}

fn diff_of(change: &Change) -> String {
    let Change {
        path,
        before,
        after,
        ..
    } = change;
    match (before, after) {
        // A file that became a link, or the other way round, is one that went and one that came.
        (Some(before), Some(after)) if before.mode & TYPE != after.mode & TYPE => {
            one(path, Some(before), None, None) + &one(path, None, Some(after), None)
        }
        (before, after) => one(
            path,
            before.as_ref(),
            after.as_ref(),
            change.renamed.as_ref(),
        ),
    }
}

fn one(
    path: &Path,
    before: Option<&Version>,
    after: Option<&Version>,
    renamed: Option<&(PathBuf, u8)>,
) -> String {
    let old_path = renamed.map_or(path, |(from, _)| from);
    let old_name = quoted("a/", old_path);
    let new_name = quoted("b/", path);
    let mut text = format!("diff --git {old_name} {new_name}\n");
    text += &mode_lines(before, after);
    if let Some((from, similarity)) = renamed {
        text += &rename_lines(from, path, *similarity);
        if *similarity == 100 {
            return text;
        }
    }
    let (Some(old), Some(new)) = (text_of(before), text_of(after)) else {
        return text + &binary_lines(&old_name, &new_name, [before, after]);
    };
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(old.as_str(), new.as_str());
    text + &diff
        .unified_diff()
        .header(
            before.map_or("/dev/null", |_| &old_name),
            after.map_or("/dev/null", |_| &new_name),
        )
        .to_string()
}

fn mode_lines(before: Option<&Version>, after: Option<&Version>) -> String {
    match (before, after) {
        (None, Some(after)) => format!("new file mode {:06o}\n", after.mode),
        (Some(before), None) => format!("deleted file mode {:06o}\n", before.mode),
        (Some(before), Some(after)) if before.mode != after.mode => {
            format!(
                "old mode {:06o}\nnew mode {:06o}\n",
                before.mode, after.mode
            )
        }
        _ => String::new(),
    }
}

fn rename_lines(from: &Path, to: &Path, similarity: u8) -> String {
    format!(
        "similarity index {similarity}%\nrename from {}\nrename to {}\n",
        quoted("", from),
        quoted("", to)
    )
}

/// Returns the text of a version. A file that is not there is empty.
fn text_of(version: Option<&Version>) -> Option<String> {
    version.map_or(Some(String::new()), Version::text)
}

fn binary_lines(old_name: &str, new_name: &str, versions: [Option<&Version>; 2]) -> String {
    let mut text = format!("Binary files {old_name} and {new_name} differ\n");
    let versions = versions.into_iter().flatten();
    if versions
        .clone()
        .any(|version| matches!(version.content, Content::NotRead))
    {
        text += "# not shown: the changed files have too much text\n";
    }
    let sizes = versions.filter_map(Version::size);
    if let Some(size) = sizes.max().filter(|size| *size > LARGEST_SHOWN) {
        let size = prose::compact(size);
        text += &format!("# too large to be shown: {size} bytes\n");
    }
    text
}

/// Returns a name as git writes it: in quotes and with escapes if it would break a line of the diff.
fn quoted(prefix: &str, path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    if let Ok(text) = std::str::from_utf8(bytes)
        && bytes.iter().all(is_plain)
    {
        return format!("{prefix}{text}");
    }
    let escaped: String = bytes
        .iter()
        .map(|byte| match byte {
            b'"' | b'\\' => format!("\\{}", *byte as char),
            b'\n' => "\\n".into(),
            b'\t' => "\\t".into(),
            byte if byte.is_ascii_control() || !byte.is_ascii() => format!("\\{byte:03o}"),
            byte => (*byte as char).to_string(),
        })
        .collect();
    format!("\"{prefix}{escaped}\"")
}

fn is_plain(byte: &u8) -> bool {
    !byte.is_ascii_control() && !matches!(byte, b'"' | b'\\')
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn names_are_quoted_as_git_does() {
        for (name, written) in [
            (&b"plain name.txt"[..], "a/plain name.txt"),
            ("größe".as_bytes(), "a/größe"),
            (b"tab\there", "\"a/tab\\there\""),
            (b"quo\"te", "\"a/quo\\\"te\""),
            (b"bad\xff", "\"a/bad\\377\""),
        ] {
            assert_eq!(quoted("a/", Path::new(OsStr::from_bytes(name))), written);
        }
    }

    #[test]
    fn modes_are_those_of_git() {
        assert_eq!(git_mode(0o100_600), 0o100_644);
        assert_eq!(git_mode(0o100_750), 0o100_755);
        assert_eq!(git_mode(0o120_777), 0o120_000);
    }
}
