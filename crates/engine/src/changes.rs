//! What the agent changed, as a unified diff.
//!
//! Before the agent starts every file's identity is noted, and its content is kept only where no layer of the
//! suite has it: a workspace is not copied twice to be compared once.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use similar::TextDiff;
use terca_core::mask::Mask;

use crate::tree::{self, Copied};

/// Larger files are named, not shown.
const LARGEST_SHOWN: u64 = 1024 * 1024;
/// After this much the rest is only counted.
const LARGEST_DIFF: usize = 16 * 1024 * 1024;

/// The workspace as it was when the agent started.
#[derive(Debug, Default)]
pub struct Snapshot {
    files: BTreeMap<Utf8PathBuf, Noted>,
}

#[derive(Debug)]
struct Noted {
    inode: u64,
    changed: (i64, i64),
    mode: u32,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// A file outside the workspace has the same bytes.
    At(Utf8PathBuf),
    /// Where a symbolic link pointed.
    Link(String),
    NotKept,
}

impl Snapshot {
    /// Notes every file; `origins` says which came unchanged from a layer.
    pub fn take(workspace: &Utf8Path, origins: &[Copied], store: &Utf8Path) -> io::Result<Self> {
        let origins: HashMap<&Utf8Path, &Utf8Path> =
            origins.iter().map(|copied| (copied.path.as_path(), copied.source.as_path())).collect();
        let mut files = BTreeMap::new();
        for (path, meta) in tree::walk(workspace)? {
            let content = content(workspace, &path, &meta, origins.get(path.as_path()).copied(), store)?;
            let noted = Noted {
                inode: meta.ino(),
                changed: (meta.ctime(), meta.ctime_nsec()),
                mode: meta.mode(),
                content,
            };
            files.insert(path, noted);
        }
        Ok(Snapshot { files })
    }

    /// What is different now.
    pub fn changes(&self, workspace: &Utf8Path) -> io::Result<Vec<Change>> {
        let mut now: BTreeMap<Utf8PathBuf, std::fs::Metadata> = tree::walk(workspace)?.into_iter().collect();
        let mut changes = Vec::new();
        for (path, noted) in &self.files {
            match now.remove(path) {
                None => changes.push(Change { path: path.clone(), kind: ChangeKind::Deleted }),
                Some(meta) if noted.is_same(&meta) => {}
                Some(meta) => {
                    let same_mode = noted.mode == meta.mode();
                    if !same_mode || !self.is_same_content(noted, &workspace.join(path)) {
                        changes.push(Change { path: path.clone(), kind: ChangeKind::Modified });
                    }
                }
            }
        }
        changes.extend(now.into_keys().map(|path| Change { path, kind: ChangeKind::Added }));
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }

    fn is_same_content(&self, noted: &Noted, now: &Utf8Path) -> bool {
        match &noted.content {
            Content::At(before) => !now.is_symlink() && have_same_bytes(before, now),
            Content::Link(target) => now.read_link_utf8().is_ok_and(|now| now.as_str() == target),
            Content::NotKept => false,
        }
    }

    /// Writes the diff. Secrets are masked.
    pub fn write_diff(
        &self,
        workspace: &Utf8Path,
        changes: &[Change],
        to: &Utf8Path,
        mask: &Mask,
    ) -> io::Result<()> {
        let mut out = io::BufWriter::new(std::fs::File::create(to)?);
        let mut written = 0;
        for (index, change) in changes.iter().enumerate() {
            if written > LARGEST_DIFF {
                writeln!(out, "# … and {} more files", changes.len() - index)?;
                break;
            }
            let text = self.diff_one(workspace, change);
            written += text.len();
            out.write_all(mask.text(&text).as_bytes())?;
        }
        out.flush()
    }

    fn diff_one(&self, workspace: &Utf8Path, change: &Change) -> String {
        let path = &change.path;
        let noted = self.files.get(path);
        let old = noted.map_or(Side::Absent, Side::before);
        let new =
            if change.kind == ChangeKind::Deleted { Side::Absent } else { Side::now(&workspace.join(path)) };
        let mut text = format!("diff --git a/{path} b/{path}\n");
        text.push_str(&mode_lines(noted.map(|noted| noted.mode), &workspace.join(path), change.kind));
        match (old, new) {
            (Side::Opaque, _) | (_, Side::Opaque) => {
                text.push_str(&format!("Binary files a/{path} and b/{path} differ\n"));
            }
            (old, new) => {
                let name = |side: &Side, prefix: &str| match side {
                    Side::Absent => "/dev/null".to_owned(),
                    _ => format!("{prefix}/{path}"),
                };
                let (before, after) = (name(&old, "a"), name(&new, "b"));
                let diff =
                    TextDiff::configure().timeout(Duration::from_secs(2)).diff_lines(old.text(), new.text());
                text.push_str(&diff.unified_diff().header(&before, &after).to_string());
            }
        }
        text
    }
}

fn content(
    workspace: &Utf8Path,
    path: &Utf8Path,
    meta: &std::fs::Metadata,
    origin: Option<&Utf8Path>,
    store: &Utf8Path,
) -> io::Result<Content> {
    let full = workspace.join(path);
    if meta.is_symlink() {
        return Ok(Content::Link(fs_err::read_link(&full)?.to_string_lossy().into_owned()));
    }
    if !meta.is_file() {
        return Ok(Content::NotKept);
    }
    if let Some(origin) = origin
        && let Ok(source) = std::fs::metadata(origin)
        && (source.len(), source.mtime(), source.mtime_nsec())
            == (meta.len(), meta.mtime(), meta.mtime_nsec())
    {
        return Ok(Content::At(origin.to_owned()));
    }
    let kept = store.join(path);
    fs_err::create_dir_all(kept.parent().unwrap_or(store))?;
    tree::copy_file(&full, &kept, meta)?;
    Ok(Content::At(kept))
}

fn have_same_bytes(a: &Utf8Path, b: &Utf8Path) -> bool {
    let length = |path: &Utf8Path| std::fs::metadata(path).map(|meta| meta.len()).ok();
    length(a) == length(b) && matches!((std::fs::read(a), std::fs::read(b)), (Ok(a), Ok(b)) if a == b)
}

fn mode_lines(old: Option<u32>, now: &Utf8Path, kind: ChangeKind) -> String {
    let new = std::fs::symlink_metadata(now).ok().map(|meta| meta.mode());
    match (kind, old, new) {
        (ChangeKind::Added, _, Some(new)) => format!("new file mode {new:06o}\n"),
        (ChangeKind::Deleted, Some(old), _) => format!("deleted file mode {old:06o}\n"),
        (ChangeKind::Modified, Some(old), Some(new)) if old != new => {
            format!("old mode {old:06o}\nnew mode {new:06o}\n")
        }
        _ => String::new(),
    }
}

impl Noted {
    /// The kernel changes the time of last change with every write, rename and chmod; nobody can set it back.
    fn is_same(&self, meta: &std::fs::Metadata) -> bool {
        self.inode == meta.ino() && self.changed == (meta.ctime(), meta.ctime_nsec())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: Utf8PathBuf,
    pub kind: ChangeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// One side of a comparison.
enum Side {
    Absent,
    Text(String),
    /// Binary, too large, or no file.
    Opaque,
}

impl Side {
    fn before(noted: &Noted) -> Self {
        match &noted.content {
            Content::At(path) => Side::read(path),
            Content::Link(target) => Side::Text(target.clone()),
            Content::NotKept => Side::Opaque,
        }
    }

    fn now(path: &Utf8Path) -> Self {
        match path.read_link_utf8() {
            Ok(target) => Side::Text(target.into_string()),
            Err(_) => Side::read(path),
        }
    }

    fn read(path: &Utf8Path) -> Self {
        let small = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST_SHOWN);
        let bytes = if small { std::fs::read(path).ok() } else { None };
        match bytes.map(String::from_utf8) {
            Some(Ok(text)) if !text.contains('\0') => Side::Text(text),
            _ => Side::Opaque,
        }
    }

    fn text(&self) -> &str {
        match self {
            Side::Text(text) => text,
            Side::Absent | Side::Opaque => "",
        }
    }
}
