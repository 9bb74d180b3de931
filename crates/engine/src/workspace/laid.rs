//! A tree that was laid for tests, and that is made again what it was when a test has run the agent's work in it.
//!
//! What nobody has touched stays where it is: inode and time of change tell, as for [`super::changes`]. So the next test
//! costs a look at each entry and a copy of what the last one has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::tree::{
    Dir, Kind, Meta, Options, TreeError, Visit, copy, have_same_content, list, walk,
};
use crate::workspace::changes::COARSE_NANOSECONDS;

/// The entries that one directory has given to a tree.
#[derive(Debug)]
pub struct Laid {
    source: Dir,
    entries: BTreeMap<PathBuf, Meta>,
    /// The time of the last look: nanoseconds.
    seen: i128,
}

/// The answer of an entry's identity.
#[derive(PartialEq, Eq)]
enum Identity {
    Same,
    /// It was changed so shortly before the look that a later change may have no other time.
    Unsure,
    Other,
}

impl Laid {
    /// Notes what a directory has given to a tree. Nothing was laid over it.
    pub fn over(place: &Dir, source: Dir, options: &Options<'_>) -> Result<Self, TreeError> {
        let seen = now();
        let mut entries = BTreeMap::new();
        for (path, _) in list(&source, options)? {
            entries.extend(place.meta_at(&path)?.map(|meta| (path, meta)));
        }
        Ok(Laid {
            source,
            entries,
            seen,
        })
    }

    /// Notes all of a tree but what others have given to it. A mount is no part of it.
    pub fn below(
        place: &Dir,
        source: Dir,
        over: Option<&Laid>,
        options: &Options<'_>,
    ) -> Result<Self, TreeError> {
        let seen = now();
        let mut entries = BTreeMap::new();
        walk(place, options, &mut |entry, meta| {
            let is_over = over.is_some_and(|over| over.entries.contains_key(entry.path));
            if !is_over && !entry.is_mount {
                entries.insert(entry.path.to_owned(), *meta);
            }
            Ok(Visit::Continue)
        })?;
        Ok(Laid {
            source,
            entries,
            seen,
        })
    }

    /// Returns the files of the tree that came from here.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.keys().map(PathBuf::as_path)
    }

    /// Returns the files that are not there any more or have another content or other permissions, each with a word for that.
    pub fn touched(
        &self,
        place: &Dir,
        options: &Options<'_>,
    ) -> Result<Vec<(&Path, &'static str)>, TreeError> {
        let mut touched = Vec::new();
        for (path, noted) in &self.entries {
            options.check_stop()?;
            let word = match place.meta_at(path) {
                Ok(None) => "removed",
                Ok(Some(meta)) if self.identity(path, &meta) == Identity::Same => continue,
                Ok(Some(meta))
                    if meta.mode == noted.mode && self.is_copy(place, path, &meta, options) =>
                {
                    continue;
                }
                // What is above it was replaced or closed.
                _ => "changed",
            };
            touched.push((path.as_path(), word));
        }
        Ok(touched)
    }

    fn identity(&self, path: &Path, meta: &Meta) -> Identity {
        let Some(noted) = self.entries.get(path) else {
            return Identity::Other;
        };
        if meta.mode != noted.mode {
            return Identity::Other;
        }
        if meta.is_dir() {
            return Identity::Same;
        }
        let changed = i128::from(noted.changed.0) * 1_000_000_000 + i128::from(noted.changed.1);
        match (meta.inode, meta.changed) == (noted.inode, noted.changed) {
            true if changed + COARSE_NANOSECONDS < self.seen => Identity::Same,
            true => Identity::Unsure,
            false => Identity::Other,
        }
    }

    /// Returns whether an entry has the content of its source. One that cannot be read has not.
    fn is_copy(&self, place: &Dir, path: &Path, meta: &Meta, options: &Options<'_>) -> bool {
        let content = |dir: &Dir| -> Result<File, TreeError> { dir.open_file(path) };
        match meta.kind {
            Kind::File => content(place)
                .and_then(|now| have_same_content(&content(&self.source)?, &now, options))
                .unwrap_or(false),
            Kind::Link => match (place.read_link(path), self.source.read_link(path)) {
                (Ok(now), Ok(before)) => now == before,
                _ => false,
            },
            Kind::Dir => true,
            Kind::Other => false,
        }
    }
}

/// Makes a tree again what it was. `laid` has everything that was given to it, lowest first.
pub fn restore(
    place: &Dir,
    laid: &mut [&mut Laid],
    options: &Options<'_>,
) -> Result<(), TreeError> {
    let seen = now();
    let mut missing: BTreeSet<PathBuf> = BTreeSet::new();
    missing.extend(
        laid.iter()
            .flat_map(|laid| laid.paths().map(Path::to_owned)),
    );
    let mut wrong = Vec::new();
    let is_superuser = geteuid().is_root();
    walk(place, options, &mut |entry, meta| {
        // What is in it cannot be compared or removed by its path.
        let is_closed = meta.is_dir() && meta.permissions() & 0o700 != 0o700 && !is_superuser;
        let same = laid
            .iter()
            .any(|laid| match laid.identity(entry.path, meta) {
                _ if entry.is_mount || is_closed => false,
                Identity::Same => true,
                Identity::Unsure => laid.is_copy(place, entry.path, meta, options),
                Identity::Other => false,
            });
        if same {
            missing.remove(entry.path);
            return Ok(Visit::Continue);
        }
        wrong.push(entry.path.to_owned());
        Ok(Visit::Skip)
    })?;
    for path in wrong {
        let removed = place.remove_tree(&path, options)?;
        removed.into_result(&place.path().join(&path))?;
    }
    for laid in laid {
        if !missing.is_empty() {
            laid.lay_again(place, &missing, options)?;
        }
        laid.seen = seen;
    }
    Ok(())
}

impl Laid {
    /// Copies what is missing in a tree, as far as it came from here.
    fn lay_again(
        &mut self,
        place: &Dir,
        missing: &BTreeSet<PathBuf>,
        options: &Options<'_>,
    ) -> Result<(), TreeError> {
        let entries = &self.entries;
        copy(&self.source, place, options, &mut |entry| {
            let has_missing = |path: &Path| {
                let mut next = missing.range(path.to_owned()..);
                next.next().is_some_and(|next| next.starts_with(path))
            };
            Ok(match entry.kind {
                Kind::Dir => has_missing(entry.path),
                _ => missing.contains(entry.path) && entries.contains_key(entry.path),
            })
        })?;
        for path in missing {
            if let Some(noted) = self.entries.get_mut(path)
                && let Ok(Some(meta)) = place.meta_at(path)
            {
                *noted = meta;
            }
        }
        Ok(())
    }
}

fn now() -> i128 {
    jiff::Timestamp::now().as_nanosecond()
}
