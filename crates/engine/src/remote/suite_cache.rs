//! The suites that a node has, shared by all of its workers: each is sent once.
//!
//! ```text
//! suites/
//!   HASH.lock     locked by whoever receives it, shared by whoever uses it; touched with every use
//!   HASH/         the files, each below this at its absolute path on the coordinator
//! ```

use std::fs::{File, FileTimes, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::tree::{self, Dir, Limits, Options, parcel};
use crate::workspace::own_dirs::private_dir;

/// The most bytes of suites that nobody uses, unless [`LIMIT_VARIABLE`] says otherwise.
const LIMIT: u64 = 20 << 30;
/// The variable of a node with the most bytes of suites.
pub const LIMIT_VARIABLE: &str = "TERCA_SUITE_CACHE_BYTES";
/// The time between two looks at a lock.
const GLANCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// The suites of a node.
#[derive(Debug)]
pub struct SuiteCache {
    dir: Utf8PathBuf,
    limit: u64,
}

/// A suite that is in use, and stays while this value is there.
#[derive(Debug)]
pub struct HeldSuite {
    /// The directory with its files.
    pub root: Utf8PathBuf,
    _lock: File,
}

impl SuiteCache {
    /// Opens the cache in a directory, which is made where it is missing.
    pub fn open(dir: Utf8PathBuf, limit: Option<&str>) -> io::Result<Self> {
        if !dir.is_dir() {
            match private_dir(&dir) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        let limit = limit.and_then(|limit| limit.parse().ok());
        Ok(SuiteCache {
            dir,
            limit: limit.unwrap_or(LIMIT),
        })
    }

    /// Returns a suite, after fetching it if it is not here. One worker of a node fetches, the others wait for it; all give
    /// up when the input of this process is closed.
    pub fn get(
        &self,
        hash: &str,
        fetch: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<HeldSuite> {
        if hash.is_empty() || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(io::Error::other("the hash of the suite is none"));
        }
        let root = self.dir.join(hash);
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.dir.join(format!("{hash}.lock")))?;
        let mut fetch = Some(fetch);
        loop {
            // Those who use it share the lock; who receives or removes it has it alone.
            if is_locked(lock.try_lock_shared())? {
                if root.is_dir() {
                    break;
                }
                lock.unlock()?;
            }
            if is_locked(lock.try_lock())? {
                if !root.is_dir()
                    && let Some(fetch) = fetch.take()
                {
                    self.receive(hash, &root, fetch)?;
                }
                lock.unlock()?;
                continue;
            }
            wait_a_moment()?;
        }
        lock.set_times(FileTimes::new().set_modified(SystemTime::now()))?;
        self.make_room(hash);
        Ok(HeldSuite { root, _lock: lock })
    }

    /// Forgets a suite whose files are not what they were.
    pub fn forget(&self, held: HeldSuite) -> io::Result<()> {
        let HeldSuite { root, _lock } = held;
        let hash = root.file_name().unwrap_or_default();
        let aside = self
            .dir
            .join(format!(".broken-{:08x}-{hash}", fastrand::u32(..)));
        fs_err::rename(&root, &aside)?;
        let _left = tree::remove(&aside, &Options::default())?;
        Ok(())
    }

    fn receive(
        &self,
        hash: &str,
        root: &Utf8Path,
        fetch: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let unfinished = self.dir.join(format!(".{hash}"));
        let _left = tree::remove(&unfinished, &Options::default())?;
        private_dir(&unfinished)?;
        let received = Self::receive_into(&unfinished, hash, root, fetch);
        // A disk that is full has room for another suite then.
        let removed = tree::remove(&unfinished, &Options::default());
        received?;
        let _left = removed?;
        Ok(())
    }

    fn receive_into(
        unfinished: &Utf8Path,
        hash: &str,
        root: &Utf8Path,
        fetch: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut parcel = OpenOptions::new()
            .create_new(true)
            .read(true)
            .write(true)
            .open(unfinished.join("parcel"))?;
        fetch(&mut parcel)?;
        if tree::hash_file(&parcel, &everything())? != hash {
            return Err(io::Error::other("the suite came damaged"));
        }
        parcel.rewind()?;
        let files = unfinished.join("files");
        private_dir(&files)?;
        parcel::unpack(io::BufReader::new(parcel), &Dir::open_no_link(&files)?)?;
        fs_err::rename(&files, root)
    }

    /// Removes the suites that were not used for the longest time, and are not used now, until the rest is small enough.
    fn make_room(&self, used: &str) {
        let Ok(entries) = self.dir.read_dir_utf8() else {
            return;
        };
        let mut suites = Vec::new();
        for entry in entries.flatten() {
            if let Some(left) = entry.file_name().strip_prefix('.') {
                self.remove_left(left, entry.path());
                continue;
            }
            let Some(hash) = entry.file_name().strip_suffix(".lock") else {
                continue;
            };
            let last_use = entry.metadata().and_then(|meta| meta.modified());
            let root = self.dir.join(hash);
            let size = Dir::open_no_link(&root).and_then(|dir| tree::measure(&dir, &everything()));
            if let (Ok(last_use), Ok(size)) = (last_use, size) {
                suites.push((last_use, hash.to_owned(), size));
            }
        }
        suites.sort();
        let mut total: u64 = suites.iter().map(|(_, _, size)| size).sum();
        for (_, hash, size) in suites {
            if total <= self.limit {
                return;
            }
            if hash != used && self.remove_unused(&hash).is_ok() {
                total = total.saturating_sub(size);
            }
        }
    }

    /// Removes what a worker that was killed has left, unless another is about to use or remove it.
    fn remove_left(&self, name: &str, path: &Utf8Path) {
        let hash = name.rsplit('-').next().unwrap_or(name);
        let lock = OpenOptions::new()
            .write(true)
            .open(self.dir.join(format!("{hash}.lock")));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _left = tree::remove(path, &Options::default());
        }
    }

    fn remove_unused(&self, hash: &str) -> io::Result<()> {
        let path = self.dir.join(format!("{hash}.lock"));
        let lock = OpenOptions::new().write(true).open(&path)?;
        lock.try_lock()?;
        let aside = self
            .dir
            .join(format!(".removed-{:08x}-{hash}", fastrand::u32(..)));
        fs_err::rename(self.dir.join(hash), &aside)?;
        let _left = tree::remove(&aside, &Options::default())?;
        Ok(())
    }
}

fn everything() -> Options<'static> {
    Options {
        limits: Limits::NONE,
        unlock: false,
        ..Options::default()
    }
}

/// Returns whether a lock was taken. Somebody else may have it.
fn is_locked(tried: Result<(), TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Waits a moment, unless the input of this process is closed: then nobody waits for this worker.
fn wait_a_moment() -> io::Result<()> {
    let input = io::stdin();
    let mut files = [PollFd::new(&input, PollFlags::IN)];
    poll(&mut files, Some(&GLANCE))?;
    // Nothing is said before the suite is here.
    if !files[0].revents().is_empty() {
        return Err(io::ErrorKind::ConnectionAborted.into());
    }
    Ok(())
}

/// Writes a parcel to a file, and returns its hash.
pub fn write_parcel(
    to: &Utf8Path,
    pack: impl FnOnce(&mut parcel::Packer<io::BufWriter<File>>) -> io::Result<()>,
) -> io::Result<String> {
    let file = OpenOptions::new()
        .create_new(true)
        .read(true)
        .write(true)
        .open(to)?;
    let mut packer = parcel::Packer::new(io::BufWriter::new(file));
    pack(&mut packer)?;
    let mut writer = packer.finish()?;
    writer.flush()?;
    let file = writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    Ok(tree::hash_file(&file, &everything())?)
}
