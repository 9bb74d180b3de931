//! The directory that commands of a suite may read in a sandbox.

use camino::{Utf8Path, Utf8PathBuf};

use crate::reader::{PathKind, Surroundings};

/// What setup and tests see of the files around a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectDir {
    /// The git repository around the suite.
    Repository(Utf8PathBuf),
    /// The suite alone, because it is in no repository.
    Suite(Utf8PathBuf),
    /// The suite alone, because its repository has somebody's home in it: that is more than a project.
    NotTheHome(Utf8PathBuf),
    /// Only the copy of the suite that a run makes: the suite itself is somebody's home, or the root directory.
    Nothing,
}

impl ProjectDir {
    /// Finds it for a suite in a directory.
    pub fn of(root: &Utf8Path, surroundings: &dyn Surroundings) -> Self {
        let home = surroundings.variable("HOME").map(Utf8PathBuf::from);
        let is_project = |dir: &Utf8Path| {
            let has_home = home.as_ref().is_some_and(|home| home.starts_with(dir));
            dir.parent().is_some() && !has_home
        };
        let repository = root
            .ancestors()
            .find(|above| surroundings.kind(&above.join(".git")) != PathKind::Missing);
        match repository {
            Some(repository) if is_project(repository) => {
                ProjectDir::Repository(repository.to_owned())
            }
            _ if !is_project(root) => ProjectDir::Nothing,
            Some(_) => ProjectDir::NotTheHome(root.to_owned()),
            None => ProjectDir::Suite(root.to_owned()),
        }
    }

    /// Returns the directory.
    pub fn path(&self) -> Option<&Utf8Path> {
        match self {
            ProjectDir::Repository(dir) | ProjectDir::Suite(dir) | ProjectDir::NotTheHome(dir) => {
                Some(dir)
            }
            ProjectDir::Nothing => None,
        }
    }

    /// Says what setup and tests see, and why, where that is less than somebody may expect.
    pub fn words(&self) -> Option<&'static str> {
        match self {
            ProjectDir::Repository(_) => None,
            ProjectDir::Suite(_) => Some(
                "setup and tests see no files around the suite, because it is in no git repository",
            ),
            ProjectDir::NotTheHome(_) => Some(
                "setup and tests see no files around the suite, because your home is in its git repository",
            ),
            ProjectDir::Nothing => Some(
                "setup and tests see a copy of the suite's files alone, because your home is in the suite's directory",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine(&'static str);

    impl Surroundings for Machine {
        fn kind(&self, path: &Utf8Path) -> PathKind {
            match path.as_str() == self.0 {
                true => PathKind::Directory,
                false => PathKind::Missing,
            }
        }
        fn variable(&self, _: &str) -> Option<String> {
            Some("/home/ann".into())
        }
    }

    #[test]
    fn a_home_is_more_than_a_project() {
        let of = |root: &str, git| ProjectDir::of(root.into(), &Machine(git));
        assert_eq!(
            of("/home/ann/lib/evals", "/home/ann/lib/.git"),
            ProjectDir::Repository("/home/ann/lib".into())
        );
        assert_eq!(
            of("/home/ann/lib/evals", "/home/ann/.git"),
            ProjectDir::NotTheHome("/home/ann/lib/evals".into())
        );
        assert_eq!(
            of("/home/ann/lib/evals", ""),
            ProjectDir::Suite("/home/ann/lib/evals".into())
        );
        assert_eq!(of("/home/ann", ""), ProjectDir::Nothing);
        assert_eq!(of("/", "/.git"), ProjectDir::Nothing);
    }
}
