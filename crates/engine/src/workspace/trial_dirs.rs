//! Where trials live while they run: outside the suite and outside the user's home.
//!
//! Agents read rules, settings and git state of every directory above the one they run in. So a workspace lies under
//! `$TERCA_WORK_DIR`, else in a private directory under `/var/tmp`, on a path that carries a number and no names: the
//! agent cannot tell which experiment it is in. `crate::trial` tells what else keeps trials apart.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};

use crate::workspace::stale_dirs;
use crate::workspace::stale_dirs::{Draft, private_dir};
use crate::workspace::tree;

/// The directory of one run's rooms. Removed with the value; if Terca dies first, by the next that starts.
#[derive(Debug)]
pub struct WorkDir {
    path: Utf8PathBuf,
    /// The directory itself, locked for as long as its run lives.
    _lock: Option<File>,
}

impl WorkDir {
    pub fn create(chosen: Option<&str>) -> io::Result<Self> {
        let parent = parent(chosen)?;
        nothing_to_read_above(&parent)?;
        stale_dirs::remove_all(&parent);
        WorkDir::in_parent(&parent)
            .map_err(|error| io::Error::new(error.kind(), format!("{parent}: {error}")))
    }

    /// Removes what dead runs have left, for whoever needs no directory of its own.
    pub fn remove_stale(chosen: Option<&str>) -> io::Result<()> {
        stale_dirs::remove_all(&parent(chosen)?);
        Ok(())
    }

    fn in_parent(parent: &Utf8Path) -> io::Result<Self> {
        let draft = Draft::create(parent)?;
        // Drawn from four thousand million; a name that is taken has something in it, and is refused.
        let path = parent.join(format!("{}{:08x}", stale_dirs::NAME, fastrand::u32(..)));
        let lock = draft.publish(&path)?;
        Ok(WorkDir { path, _lock: lock })
    }

    /// A fresh room for a trial.
    pub fn room(&self, trial: u32) -> io::Result<Room> {
        room_at(self.path.join(trial.to_string()))
    }

    /// A fresh room for somebody who is not to meet what the trial's agent left, neither where it was nor above.
    pub fn room_apart(&self, trial: u32) -> io::Result<Room> {
        nothing_to_read_above(&self.path)?;
        room_at(
            self.path
                .join(format!("{trial}-{:016x}", fastrand::u64(..))),
        )
    }
}

/// Where all runs have their directories.
fn parent(chosen: Option<&str>) -> io::Result<Utf8PathBuf> {
    let Some(dir) = chosen.filter(|dir| !dir.is_empty()) else {
        return private_parent();
    };
    let named = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("{dir} (TERCA_WORK_DIR) cannot be made: {error}"),
        )
    };
    std::fs::create_dir_all(dir).map_err(named)?;
    Utf8PathBuf::from_path_buf(std::fs::canonicalize(dir).map_err(named)?)
        .map_err(|_| io::Error::other("the work directory is not UTF-8"))
}

fn room_at(root: Utf8PathBuf) -> io::Result<Room> {
    private_dir(&root)?;
    let room = Room {
        workspace: root.join("workspace"),
        home: root.join("home"),
        agent_home: root.join("agent"),
        layer_home: root.join("layer"),
        tmp: root.join("tmp"),
        tests_tmp: root.join("tests-tmp"),
        io: root.join("io"),
        before: root.join("before"),
        // Not to be foreseen, so that the agent cannot put something there first.
        left: root.join(format!("left-{:016x}", fastrand::u64(..))),
        root,
    };
    for dir in [
        &room.workspace,
        &room.home,
        &room.agent_home,
        &room.tmp,
        &room.tests_tmp,
        &room.io,
    ] {
        fs_err::create_dir(dir)?;
    }
    Ok(room)
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        let _ = tree::remove(&self.path);
    }
}

/// The private directories of one trial.
#[derive(Debug)]
pub struct Room {
    pub root: Utf8PathBuf,
    pub workspace: Utf8PathBuf,
    /// The home of set-up and of the tests.
    pub home: Utf8PathBuf,
    /// The home of the agent: a copy of what set-up made of the other. What the agent does to it, settings that
    /// change how programs behave above all, does not reach the tests.
    pub agent_home: Utf8PathBuf,
    /// The home of `prepare`, where this trial is the one that carries it out.
    pub layer_home: Utf8PathBuf,
    pub tmp: Utf8PathBuf,
    pub tests_tmp: Utf8PathBuf,
    /// What commands read and write.
    pub io: Utf8PathBuf,
    /// Files as they were before the agent started, where no layer has them.
    pub before: Utf8PathBuf,
    /// The workspace as the agent left it, put aside while the tests run on a copy in its place.
    pub left: Utf8PathBuf,
}

/// Where a command finds its home and puts its temporary files.
#[derive(Debug, Clone, Copy)]
pub struct Dirs<'a> {
    pub home: &'a Utf8Path,
    pub tmp: &'a Utf8Path,
    pub workspace: &'a Utf8Path,
}

impl Room {
    pub fn for_setup(&self) -> Dirs<'_> {
        Dirs {
            home: &self.home,
            tmp: &self.tmp,
            workspace: &self.workspace,
        }
    }

    /// For what is done once for many trials: a home of its own, of which nothing stays.
    pub fn for_layer(&self) -> Dirs<'_> {
        Dirs {
            home: &self.layer_home,
            ..self.for_setup()
        }
    }

    pub fn for_agent(&self) -> Dirs<'_> {
        Dirs {
            home: &self.agent_home,
            ..self.for_setup()
        }
    }

    pub fn for_tests(&self) -> Dirs<'_> {
        Dirs {
            tmp: &self.tests_tmp,
            ..self.for_setup()
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = tree::remove(&self.root);
    }
}

/// What agents read of the directories above the one they work in: rules, settings, skills, secrets, history.
const READ_BY_AGENTS: &[&str] = &[
    "AGENTS.md",
    "AGENTS.MD",
    "CLAUDE.md",
    "CLAUDE.MD",
    "CLAUDE.local.md",
    "GEMINI.md",
    "QWEN.md",
    ".goosehints",
    ".env",
    ".mcp.json",
    "opencode.json",
    "opencode.jsonc",
    ".git",
    ".claude",
    ".codex",
    ".gemini",
    ".qwen",
    ".opencode",
    ".agents",
    ".goose",
    ".pi",
    "kilo.json",
    "kilo.jsonc",
    ".kilo",
    ".kilocode",
    ".factory",
];

/// Not every agent can be kept from looking, so there must be nothing to find.
fn nothing_to_read_above(dir: &Utf8Path) -> io::Result<()> {
    for above in dir.ancestors() {
        if let Some(name) = READ_BY_AGENTS
            .iter()
            .find(|name| above.join(name).symlink_metadata().is_ok())
        {
            return Err(io::Error::other(format!(
                "trials would run below {above}, which has {name}: agents read that"
            )));
        }
    }
    Ok(())
}

/// `/var/tmp/terca-UID`, which must be a directory of ours: the place is open to everybody.
fn private_parent() -> io::Result<Utf8PathBuf> {
    let user = rustix::process::getuid().as_raw();
    let path = Utf8PathBuf::from(format!("/var/tmp/terca-{user}"));
    match private_dir(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(io::Error::new(
                error.kind(),
                format!("{path} cannot be made: {error}"),
            ));
        }
        _ => {}
    }
    let found = fs_err::symlink_metadata(&path)?;
    if !found.is_dir() || found.uid() != user {
        return Err(io::Error::other(format!("{path} belongs to somebody else")));
    }
    Ok(path)
}
