//! A directory that is being made: locked, under a name that nobody takes for a finished one.
//!
//! Runs, layers and work directories all begin as a draft, so that one that is found under its own name is whole.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::tree::{Options, remove};
use crate::workspace::own_dirs::make_dir;

/// The names of drafts: this and eight digits.
const PREFIX: &str = ".new-";
/// A younger draft may be one that is about to be locked.
const YOUNG: Duration = Duration::from_secs(60);

/// A directory that is being made. Removed with the value, unless it was published.
#[derive(Debug)]
pub(crate) struct Draft {
    path: Utf8PathBuf,
    /// `None` where directories cannot be locked: what a dead run leaves there stays.
    lock: Option<File>,
    published: bool,
}

impl Draft {
    /// Makes a directory with these permissions, less those of the user's mask.
    pub(crate) fn create(parent: &Utf8Path, mode: u32) -> io::Result<Self> {
        let path = parent.join(format!("{PREFIX}{:08x}", fastrand::u32(..)));
        make_dir(&path, mode)
            .map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
        let lock = File::open(&path)?;
        let lock = lock.try_lock().is_ok().then_some(lock);
        Ok(Draft {
            path,
            lock,
            published: false,
        })
    }

    /// Returns the path that it has until it is published.
    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Gives it the first of these names that is free. A directory with something in it cannot be replaced by another,
    /// so two that are published together get two names. The lock stays with the caller.
    pub(crate) fn publish(
        mut self,
        places: impl IntoIterator<Item = Utf8PathBuf>,
    ) -> io::Result<(Utf8PathBuf, Option<File>)> {
        for place in places {
            match fs_err::rename(&self.path, &place) {
                Ok(()) => {
                    self.published = true;
                    return Ok((place, self.lock.take()));
                }
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.published {
            let _ = remove(&self.path, &Options::default());
        }
    }
}

fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(
        error.kind(),
        AlreadyExists | DirectoryNotEmpty | NotADirectory
    )
}

/// Tells whether this is a draft of this user that was not made just now.
pub(super) fn is_old_draft(name: &str, meta: &Metadata) -> bool {
    let age = meta.modified().ok().and_then(|time| time.elapsed().ok());
    name.strip_prefix(PREFIX).is_some_and(super::is_number)
        && meta.is_dir()
        && meta.uid() == rustix::process::getuid().as_raw()
        && age.is_some_and(|age| age > YOUNG)
}
