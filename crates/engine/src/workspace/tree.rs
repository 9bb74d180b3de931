//! Copying, moving and removing trees of files.
//!
//! A copy keeps symbolic links as they are written, permissions, modification times, empty directories and
//! whatever bytes a file holds. It is copy-on-write where the file system can.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use fs_err as fs;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};

/// A regular file that was copied: where it stands in the new tree, and where it came from.
#[derive(Debug, Clone)]
pub struct Copied {
    pub path: PathBuf,
    pub source: PathBuf,
}

/// Lays a tree over another, file by file; what is there already is replaced. `to` must exist.
pub fn lay_over(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<Vec<Copied>> {
    Laying::of(from.as_ref(), |_| false).over(to.as_ref())
}

/// The same for a part of a suite that an agent will see: hidden tests, solutions and earlier runs are left out.
pub fn lay_open(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<Vec<Copied>> {
    Laying::of(from.as_ref(), is_hidden_from_agents).over(to.as_ref())
}

/// `_tests`, `_solution` and `_solution.sh` of an eval, and `.terca`, where the workspaces of earlier trials are.
fn is_hidden_from_agents(path: &Path) -> bool {
    let beside_eval = || {
        path.parent()
            .is_some_and(|dir| dir.join("eval.terca.yaml").exists())
    };
    match path.file_name().and_then(|name| name.to_str()) {
        Some("_tests" | "_solution" | "_solution.sh") => beside_eval(),
        Some(".terca") => true,
        _ => false,
    }
}

/// A tree on its way over another.
struct Laying<'a> {
    root: &'a Path,
    leaves_out: fn(&Path) -> bool,
    copied: Vec<Copied>,
    dirs: Vec<(PathBuf, Metadata)>,
}

impl<'a> Laying<'a> {
    fn of(root: &'a Path, leaves_out: fn(&Path) -> bool) -> Self {
        Laying {
            root,
            leaves_out,
            copied: Vec::new(),
            dirs: Vec::new(),
        }
    }

    fn over(mut self, to: &Path) -> io::Result<Vec<Copied>> {
        self.copy_entries(self.root, to)?;
        // Last, deepest first: a directory may be read-only, and its time changes with every file put into it.
        for (dir, meta) in self.dirs.into_iter().rev() {
            fs::set_permissions(&dir, meta.permissions())?;
            keep_time(&dir, &meta)?;
        }
        Ok(self.copied)
    }

    fn copy_entries(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        for entry in read_dir(from)? {
            let source = from.join(&entry);
            if !(self.leaves_out)(&source) {
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
            make_room(target)?;
            fs::os::unix::fs::symlink(fs::read_link(source)?, target)?;
        } else if meta.is_file() {
            copy_file(source, target, &meta)?;
            let path = source.strip_prefix(self.root).unwrap_or(source).to_owned();
            self.copied.push(Copied {
                path,
                source: source.to_owned(),
            });
        } else if meta.file_type().is_fifo() {
            make_room(target)?;
            make_fifo(target, &meta)?;
        }
        // Sockets and devices are no content; they are left out.
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

/// Elsewhere they are left out, as sockets are.
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
    let (source, target) = (source.as_ref(), target.as_ref());
    make_room(target)?;
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

/// A directory that can be written to, in place of whatever stood there.
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

/// Removes what stands where a file or link is to be put.
fn make_room(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => remove(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

fn make_writable(path: &Path, meta: &Metadata) -> io::Result<()> {
    let mode = meta.permissions().mode();
    if mode & 0o700 == 0o700 {
        return Ok(());
    }
    fs::set_permissions(path, std::fs::Permissions::from_mode(mode | 0o700))
}

/// The names in a directory, sorted.
fn read_dir(dir: &Path) -> io::Result<Vec<OsString>> {
    let names: io::Result<Vec<OsString>> = fs::read_dir(dir)?
        .map(|entry| Ok(entry?.file_name()))
        .collect();
    let mut names = names?;
    names.sort_unstable();
    Ok(names)
}

/// Removes a file or a tree, read-only directories included (module caches have them).
pub fn remove(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            unlock(path);
            std::fs::remove_dir_all(path)
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => std::fs::remove_file(path),
        other => other,
    }
}

fn unlock(dir: &Path) {
    let Ok(meta) = std::fs::symlink_metadata(dir) else {
        return;
    };
    if !meta.is_dir() || make_writable(dir, &meta).is_err() {
        return;
    }
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        unlock(&entry.path());
    }
}

/// Gives the owner back what is needed to read, copy and move a tree. The superuser needs nothing of it.
pub fn make_readable(root: &Path) -> io::Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let meta = fs::symlink_metadata(root)?;
    if meta.is_dir() {
        make_writable(root, &meta)?;
        for name in read_dir(root)? {
            make_readable(&root.join(name))?;
        }
    } else if meta.is_file() && meta.permissions().mode() & 0o400 == 0 {
        fs::set_permissions(
            root,
            std::fs::Permissions::from_mode(meta.permissions().mode() | 0o400),
        )?;
    }
    Ok(())
}

/// Moves a directory, across file systems if need be.
pub fn move_dir(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let (from, to) = (from.as_ref(), to.as_ref());
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            fs::create_dir(to)?;
            lay_over(from, to)?;
            remove(from)
        }
        Err(error) => Err(io::Error::new(
            error.kind(),
            format!(
                "{} could not be moved to {}: {error}",
                from.display(),
                to.display()
            ),
        )),
        Ok(()) => Ok(()),
    }
}

/// Every entry below a directory that is not itself a directory, relative and sorted, with its metadata.
pub fn walk(root: impl AsRef<Path>) -> io::Result<Vec<(PathBuf, Metadata)>> {
    let mut found = Vec::new();
    walk_into(root.as_ref(), Path::new(""), &mut found)?;
    Ok(found)
}

fn walk_into(root: &Path, below: &Path, found: &mut Vec<(PathBuf, Metadata)>) -> io::Result<()> {
    for name in read_dir(&root.join(below))? {
        let path = below.join(name);
        let meta = fs::symlink_metadata(root.join(&path))?;
        if meta.is_dir() {
            walk_into(root, &path, found)?;
        } else {
            found.push((path, meta));
        }
    }
    Ok(())
}

/// Whether a path inside a directory stays inside once its symbolic links are followed.
pub fn stays_inside(root: impl AsRef<Path>, path: impl AsRef<Path>) -> bool {
    let Ok(root) = std::fs::canonicalize(root) else {
        return false;
    };
    // The deepest part that exists decides; what does not exist yet is made as plain directories.
    let mut existing = root.join(path);
    while std::fs::symlink_metadata(&existing).is_err() {
        if !existing.pop() {
            return false;
        }
    }
    std::fs::canonicalize(&existing).is_ok_and(|real| real.starts_with(&root))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use camino::{Utf8Path, Utf8PathBuf};

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

        let copied = lay_over(&from, &to).unwrap();
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
        assert_eq!(lay_over(&from, &to).unwrap().len(), 3);
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

        lay_over(&from, &to).unwrap();
        assert_eq!(
            fs::read_to_string(outside.join("victim")).unwrap(),
            "safe",
            "nothing is written through a link"
        );
        assert_eq!(fs::read_to_string(to.join("file")).unwrap(), "new");
        assert_eq!(fs::read_to_string(to.join("dir/victim")).unwrap(), "new");
        assert!(to.join("was-dir").is_file());
    }

    #[test]
    fn paths_through_links_are_seen() {
        let (_guard, dir) = temporary();
        let root = dir.join("root");
        fs::create_dir_all(root.join("real")).unwrap();
        symlink("/etc", root.join("out")).unwrap();
        symlink("real", root.join("in")).unwrap();
        symlink("/nowhere/at/all", root.join("dangling")).unwrap();
        for (path, inside) in [
            ("a/b/c", true),
            ("real/x", true),
            ("in/x", true),
            ("out/x", false),
            ("out", false),
            ("dangling", false),
        ] {
            assert_eq!(stays_inside(&root, Utf8Path::new(path)), inside, "{path}");
        }
    }
}
