//! Copying trees and files.
//!
//! A copy keeps symbolic links as they are written, permissions, modification times, empty directories and every byte
//! of a file. It is copy-on-write where the file system can do that.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use fs_err as fs;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};

use super::permissions::make_writable;
use super::remove::remove;
use super::visible::is_hidden_from_agents;
use super::walk::sorted_names;

/// A regular file that was copied.
#[derive(Debug, Clone)]
pub struct Copied {
    /// Its path in the new tree.
    pub path: PathBuf,
    /// The file that it is a copy of.
    pub source: PathBuf,
}

/// Copies a tree into an existing directory, file by file, and replaces what is there already.
pub fn copy_tree(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<Vec<Copied>> {
    TreeCopy::new(from.as_ref(), |_| false).copy_to(to.as_ref())
}

/// Copies a part of a suite that an agent will see: hidden tests, solutions and earlier runs are left out.
pub fn copy_visible_tree(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<Vec<Copied>> {
    TreeCopy::new(from.as_ref(), is_hidden_from_agents).copy_to(to.as_ref())
}

/// A copy of a tree that is being made.
struct TreeCopy<'a> {
    root: &'a Path,
    is_left_out: fn(&Path) -> bool,
    copied: Vec<Copied>,
    dirs: Vec<(PathBuf, Metadata)>,
}

impl<'a> TreeCopy<'a> {
    fn new(root: &'a Path, is_left_out: fn(&Path) -> bool) -> Self {
        TreeCopy {
            root,
            is_left_out,
            copied: Vec::new(),
            dirs: Vec::new(),
        }
    }

    fn copy_to(mut self, to: &Path) -> io::Result<Vec<Copied>> {
        self.copy_entries(self.root, to)?;
        // Last, deepest first: a directory may be read-only, and its time changes with every file that is put into it.
        for (dir, meta) in self.dirs.into_iter().rev() {
            fs::set_permissions(&dir, meta.permissions())?;
            keep_time(&dir, &meta)?;
        }
        Ok(self.copied)
    }

    fn copy_entries(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        for entry in sorted_names(from)? {
            let source = from.join(&entry);
            if !(self.is_left_out)(&source) {
                self.copy_entry(&source, &to.join(&entry))?;
            }
        }
        Ok(())
    }

    fn copy_entry(&mut self, source: &Path, target: &Path) -> io::Result<()> {
        let meta = fs::symlink_metadata(source)?;
        if meta.is_dir() {
            make_dir(target)?;
            self.dirs.push((target.to_owned(), meta));
            return self.copy_entries(source, target);
        }
        if meta.is_symlink() {
            clear_place(target)?;
            fs::os::unix::fs::symlink(fs::read_link(source)?, target)?;
        } else if meta.is_file() {
            copy_file(source, target, &meta)?;
            let path = source.strip_prefix(self.root).unwrap_or(source).to_owned();
            self.copied.push(Copied {
                path,
                source: source.to_owned(),
            });
        } else if meta.file_type().is_fifo() {
            clear_place(target)?;
            make_fifo(target, &meta)?;
        }
        // Sockets and devices hold no content: they are left out.
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn make_fifo(target: &Path, meta: &Metadata) -> io::Result<()> {
    use rustix::fs::{FileType, Mode, mknodat};
    Ok(mknodat(
        CWD,
        target,
        FileType::Fifo,
        Mode::from_raw_mode(meta.mode()),
        0,
    )?)
}

/// Leaves it out, as sockets are.
#[cfg(not(target_os = "linux"))]
fn make_fifo(_target: &Path, _meta: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Copies one file with its permissions and modification time.
pub fn copy_file(
    source: impl AsRef<Path>,
    target: impl AsRef<Path>,
    meta: &Metadata,
) -> io::Result<()> {
    let source = source.as_ref();
    let target = target.as_ref();
    clear_place(target)?;
    fs::copy(source, target)?;
    keep_time(target, meta)
}

fn keep_time(path: &Path, meta: &Metadata) -> io::Result<()> {
    let time = Timespec {
        tv_sec: meta.mtime(),
        tv_nsec: meta.mtime_nsec(),
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    Ok(rustix::fs::utimensat(
        CWD,
        path,
        &times,
        AtFlags::SYMLINK_NOFOLLOW,
    )?)
}

/// Makes a directory that can be written to, and replaces a file of that name.
fn make_dir(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => make_writable(path, &meta),
        Ok(_) => {
            fs::remove_file(path)?;
            fs::create_dir(path)
        }
        Err(_) => fs::create_dir(path),
    }
}

/// Removes what is in the place of a new file or link.
fn clear_place(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => remove(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use camino::Utf8PathBuf;

    use super::*;

    fn temporary() -> (tempfile::TempDir, Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
        (dir, path)
    }

    #[test]
    fn everything_survives_the_copy() {
        let (_guard, dir) = temporary();
        let (from, to) = (dir.join("from"), dir.join("to"));
        fs::create_dir_all(from.join("deep/empty")).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("binary"), [0u8, 255, 10, 13]).unwrap();
        fs::write(from.join("script.sh"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(
            from.join("script.sh"),
            std::fs::Permissions::from_mode(0o755),
        )
        .unwrap();
        fs::write(from.join("deep/readonly"), "x").unwrap();
        fs::set_permissions(
            from.join("deep/readonly"),
            std::fs::Permissions::from_mode(0o444),
        )
        .unwrap();
        symlink("../binary", from.join("deep/link")).unwrap();
        symlink("nowhere", from.join("dangling")).unwrap();
        fs::set_permissions(from.join("deep"), std::fs::Permissions::from_mode(0o555)).unwrap();

        let copied = copy_tree(&from, &to).unwrap();
        assert_eq!(copied.len(), 3);
        assert_eq!(fs::read(to.join("binary")).unwrap(), [0u8, 255, 10, 13]);
        assert!(to.join("deep/empty").is_dir());
        assert_eq!(
            to.join("deep/link").read_link_utf8().unwrap(),
            "../binary",
            "a relative link stays relative"
        );
        assert_eq!(to.join("dangling").read_link_utf8().unwrap(), "nowhere");
        for path in ["script.sh", "deep/readonly", "deep", "binary"] {
            let (a, b) = (
                fs::metadata(from.join(path)).unwrap(),
                fs::metadata(to.join(path)).unwrap(),
            );
            assert_eq!(a.mode(), b.mode(), "{path}");
            assert_eq!(
                (a.mtime(), a.mtime_nsec()),
                (b.mtime(), b.mtime_nsec()),
                "{path}"
            );
        }
        // Again over itself: read-only files and directories are no obstacle.
        assert_eq!(copy_tree(&from, &to).unwrap().len(), 3);
        remove(&to).unwrap();
        assert!(!to.exists());
        remove(&from).unwrap();
    }

    #[test]
    fn a_layer_replaces_files_links_and_directories() {
        let (_guard, dir) = temporary();
        let (outside, from, to) = (dir.join("outside"), dir.join("from"), dir.join("to"));
        for path in [&outside, &from, &to] {
            fs::create_dir(path).unwrap();
        }
        fs::write(outside.join("victim"), "safe").unwrap();
        symlink(outside.join("victim"), to.join("file")).unwrap();
        symlink(&outside, to.join("dir")).unwrap();
        fs::create_dir(to.join("was-dir")).unwrap();
        fs::write(from.join("file"), "new").unwrap();
        fs::write(from.join("was-dir"), "now a file").unwrap();
        fs::create_dir(from.join("dir")).unwrap();
        fs::write(from.join("dir/victim"), "new").unwrap();

        copy_tree(&from, &to).unwrap();
        assert_eq!(
            fs::read_to_string(outside.join("victim")).unwrap(),
            "safe",
            "nothing is written through a link"
        );
        assert_eq!(fs::read_to_string(to.join("file")).unwrap(), "new");
        assert_eq!(fs::read_to_string(to.join("dir/victim")).unwrap(), "new");
        assert!(to.join("was-dir").is_file());
    }
}
