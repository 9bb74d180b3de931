//! Trees of files. Each line of the input makes an entry: a kind, a path and a text. The tree is copied, hashed,
//! measured, copied over itself and removed. Copies are equal, nothing is left, and nothing outside changes.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use terca_engine::tree::{Dir, Options, TreeError, copy, hash, list, measure, remove};

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
    if copied.skipped.is_empty() {
        assert_eq!(
            hash(one, &options).expect("a hash"),
            hash(&to, &options).expect("a hash")
        );
    }
    let found = list(&to, &options).expect("a list");
    let size = measure(&to, &options).expect("a size");
    assert!(found.len() as u64 <= size.entries);
    assert_eq!(size.entries + copied.skipped.total, copied.entries);
    // Onto what is there: the names of the second tree all come to be.
    let copied = copy(two, &to, &options, &mut |_| Ok(true)).expect("a second copy");
    for (path, meta) in list(two, &options).expect("a list") {
        let now = match to.meta_at(&path) {
            // Modes are copied too, and not even an owner can look into every directory. Root can.
            Err(error) if is_denied(&error) => continue,
            now => now.expect("a place"),
        };
        let is_there = now.is_some_and(|now| now.kind == meta.kind && now.size == meta.size);
        assert!(is_there || !copied.skipped.is_empty(), "{path:?}");
    }
    for name in ["one", "two", "to"] {
        let removed = remove(root.join(name), &options).expect("a removal");
        assert!(removed.left.is_empty(), "{removed:?}");
        assert!(root.join(name).symlink_metadata().is_err());
    }
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
