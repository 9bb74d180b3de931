//! Files in the directories above a trial, which agents and the tools of tests read without being asked.
//!
//! Many tools go up from where they are started until they find their settings: cargo, git, Node, pytest and others.
//! An agent runs as the user, and may write such settings for the tests of its own trial, or of others.

use std::collections::{BTreeSet, HashSet};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::agent;

use crate::tree::{Dir, Options, remove};

/// Names that agents and their tools read in any directory above, beside those of the agents' profiles.
const READ_BY_AGENTS: &[&str] = &[".git", ".env"];

/// Names that the tools of tests read in any directory above.
const READ_BY_TESTS: &[&str] = &[
    ".babelrc", ".babelrc.json", ".bazelrc", ".browserslistrc", ".bundle", ".cargo", ".config",
    ".coveragerc", ".envrc", ".eslintrc", ".eslintrc.cjs", ".eslintrc.js", ".eslintrc.json",
    ".eslintrc.yml", ".flake8", ".mocharc.cjs", ".mocharc.js", ".mocharc.json", ".mocharc.yml",
    ".mvn", ".node-version", ".npmrc", ".nvmrc", ".nycrc", ".pnp.cjs", ".pnp.loader.mjs",
    ".pylintrc", ".python-version", ".rspec", ".ruby-version", ".swcrc", ".tool-versions", ".venv",
    ".yarnrc", ".yarnrc.yml", "BUILD.bazel", "Cargo.toml", "Directory.Build.props",
    "Directory.Build.targets", "Directory.Packages.props", "Gemfile", "MODULE.bazel",
    "NuGet.config", "Rakefile", "WORKSPACE", "__init__.py", "babel.config.cjs", "babel.config.js",
    "babel.config.json", "build.gradle", "build.gradle.kts", "bunfig.toml", "composer.json",
    "conftest.py", "deno.json", "deno.jsonc", "eslint.config.cjs", "eslint.config.js",
    "eslint.config.mjs", "global.json", "go.mod", "go.work", "jest.config.cjs", "jest.config.js",
    "jest.config.json", "jest.config.mjs", "jest.config.ts", "justfile", "lerna.json", "mise.toml",
    "mypy.ini", "node_modules", "noxfile.py", "nx.json", "package.json", "pnpm-workspace.yaml",
    "pom.xml", "pyproject.toml", "pytest.ini", "pytest.toml", "ruff.toml", "rust-toolchain",
    "rust-toolchain.toml", "rustfmt.toml", "settings.gradle", "settings.gradle.kts", "setup.cfg",
    "setup.py", "tox.ini", "tsconfig.json", "turbo.json", "uv.toml", "vendor", "vitest.config.js",
    "vitest.config.mjs", "vitest.config.ts",
];

fn of_agents() -> impl Iterator<Item = &'static str> {
    let of_profiles = agent::profiles().flat_map(|profile| profile.read_above);
    of_profiles.chain(READ_BY_AGENTS).copied()
}

/// Refuses a directory below one with files that agents read: not every agent can be kept from looking.
pub(super) fn nothing_for_agents(dir: &Utf8Path) -> io::Result<()> {
    let names: BTreeSet<&str> = of_agents().collect();
    for above in dir.ancestors() {
        if let Some(name) = names.iter().find(|name| exists(&above.join(name))) {
            return Err(io::Error::other(format!(
                "trials would run below {above}, which has {name}, and agents read that"
            )));
        }
    }
    Ok(())
}

/// A directory with more entries is not listed: to ask for each name is quicker then.
const MOST_LISTED: u64 = 1000;

/// Files above the directories of a run, as they were when it started.
#[derive(Debug)]
pub(super) struct FilesAbove {
    dir: Utf8PathBuf,
    known: BTreeSet<Utf8PathBuf>,
}

impl FilesAbove {
    /// Notes what is in a directory and above it.
    pub(super) fn of(dir: &Utf8Path) -> Self {
        FilesAbove {
            dir: dir.to_owned(),
            known: present(dir).collect(),
        }
    }

    /// Returns an error if there is something new. Nobody can say who made it, or for which trial, and it is not
    /// Terca's to remove.
    pub(super) fn check(&self) -> io::Result<()> {
        match present(&self.dir).find(|path| !self.known.contains(path)) {
            Some(path) => Err(io::Error::other(format!(
                "{path} was created during the run, probably by an agent, and the tests may read it: remove it"
            ))),
            None => Ok(()),
        }
    }
}

/// Removes everything of the sort from a directory of Terca's own.
pub(super) fn clear(own: &Utf8Path) {
    for path in present_in(own) {
        let _ = remove(&path, &Options::default());
    }
}

fn present(dir: &Utf8Path) -> impl Iterator<Item = Utf8PathBuf> {
    dir.ancestors().flat_map(present_in)
}

/// Returns what a directory has of these names. This is done for every trial, and there are more names than most
/// directories have entries.
fn present_in(dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    // It may not be listed, or has too many entries.
    let listed = Dir::open(dir).and_then(|dir| dir.names(MOST_LISTED)).ok();
    // In some directories `cargo.toml` leads to `Cargo.toml`.
    let listed: Option<HashSet<String>> = listed.map(|names| {
        let names = names.iter().filter_map(|name| name.to_str());
        names.map(str::to_ascii_lowercase).collect()
    });
    let may_be_there = |name: &&str| {
        let has = |listed: &HashSet<String>| listed.contains(&name.to_ascii_lowercase());
        listed.as_ref().is_none_or(has)
    };
    let names: BTreeSet<&str> = READ_BY_TESTS.iter().copied().chain(of_agents()).collect();
    let paths = names.into_iter().filter(may_be_there);
    paths
        .map(|name| dir.join(name))
        .filter(|path| exists(path))
        .collect()
}

fn exists(path: &Utf8Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_is_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        let dir = root.join("a/b");
        fs_err::create_dir_all(&dir).unwrap();
        fs_err::write(root.join("package.json"), "{}").unwrap();
        let above = FilesAbove::of(&dir);
        above.check().unwrap();
        fs_err::write(root.join("anything"), "").unwrap();
        above.check().unwrap();
        for new in ["a/conftest.py", "a/b/.cargo", "Cargo.toml"] {
            fs_err::write(root.join(new), "").unwrap();
            let error = above.check().unwrap_err().to_string();
            assert!(error.contains(new), "{error}");
            fs_err::remove_file(root.join(new)).unwrap();
        }
        fs_err::create_dir(dir.join("node_modules")).unwrap();
        fs_err::write(dir.join("of-terca"), "").unwrap();
        clear(&dir);
        above.check().unwrap();
        assert!(dir.join("of-terca").exists());
    }

    #[test]
    fn names_are_found_in_directories_that_cannot_be_listed_too() {
        use std::os::unix::fs::PermissionsExt;
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        for number in 0..=MOST_LISTED {
            fs_err::write(root.join(format!("{number}")), "").unwrap();
        }
        let (new, unlisted) = (root.join("CLAUDE.md"), 0o311);
        fs_err::write(&new, "").unwrap();
        assert_eq!(present_in(root), [new.as_path()], "too many entries");
        let mode = std::fs::Permissions::from_mode(unlisted);
        std::fs::set_permissions(root, mode).unwrap();
        assert_eq!(present_in(root), [new.as_path()], "not listed");
        clear(root);
        assert!(present_in(root).is_empty());
    }
}
