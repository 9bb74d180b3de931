//! The workspace of a trial as an overlay: layers that nobody changes, and a directory with the changes above them.
//!
//! ```text
//! t/<name>/          beside the directories of trials
//!   l0, l1, …        links to the layers of the run, lowest first (`base_layers`)
//!   u0               the changes of setup and agent
//!   u1               the hidden files of the tests, above the agent's changes
//!   u2, u3, …        the changes of one test each, above both
//!   w0, w1, …        of the kernel, one for each mount
//! ```
//!
//! The list of mounts, which an agent can read, has these names and no others.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::process::confine::Confinement;
use crate::process::mount_space::{MountSpace, OverlayMount};
use crate::tree::{Dir, Kind, Options, list, remove_contents};
use crate::workspace::own_dirs::{remove_and_tell, secret_dir};

/// The workspace of a trial as an overlay.
#[derive(Debug)]
pub struct Overlay {
    space: Arc<MountSpace>,
    dir: Utf8PathBuf,
    at: Utf8PathBuf,
    /// The number of layers.
    layers: usize,
    /// The number of directories with changes that stay as they are.
    below: usize,
    /// The number in the name of the directory that is being changed.
    upper: usize,
    /// The number of mounts that were made.
    mounts: usize,
    /// The number of the present mount.
    mounted: Option<u64>,
}

impl Overlay {
    /// Mounts an overlay at a directory. Nothing of the layers may be changed for as long as it is there.
    pub fn mount(
        space: Arc<MountSpace>,
        trials: &Utf8Path,
        at: &Utf8Path,
        layers: &[Utf8PathBuf],
    ) -> io::Result<Self> {
        let dir = secret_dir(trials)?;
        for (number, layer) in layers.iter().enumerate() {
            fs_err::os::unix::fs::symlink(layer, dir.join(format!("l{number}")))?;
        }
        let mut overlay = Overlay {
            space,
            dir,
            at: at.to_owned(),
            layers: layers.len(),
            below: 0,
            upper: 0,
            mounts: 0,
            mounted: None,
        };
        fs_err::create_dir(overlay.changes())?;
        overlay.mount_again()?;
        Ok(overlay)
    }

    /// Returns the directory with the changes of setup and agent.
    pub fn changes(&self) -> Utf8PathBuf {
        self.dir.join("u0")
    }

    /// Returns the way to the workspace, for this process.
    pub fn here(&self) -> Utf8PathBuf {
        self.space.here(&self.at)
    }

    /// Returns the way to the workspace for other programs of the user.
    pub fn elsewhere(&self) -> Utf8PathBuf {
        self.space.elsewhere(&self.at)
    }

    /// Returns the rules that let a process see the workspace.
    pub fn confinement(&self) -> io::Result<Confinement> {
        self.space.confinement()
    }

    /// Returns whether the workspace is this overlay, and nothing is mounted over it.
    pub fn is_intact(&self) -> bool {
        let found = Dir::open_no_link(self.here()).ok();
        self.mounted.is_some() && found.and_then(|dir| dir.meta().mount) == self.mounted
    }

    /// Takes the overlay away. The changes stay.
    pub fn unmount(&mut self) -> io::Result<()> {
        if self.mounted.take().is_some() {
            self.space.unmount(&self.at)?;
        }
        Ok(())
    }

    /// Mounts the overlay again, with the same changes.
    pub fn mount_again(&mut self) -> io::Result<()> {
        let work = format!("w{}", self.mounts);
        fs_err::create_dir(self.dir.join(&work))?;
        self.mounts += 1;
        let mut lower: Vec<String> = (0..self.below)
            .rev()
            .map(|number| format!("u{number}"))
            .collect();
        lower.extend((0..self.layers).rev().map(|number| format!("l{number}")));
        let (lower, upper) = (lower.join(":"), self.upper);
        self.space.mount(OverlayMount {
            dir: self.dir.clone(),
            // Nobody needs a workspace after a crash of the machine, so nothing waits for the disk. The names of the
            // attributes are those that everybody may write, and so the same for all users.
            options: format!(
                "lowerdir={lower},upperdir=u{upper},workdir={work},volatile,userxattr"
            ),
            at: self.at.clone(),
        })?;
        self.mounted = Dir::open_no_link(self.here())?.meta().mount;
        Ok(())
    }

    /// Puts a new directory for changes above those that there are. From here on they stay as they are.
    pub fn add_changes(&mut self) -> io::Result<()> {
        self.below = self.upper + 1;
        self.put_new_above()
    }

    /// Forgets the changes since [`Overlay::add_changes`].
    pub fn forget_changes(&mut self) -> io::Result<()> {
        self.unmount()?;
        // What is left of it goes with the rest.
        let _ = remove_and_tell(&self.dir.join(format!("u{}", self.upper)));
        self.put_new_above()
    }

    fn put_new_above(&mut self) -> io::Result<()> {
        self.unmount()?;
        self.upper += 1;
        let upper = self.dir.join(format!("u{}", self.upper));
        fs_err::create_dir(&upper)?;
        // The topmost directory has the permissions of the workspace.
        let below = self.dir.join(format!("u{}", self.below - 1));
        let mode = fs_err::symlink_metadata(below)?.permissions().mode() | 0o700;
        fs_err::set_permissions(&upper, PermissionsExt::from_mode(mode))?;
        self.mount_again()
    }

    /// Empties the workspace.
    pub fn remove_everything(&self) -> io::Result<()> {
        let workspace = Dir::open_no_link(self.here())?;
        Ok(remove_contents(&workspace, &Options::default())?)
    }

    /// Removes the pipes, sockets and devices of setup and agent from the workspace: a copy has none.
    pub fn remove_what_has_no_copy(&self) -> io::Result<()> {
        let workspace = Dir::open_no_link(self.here())?;
        for (path, meta) in list(&workspace, &Options::default())? {
            if meta.kind == Kind::Other {
                workspace.remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// Mounts the workspace as the agent left it.
    pub fn drop_changes_of_tests(&mut self) -> io::Result<()> {
        self.unmount()?;
        (self.below, self.upper) = (0, 0);
        self.mount_again()
    }

    /// Takes the overlay and the changes away. Returns a line for each thing that could not be removed.
    pub fn remove(&mut self) -> Vec<String> {
        // One that cannot be unmounted goes with the namespace.
        let _ = self.unmount();
        remove_and_tell(&self.dir)
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        self.remove();
    }
}
