//! The workspace of a trial as an overlay: layers that nobody changes, and a directory with the changes above them.
//!
//! ```text
//! t/<name>/          beside the directories of trials
//!   l0, l1, …        links to the layers of the run, lowest first (`base_layers`)
//!   u0               the changes of setup and agent
//!   u1               the changes of the tests, above the agent's
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
    /// The number of directories for changes. The last one is being changed.
    uppers: usize,
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
            uppers: 0,
            mounts: 0,
            mounted: None,
        };
        overlay.add_changes()?;
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
        let mut lower: Vec<String> = (0..self.uppers.saturating_sub(1))
            .rev()
            .map(|number| format!("u{number}"))
            .collect();
        lower.extend((0..self.layers).rev().map(|number| format!("l{number}")));
        let (lower, upper) = (lower.join(":"), self.uppers.saturating_sub(1));
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
        self.unmount()?;
        let upper = self.dir.join(format!("u{}", self.uppers));
        fs_err::create_dir(&upper)?;
        if let Some(below) = self.uppers.checked_sub(1) {
            // The topmost directory has the permissions of the workspace.
            let below = fs_err::symlink_metadata(self.dir.join(format!("u{below}")))?;
            let mode = below.permissions().mode() | 0o700;
            fs_err::set_permissions(&upper, PermissionsExt::from_mode(mode))?;
        }
        self.uppers += 1;
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
        self.uppers = self.uppers.min(1);
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
