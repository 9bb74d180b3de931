//! Makes the workspace that a trial has saved again, in a directory of the user's.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::run::files::open_run;
use crate::tree::{Dir, Options, TreeError, remove_contents};
use crate::workspace::own_dirs::{PRIVATE, make_dir, trusted_dir};
use crate::workspace::saved::restore::{CheckedLayers, RestoreError, Saved};

/// The reason why there is no workspace.
#[derive(Debug, Error)]
pub enum WorkspaceError {
    /// The saved workspace cannot be used.
    #[error("{dir}: {source}")]
    Saved {
        /// The directory of the trial.
        dir: Utf8PathBuf,
        /// The reason.
        source: RestoreError,
    },
    /// Something is there already.
    #[error("{0} is there already, and is no empty directory")]
    Taken(Utf8PathBuf),
    /// The files cannot be written.
    #[error("the workspace could not be written: {0}")]
    Write(TreeError),
}

/// Makes the workspace of a trial again in a directory, which is made or must be empty. Where none is given, it is made
/// in a new one for temporary files. Returns its path.
pub fn restore_workspace(
    run_dir: &Utf8Path,
    trial_dir: &Utf8Path,
    to: Option<&Utf8Path>,
) -> Result<Utf8PathBuf, WorkspaceError> {
    let options = Options::default();
    let saved = open_run(run_dir)
        .map_err(RestoreError::from)
        .and_then(|run| Saved::open(&run, trial_dir, &CheckedLayers::default(), &options))
        .map_err(|source| WorkspaceError::Saved {
            dir: trial_dir.to_owned(),
            source,
        })?;
    let place = match to {
        Some(to) => to.to_owned(),
        None => temporary_place(trial_dir).map_err(WorkspaceError::Write)?,
    };
    make_place(&place)?;
    let dir = Dir::open(&place).map_err(WorkspaceError::Write)?;
    if let Err(error) = saved.restore(&dir, &options) {
        // A part of a workspace is none. What cannot be removed is in the directory that the message names.
        let _ = remove_contents(&dir, &options);
        return Err(WorkspaceError::Write(error));
    }
    Ok(place)
}

/// Returns a place in a new directory that no other user can look into.
fn temporary_place(trial_dir: &Utf8Path) -> Result<Utf8PathBuf, TreeError> {
    let parent = std::env::temp_dir();
    let trusted = Utf8Path::from_path(&parent)
        .ok_or_else(|| io::Error::other("the path is not UTF-8"))
        .and_then(trusted_dir);
    let parent = trusted.map_err(|error| TreeError::io(&parent, error))?;
    let own = parent.join(format!("terca-workspace-{:08x}", fastrand::u32(..)));
    make_dir(&own, PRIVATE).map_err(|error| TreeError::io(&own, error))?;
    Ok(own.join(trial_dir.as_str().replace('/', ".")))
}

/// Makes the directory, unless there is an empty one.
fn make_place(place: &Utf8Path) -> Result<(), WorkspaceError> {
    let taken = || WorkspaceError::Taken(place.to_owned());
    if place.symlink_metadata().is_ok() {
        let mut entries = place.read_dir_utf8().map_err(|_| taken())?;
        return entries.next().map_or(Ok(()), |_| Err(taken()));
    }
    fs_err::create_dir_all(place)
        .map_err(|error| WorkspaceError::Write(TreeError::io(place, error)))
}
