//! The folder of a trial in its run. The agent and the tests run as the user, and may have put links or pipes in it, or
//! removed what is there.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::plan::TrialSpec;

use super::attempts;
use super::context::Context;
use super::log::RunLog;
use crate::tree::{Dir, Options};
use crate::workspace::saved::{CHANGES, WORKSPACE};
use crate::workspace::trial_dirs::TrialDirs;

const ARTIFACTS: &str = "artifacts";
const LOG: &str = "run.log";
/// Made for every trial, so that readers need not ask whether they exist.
const EVERY_TRIAL_HAS: [&str; 2] = ["transcript.jsonl", "changes.diff"];
/// A trial's folder has about ten entries.
const MOST_ENTRIES: u64 = 100_000;

/// The folder of a trial in its run.
#[derive(Debug)]
pub(super) struct TrialFolder {
    /// Its absolute path.
    pub path: Utf8PathBuf,
    run_dir: Utf8PathBuf,
    /// The directory of the suite, which has that of the run.
    suite_dir: Utf8PathBuf,
    /// Its path in the run.
    within: Utf8PathBuf,
    /// The workspace in it is one that was saved, and stays as it is.
    has_saved_workspace: bool,
    /// The beginning of the paths of logs, in the folder.
    logs: String,
}

impl TrialFolder {
    fn new(spec: &TrialSpec, context: &Context) -> Self {
        TrialFolder {
            path: context.run_dir.join(&spec.dir),
            run_dir: context.run_dir.clone(),
            suite_dir: context.suite_dir.clone(),
            within: spec.dir.clone(),
            has_saved_workspace: false,
            logs: format!("{ARTIFACTS}/"),
        }
    }

    /// Makes the folder for an attempt, with its log.
    pub(super) fn create(
        spec: &TrialSpec,
        attempt: u32,
        context: &Context,
    ) -> io::Result<(Self, RunLog)> {
        TrialFolder::new(spec, context).unlock_above()?;
        let run_dir = Dir::open_no_link(&context.run_dir)?;
        attempts::clear(&run_dir, &spec.dir, attempt)?;
        let made = run_dir.create_dir_all(&spec.dir, 0o777)?;
        made.create_dir(ARTIFACTS, 0o777)?;
        let log = RunLog::new(made.create_file(LOG, 0o666)?, &context.mask);
        for name in EVERY_TRIAL_HAS {
            made.create_file(name, 0o666)?;
        }
        Ok((TrialFolder::new(spec, context), log))
    }

    /// Opens the folder of a trial that ran before, with a log for a new grading. The rest of it stays as it is.
    pub(super) fn reopen(
        spec: &TrialSpec,
        grading: u32,
        context: &Context,
    ) -> io::Result<(Self, RunLog)> {
        // The run may have come from somebody else: no link is followed, and nothing waits for a pipe.
        let logs = Dir::open_no_link(&context.run_dir)?
            .open_dir(&spec.dir)?
            .create_dir_all("gradings", 0o777)?;
        let name = format!("{grading:02}.log");
        logs.remove_file(&name)?;
        let log = RunLog::new(logs.create_file(&name, 0o666)?, &context.mask);
        let folder = TrialFolder {
            has_saved_workspace: true,
            logs: format!("gradings/{grading:02}."),
            ..TrialFolder::new(spec, context)
        };
        Ok((folder, log))
    }

    /// Returns the directory for files that are kept beside the workspace.
    pub(super) fn artifacts(&self) -> Utf8PathBuf {
        self.path.join(ARTIFACTS)
    }

    /// Returns the file with the output of a service.
    pub(super) fn service_log(&self, service: &str) -> Utf8PathBuf {
        self.path
            .join(format!("{}service-{service}.log", self.logs))
    }

    /// Returns the log of the trial, which is not the one of a later grading.
    pub(super) fn log(&self) -> Utf8PathBuf {
        self.path.join(LOG)
    }

    /// Returns the file with the agent's steps.
    pub(super) fn transcript(&self) -> Utf8PathBuf {
        self.path.join("transcript.jsonl")
    }

    /// Returns the file with the agent's changes.
    pub(super) fn diff(&self) -> Utf8PathBuf {
        self.path.join("changes.diff")
    }

    /// Makes a link to the workspace: the live one can be watched where it will be in the end.
    pub(super) fn link_workspace(&self, dirs: &TrialDirs) -> io::Result<()> {
        let link = self.path.join(WORKSPACE);
        if link.is_symlink() {
            fs_err::remove_file(&link)?;
        }
        fs_err::os::unix::fs::symlink(dirs.elsewhere(), link)
    }

    /// Gives their owner the right to the trial's own directories back. A test runs the agent's work, which could take it
    /// away and so keep the next test from being run.
    pub(super) fn unlock(&self, dirs: &TrialDirs) -> io::Result<()> {
        let artifacts = self.artifacts();
        let around = dirs.workspace.parent();
        let own = [&dirs.here(), &dirs.home, &dirs.tmp, &dirs.io, &artifacts];
        let own = own.into_iter().map(Utf8PathBuf::as_path);
        for dir in around.into_iter().chain(own) {
            unlock(dir)?;
        }
        Ok(())
    }

    /// Gives their owner the right to the directories above the trial's back: an agent without walls can take it away, and so
    /// keep trials from being judged.
    fn unlock_above(&self) -> io::Result<()> {
        let place = self.run_dir.join(&self.within);
        let all = place.ancestors();
        let own = all.take_while(|dir| dir.starts_with(&self.suite_dir));
        let own: Vec<&Utf8Path> = own.collect();
        // The suite's own directory is the user's, and may be one that cannot be written.
        let own = own.into_iter().rev();
        own.filter(|dir| *dir != self.suite_dir || dir.read_dir_utf8().is_err())
            .try_for_each(unlock)
    }

    /// Puts the folder in order, before Terca reads or writes in it again.
    pub(super) fn tidy(&self, dirs: &TrialDirs) -> io::Result<()> {
        self.unlock_above()?;
        self.unlock(dirs)?;
        let run_dir = Dir::open_no_link(&self.run_dir)?;
        let mut path = Utf8PathBuf::new();
        for name in self.within.components() {
            path.push(name);
            make_dir(&run_dir, &path)?;
        }
        let folder = run_dir.open_dir(&path)?;
        make_dir(&folder, Utf8Path::new(ARTIFACTS))?;
        let artifacts = folder.open_dir(ARTIFACTS)?;
        let has_link = has_link_to_workspace(&folder, dirs);
        for dir in [&folder, &artifacts] {
            for name in dir.names(MOST_ENTRIES)? {
                if has_link && name == WORKSPACE {
                    continue;
                }
                let meta = dir.meta_at(&name)?;
                if meta.is_some_and(|meta| !meta.is_file() && !meta.is_dir()) {
                    dir.remove_file(&name)?;
                }
            }
        }
        for name in EVERY_TRIAL_HAS {
            if folder.meta_at(name)?.is_none_or(|meta| !meta.is_file()) {
                let _removed = folder.remove_tree(name, &Options::default())?;
                folder.create_file(name, 0o666)?;
            }
        }
        if self.has_saved_workspace || has_link {
            return Ok(());
        }
        for name in [WORKSPACE, CHANGES] {
            let _removed = folder.remove_tree(name, &Options::default())?;
        }
        self.link_workspace(dirs)
    }
}

/// Gives the owner of a directory the right to it back. What is in it keeps its permissions.
fn unlock(dir: &Utf8Path) -> io::Result<()> {
    let Ok(meta) = dir.symlink_metadata() else {
        return Ok(());
    };
    let mode = meta.permissions().mode();
    if meta.is_dir() && mode & 0o700 != 0o700 {
        fs_err::set_permissions(dir, Permissions::from_mode(mode | 0o700))?;
    }
    Ok(())
}

/// Makes sure that there is a workspace, and that it can be read. Returns a remark if `who` had removed it.
pub(super) fn restore_workspace(workspace: &Utf8Path, who: &str) -> io::Result<Option<String>> {
    let note = match workspace.symlink_metadata() {
        Ok(meta) if meta.is_dir() => None,
        Ok(_) => {
            fs_err::remove_file(workspace)?;
            Some(format!("{who} replaced its workspace with something else"))
        }
        Err(_) => Some(format!("{who} removed its workspace")),
    };
    if note.is_some() {
        fs_err::create_dir(workspace)?;
    }
    unlock(workspace)?;
    Ok(note)
}

/// Returns whether the link to the live workspace is as Terca made it.
fn has_link_to_workspace(folder: &Dir, dirs: &TrialDirs) -> bool {
    let link = rustix::fs::readlinkat(folder, WORKSPACE, Vec::new());
    link.is_ok_and(|to| to.as_bytes() == dirs.workspace.as_str().as_bytes())
}

/// Makes sure that a place beneath a directory is a directory of its own.
fn make_dir(dir: &Dir, path: &Utf8Path) -> io::Result<()> {
    if dir.meta_at(path)?.is_some_and(|meta| !meta.is_dir()) {
        dir.remove_file(path)?;
    }
    dir.create_dir_all(path, 0o777)?;
    Ok(())
}
