//! The files that an agent has changed.
//!
//! Before the agent starts, the identity of every file is noted. Its content is kept only where no layer of the suite
//! has it: a workspace is not copied twice to be compared once.

use std::collections::{BTreeMap, HashMap};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use camino::Utf8Path;

use crate::workspace::diff::{Change, Version};
use crate::workspace::file_eq::have_same_bytes;
use crate::workspace::ignored::Ignored;
use crate::workspace::renames;
use crate::workspace::tree;
use crate::workspace::tree::Copied;

/// The workspace as it was when the agent started.
#[derive(Debug, Default)]
pub struct Snapshot {
    files: BTreeMap<PathBuf, Noted>,
    ignored: Ignored,
    taken: i128,
}

/// The differences between a workspace and its snapshot.
#[derive(Debug, Default)]
pub struct Changes {
    /// The changed files that are shown.
    pub seen: Vec<Change>,
    /// The number of changed files that `.gitignore` ignores, or that are git's own.
    pub ignored: usize,
}

impl Changes {
    /// Returns whether nothing is different.
    pub fn are_none(&self) -> bool {
        self.seen.is_empty() && self.ignored == 0
    }

    /// Returns the paths of the changed files. A file that was renamed has both.
    pub fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        for change in &self.seen {
            paths.push(change.path.to_string_lossy().into_owned());
            if let Some((from, _)) = &change.renamed {
                paths.push(from.to_string_lossy().into_owned());
            }
        }
        paths.sort();
        paths
    }
}

/// The precision of times on coarse file systems. A file that was changed so shortly before the snapshot may have been
/// changed again without a trace, so its content is compared.
const COARSE_NANOSECONDS: i128 = 50_000_000;

#[derive(Debug)]
struct Noted {
    inode: u64,
    changed: (i64, i64),
    mode: u32,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// In a file outside the workspace.
    At(PathBuf),
    /// The target of a symbolic link.
    Link(PathBuf),
    NotKept,
}

impl Snapshot {
    /// Notes every file. `origins` has those that came unchanged from a layer; others may be copied to `store`.
    pub fn take(workspace: &Utf8Path, origins: &[Copied], store: &Utf8Path) -> io::Result<Self> {
        let origins: HashMap<&Path, &Path> = origins
            .iter()
            .map(|copied| (copied.path.as_path(), copied.source.as_path()))
            .collect();
        let mut files = BTreeMap::new();
        for (path, meta) in tree::walk(workspace)? {
            let origin = origins.get(path.as_path()).copied();
            let content = keep(
                workspace.as_std_path(),
                &path,
                &meta,
                origin,
                store.as_std_path(),
            )?;
            let changed = (meta.ctime(), meta.ctime_nsec());
            files.insert(
                path,
                Noted {
                    inode: meta.ino(),
                    changed,
                    mode: meta.mode(),
                    content,
                },
            );
        }
        let ignored = Ignored::read(workspace.as_std_path(), files.keys().map(PathBuf::as_path))?;
        Ok(Snapshot {
            files,
            ignored,
            taken: jiff::Timestamp::now().as_nanosecond(),
        })
    }

    /// Compares the workspace with the snapshot. Ignored files are only counted, unless `track_ignored` is set.
    pub fn changes(&self, workspace: &Utf8Path, track_ignored: bool) -> io::Result<Changes> {
        let all = self.differences(workspace)?;
        let number = all.len();
        let seen: Vec<Change> = all
            .into_iter()
            .filter(|change| track_ignored || !self.ignored.has(&change.path))
            .collect();
        let ignored = number - seen.len();
        Ok(Changes {
            seen: renames::join(seen),
            ignored,
        })
    }

    fn differences(&self, workspace: &Utf8Path) -> io::Result<Vec<Change>> {
        let mut now: BTreeMap<PathBuf, Metadata> = tree::walk(workspace)?.into_iter().collect();
        let mut changes = Vec::new();
        for (path, noted) in &self.files {
            let full = workspace.as_std_path().join(path);
            let after = now.remove(path);
            if after
                .as_ref()
                .is_some_and(|meta| noted.is_same(meta, &full, self.taken))
            {
                continue;
            }
            let after = after.map(|meta| Version::file(meta.mode(), &full));
            let before = Some(noted.version());
            changes.push(Change {
                path: path.clone(),
                before,
                after,
                renamed: None,
            });
        }
        changes.extend(now.into_iter().map(|(path, meta)| {
            let after = Version::file(meta.mode(), &workspace.as_std_path().join(&path));
            Change {
                path,
                before: None,
                after: Some(after),
                renamed: None,
            }
        }));
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }
}

/// Returns where the content of a file can be found later. A file without an origin is copied.
fn keep(
    workspace: &Path,
    path: &Path,
    meta: &Metadata,
    origin: Option<&Path>,
    store: &Path,
) -> io::Result<Content> {
    let full = workspace.join(path);
    if meta.is_symlink() {
        return Ok(Content::Link(fs_err::read_link(&full)?));
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

impl Noted {
    fn is_same(&self, meta: &Metadata, now: &Path, snapshot: i128) -> bool {
        // The kernel changes this time with every write, rename and chmod; nobody can set it back.
        let same_time =
            self.inode == meta.ino() && self.changed == (meta.ctime(), meta.ctime_nsec());
        let changed = i128::from(self.changed.0) * 1_000_000_000 + i128::from(self.changed.1);
        let untouched = same_time && changed + COARSE_NANOSECONDS < snapshot;
        untouched || (self.mode == meta.mode() && self.has_same_content(now))
    }

    fn has_same_content(&self, now: &Path) -> bool {
        match &self.content {
            Content::At(before) => have_same_bytes(before, now),
            Content::Link(target) => std::fs::read_link(now).is_ok_and(|now| now == *target),
            Content::NotKept => false,
        }
    }

    fn version(&self) -> Version {
        match &self.content {
            Content::At(path) => Version::file(self.mode, path),
            Content::Link(target) => Version::link(target),
            Content::NotKept => Version::opaque(self.mode),
        }
    }
}
