//! The directories in which trials live while they run, outside the suite and outside the user's home.
//!
//! Agents read rules, settings and git state of every directory above the one they run in. So a workspace is under
//! `$TERCA_WORK_DIR`, else in a private directory under `/var/tmp`, on a path that has a number and no names: the agent
//! does not learn which experiment it is in. `crate::trial` lists what else keeps trials apart.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent;

use crate::workspace::removal::remove_and_tell;
use crate::workspace::stale_dirs;
use crate::workspace::stale_dirs::{Draft, private_dir};

/// The directory for all trials of one run. Removed with the value or, if Terca dies first, by the next run.
#[derive(Debug)]
pub struct WorkDir {
    path: Utf8PathBuf,
    /// The directory itself, locked for as long as its run lives.
    _lock: Option<File>,
    left_by_others: Vec<String>,
}

impl WorkDir {
    /// Makes a new directory, in the chosen one if there is a choice. Removes what dead runs have left there.
    pub fn create(chosen: Option<&str>) -> io::Result<Self> {
        let parent = parent(chosen)?;
        nothing_to_read_above(&parent)?;
        let left_by_others = stale_dirs::remove_all(&parent);
        let mut work = WorkDir::in_parent(&parent)
            .map_err(|error| io::Error::new(error.kind(), format!("{parent}: {error}")))?;
        work.left_by_others = left_by_others;
        Ok(work)
    }

    /// Returns a line for each thing of dead runs that could not be removed.
    pub fn left_by_others(&self) -> &[String] {
        &self.left_by_others
    }

    /// Removes the directory, and returns a line for each thing that could not be removed.
    pub fn remove(&self) -> Vec<String> {
        remove_and_tell(&self.path)
    }

    /// Removes what dead runs have left, and makes no new directory. Returns a line for each thing that could not be
    /// removed.
    pub fn remove_stale(chosen: Option<&str>) -> io::Result<Vec<String>> {
        Ok(stale_dirs::remove_all(&parent(chosen)?))
    }

    fn in_parent(parent: &Utf8Path) -> io::Result<Self> {
        let draft = Draft::create(parent)?;
        // Drawn from four thousand million; a name that is taken has something in it, and is refused.
        let path = parent.join(format!("{}{:08x}", stale_dirs::NAME, fastrand::u32(..)));
        let lock = draft.publish(&path)?;
        Ok(WorkDir {
            path,
            _lock: lock,
            left_by_others: Vec::new(),
        })
    }

    /// Makes the directories of a trial.
    pub fn trial_dirs(&self, trial: u32) -> io::Result<TrialDirs> {
        TrialDirs::create(self.path.join(trial.to_string()))
    }

    /// Makes directories for another agent of a trial, a judge, which must not meet what the trial's agent left,
    /// neither beside its directories nor above them.
    pub fn trial_dirs_apart(&self, trial: u32) -> io::Result<TrialDirs> {
        nothing_to_read_above(&self.path)?;
        TrialDirs::create(
            self.path
                .join(format!("{trial}-{:016x}", fastrand::u64(..))),
        )
    }
}

/// Returns the directory in which all runs have theirs.
fn parent(chosen: Option<&str>) -> io::Result<Utf8PathBuf> {
    let Some(dir) = chosen.filter(|dir| !dir.is_empty()) else {
        return private_parent();
    };
    std::fs::create_dir_all(dir)
        .and_then(|()| std::fs::canonicalize(dir))
        .map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("{dir} (TERCA_WORK_DIR) cannot be made: {error}"),
            )
        })
        .and_then(|dir| {
            Utf8PathBuf::from_path_buf(dir)
                .map_err(|_| io::Error::other("the work directory is not UTF-8"))
        })
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        self.remove();
    }
}

/// The private directories of one trial. They are removed with the value.
#[derive(Debug)]
pub struct TrialDirs {
    /// The directory that has all others.
    pub root: Utf8PathBuf,
    /// The directory that the agent works in.
    pub workspace: Utf8PathBuf,
    /// The home of set-up and tests.
    pub home: Utf8PathBuf,
    /// The home of the agent, which begins as a copy of the other after set-up. Settings that the agent writes there
    /// could change how programs behave; they do not reach the tests.
    pub agent_home: Utf8PathBuf,
    /// The home of `prepare`, in the trial that executes it.
    pub layer_home: Utf8PathBuf,
    /// The temporary directory of set-up and agent.
    pub tmp: Utf8PathBuf,
    /// The temporary directory of the tests.
    pub tests_tmp: Utf8PathBuf,
    /// The files that commands read and write through Terca.
    pub io: Utf8PathBuf,
    /// The files as they were before the agent started, where no layer has them.
    pub before: Utf8PathBuf,
    /// The workspace as the agent left it, put aside while the tests run on a copy in its place.
    pub left: Utf8PathBuf,
}

/// The directories that a command finds in its environment.
#[derive(Debug, Clone, Copy)]
pub struct CommandDirs<'a> {
    /// Its home.
    pub home: &'a Utf8Path,
    /// The directory for its temporary files.
    pub tmp: &'a Utf8Path,
    /// The trial's workspace.
    pub workspace: &'a Utf8Path,
}

impl TrialDirs {
    fn create(root: Utf8PathBuf) -> io::Result<Self> {
        private_dir(&root)?;
        let dirs = TrialDirs {
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
            &dirs.workspace,
            &dirs.home,
            &dirs.agent_home,
            &dirs.tmp,
            &dirs.tests_tmp,
            &dirs.io,
        ] {
            fs_err::create_dir(dir)?;
        }
        Ok(dirs)
    }

    /// Removes the directories, and returns a line for each thing that could not be removed.
    pub fn remove(&self) -> Vec<String> {
        remove_and_tell(&self.root)
    }

    /// Returns the directories for commands of `before`.
    pub fn for_setup(&self) -> CommandDirs<'_> {
        CommandDirs {
            home: &self.home,
            tmp: &self.tmp,
            workspace: &self.workspace,
        }
    }

    /// Returns the directories for `prepare`, whose home is used once and removed.
    pub fn for_layer(&self) -> CommandDirs<'_> {
        CommandDirs {
            home: &self.layer_home,
            ..self.for_setup()
        }
    }

    /// Returns the directories for the agent.
    pub fn for_agent(&self) -> CommandDirs<'_> {
        CommandDirs {
            home: &self.agent_home,
            ..self.for_setup()
        }
    }

    /// Returns the directories for tests.
    pub fn for_tests(&self) -> CommandDirs<'_> {
        CommandDirs {
            tmp: &self.tests_tmp,
            ..self.for_setup()
        }
    }
}

impl Drop for TrialDirs {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Names that agents and their tools read in any directory above, beside those of the agents' profiles.
const READ_BY_TOOLS: &[&str] = &[".git", ".env"];

/// Refuses a directory below one with files that agents read: not every agent can be kept from looking.
fn nothing_to_read_above(dir: &Utf8Path) -> io::Result<()> {
    let of_agents = agent::profiles().flat_map(|profile| profile.read_above);
    let names: BTreeSet<&str> = of_agents.chain(READ_BY_TOOLS).copied().collect();
    for above in dir.ancestors() {
        if let Some(name) = names
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

/// Returns `/var/tmp/terca-UID`, and refuses one that is not ours: the place is open to everybody.
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
