//! The decision how the workspaces of a run are made: mounted or copied.

use std::io;
use std::sync::{Arc, OnceLock};

use camino::Utf8Path;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use terca_core::config::sandbox::ContainedBy;

use crate::process::confine::Confinement;
use crate::process::fixed_root::FixedRoot;
use crate::process::mount_space::MountSpace;
use crate::process::supervise::Launcher;
use crate::tree;
use crate::workspace::merged_layers::MergedLayers;
use crate::workspace::overlay::Overlay;
use crate::workspace::own_dirs::remove_and_tell;
use crate::workspace::trial_dirs::WorkDir;

/// The environment variable that decides: `overlay` or `copy`.
pub const VARIABLE: &str = "TERCA_WORKSPACES";
/// Fewer files are copied faster than they are mounted.
const LEAST_ENTRIES: u64 = 100;
/// So are fewer bytes.
const LEAST_BYTES: u64 = 4 << 20;

/// The wish of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wish {
    /// Mounts where it is possible, and pays, and changes nothing for the commands.
    #[default]
    Auto,
    /// Mounts wherever it is possible.
    Overlay,
    /// Copies.
    Copy,
}

impl Wish {
    /// Reads the value of [`VARIABLE`]. An unknown one is an error.
    pub fn read(value: Option<&str>) -> Result<Self, String> {
        match value.unwrap_or_default() {
            "" | "auto" => Ok(Wish::Auto),
            "overlay" => Ok(Wish::Overlay),
            "copy" => Ok(Wish::Copy),
            other => Err(format!(
                "{VARIABLE}={other} is not a way to make workspaces: it can be `auto`, `overlay` or `copy`"
            )),
        }
    }
}

/// The way in which the workspaces of a run are made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkspacesMade {
    /// Those with many files are mounted, the others copied.
    Mounted,
    /// They are copied: the reason why they are not mounted, and whether the copies share their blocks.
    Copied {
        /// The reason, in words.
        reason: String,
        /// Copies share their blocks with the originals until one of them is changed.
        by_reflink: bool,
    },
}

/// The workspaces of a run that are mounted.
#[derive(Debug)]
pub struct Overlays {
    wish: Wish,
    launcher: Arc<Launcher>,
    /// The namespace, or the reason why there is none. It is made when it is first needed.
    space: OnceLock<Result<Arc<MountSpace>, String>>,
    /// Commands outside of a sandbox can be shown a directory at another path.
    shows: OnceLock<bool>,
}

impl Overlays {
    /// Makes nothing yet.
    pub fn new(wish: Wish, launcher: Arc<Launcher>) -> Self {
        Overlays {
            wish,
            launcher,
            space: OnceLock::new(),
            shows: OnceLock::new(),
        }
    }

    /// Returns the namespace, once it was tried whether overlays can be mounted in the work directory.
    fn tried(&self, work: &WorkDir) -> &Result<Arc<MountSpace>, String> {
        self.space.get_or_init(|| match self.wish {
            Wish::Copy => Err(format!("{VARIABLE} is `copy`")),
            Wish::Auto | Wish::Overlay => MountSpace::make(&self.launcher)
                .map(Arc::new)
                .and_then(|space| try_out(&space, work).map(|()| space))
                .map_err(|error| error.to_string()),
        })
    }

    /// Returns the way in which workspaces are made.
    pub fn made(&self, work: &WorkDir) -> WorkspacesMade {
        match self.tried(work) {
            Ok(_) => WorkspacesMade::Mounted,
            Err(reason) => WorkspacesMade::Copied {
                reason: reason.clone(),
                by_reflink: work.new_dir().is_ok_and(|dir| shares_blocks(&dir)),
            },
        }
    }

    /// Returns whether the workspace of a trial that is contained so may be mounted. A container has mounts of its own.
    ///
    /// Commands of another user than root are in a user namespace then. In a sandbox they are in one anyway. Without, it is
    /// not made unasked: `sudo` does not work there, and `ssh` distrusts the machine's settings.
    pub fn may_mount(&self, contained_by: ContainedBy) -> bool {
        let changes_nothing = geteuid().is_root() || contained_by != ContainedBy::None;
        let is_wanted = match self.wish {
            Wish::Auto => changes_nothing,
            Wish::Overlay => true,
            Wish::Copy => false,
        };
        is_wanted && !contained_by.is_container()
    }

    /// Returns the namespace for workspaces.
    pub fn space(&self, work: &WorkDir) -> Option<Arc<MountSpace>> {
        self.tried(work).as_ref().ok().cloned()
    }

    /// Returns whether commands that are contained so can find the directory of their trial at its fixed path.
    pub fn can_show(&self, contained_by: ContainedBy, work: &WorkDir) -> bool {
        matches!(contained_by, ContainedBy::Bwrap)
            || contained_by.is_container()
            || *self.shows.get_or_init(|| self.try_to_show(work).is_some())
    }

    fn try_to_show(&self, work: &WorkDir) -> Option<()> {
        let shown = work.shown_root();
        fs_err::create_dir_all(&shown).ok()?;
        let real = work.new_dir().ok()?;
        let confinement = Confinement {
            fixed_root: Some(FixedRoot {
                real,
                shown,
                workspace: None,
            }),
            ..Confinement::default()
        };
        self.launcher.can_confine(&confinement).then_some(())
    }

    /// Returns whether mounting these layers costs less than copying them.
    pub fn pays(&self, layers: &MergedLayers) -> bool {
        let (entries, bytes) = layers.measure();
        let is_large = entries >= LEAST_ENTRIES || bytes >= LEAST_BYTES;
        // An overlay needs a layer.
        !layers.names.is_empty() && (is_large || self.wish == Wish::Overlay)
    }
}

/// Returns whether copies of files in a directory share their blocks.
fn shares_blocks(dir: &Utf8Path) -> bool {
    let [from, to] = ["from", "to"].map(|name| dir.join(name));
    let tried = fs_err::write(&from, "x").and_then(|()| {
        let (from, to) = (fs_err::File::open(&from)?, fs_err::File::create(&to)?);
        Ok(tree::can_share(from.file(), to.file()))
    });
    remove_and_tell(dir);
    tried.unwrap_or(false)
}

/// Mounts an overlay, and does in it what not every file system can: a directory takes the place of another.
fn try_out(space: &Arc<MountSpace>, work: &WorkDir) -> io::Result<()> {
    let trial = work.new_dir()?;
    let tried = try_in(space, &trial);
    remove_and_tell(&trial);
    tried
}

fn try_in(space: &Arc<MountSpace>, trial: &Utf8Path) -> io::Result<()> {
    let tree = trial.join("layer");
    let at = trial.join("at");
    fs_err::create_dir_all(tree.join("dir"))?;
    fs_err::write(tree.join("dir/file"), "before")?;
    fs_err::create_dir(&at)?;
    let overlay = Overlay::mount(space.clone(), trial, &at, &[tree])?;
    let here = overlay.here();
    fs_err::write(here.join("dir/file"), "after")?;
    fs_err::remove_file(here.join("dir/file"))?;
    fs_err::remove_dir(here.join("dir"))?;
    fs_err::create_dir(here.join("dir"))?;
    match here.join("dir/file").exists() {
        false => Ok(()),
        true => Err(io::Error::other(
            "the file system of the work directory has no attributes",
        )),
    }
}
