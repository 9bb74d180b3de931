//! Terca's own look at a command while it runs: the disk space of its directories, and its memory and processes where the
//! kernel does not keep those limits.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use rustix::process::Pid;
use terca_core::config::suite::TrialLimits;
use terca_core::text::prose;

use crate::process::supervise::children_of;
use crate::tree::{Dir, Limits, Options, TreeError, What, measure};

/// The time between two looks at processes.
const PAUSE: Duration = Duration::from_millis(90);
/// The time between two looks at directories.
const DISK_PAUSE: Duration = Duration::from_millis(500);
/// A walk through the directories takes no more than this part of the time.
const SHARE: u32 = 10;
/// The most processes that are looked at. A command with more is beyond any limit.
const MOST: usize = 100_000;
/// The unit of the system's figures for files.
const BLOCK: u64 = 512;

/// Looks at a command while it runs.
#[derive(Debug)]
pub(super) struct Watch {
    /// The limits that are looked at.
    limits: TrialLimits,
    /// Processes and threads that are none of the command's.
    own_processes: u64,
    disk: DiskWatch,
    next_look: Instant,
    /// The limit that the command is beyond, with its value.
    pub beyond: Option<String>,
}

impl Watch {
    pub(super) fn new(limits: TrialLimits, own_processes: u64, dirs: Vec<WatchedDir>) -> Self {
        Watch {
            limits,
            own_processes,
            disk: DiskWatch::new(limits.disk, dirs),
            next_look: Instant::now(),
            beyond: None,
        }
    }

    /// Looks, if it is time. Returns whether a limit is passed, or was before.
    pub(super) fn is_beyond(&mut self, root: Option<Pid>) -> bool {
        if self.beyond.is_none() {
            self.beyond = self.beyond_processes(root).or_else(|| {
                let name = self.disk.find_too_large(root)?;
                let limit = prose::bytes(self.limits.disk);
                Some(format!("limits.disk ({limit}) in its {name}"))
            });
        }
        self.beyond.is_some()
    }

    fn beyond_processes(&mut self, root: Option<Pid>) -> Option<String> {
        let TrialLimits {
            memory, processes, ..
        } = self.limits;
        let now = Instant::now();
        if (memory.is_none() && processes.is_none()) || now < self.next_look {
            return None;
        }
        self.next_look = now + PAUSE;
        let usage = usage_of(tree_of(root?));
        let tasks = usage.tasks.saturating_sub(self.own_processes);
        if let Some(most) = memory.filter(|most| usage.memory > *most) {
            return Some(format!("limits.memory ({})", prose::bytes(most)));
        }
        let most = processes.filter(|most| tasks > u64::from(*most))?;
        Some(format!("limits.processes ({most})"))
    }
}

/// Returns the most processes of the user while a command runs whose processes are watched. A fork bomb can double every few
/// milliseconds, and nobody would get to look any more. Far beyond the limit, since other trials and everything else of the
/// user count too. It does not hold for the superuser.
pub(super) fn most_of_user(processes: u32) -> u64 {
    usage_of(of_user()).tasks + u64::from(processes) * 8 + 500
}

/// A directory whose space has a limit.
#[derive(Debug, Clone)]
pub struct WatchedDir {
    /// The words for it.
    pub name: &'static str,
    /// The directory.
    pub dir: Utf8PathBuf,
    /// The mount through which commands write to it, if it is another file system for them.
    pub mount: Option<Utf8PathBuf>,
}

impl WatchedDir {
    /// Describes a directory that commands find by the same path.
    pub fn new(name: &'static str, dir: Utf8PathBuf) -> Self {
        WatchedDir {
            name,
            dir,
            mount: None,
        }
    }
}

/// Looks at directories, and finds one that takes too much.
///
/// A walk through a workspace is dear, and a question to the file system is not: as long as that has not grown by the
/// limit since the agent started, no directory can have.
#[derive(Debug)]
pub(super) struct DiskWatch {
    limit: u64,
    dirs: Vec<WatchedDir>,
    /// The bytes that the file system had in use at the start.
    used_before: Option<u64>,
    next_look: Instant,
}

impl DiskWatch {
    pub(super) fn new(limit: u64, dirs: Vec<WatchedDir>) -> Self {
        let mut watch = DiskWatch {
            limit,
            dirs,
            used_before: None,
            next_look: Instant::now(),
        };
        watch.used_before = watch.used();
        watch
    }

    /// Returns the bytes in use on the file system of the directories.
    fn used(&self) -> Option<u64> {
        let first = self.dirs.first()?;
        let system = rustix::fs::statvfs(first.dir.as_std_path()).ok()?;
        let blocks = system.f_blocks.checked_sub(system.f_bfree)?;
        blocks.checked_mul(system.f_frsize)
    }

    /// Returns the name of a directory that takes more than the limit, if it is time to look. Files without a name that
    /// `root` and its descendants have open count together.
    pub(super) fn find_too_large(&mut self, root: Option<Pid>) -> Option<&'static str> {
        let now = Instant::now();
        if self.dirs.is_empty() || now < self.next_look {
            return None;
        }
        self.next_look = now + DISK_PAUSE;
        let grown = self.used()?.saturating_sub(self.used_before?);
        if grown < self.limit {
            return None;
        }
        let found = self.walk().or_else(|| {
            let bytes = nameless_files(root?, &self.dirs);
            (bytes > self.limit).then_some("removed files")
        });
        self.next_look = now + DISK_PAUSE.max(now.elapsed() * SHARE);
        found
    }

    fn walk(&self) -> Option<&'static str> {
        let options = Options {
            limits: Limits {
                bytes: self.limit,
                ..Limits::NONE
            },
            unlock: false,
            ..Options::default()
        };
        for WatchedDir { name, dir, .. } in &self.dirs {
            // What cannot be measured while the agent works is measured when it has ended.
            let Ok(dir) = Dir::open_no_link(dir) else {
                continue;
            };
            let measured = measure(&dir, &options);
            if let Err(TreeError::TooLarge {
                what: What::Bytes, ..
            }) = measured
            {
                return Some(name);
            }
        }
        None
    }
}

/// Adds up the bytes of files without a name that a process and all below it have open, on the file systems of `dirs`: no
/// walk finds them. Those of other users are not seen.
fn nameless_files(root: Pid, dirs: &[WatchedDir]) -> u64 {
    let places = dirs
        .iter()
        .flat_map(|one| [Some(&one.dir), one.mount.as_ref()]);
    let devices = places.flatten().filter_map(|dir| dir.metadata().ok());
    let devices: BTreeSet<u64> = devices.map(|meta| meta.dev()).collect();
    let mut files = BTreeMap::new();
    for pid in tree_of(root) {
        let open = std::fs::read_dir(format!("/proc/{pid}/fd"));
        for entry in open.into_iter().flatten().flatten() {
            let path = entry.path();
            let is_removed = std::fs::read_link(&path)
                .is_ok_and(|target| target.as_os_str().as_bytes().ends_with(b" (deleted)"));
            // Memory and devices have such links, too.
            if is_removed
                && let Ok(meta) = std::fs::metadata(&path)
                && meta.is_file()
                && meta.nlink() == 0
                && devices.contains(&meta.dev())
            {
                files.insert((meta.dev(), meta.ino()), meta.blocks() * BLOCK);
            }
        }
    }
    files.values().sum()
}

/// The use of a process and all below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Usage {
    /// Bytes that are theirs alone: neither files nor shared memory.
    memory: u64,
    /// Processes and threads.
    tasks: u64,
}

/// Returns whether this machine says which processes are below another.
pub(super) fn sees_processes() -> bool {
    children_of("self").is_some()
}

/// Returns the ids of a process and all below it, as text.
fn tree_of(root: Pid) -> impl Iterator<Item = String> {
    let mut open = vec![root];
    let mut seen = 0;
    std::iter::from_fn(move || {
        let pid = open.pop()?.as_raw_nonzero().to_string();
        seen += 1;
        if seen < MOST {
            open.extend(children_of(&pid).unwrap_or_default());
        }
        Some(pid)
    })
}

/// Adds up what these processes use, from their numbers.
fn usage_of(processes: impl Iterator<Item = String>) -> Usage {
    let mut usage = Usage::default();
    for pid in processes {
        // What is no process has no such file.
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        usage.add(&status);
    }
    usage
}

/// Returns the numbers of all processes of this user.
fn of_user() -> impl Iterator<Item = String> {
    let user = rustix::process::getuid().as_raw();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let own = entries.filter(move |entry| entry.metadata().is_ok_and(|meta| meta.uid() == user));
    own.filter_map(|entry| entry.file_name().into_string().ok())
}

impl Usage {
    /// Adds a process, from its `status`.
    fn add(&mut self, status: &str) {
        for line in status.lines() {
            let number = |rest: &str| -> u64 {
                let digits = rest.trim().trim_end_matches(" kB");
                digits.parse().unwrap_or(0)
            };
            if let Some(rest) = line.strip_prefix("RssAnon:") {
                self.memory += number(rest) * 1024;
            } else if let Some(rest) = line.strip_prefix("Threads:") {
                self.tasks += number(rest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn dir_with(bytes: usize) -> (tempfile::TempDir, Utf8PathBuf) {
        let temporary = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(temporary.path().to_owned()).unwrap();
        fs_err::write(path.join("file"), vec![b'x'; bytes]).unwrap();
        (temporary, path)
    }

    #[test]
    fn a_directory_beyond_the_limit_is_named() {
        let (_small_dir, small) = dir_with(10);
        let (_large_dir, large) = dir_with(2_000_000);
        let mut watch = DiskWatch::new(
            1_000_000,
            vec![
                WatchedDir::new("home", small),
                WatchedDir::new("workspace", large),
            ],
        );
        watch.used_before = Some(0);
        assert_eq!(watch.find_too_large(None), Some("workspace"));
        // It is not time to look again.
        assert_eq!(watch.find_too_large(None), None);
    }

    #[test]
    fn nothing_is_walked_through_before_the_file_system_has_grown() {
        let (_dir, large) = dir_with(2_000_000);
        let mut watch = DiskWatch::new(1_000_000, vec![WatchedDir::new("workspace", large)]);
        watch.used_before = Some(u64::MAX);
        assert_eq!(watch.find_too_large(None), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_is_counted_once_and_only_without_a_name() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(temporary.path().to_owned()).unwrap();
        let dirs = [WatchedDir::new("workspace", dir.clone())];
        let own = rustix::process::getpid();
        let mut file = fs_err::File::create(dir.join("file")).unwrap();
        file.write_all(&[1; 100_000]).unwrap();
        file.sync_all().unwrap();
        assert_eq!(nameless_files(own, &dirs), 0);
        fs_err::remove_file(dir.join("file")).unwrap();
        let again = file.file().try_clone().unwrap();
        let found = nameless_files(own, &dirs);
        assert!((100_000..200_000).contains(&found), "{found}");
        drop((file, again));
        assert_eq!(nameless_files(own, &dirs), 0);
    }

    #[test]
    fn a_process_is_added_from_its_status() {
        let mut usage = Usage::default();
        usage.add("Name:\tnode\nVmRSS:\t  9000 kB\nRssAnon:\t    2000 kB\nThreads:\t11\n");
        usage.add("Name:\tgone\nState:\tZ (zombie)\nThreads:\t1\n");
        assert_eq!(
            usage,
            Usage {
                memory: 2000 * 1024,
                tasks: 12
            }
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn children_count_with_their_parents() {
        let mut child = std::process::Command::new("sh")
            .args([
                "-c",
                "sleep 600 & one=$!; sleep 600 & read -r _; kill $one $!",
            ])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let root = Pid::from_raw(child.id() as i32).unwrap();
        terca_testkit::wait_until("three processes run", || usage_of(tree_of(root)).tasks == 3);
        assert!(usage_of(tree_of(root)).memory > 0);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(usage_of(tree_of(root)), Usage::default());
    }
}
