//! Trees of files. Each line of the input makes an entry: a kind, a path and a text. The tree is copied, hashed,
//! measured, changed by another tree that is copied over it, compared with what it was, and removed. Copies are equal, the
//! changes are those that there are, nothing is left, and nothing outside changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use terca_core::text::mask::Mask;
use terca_engine::tree::{
    Dir, Kind, Options, TreeError, Visit, copy, hash, hash_file, list, remove, walk,
};
use terca_engine::workspace::base_layers::BaseLayer;
use terca_engine::workspace::changes::Snapshot;
use terca_engine::workspace::diff;
use terca_engine::workspace::merged_layers::MergedLayers;

const MOST_LINES: usize = 60;

pub fn target(data: &[u8]) {
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let root = temporary.path();
    for name in ["one", "two", "to", "outside"] {
        std::fs::create_dir(root.join(name)).expect("a directory");
    }
    std::fs::write(root.join("outside/precious"), "precious").expect("a file");
    let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    let one = Dir::open(root.join("one")).expect("a directory");
    for line in lines.iter().take(MOST_LINES) {
        make(&one, &root.join("one"), line);
    }
    let two = Dir::open(root.join("two")).expect("a directory");
    for line in lines.iter().rev().take(MOST_LINES / 2) {
        make(&two, &root.join("two"), line);
    }
    check(root, &one, &two);
    assert_eq!(
        std::fs::read(root.join("outside/precious")).expect("it is still there"),
        b"precious"
    );
    let outside = std::fs::read_dir(root.join("outside")).expect("a directory");
    assert_eq!(outside.count(), 1);
}

fn check(root: &Path, one: &Dir, two: &Dir) {
    let options = Options::default();
    let to = Dir::open(root.join("to")).expect("a directory");
    let copied = copy(one, &to, &options, &mut |_| Ok(true)).expect("a copy");
    let files = list(one, &options).expect("a list");
    let mut files = files.iter().filter(|(_, meta)| meta.is_file());
    // A layer has only files that can be opened.
    let layers = match files.all(|(path, _)| one.open_file(path).is_ok()) {
        true => vec![BaseLayer {
            hash: String::new(),
            tree: Utf8Path::from_path(root).expect("UTF-8").join("one"),
        }],
        false => Vec::new(),
    };
    let layers = MergedLayers::read(&layers, &options).expect("layers");
    if copied.is_empty() {
        assert_eq!(
            hash(one, &options).expect("a hash"),
            hash(&to, &options).expect("a hash")
        );
    }
    let place = Utf8Path::from_path(root).expect("UTF-8").join("to");
    let store = place.with_file_name("store");
    let snapshot = Snapshot::take(&place, &layers, &store, &options).expect("a snapshot");
    let unchanged = snapshot
        .changes(&place, true, &options)
        .expect("a comparison");
    assert!(unchanged.are_none(), "{:?}", unchanged.seen);
    let before = facts(&to);
    // Onto what is there: the names of the second tree all come to be.
    let copied = copy(two, &to, &options, &mut |_| Ok(true)).expect("a second copy");
    for (path, meta) in list(two, &options).expect("a list") {
        let now = match to.meta_at(&path) {
            // Modes are copied too, and not even an owner can look into every directory. Root can.
            Err(error) if is_denied(&error) => continue,
            now => now.expect("a place"),
        };
        let is_there = now.is_some_and(|now| now.kind == meta.kind && now.size == meta.size);
        assert!(is_there || !copied.is_empty(), "{path:?}");
    }
    check_changes(&snapshot, &place, &before, &facts(&to));
    for name in ["one", "two", "to", "store"] {
        let removed = remove(root.join(name), &options).expect("a removal");
        assert!(removed.is_empty(), "{removed:?}");
        assert!(root.join(name).symlink_metadata().is_err());
    }
}

/// Everything about an entry that a change can change.
#[derive(Debug, PartialEq)]
struct Facts {
    mode: u32,
    /// The hash of a file, or the target of a link. Others are told apart by their number.
    content: String,
}

fn facts(dir: &Dir) -> BTreeMap<PathBuf, Facts> {
    let options = Options::default();
    let mut found = BTreeMap::new();
    walk(dir, &options, &mut |entry, meta| {
        let content = match meta.kind {
            Kind::Dir => return Ok(Visit::Continue),
            Kind::File => hash_file(&entry.open()?, &options)?,
            Kind::Link => format!("{:?}", entry.read_link()?),
            _ => meta.inode.to_string(),
        };
        let mode = meta.mode;
        found.insert(entry.path.to_owned(), Facts { mode, content });
        Ok(Visit::Continue)
    })
    .expect("a walk");
    found
}

/// Exactly the entries that are not as they were are changes, and the diff of them has an end.
fn check_changes(
    snapshot: &Snapshot,
    place: &Utf8Path,
    before: &BTreeMap<PathBuf, Facts>,
    after: &BTreeMap<PathBuf, Facts>,
) {
    let options = Options::default();
    let changes = snapshot.changes(place, true, &options).expect("changes");
    let mut told = BTreeSet::new();
    for change in &changes.seen {
        told.insert(change.path.as_path());
        told.extend(change.renamed.as_deref());
    }
    let all: BTreeSet<&Path> = before
        .keys()
        .chain(after.keys())
        .map(PathBuf::as_path)
        .collect();
    let expected: BTreeSet<&Path> = all
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path))
        .collect();
    assert_eq!(told, expected);
    let diff = place.with_file_name("diff");
    diff::write(
        &changes.seen,
        changes.ignored,
        &diff,
        &Mask::default(),
        &options,
    )
    .expect("a diff");
    let written = std::fs::metadata(diff).expect("a file").len();
    assert_eq!(written == 0, changes.seen.is_empty());
    // With the rules of .gitignore there are as many changes, some of them without a name.
    let fewer = snapshot.changes(place, false, &options).expect("changes");
    assert!(fewer.seen.len() <= changes.seen.len());
    assert_eq!(fewer.are_none(), changes.are_none());
}

fn is_denied(error: &TreeError) -> bool {
    matches!(error, TreeError::Io { source, .. } if source.kind() == ErrorKind::PermissionDenied)
}

/// Makes what a line says, if it can be made. The path is any bytes.
fn make(dir: &Dir, root: &Path, line: &[u8]) {
    let mut parts = line.splitn(3, |byte| *byte == b' ');
    let kind = parts.next().unwrap_or_default();
    let path = Path::new(OsStr::from_bytes(parts.next().unwrap_or_default()));
    let text = parts.next().unwrap_or_default();
    // What leads elsewhere is refused here; the rest may be refused for being there already.
    if dir.meta_at(path).is_err() {
        return;
    }
    match kind {
        b"d" => drop(dir.create_dir_all(path, 0o755)),
        b"f" => {
            if let Ok(mut file) = dir.create_file(path, 0o644) {
                file.write_all(text).expect("a content");
            }
        }
        b"s" => {
            if let Ok(mut file) = dir.create_file(path, 0o644) {
                file.set_len(text.len() as u64 * 1_000_000)
                    .expect("a length");
                file.write_all(text).expect("a content");
            }
        }
        b"l" => drop(symlink(OsStr::from_bytes(text), root.join(path))),
        b"p" => drop(std::os::unix::net::UnixListener::bind(root.join(path))),
        b"m" => {
            // Only what is no link: the mode would go to its target.
            let is_plain = dir
                .meta_at(path)
                .is_ok_and(|meta| meta.is_some_and(|meta| !meta.is_link()));
            let mode = text
                .iter()
                .fold(0, |mode, byte| (mode * 8 + u32::from(byte & 7)) & 0o777);
            if is_plain {
                let permissions = std::fs::Permissions::from_mode(mode);
                std::fs::set_permissions(root.join(path), permissions).expect("permissions");
            }
        }
        _ => {}
    }
}
