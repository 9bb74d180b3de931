//! The directories in which trials live while they run, outside the suite and outside the user's home.
//!
//! Agents read rules, settings and git state of every directory above the one they run in. So a workspace is under
//! `$TERCA_WORK_DIR`, else in a private directory under `/var/tmp`, on a path that has no names: the agent does not
//! learn which experiment it is in. `crate::trial` lists what else keeps trials apart.
//!
//! ```text
//! run-1a2b3c4d/      of one run, locked while it lives, mode 0700
//!   t/               mode 0311: nobody can list it, not even its owner, who would have to change that first
//!     <name>/        of one trial: workspace, home, tmp, io
//!     <name>/        the suite's files as they were at the run's start
//!     <name>/        sealed: the tests' home and the files from before the agent, while it works
//! ```
//!
//! Names cannot be foreseen, so an agent does not come upon other trials or the sealed directory by their paths. The
//! superuser can list everything; [`TrialDirs::take_back`] checks what an agent may have changed.
//!
//! Commands find the trial's directory at a path that all trials have (`crate::process::fixed_root`).
//!
//! Set-up, agent and tests have the same path for their home, because programs that set-up installs there write it
//! down. A copy is sealed after set-up; the agent works in the original, and the copy takes its place when it is gone.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::process::confine::Confinement;
use crate::process::fixed_root::FixedRoot;
use crate::process::mount_space::MountSpace;
use crate::tree::{Dir, Options, TreeError, copy, remove};
use crate::workspace::files_above::{self, FilesAbove};
use crate::workspace::inside::Workspace;
use crate::workspace::overlay::Overlay;
use crate::workspace::own_dirs::{
    PRIVATE, is_shared, make_dir, own_dir, remove_and_tell, secret_dir, secret_name, trusted_dir,
};
use crate::workspace::sealed_dir::SealedDir;
use crate::workspace::stale_dirs;
use crate::workspace::stale_dirs::Draft;

/// The directory in a run's directory that has those of its trials.
const TRIALS: &str = "t";
/// Its permissions: things can be made and found in it, but not listed.
const UNLISTED: u32 = 0o311;
/// The place beside the runs' directories at which the directory of a trial is mounted for its commands.
const SHOWN: &str = "trial";
/// The directory in a trial's directory that the agent works in.
const WORKSPACE: &str = "workspace";

/// The directory for all trials of one run. Removed with the value or, if Terca dies first, by the next run.
#[derive(Debug)]
pub struct WorkDir {
    path: Utf8PathBuf,
    above: FilesAbove,
    /// The directory itself, locked for as long as its run lives.
    _lock: Option<File>,
    left_by_others: Vec<String>,
}

impl WorkDir {
    /// Makes a new directory, in the chosen one if there is a choice. Removes what dead runs have left there.
    pub fn create(chosen: Option<&str>) -> io::Result<Self> {
        let parent = WorkDir::parent(chosen)?;
        files_above::nothing_for_agents(&parent)?;
        starts_programs(&parent)?;
        let left_by_others = stale_dirs::remove_all(&parent);
        let mut work = WorkDir::in_parent(&parent)
            .map_err(|error| io::Error::new(error.kind(), format!("{parent}: {error}")))?;
        work.left_by_others = left_by_others;
        Ok(work)
    }

    /// Returns the directory in which all runs have theirs: the chosen one, or one of this user's own in it where others
    /// use it too.
    pub fn parent(chosen: Option<&str>) -> io::Result<Utf8PathBuf> {
        let chosen = chosen.filter(|dir| !dir.is_empty());
        let dir = trusted_dir(Utf8Path::new(chosen.unwrap_or("/var/tmp")));
        let dir = dir.map_err(|error| match chosen {
            Some(chosen) => io::Error::new(
                error.kind(),
                format!("{chosen} (TERCA_WORK_DIR) cannot be used: {error}"),
            ),
            None => error,
        })?;
        match is_shared(&dir)? {
            true => own_dir(&dir),
            false => Ok(dir),
        }
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
        Ok(stale_dirs::remove_all(&WorkDir::parent(chosen)?))
    }

    fn in_parent(parent: &Utf8Path) -> io::Result<Self> {
        let draft = Draft::create(parent, PRIVATE)?;
        make_dir(&draft.path().join(TRIALS), UNLISTED)?;
        // Drawn from four thousand million; a name that is taken has something in it, and is refused.
        let path = parent.join(format!("{}{:08x}", stale_dirs::NAME, fastrand::u32(..)));
        let (path, lock) = draft.publish([path])?;
        let above = FilesAbove::of(parent);
        Ok(WorkDir {
            path,
            above,
            _lock: lock,
            left_by_others: Vec::new(),
        })
    }

    /// Returns the number of the run on this machine: the end of the directory's name.
    pub fn number(&self) -> &str {
        let name = self.path.file_name().unwrap_or_default();
        name.strip_prefix(stale_dirs::NAME).unwrap_or(name)
    }

    /// Keeps a list of the places at which the run makes control groups, for whoever finds it dead.
    pub fn list_cgroups(&self, list: &str) -> io::Result<()> {
        fs_err::write(self.path.join(stale_dirs::CGROUPS), list)
    }

    /// Returns the path at which commands find the directory of their trial, in this run as in all others.
    pub fn shown_root(&self) -> Utf8PathBuf {
        self.path.with_file_name(SHOWN)
    }

    /// Makes a directory of the run's own, under a name that nobody can foresee.
    pub fn new_dir(&self) -> io::Result<Utf8PathBuf> {
        secret_dir(&self.path.join(TRIALS))
    }

    /// Makes the directories of a trial.
    pub fn trial_dirs(&self) -> io::Result<TrialDirs> {
        TrialDirs::create(&self.path.join(TRIALS))
    }

    /// Makes directories for another agent of a trial, a judge, which must not meet what the trial's agent left,
    /// neither beside its directories nor above them.
    pub fn trial_dirs_apart(&self) -> io::Result<TrialDirs> {
        self.clear_above();
        let trials = self.path.join(TRIALS);
        files_above::nothing_for_agents(&trials)?;
        TrialDirs::create(&trials)
    }

    /// Makes sure that no agent has left files above the directories of trials for the tools of tests to read.
    pub fn check_above(&self) -> io::Result<()> {
        self.clear_above();
        self.above.check()
    }

    /// Removes such files from the run's own directories, which are nobody else's.
    fn clear_above(&self) {
        files_above::clear(&self.path);
        files_above::clear(&self.path.join(TRIALS));
    }
}

/// Takes back the rights to the directories above a trial. Without namespaces an agent can take them away, from all trials.
fn open_above(trials: &Utf8Path) {
    let above: Vec<&Utf8Path> = trials.ancestors().take(3).collect();
    for dir in above.into_iter().rev() {
        let needed = if dir == trials { UNLISTED } else { PRIVATE };
        let meta = dir.symlink_metadata();
        let mode = meta.map_or(needed, |meta| meta.permissions().mode());
        if mode & needed != needed {
            // One that stays closed is told by the next step.
            let _ = std::fs::set_permissions(dir, Permissions::from_mode(mode | needed));
        }
    }
}

/// Refuses a directory in which nothing that an agent builds, and no script, could be started.
#[cfg(target_os = "linux")]
fn starts_programs(dir: &Utf8Path) -> io::Result<()> {
    use rustix::fs::StatVfsMountFlags;
    let system = rustix::fs::statvfs(dir.as_std_path())?;
    if system.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        let words = format!("no program can be started in {dir}: it is mounted `noexec`");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, words));
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn starts_programs(_: &Utf8Path) -> io::Result<()> {
    Ok(())
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
    /// The home of set-up, agent and tests. The agent's is taken away before the tests: settings that it wrote there
    /// could change how programs behave.
    pub home: Utf8PathBuf,
    /// The home of `prepare`, in the trial that executes it.
    pub layer_home: Utf8PathBuf,
    /// The temporary directory of set-up and agent.
    pub tmp: Utf8PathBuf,
    /// The files that commands read and write through Terca.
    pub io: Utf8PathBuf,
    /// The workspace as the agent left it, put aside while the tests run on a copy in its place.
    pub left: Utf8PathBuf,
    /// The home as set-up left it, while the tests work on copies of it.
    pub home_left: Utf8PathBuf,
    /// The temporary directory of the tests, which is not there before [`TrialDirs::begin_test`].
    tests_tmp: Utf8PathBuf,
    /// The path at which commands find `root`, where it is another.
    pub fixed_root: Option<FixedRoot>,
    /// The device and number of `root`, by which it is known.
    identity: (u64, u64),
    /// The directory above, which has the directories of all trials.
    trials: Utf8PathBuf,
    sealed: Option<SealedDir>,
    /// The workspace, where it is mounted.
    overlay: Option<Overlay>,
    /// Directories that the agent had, to be removed with the rest.
    asides: Vec<Utf8PathBuf>,
    /// The directories are not there any more.
    is_removed: bool,
}

/// The reason why a workspace that is a mount cannot be judged.
pub const MOUNTED: &str = "the agent mounted something over its workspace";

/// The state of a trial's directories after its agent is gone.
#[derive(Debug, Default)]
pub struct TakenBack {
    /// Remarks that change no verdict.
    pub notes: Vec<String>,
    /// The agent changed what was put away for the tests, so that its work cannot be trusted to any test.
    pub breach: Option<String>,
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
    fn create(trials: &Utf8Path) -> io::Result<Self> {
        open_above(trials);
        let root = secret_dir(trials)?;
        let meta = fs_err::symlink_metadata(&root)?;
        let dirs = TrialDirs {
            workspace: root.join(WORKSPACE),
            home: root.join("home"),
            layer_home: root.join("layer"),
            tmp: root.join("tmp"),
            io: root.join("io"),
            left: root.join(format!("left-{}", secret_name()?)),
            home_left: root.join(format!("home-{}", secret_name()?)),
            tests_tmp: root.join(format!("tmp-{}", secret_name()?)),
            fixed_root: None,
            identity: (meta.dev(), meta.ino()),
            trials: trials.to_owned(),
            sealed: None,
            overlay: None,
            asides: Vec::new(),
            is_removed: false,
            root,
        };
        for dir in [&dirs.workspace, &dirs.home, &dirs.tmp, &dirs.io] {
            fs_err::create_dir(dir)?;
        }
        Ok(dirs)
    }

    /// Makes the workspace an overlay of layers, lowest first. It must be empty.
    pub fn mount(&mut self, space: Arc<MountSpace>, base: &[Utf8PathBuf]) -> io::Result<()> {
        self.overlay = Some(Overlay::mount(space, &self.trials, &self.workspace, base)?);
        Ok(())
    }

    /// Returns the way to the workspace, for this process. Commands of the trial find it at [`TrialDirs::workspace`].
    pub fn here(&self) -> Utf8PathBuf {
        match &self.overlay {
            Some(overlay) => overlay.here(),
            None => self.workspace.clone(),
        }
    }

    /// Returns the way to the workspace for other programs of the user.
    pub fn elsewhere(&self) -> Utf8PathBuf {
        match &self.overlay {
            Some(overlay) => overlay.elsewhere(),
            None => self.workspace.clone(),
        }
    }

    /// Returns both ways to the workspace, by which links in it are followed.
    pub fn paths(&self) -> Workspace {
        let shown = match &self.fixed_root {
            Some(root) => root.path(&self.workspace),
            None => self.workspace.clone(),
        };
        Workspace::new(&shown, self.here())
    }

    /// Returns the rules by which a command sees the workspace, where it is mounted.
    pub fn mounts(&self) -> Option<io::Result<Confinement>> {
        self.overlay.as_ref().map(Overlay::confinement)
    }

    /// Returns the directory with the changes of a workspace that is mounted.
    pub fn changes(&self) -> Option<Utf8PathBuf> {
        self.overlay.as_ref().map(Overlay::changes)
    }

    /// Sets the agent's work aside, so that tests cannot change it. Returns the place to copy it from, unless the
    /// workspace has it already.
    pub fn set_work_aside(&mut self) -> io::Result<Option<Utf8PathBuf>> {
        if let Some(overlay) = &mut self.overlay {
            overlay.add_changes()?;
            overlay.remove_what_has_no_copy()?;
            return Ok(None);
        }
        fs_err::rename(&self.workspace, &self.left)?;
        fs_err::create_dir(&self.workspace)?;
        Ok(Some(self.left.clone()))
    }

    /// Returns the workspace as the agent left it, for this process. The tests are over.
    pub fn work_left(&mut self) -> io::Result<Utf8PathBuf> {
        if let Some(overlay) = &mut self.overlay {
            overlay.drop_changes_of_tests()?;
            return Ok(overlay.here());
        }
        Ok(match self.left.exists() {
            true => self.left.clone(),
            false => self.workspace.clone(),
        })
    }

    /// Returns the directories with everything that the agent has written, and no copy of it.
    pub fn places_of_agent(&self) -> Vec<Utf8PathBuf> {
        let work = match self.left.exists() {
            true => &self.left,
            false => &self.root,
        };
        let asides = self.asides.iter().cloned();
        asides.chain(self.changes()).chain([work.clone()]).collect()
    }

    /// Unmounts the workspace, so that its changes can be moved.
    pub fn unmount(&mut self) -> io::Result<()> {
        self.overlay.as_mut().map_or(Ok(()), Overlay::unmount)
    }

    /// Removes the directories, and returns a line for each thing that could not be removed.
    pub fn remove(&mut self) -> Vec<String> {
        if std::mem::replace(&mut self.is_removed, true) {
            return Vec::new();
        }
        let mounted = self.overlay.take().map(|mut overlay| overlay.remove());
        let mut left = remove_and_tell(&self.root);
        left.extend(mounted.unwrap_or_default());
        if let Some(sealed) = &self.sealed {
            left.extend(remove_and_tell(sealed.path()));
        }
        for aside in &self.asides {
            left.extend(remove_and_tell(aside));
        }
        left
    }

    /// Puts a copy of the home away, for the tests. Returns the place for files as they were before the agent.
    pub fn seal(&mut self, options: &Options<'_>) -> Result<Utf8PathBuf, TreeError> {
        let sealed = SealedDir::create(&self.trials)?;
        let before = sealed.before();
        let home = Dir::open_no_link(sealed.path())?.create_dir("home", 0o755)?;
        self.sealed = Some(sealed);
        copy(&Dir::open_no_link(&self.home)?, &home, options, &mut |_| {
            Ok(true)
        })?;
        Ok(before)
    }

    /// Notes what was put away. From here on nothing of it may change.
    pub fn close_seal(&mut self) -> Result<(), TreeError> {
        match &mut self.sealed {
            Some(sealed) => sealed.close(),
            None => Ok(()),
        }
    }

    /// Makes the trial's directories fit for tests when every process of the agent is gone. An agent may have
    /// removed any of them, or put something else in their place.
    pub fn take_back(&mut self) -> io::Result<TakenBack> {
        match self.try_to_take_back() {
            Err(error) if is_made_unusable(&error) => Ok(TakenBack {
                notes: Vec::new(),
                breach: Some(format!(
                    "the agent made the directory of its trial unusable: {error}"
                )),
            }),
            taken => taken,
        }
    }

    /// Returns whether something is mounted in the place of the workspace or of the trial's directory. It cannot be
    /// moved, and is not the agent's work.
    pub fn is_workspace_mounted(&self) -> bool {
        if let Some(overlay) = &self.overlay {
            let found = self.root.symlink_metadata();
            let is_own = |meta: Metadata| (meta.dev(), meta.ino()) == self.identity;
            return found.is_ok_and(is_own) && !overlay.is_intact();
        }
        let Ok(root) = Dir::open(&self.root) else {
            return false;
        };
        // Who may mount may also list the directory above.
        let is_root_mounted =
            Dir::open(&self.trials).is_ok_and(|above| root.meta().is_mount_in(above.meta()));
        let workspace = root.meta_at(WORKSPACE).ok().flatten();
        is_root_mounted || workspace.is_some_and(|workspace| workspace.is_mount_in(root.meta()))
    }

    fn try_to_take_back(&mut self) -> io::Result<TakenBack> {
        open_above(&self.trials);
        let mut taken = TakenBack::default();
        let mut is_lost = false;
        if self.is_workspace_mounted() {
            taken.breach = Some(MOUNTED.to_owned());
            return Ok(taken);
        }
        if let Some(overlay) = &mut self.overlay {
            // One that was moved with its directory ends with the namespace.
            let _ = overlay.unmount();
        }
        if !self.renew_root()? {
            taken
                .notes
                .push("the agent removed or replaced the directory of its trial".to_owned());
            is_lost = true;
        }
        if let Some(overlay) = &mut self.overlay {
            if is_lost {
                fs_err::create_dir(&self.workspace)?;
            }
            overlay.mount_again()?;
            if is_lost {
                overlay.remove_everything()?;
            }
        }
        self.io = self.root.join("io");
        fs_err::create_dir(&self.io)?;
        let sealed = self.sealed.as_ref();
        if sealed.is_some_and(SealedDir::is_untouched)
            && let Some(sealed) = sealed
        {
            fs_err::rename(sealed.home(), &self.home)?;
        } else {
            fs_err::create_dir(&self.home)?;
            taken.breach = Some(
                "the agent changed files that were put away for the tests, outside of its workspace"
                    .to_owned(),
            );
        }
        Ok(taken)
    }

    /// Makes the trial's directory anew, and moves nothing there but the workspace: tools of the tests read files
    /// above it. Returns whether the old one was still there.
    fn renew_root(&mut self) -> io::Result<bool> {
        // An agent that closed the directories above hides them from itself alone.
        if let Some(run) = self.trials.parent() {
            let _ = std::fs::set_permissions(run, Permissions::from_mode(0o700));
        }
        // The run's directory is not made again: nobody would hold it locked, and a new run would take it for one that
        // a dead run has left.
        std::fs::set_permissions(&self.trials, Permissions::from_mode(UNLISTED))?;
        let found = self.root.symlink_metadata();
        let aside = self.trials.join(secret_name()?);
        if found.is_ok() {
            fs_err::rename(&self.root, &aside)?;
            self.asides.push(aside.clone());
        }
        make_dir(&self.root, PRIVATE)?;
        let is_same = found.is_ok_and(|meta| (meta.dev(), meta.ino()) == self.identity);
        if is_same {
            std::fs::set_permissions(&aside, Permissions::from_mode(0o700))?;
            let workspace = aside.join(WORKSPACE);
            if let Ok(meta) = workspace.symlink_metadata() {
                // Its owner must be allowed to write to it, as it is given another directory above.
                let mode = meta.permissions().mode();
                if meta.is_dir() && mode & 0o700 != 0o700 {
                    std::fs::set_permissions(&workspace, Permissions::from_mode(mode | 0o700))?;
                }
                fs_err::rename(workspace, &self.workspace)?;
            }
        }
        Ok(is_same)
    }

    /// Sets the home aside: the tests work on copies of it.
    pub fn set_home_aside(&self) -> io::Result<()> {
        fs_err::rename(&self.home, &self.home_left)?;
        fs_err::create_dir(&self.home)
    }

    /// Makes the directory that only a test has, and empties the one of the test before.
    pub fn begin_test(&self) -> io::Result<()> {
        let removed = remove(&self.tests_tmp, &Options::default())?;
        removed.into_result(self.tests_tmp.as_std_path())?;
        fs_err::create_dir(&self.tests_tmp)
    }

    /// Keeps the workspace as it is now for all tests, if it is mounted.
    pub fn keep_for_tests(&mut self) -> io::Result<()> {
        self.overlay.as_mut().map_or(Ok(()), Overlay::add_changes)
    }

    /// Makes a mounted workspace what it was when it was kept. Returns whether it is one.
    pub fn forget_test(&mut self) -> io::Result<bool> {
        match &mut self.overlay {
            Some(overlay) => overlay.forget_changes().map(|()| true),
            None => Ok(false),
        }
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
        self.for_setup()
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
        if !self.is_removed {
            self.remove();
        }
    }
}

/// Returns whether a directory of a trial cannot be moved because of its marks, its owner, or a mount. Terca made
/// it, so
/// only the agent can have done that.
fn is_made_unusable(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ResourceBusy};
    matches!(error.kind(), PermissionDenied | ResourceBusy)
}
