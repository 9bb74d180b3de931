//! The files that are left out of the changes: those that `.gitignore` ignores, and git's own directory.
//!
//! The rules are those of the workspace when the agent started, so an agent cannot hide a file by adding a rule.

use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::tree::{Dir, TreeError};

/// The size of the largest `.gitignore` that is read.
const LARGEST: u64 = 1024 * 1024;

/// The rules of every `.gitignore`, with the directory that each is for.
#[derive(Debug, Default)]
pub struct Ignored {
    rules: Vec<(PathBuf, Gitignore)>,
}

impl Ignored {
    /// Reads every `.gitignore` among these paths of the workspace.
    pub fn read<'a>(
        workspace: &Dir,
        files: impl Iterator<Item = &'a Path>,
    ) -> Result<Self, TreeError> {
        let mut rules = Vec::new();
        for file in files.filter(|file| file.file_name().is_some_and(|name| name == ".gitignore")) {
            let text = match workspace.read_file(file, LARGEST) {
                Ok(text) => text,
                Err(error @ TreeError::Io { .. }) => return Err(error),
                // A link, something else than a file, or too large.
                Err(_) => continue,
            };
            let dir = file.parent().unwrap_or(Path::new("")).to_owned();
            rules.push((dir, parse(&String::from_utf8_lossy(&text))));
        }
        // The deepest first, because its rules count first.
        rules.sort_by_key(|(dir, _)| std::cmp::Reverse(dir.components().count()));
        Ok(Ignored { rules })
    }

    /// Returns whether a file is ignored, by itself or with a directory above it.
    pub fn has(&self, path: &Path) -> bool {
        if path.components().any(|part| part.as_os_str() == ".git") {
            return true;
        }
        // From the top: a file in an ignored directory cannot be included again.
        let mut above: Vec<&Path> = path
            .ancestors()
            .filter(|part| !part.as_os_str().is_empty())
            .collect();
        above.reverse();
        above.into_iter().any(|part| self.names(part, part != path))
    }

    fn names(&self, path: &Path, is_dir: bool) -> bool {
        for (dir, rules) in &self.rules {
            let Ok(below) = path.strip_prefix(dir) else {
                continue;
            };
            match rules.matched(below, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

/// Parses rules. A line that is no pattern is skipped, as git does.
fn parse(text: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for line in text.lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_git_would() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            ".gitignore",
            "# built\n/dist\nnode_modules/\n*.log\n!keep.log\n[bad\n",
        );
        write("app/.gitignore", "secret\n!loud.log\n");
        write("node_modules/x/.gitignore", "!*\n");
        let files = [".gitignore", "app/.gitignore", "node_modules/x/.gitignore"];
        let ignored =
            Ignored::read(&Dir::open(dir.path()).unwrap(), files.iter().map(Path::new)).unwrap();
        for (path, expected) in [
            ("dist/a.js", true),
            ("app/dist/a.js", false),
            ("node_modules/x/y.js", true),
            ("deep/node_modules/y.js", true),
            ("node_modules", false),
            ("a.log", true),
            ("keep.log", false),
            ("app/a.log", true),
            ("app/loud.log", false),
            ("app/secret", true),
            ("secret", false),
            (".git/config", true),
            ("app/.git/HEAD", true),
            (".gitignore", false),
            (".github/x.yml", false),
        ] {
            assert_eq!(ignored.has(Path::new(path)), expected, "{path}");
        }
    }
}
