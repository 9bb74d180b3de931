//! A stamp of a suite's files: it changes when one of them is saved, and reading it takes no content.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};

use crate::tree::{Dir, Limits, Meta, Options, Visit, walk};

/// Names whose content is never a part of a suite: runs and layers, and the history of a repository.
const PASSED_OVER: [&str; 2] = [".terca", ".git"];

/// The stamp of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(u64);

impl Stamp {
    /// Takes a stamp of everything in a suite's directory, and of files and directories outside of it. One that is missing
    /// or cannot be read is a part of it too.
    pub fn now(suite_dir: &Utf8Path, beside: &[Utf8PathBuf]) -> Self {
        let mut hasher = DefaultHasher::new();
        for path in [suite_dir]
            .into_iter()
            .chain(beside.iter().map(Utf8PathBuf::as_path))
        {
            path.hash(&mut hasher);
            match std::fs::metadata(path) {
                Ok(meta) if meta.is_dir() => add_tree(path, &mut hasher),
                Ok(meta) => (meta.modified().ok(), meta.len()).hash(&mut hasher),
                Err(_) => 0.hash(&mut hasher),
            }
        }
        Stamp(hasher.finish())
    }
}

fn add_tree(path: &Utf8Path, hasher: &mut DefaultHasher) {
    let options = Options {
        limits: Limits::NONE,
        unlock: false,
        ..Options::default()
    };
    let Ok(dir) = Dir::open(path) else {
        return;
    };
    let walked = walk(&dir, &options, &mut |entry, meta| {
        if PASSED_OVER.iter().any(|name| entry.name == *name) {
            return Ok(Visit::Skip);
        }
        add(entry.path, meta, hasher);
        Ok(Visit::Continue)
    });
    // A tree that changes while it is read is looked at again soon.
    walked.is_ok().hash(hasher);
}

/// Adds a file. A directory alone says nothing: its files do.
fn add(path: &Path, meta: &Meta, hasher: &mut DefaultHasher) {
    if !meta.is_dir() {
        (path, meta.inode, meta.size, meta.mode, meta.changed).hash(hasher);
    }
}
