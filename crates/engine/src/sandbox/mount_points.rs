//! The points in a trial's temporary directory that parts of the machine are mounted on, for a suite below `/tmp`.

use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};

use crate::tree::{Dir, Meta, Options, TreeError};

/// Makes an empty directory or file for each point. An earlier command may have moved one away and put a link there, which
/// would keep the next one from being started.
pub(super) fn make(tmp: &Utf8Path, points: &[(Utf8PathBuf, bool)]) {
    for (point, is_dir) in points {
        // The program that makes the sandbox says what it misses.
        let _ = make_one(tmp, point, *is_dir);
    }
}

fn make_one(tmp: &Utf8Path, point: &Utf8Path, is_dir: bool) -> Result<(), TreeError> {
    let tmp = Dir::open_no_link(tmp)?;
    let mut path = PathBuf::new();
    for name in point.parent().into_iter().flat_map(Utf8Path::components) {
        path.push(name.as_str());
        make_entry(&tmp, &path, true)?;
    }
    make_entry(&tmp, point.as_std_path(), is_dir)
}

fn make_entry(tmp: &Dir, path: &Path, is_dir: bool) -> Result<(), TreeError> {
    let meta = tmp.meta_at(path)?;
    let is_right = |meta: &Meta| {
        if is_dir {
            meta.is_dir()
        } else {
            meta.is_file()
        }
    };
    if meta.as_ref().is_some_and(is_right) {
        return Ok(());
    }
    if meta.is_some() {
        let _removed = tmp.remove_tree(path, &Options::default())?;
    }
    if is_dir {
        tmp.create_dir(path, 0o700)?;
    } else {
        tmp.create_file(path, 0o600)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_the_place_of_a_point_is_replaced() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        let (tmp, elsewhere) = (root.join("tmp"), root.join("elsewhere"));
        for dir in [&tmp, &elsewhere] {
            fs_err::create_dir(dir).unwrap();
        }
        fs_err::os::unix::fs::symlink(&elsewhere, tmp.join("a")).unwrap();
        fs_err::create_dir(tmp.join("file")).unwrap();
        let points = [("a/suite".into(), true), ("file".into(), false)];
        make(&tmp, &points);
        assert!(tmp.join("a/suite").is_dir());
        assert!(tmp.join("file").is_file());
        assert!(!tmp.join("a").is_symlink());
        assert_eq!(elsewhere.read_dir_utf8().unwrap().count(), 0);
        fs_err::write(tmp.join("a/kept"), "").unwrap();
        make(&tmp, &points);
        assert!(tmp.join("a/kept").is_file());
    }
}
