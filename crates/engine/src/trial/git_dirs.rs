//! The directories that a `.git` file points at. Those of a worktree and of a submodule are outside of it.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// A path takes a part of it.
const LONGEST: u64 = 64 * 1024;
/// Every directory of git has these.
const PARTS: [&str; 3] = ["HEAD", "objects", "refs"];

/// Returns the directories that git needs beside the working tree: none where `.git` is a directory, and none where it
/// points at something else than git's own.
pub(super) fn git_dirs(working_tree: &Utf8Path) -> Vec<Utf8PathBuf> {
    let Some(named) = path_in(&working_tree.join(".git"), "gitdir: ", working_tree) else {
        return Vec::new();
    };
    let Ok(own) = named.canonicalize_utf8() else {
        return Vec::new();
    };
    // A worktree has a part of what it needs; the rest is in the directory that all worktrees share.
    let shared = path_in(&own.join("commondir"), "", &own);
    let shared = shared.map_or_else(|| Ok(own.clone()), |path| path.canonicalize_utf8());
    match shared {
        Ok(shared) if is_of_git(&shared) && own.starts_with(&shared) => {
            // The way to it may be a link, which git follows.
            let by_link = (named != own && is_plain(&named)).then_some(named);
            by_link.into_iter().chain([shared]).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the path that a file has after a word. A relative one begins at `base`.
fn path_in(file: &Utf8Path, word: &str, base: &Utf8Path) -> Option<Utf8PathBuf> {
    let meta = file.symlink_metadata().ok()?;
    if !meta.is_file() || meta.len() > LONGEST {
        return None;
    }
    let text = fs_err::read_to_string(file).ok()?;
    Some(base.join(text.strip_prefix(word)?.trim_end_matches(['\n', '\r'])))
}

fn is_plain(path: &Utf8Path) -> bool {
    let mut parts = path.components();
    parts.all(|part| matches!(part, Utf8Component::RootDir | Utf8Component::Normal(_)))
}

fn is_of_git(dir: &Utf8Path) -> bool {
    PARTS.iter().all(|part| dir.join(part).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_points_at_something_else_shows_nothing() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap();
        let tree = root.join("tree");
        for dir in ["tree", "home", "git/objects", "git/refs", "git/modules/own"] {
            fs_err::create_dir_all(root.join(dir)).unwrap();
        }
        fs_err::write(root.join("git/HEAD"), "").unwrap();
        fs_err::write(root.join("home/commondir"), "../git").unwrap();
        fs_err::write(root.join("git/modules/own/commondir"), "../..\n").unwrap();
        assert!(git_dirs(&tree).is_empty(), "no repository");
        for text in [
            "", "gitdir: ", "../git", "gitdir: ../home", "gitdir: ../gone",
        ] {
            fs_err::write(tree.join(".git"), text).unwrap();
            assert!(git_dirs(&tree).is_empty(), "{text}");
        }
        fs_err::write(tree.join(".git"), "gitdir: ../git/modules/own\n").unwrap();
        let found = git_dirs(&tree);
        assert_eq!(found, [root.join("git")]);
    }
}
