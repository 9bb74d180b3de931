//! Changes as a unified diff, in the form that `git apply` takes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use similar::TextDiff;
use terca_core::text::mask::Mask;
use terca_core::text::prose;

use crate::tree::{Dir, Meta, Options, TreeError};

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
    /// The path that it had before, with the same bytes.
    pub renamed: Option<PathBuf>,
}

/// A file at one moment.
#[derive(Debug, Clone)]
pub struct Version {
    /// Its mode, as the system writes it.
    pub mode: u32,
    /// Its length.
    pub size: u64,
    /// Its content.
    pub content: Content,
}

/// The content of a file at one moment.
#[derive(Debug, Clone)]
pub enum Content {
    /// The bytes of a file, or the target of a link.
    Bytes(Vec<u8>),
    /// In a tree that Terca alone changes, at the same path.
    Kept(Arc<Dir>),
    /// Too large, or no file.
    Opaque,
    /// It could be shown, but there is too much else.
    NotRead,
}

impl Version {
    /// Describes a file that has this content.
    pub fn new(meta: &Meta, content: Content) -> Self {
        Version {
            mode: meta.mode,
            size: meta.size,
            content,
        }
    }

    fn is_link(&self) -> bool {
        self.mode & TYPE == LINK
    }

    /// Returns the bytes of a file that has this path, or `None` if it cannot be shown.
    fn bytes(&self, path: &Path) -> Option<Cow<'_, [u8]>> {
        match &self.content {
            Content::Bytes(bytes) => Some(bytes.into()),
            Content::Kept(tree) => tree.read_file(path, LARGEST_SHOWN).ok().map(Cow::Owned),
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

/// Joins a removal and an addition of the same bytes, which are one rename. Of several additions, one with the same file
/// name comes first. Links and empty files are never renamed.
pub fn join_renames(
    mut changes: Vec<Change>,
    options: &Options<'_>,
) -> Result<Vec<Change>, TreeError> {
    let mut came: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (at, change) in changes.iter().enumerate() {
        if let (None, Some(after)) = (&change.before, &change.after)
            && let Content::Bytes(bytes) = &after.content
            && !bytes.is_empty()
            && !after.is_link()
        {
            came.entry(bytes).or_default().push(at);
        }
    }
    let mut renames = Vec::new();
    for (old, change) in changes.iter().enumerate() {
        options.check_stop()?;
        if let (Some(before), None) = (&change.before, &change.after)
            && !came.is_empty()
            && !before.is_link()
            && let Some(bytes) = before.bytes(&change.path)
            && let Some(places) = came.get_mut(&*bytes)
            && !places.is_empty()
        {
            let has_same_name =
                |at: &usize| changes[*at].path.file_name() == change.path.file_name();
            let place = places.iter().position(has_same_name).unwrap_or(0);
            renames.push((old, places.remove(place)));
        }
    }
    for (old, new) in renames {
        changes[new].before = changes[old].before.take();
        changes[new].renamed = Some(changes[old].path.clone());
    }
    // A removal that became part of a rename is no change of its own.
    changes.retain(|change| change.before.is_some() || change.after.is_some());
    Ok(changes)
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
        options.check_stop()?;
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
    let path = &change.path;
    let renamed = change.renamed.as_deref();
    match (change.before.as_ref(), change.after.as_ref()) {
        // A file that became a link, or the other way round, is one that went and one that came.
        (Some(before), Some(after)) if before.is_link() != after.is_link() => {
            one(path, Some(before), None, None) + &one(path, None, Some(after), None)
        }
        (before, after) => one(path, before, after, renamed),
    }
}

fn one(
    path: &Path,
    before: Option<&Version>,
    after: Option<&Version>,
    renamed: Option<&Path>,
) -> String {
    let old_name = quoted("a/", renamed.unwrap_or(path));
    let new_name = quoted("b/", path);
    let mut text = format!("diff --git {old_name} {new_name}\n");
    text += &mode_lines(before, after);
    if let Some(from) = renamed {
        let (from, to) = (quoted("", from), quoted("", path));
        return text + &format!("similarity index 100%\nrename from {from}\nrename to {to}\n");
    }
    let (Some(old), Some(new)) = (text_of(before, path), text_of(after, path)) else {
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
    let mode = |version: Option<&Version>| version.map(|version| git_mode(version.mode));
    match (mode(before), mode(after)) {
        (None, Some(new)) => format!("new file mode {new:06o}\n"),
        (Some(old), None) => format!("deleted file mode {old:06o}\n"),
        (Some(old), Some(new)) if old != new => {
            format!("old mode {old:06o}\nnew mode {new:06o}\n")
        }
        _ => String::new(),
    }
}

/// Returns the text of a version, or `None` if it cannot be shown. A file that is not there is empty.
fn text_of(version: Option<&Version>, path: &Path) -> Option<String> {
    let Some(version) = version else {
        return Some(String::new());
    };
    let text = String::from_utf8(version.bytes(path)?.into_owned()).ok()?;
    Some(text).filter(|text| !text.contains('\0'))
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
    let sizes = versions.map(|version| version.size);
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
