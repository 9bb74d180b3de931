//! The commit that a suite is at, read from the files of its git repository. No program is started.

use std::fs::File;
use std::io::Read;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// A longer file is not read. `packed-refs` of ten thousand branches has a megabyte.
const LONGEST: u64 = 16 << 20;

/// Every directory of git has these.
const PARTS: [&str; 3] = ["HEAD", "objects", "refs"];

/// A git repository, found by its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The working tree.
    pub root: Utf8PathBuf,
    git: Utf8PathBuf,
    /// The directory that several working trees share; git's own where there is one tree.
    common: Utf8PathBuf,
}

impl Repository {
    /// Returns the repository that a directory is in, if it is in one.
    pub fn around(dir: &Utf8Path) -> Option<Self> {
        let root = dir.ancestors().find(|dir| dir.join(".git").exists())?;
        let git = root.join(".git");
        let git = match git.is_dir() {
            true => git,
            // A second working tree has a file that names the directory.
            false => root.join(text(&git)?.strip_prefix("gitdir: ")?.trim()),
        };
        let common = text(&git.join("commondir"));
        let common = common.map_or_else(|| git.clone(), |common| git.join(common.trim()));
        Some(Repository {
            root: root.to_owned(),
            git,
            common,
        })
    }

    /// Returns the commit that it is at.
    pub fn commit(&self) -> Option<String> {
        let head = text(&self.git.join("HEAD"))?;
        let Some(branch) = head.strip_prefix("ref: ") else {
            return hash(&head);
        };
        let branch = branch.trim();
        let is_plain = branch.starts_with("refs/") && !branch.split('/').any(|part| part == "..");
        let of_branch = |dir: &Utf8PathBuf| {
            let loose = text(&dir.join(branch)).and_then(|text| hash(&text));
            loose.or_else(|| packed(&text(&dir.join("packed-refs"))?, branch))
        };
        let mut dirs = [&self.git, &self.common].into_iter().filter(|_| is_plain);
        dirs.find_map(of_branch)
    }

    /// Returns the directories that git needs beside the working tree: none where `.git` is a directory, and none where it
    /// points at something else than git's own.
    pub fn outside(&self) -> Vec<Utf8PathBuf> {
        let own = self.git.canonicalize_utf8();
        // A worktree has a part of what it needs; the rest is in the directory that all worktrees share.
        let shared = self.common.canonicalize_utf8();
        let (Ok(own), Ok(shared)) = (own, shared) else {
            return Vec::new();
        };
        let is_of_git = (PARTS.iter()).all(|part| shared.join(part).exists());
        if self.git == self.root.join(".git") || !is_of_git || !own.starts_with(&shared) {
            return Vec::new();
        }
        // The way to it may be a link, which git follows.
        let is_plain = |part| matches!(part, Utf8Component::RootDir | Utf8Component::Normal(_));
        let is_link = self.git != own && self.git.components().all(is_plain);
        let by_link = is_link.then(|| self.git.clone());
        by_link.into_iter().chain([shared]).collect()
    }

    /// Returns the directory of its objects.
    pub fn objects(&self) -> Utf8PathBuf {
        self.common.join("objects")
    }

    /// Returns the commits that its history begins at, if a part of the history was not fetched.
    pub fn shallow(&self) -> Vec<String> {
        let lines = text(&self.common.join("shallow")).unwrap_or_default();
        lines.lines().filter_map(hash).collect()
    }
}

/// Returns the commit of the repository that a directory is in, if it is in one.
pub fn commit_of(dir: &Utf8Path) -> Option<String> {
    Repository::around(dir)?.commit()
}

fn text(path: &Utf8Path) -> Option<String> {
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns the commit of a branch among those that are kept in one file.
fn packed(text: &str, branch: &str) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    lines
        .find(|(_, name)| *name == branch)
        .and_then(|(commit, _)| hash(commit))
}

/// Returns a text that is the hash of a commit.
fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let is_hash =
        matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_of_branches_and_working_trees() {
        let guard = tempfile::tempdir().unwrap();
        let dir = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let (one, two) = ("a".repeat(40), "b".repeat(40));
        write("suite/evals/x", "");
        assert_eq!(commit_of(&dir.join("suite")), None);
        write(".git/HEAD", "ref: refs/heads/main\n");
        assert_eq!(commit_of(&dir.join("suite")), None, "no commit yet");
        write(
            ".git/packed-refs",
            &format!("# pack\n{one} refs/heads/main\n"),
        );
        assert_eq!(commit_of(&dir.join("suite/evals")), Some(one.clone()));
        write(".git/refs/heads/main", &format!("{two}\n"));
        assert_eq!(commit_of(&dir.join("suite")), Some(two.clone()));
        write(".git/HEAD", &one);
        assert_eq!(commit_of(&dir), Some(one), "no branch");
        // A second working tree.
        write(".git/worktrees/w/HEAD", "ref: refs/heads/main\n");
        write(".git/worktrees/w/commondir", "../..\n");
        write("w/.git", "gitdir: ../.git/worktrees/w\n");
        assert_eq!(commit_of(&dir.join("w")), Some(two));
        for foreign in ["ref: ../../secret\n", "ref: refs/../../x\n", "no hash\n"] {
            write(".git/HEAD", foreign);
            assert_eq!(commit_of(&dir), None, "{foreign}");
        }
    }

    #[test]
    fn a_file_that_points_at_something_else_shows_nothing() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap();
        let tree = root.join("tree");
        let outside = |dir: &Utf8Path| {
            let found = Repository::around(dir);
            found.map(|found| found.outside()).unwrap_or_default()
        };
        for dir in ["tree", "home", "git/objects", "git/refs", "git/modules/own"] {
            fs_err::create_dir_all(root.join(dir)).unwrap();
        }
        fs_err::write(root.join("git/HEAD"), "").unwrap();
        fs_err::write(root.join("home/commondir"), "../git").unwrap();
        fs_err::write(root.join("git/modules/own/commondir"), "../..\n").unwrap();
        assert!(outside(&tree).is_empty(), "no repository");
        for text in [
            "", "gitdir: ", "../git", "gitdir: ../home", "gitdir: ../gone",
        ] {
            fs_err::write(tree.join(".git"), text).unwrap();
            assert!(outside(&tree).is_empty(), "{text}");
        }
        fs_err::write(tree.join(".git"), "gitdir: ../git/modules/own\n").unwrap();
        let found = outside(&tree);
        assert_eq!(found, [root.join("git")]);
    }
}
