//! Files that have no name any more and are still open: they take disk space, and no walk finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use rustix::process::Pid;

use super::usage::tree_of;
use super::watched_dir::WatchedDir;

/// The end of a link to such a file.
const MARK: &[u8] = b" (deleted)";
/// The unit of the system's figures.
const BLOCK: u64 = 512;

/// Adds up the bytes of such files that a process and all below it have open, on the file systems of `dirs`. Those of other
/// users are not seen.
pub(super) fn of_tree(root: Pid, dirs: &[WatchedDir]) -> u64 {
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
                .is_ok_and(|target| target.as_os_str().as_bytes().ends_with(MARK));
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;

    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn a_file_is_counted_once_and_only_without_a_name() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(temporary.path().to_owned()).unwrap();
        let dirs = [WatchedDir::new("workspace", dir.clone())];
        let own = rustix::process::getpid();
        let mut file = fs_err::File::create(dir.join("file")).unwrap();
        file.write_all(&[1; 100_000]).unwrap();
        file.sync_all().unwrap();
        assert_eq!(of_tree(own, &dirs), 0);
        fs_err::remove_file(dir.join("file")).unwrap();
        let again = file.file().try_clone().unwrap();
        let found = of_tree(own, &dirs);
        assert!((100_000..200_000).contains(&found), "{found}");
        drop((file, again));
        assert_eq!(of_tree(own, &dirs), 0);
    }
}
