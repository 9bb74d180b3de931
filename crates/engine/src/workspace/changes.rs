//! The files that an agent has changed.
//!
//! Before the agent starts, the identity of every file is noted. Its content is kept only where no layer of the suite
//! has it: a workspace is not copied twice to be compared once.
//!
//! Files and directories that were changed and changed back tell that an agent has worked.
//!
//! A workspace that is mounted is looked at like a copy: what nobody has changed has the identity that it has in its layer.
//!
//! Afterwards one walk finds the differences, and reads what the diff will show. Nothing of a workspace is opened by
//! its path, which may be longer than the system takes, and no more text is held than a diff can show.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use camino::Utf8Path;

use crate::tree::{
    Dir, Entry, Kind, Meta, Notes, Options, TreeError, Visit, copy_file, have_same_content,
    make_readable, walk,
};
use crate::workspace::diff::{Change, Content, LARGEST_SHOWN, Version, join_renames};
use crate::workspace::ignored::Ignored;
use crate::workspace::merged_layers::MergedLayers;

/// The workspace as it was when the agent started.
#[derive(Debug, Default)]
pub struct Snapshot {
    files: BTreeMap<PathBuf, Noted>,
    /// The directories, with the times at which something was added to them or removed.
    dirs: BTreeMap<PathBuf, (i64, u32)>,
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
    /// Something was written, be it as before now.
    pub is_touched: bool,
    /// Mount points. They are no work of the agent's that can be judged.
    pub mounts: Notes,
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
            if let Some(from) = &change.renamed {
                paths.push(from.to_string_lossy().into_owned());
            }
        }
        paths.sort();
        paths
    }
}

/// The precision of times on coarse file systems. A file that was changed so shortly before the snapshot may have been
/// changed again without a trace, so its content is compared.
pub(super) const COARSE_NANOSECONDS: i128 = 50_000_000;
/// The most text of changed files that is held at once.
const MOST_TEXT: u64 = 32 << 20;

#[derive(Debug)]
struct Noted {
    inode: u64,
    changed: (i64, u32),
    version: Version,
}

impl Snapshot {
    /// Notes every file of a workspace that was made from layers. Files that differ from those of the layers are copied
    /// to `store`.
    pub fn take(
        workspace: &Utf8Path,
        layers: &MergedLayers,
        store: &Utf8Path,
        options: &Options<'_>,
    ) -> Result<Self, TreeError> {
        let root = &Dir::open(workspace)?;
        fs_err::create_dir_all(store)?;
        let store = Arc::new(Dir::open_no_link(store)?);
        let mut files = BTreeMap::new();
        let mut dirs = BTreeMap::from([(PathBuf::new(), root.meta().modified)]);
        walk(root, options, &mut |entry, meta| {
            if meta.is_dir() {
                dirs.insert(entry.path.to_owned(), meta.modified);
                return Ok(Visit::Continue);
            }
            let content = match meta.kind {
                Kind::Link => target_of(entry)?,
                Kind::File if !entry.is_mount => match layers.source_of(entry.path, meta) {
                    Some(layer) => Content::Kept(layer.clone()),
                    None => {
                        keep(entry, &store, options)?;
                        Content::Kept(store.clone())
                    }
                },
                _ => Content::Opaque,
            };
            let noted = Noted {
                inode: meta.inode,
                changed: meta.changed,
                version: Version::new(meta, content),
            };
            files.insert(entry.path.to_owned(), noted);
            Ok(Visit::Continue)
        })?;
        make_readable(&store, options)?;
        Ok(Snapshot {
            ignored: Ignored::read(root, files.keys().map(PathBuf::as_path))?,
            files,
            dirs,
            taken: jiff::Timestamp::now().as_nanosecond(),
        })
    }

    /// Returns whether something was added to the workspace itself, or removed from it.
    pub fn is_root_touched(&self, workspace: &Utf8Path) -> bool {
        let root = Dir::open_no_link(workspace);
        root.is_ok_and(|root| self.dirs.get(Path::new("")) != Some(&root.meta().modified))
    }

    /// Returns the bytes of all files, and the number of files and directories.
    pub fn size(&self) -> [u64; 2] {
        let bytes = self.files.values().map(|noted| noted.version.size);
        [bytes.sum(), (self.files.len() + self.dirs.len()) as u64]
    }

    /// Returns whether nobody has touched a file since the snapshot: its identity is the same.
    pub fn is_untouched(&self, path: &Path, meta: &Meta) -> bool {
        let noted = self.files.get(path);
        noted.is_some_and(|noted| noted.has_same_identity(meta, self.taken))
    }

    /// Compares the workspace with the snapshot. Ignored files are only counted, unless `track_ignored` is set.
    pub fn changes(
        &self,
        workspace: &Utf8Path,
        track_ignored: bool,
        options: &Options<'_>,
    ) -> Result<Changes, TreeError> {
        let root = Dir::open_no_link(workspace)?;
        let mut comparison = Comparison {
            snapshot: self,
            options,
            track_ignored,
            present: HashSet::new(),
            changes: Changes::default(),
            text_left: MOST_TEXT,
        };
        let mounts = walk(&root, options, &mut |entry, meta| {
            comparison.look_at(entry, meta)
        })?;
        comparison.add_removed();
        let mut changes = comparison.changes;
        changes.seen.sort_by(|a, b| a.path.cmp(&b.path));
        changes.seen = join_renames(changes.seen, options)?;
        changes.mounts = mounts;
        Ok(changes)
    }
}

/// Copies a file that no layer has, to the same path.
fn keep(entry: &Entry<'_>, store: &Dir, options: &Options<'_>) -> Result<(), TreeError> {
    let file = entry.open()?;
    match entry.path.parent().filter(|dir| *dir != Path::new("")) {
        Some(dir) => {
            let dir = store.create_dir_all(dir, 0o700)?;
            copy_file(&file, &dir, entry.name, options)
        }
        None => copy_file(&file, store, entry.name, options),
    }
}

fn target_of(link: &Entry<'_>) -> Result<Content, TreeError> {
    let target = link.read_link()?.into_os_string();
    Ok(Content::Bytes(target.into_vec()))
}

/// A workspace that is being compared with its snapshot.
struct Comparison<'a> {
    snapshot: &'a Snapshot,
    options: &'a Options<'a>,
    track_ignored: bool,
    /// The noted paths that are still there.
    present: HashSet<&'a Path>,
    changes: Changes,
    text_left: u64,
}

impl Comparison<'_> {
    fn look_at(&mut self, entry: &Entry<'_>, meta: &Meta) -> Result<Visit, TreeError> {
        if meta.is_dir() {
            let known = self.snapshot.dirs.get(entry.path);
            self.changes.is_touched |= known != Some(&meta.modified);
            return Ok(Visit::Continue);
        }
        let known = self.snapshot.files.get_key_value(entry.path);
        self.present.extend(known.map(|(path, _)| path.as_path()));
        let noted = known.map(|(_, noted)| noted);
        self.changes.is_touched |= !noted.is_some_and(|noted| noted.has_same_time(meta));
        if let Some(noted) = noted
            && noted.is_same(entry, meta, self.snapshot.taken, self.options)?
        {
            return Ok(Visit::Continue);
        }
        if self.is_left_out(entry.path) {
            return Ok(Visit::Continue);
        }
        let after = self.version(entry, meta)?;
        self.changes.seen.push(Change {
            path: entry.path.to_owned(),
            before: noted.map(|noted| noted.version.clone()),
            after: Some(after),
            renamed: None,
        });
        Ok(Visit::Continue)
    }

    /// Counts a changed file that is ignored, and returns whether it is one.
    fn is_left_out(&mut self, path: &Path) -> bool {
        let is_ignored = !self.track_ignored && self.snapshot.ignored.has(path);
        self.changes.ignored += usize::from(is_ignored);
        is_ignored
    }

    /// Describes a file as it is now, with its text if it can be shown.
    fn version(&mut self, entry: &Entry<'_>, meta: &Meta) -> Result<Version, TreeError> {
        let content = match meta.kind {
            Kind::Link => target_of(entry)?,
            Kind::File if entry.is_mount || meta.size > LARGEST_SHOWN => Content::Opaque,
            Kind::File if meta.size > self.text_left => Content::NotRead,
            Kind::File => {
                self.text_left -= meta.size;
                let mut bytes = Vec::new();
                let file = entry.open()?.take(LARGEST_SHOWN).read_to_end(&mut bytes);
                file.map_err(|error| TreeError::io(entry.path, error))?;
                Content::Bytes(bytes)
            }
            _ => Content::Opaque,
        };
        Ok(Version::new(meta, content))
    }

    /// Adds the files that are not there any more.
    fn add_removed(&mut self) {
        for (path, noted) in &self.snapshot.files {
            if self.present.contains(path.as_path()) || self.is_left_out(path) {
                continue;
            }
            self.changes.seen.push(Change {
                path: path.to_owned(),
                before: Some(noted.version.clone()),
                after: None,
                renamed: None,
            });
        }
    }
}

impl Noted {
    fn is_same(
        &self,
        entry: &Entry<'_>,
        meta: &Meta,
        snapshot: i128,
        options: &Options<'_>,
    ) -> Result<bool, TreeError> {
        if self.has_same_identity(meta, snapshot) {
            return Ok(true);
        }
        let before = &self.version;
        if before.mode != meta.mode || before.size != meta.size {
            return Ok(false);
        }
        match &before.content {
            Content::Kept(tree) => {
                if entry.is_mount {
                    return Ok(false);
                }
                // A layer of the suite may be gone by now.
                match tree.open_file(entry.path) {
                    Ok(before) => have_same_content(&before, &entry.open()?, options),
                    Err(_) => Ok(false),
                }
            }
            Content::Bytes(target) => Ok(entry.read_link()?.as_os_str().as_bytes() == target),
            // It has no content, so that it is the same for as long as it is there.
            Content::Opaque | Content::NotRead => Ok(self.has_same_time(meta)),
        }
    }

    /// Returns whether the kernel has noted no change. It changes this time with every write, rename and chmod; nobody can
    /// set it back.
    fn has_same_time(&self, meta: &Meta) -> bool {
        self.inode == meta.inode && self.changed == meta.changed
    }

    /// Returns whether it is the same file, and its last change was long enough before the snapshot to be told from a
    /// later one.
    fn has_same_identity(&self, meta: &Meta, snapshot: i128) -> bool {
        let changed = i128::from(self.changed.0) * 1_000_000_000 + i128::from(self.changed.1);
        self.has_same_time(meta) && changed + COARSE_NANOSECONDS < snapshot
    }
}
