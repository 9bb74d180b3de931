//! How the tests of a project are set up and run, by their language.
//!
//! The check must hold against work that ends its process early, replaces programs or settles the runner to run
//! nothing. So it asks for the runner's own report, in which tests must have passed that the work does not know, and the
//! settings of the runner are those of the commit.

mod cargo;
mod go;
mod node;
mod python;
mod step;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};

use super::choice::Language;
use crate::text::shell::{joined, quoted};
pub use step::Step;

/// The files of a project as a commit leaves them.
#[allow(missing_debug_implementations, reason = "it holds a function")]
pub struct Project<'a> {
    /// All paths.
    pub files: &'a BTreeSet<Utf8PathBuf>,
    /// Reads the text of a file; `None` when it is missing or not text.
    pub text: &'a dyn Fn(&Utf8Path) -> Option<String>,
}

impl Project<'_> {
    fn has(&self, dir: &Utf8Path, name: &str) -> bool {
        self.files.contains(&dir.join(name))
    }

    fn text(&self, dir: &Utf8Path, name: &str) -> Option<String> {
        let path = dir.join(name);
        self.files.contains(&path).then(|| (self.text)(&path))?
    }

    /// Returns the files of a name in a directory and those below it, as far as a package manager looks.
    fn all_named<'a>(
        &'a self,
        dir: &'a Utf8Path,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Utf8PathBuf> {
        let is_kept = |path: &Utf8Path| {
            let mut parts = path.components().map(|part| part.as_str());
            parts.any(|part| matches!(part, "node_modules" | "vendor" | "target"))
        };
        let files = self.files.iter();
        files.filter(move |path| {
            path.file_name() == Some(name) && path.starts_with(dir) && !is_kept(path)
        })
    }

    /// Returns those of these names that are in a directory.
    fn there(&self, dir: &Utf8Path, names: &[&str]) -> Vec<Utf8PathBuf> {
        let paths = names.iter().map(|name| dir.join(name));
        let is_there = |path: &Utf8PathBuf| self.files.iter().any(|file| file.starts_with(path));
        paths.filter(is_there).collect()
    }

    /// Returns the nearest directory above a file that has one of these files.
    fn nearest(&self, file: &Utf8Path, names: &[&str]) -> Option<Utf8PathBuf> {
        let mut above = file.ancestors().skip(1);
        let dir = above.find(|dir| names.iter().any(|name| self.has(dir, name)))?;
        Some(dir.to_owned())
    }
}

/// How tests of one language in one part of the project are set up and run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recipe {
    /// The word by which evals are selected.
    pub tag: &'static str,
    /// The program that sets it up or runs it; empty where every machine has it.
    pub tool: &'static str,
    /// Commands that run once, before all trials.
    pub setup: Vec<Step>,
    /// Variables of the setup, the agent and the check.
    pub env: Vec<(&'static str, &'static str)>,
    /// Lines of a script for `sh`, which begins in the root of the project. `$mined` is the directory of `script`, and
    /// `$report` the file for the runner's report. The exit status does not count.
    pub check: String,
    /// Files that decide how the runner runs. They are those of the commit, or are not there.
    pub settings: Vec<Utf8PathBuf>,
    /// The name and the text of a file that the check needs.
    pub script: Option<(&'static str, &'static str)>,
}

/// Returns the recipes for the tests of a commit, one for each language and part of the project.
pub fn recipes(run: &[(Language, Utf8PathBuf)], project: &Project<'_>) -> Vec<Recipe> {
    let mut groups: BTreeMap<(Language, Utf8PathBuf), Vec<&Utf8Path>> = BTreeMap::new();
    for (language, test) in run {
        let dir = project
            .nearest(test, manifests(*language))
            .unwrap_or_default();
        let group = groups.entry((*language, dir)).or_default();
        group.push(test);
    }
    let recipe = |((language, dir), tests): (&(Language, Utf8PathBuf), &Vec<&Utf8Path>)| {
        let part = Part { dir, tests };
        match language {
            Language::Node => node::recipe(&part, project),
            Language::Python => python::recipe(&part, project),
            Language::Rust => cargo::recipe(&part, project),
            Language::Go => go::recipe(&part, project),
            Language::Shell => shell(&part),
        }
    };
    groups.iter().map(recipe).collect()
}

fn manifests(language: Language) -> &'static [&'static str] {
    match language {
        Language::Node => &["package.json"],
        Language::Python => python::MANIFESTS,
        Language::Rust => &["Cargo.toml"],
        Language::Go => &["go.mod"],
        Language::Shell => &[],
    }
}

/// A part of a project, and the tests in it that are run.
#[derive(Debug)]
struct Part<'a> {
    dir: &'a Utf8Path,
    tests: &'a [&'a Utf8Path],
}

impl Part<'_> {
    /// Returns the tests as they are named in the part's directory.
    fn inside(&self) -> impl Iterator<Item = &Utf8Path> {
        self.tests
            .iter()
            .map(|test| test.strip_prefix(self.dir).unwrap_or(test))
    }

    /// Returns the tests as words of a shell command.
    fn words(&self) -> String {
        joined(self.inside())
    }

    fn paths(&self, names: &[&str]) -> Vec<Utf8PathBuf> {
        names.iter().map(|name| self.dir.join(name)).collect()
    }
}

/// Puts a command into a directory of the project.
fn within(dir: &Utf8Path, command: &str) -> String {
    match dir.as_str() {
        "" => command.to_owned(),
        dir => format!("cd {} && {command}", quoted(dir)),
    }
}

/// Returns the line that goes to a directory.
fn enter(dir: &Utf8Path) -> String {
    match dir.as_str() {
        "" => String::new(),
        dir => format!("cd {} || exit 1\n", quoted(dir)),
    }
}

/// Shows the report where the runner prints nothing else.
const SHOWN: &str = "cat \"$report\"\n";

/// Runs each script by itself.
fn shell(part: &Part<'_>) -> Recipe {
    let count = part.tests.len();
    let mut check = format!("{{\necho TAP version 13\necho 1..{count}\n");
    for (number, test) in part.inside().enumerate() {
        let (number, word) = (number + 1, quoted(test.as_str()));
        check += &format!(
            "if sh {word} >&2; then echo ok {number} - {word}; else echo not ok {number} - {word}; fi\n"
        );
    }
    Recipe {
        tag: "shell",
        check: check + "} > \"$report\"\n",
        ..Recipe::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(files: &[(&str, &str)], run: &[(Language, &str)]) -> Vec<Recipe> {
        let paths: BTreeSet<Utf8PathBuf> = files.iter().map(|(path, _)| (*path).into()).collect();
        let text = |path: &Utf8Path| {
            let file = files.iter().find(|(own, _)| path == *own);
            file.map(|(_, text)| (*text).to_owned())
        };
        let run: Vec<(Language, Utf8PathBuf)> = run
            .iter()
            .map(|(language, path)| (*language, (*path).into()))
            .collect();
        recipes(
            &run,
            &Project {
                files: &paths,
                text: &text,
            },
        )
    }

    fn commands(recipe: &Recipe) -> Vec<&str> {
        let steps = recipe.setup.iter();
        steps.map(|step| step.command.as_str()).collect()
    }

    fn only_files(step: &Step) -> Vec<&str> {
        step.only_files.iter().map(|path| path.as_str()).collect()
    }

    #[test]
    fn node_by_its_lock_file_and_runner() {
        let package = r#"{"devDependencies": {"vitest": "3"}}"#;
        let files = [
            ("pnpm-lock.yaml", ""),
            ("packages/a b/package.json", package),
            ("packages/a b/x.test.ts", ""),
        ];
        let recipes = made(&files, &[(Language::Node, "packages/a b/x.test.ts")]);
        assert_eq!(recipes.len(), 1);
        let install = "npm exec --yes pnpm@10 -- install --frozen-lockfile";
        assert_eq!(commands(&recipes[0]), [install]);
        assert_eq!(recipes[0].tool, "npm");
        assert!(
            recipes[0]
                .check
                .starts_with("cd 'packages/a b' || exit 1\n"),
            "{}",
            recipes[0].check
        );
        assert!(
            recipes[0].check.contains("vitest run"),
            "{}",
            recipes[0].check
        );
        for (package, lock, install) in [
            (
                r#"{"packageManager": "pnpm@9.1.2+sha512.ab"}"#,
                ("pnpm-lock.yaml", "lockfileVersion: '6.0'\n"),
                "npm exec --yes pnpm@9.1.2 -- install --frozen-lockfile",
            ),
            (
                "{}",
                ("pnpm-lock.yaml", "lockfileVersion: '6.0'\n"),
                "npm exec --yes pnpm@8 -- install --frozen-lockfile",
            ),
            (
                "{}",
                ("yarn.lock", "# yarn lockfile v1\n"),
                "npm exec --yes yarn@1 -- install --frozen-lockfile",
            ),
            (
                r#"{"packageManager": "yarn@4.5.0"}"#,
                ("yarn.lock", "__metadata:\n  version: 8\n"),
                "YARN_NODE_LINKER=node-modules npm exec --yes --package=@yarnpkg/cli-dist@4.5.0 -- yarn install --immutable",
            ),
            ("{}", ("package-lock.json", "{}"), "npm ci --prefer-offline"),
        ] {
            let files = [("package.json", package), lock, ("test/a.js", "")];
            let recipes = made(&files, &[(Language::Node, "test/a.js")]);
            assert_eq!(commands(&recipes[0]), [install]);
        }
        let with_build = r#"{"scripts": {"prepare": "tsc"}, "devDependencies": {"ava": "6"}}"#;
        for (package, read) in [
            (with_build, vec![]),
            (
                &with_build.replace("tsc", "husky"),
                vec![".npmrc", "package-lock.json", "package.json"],
            ),
            (&with_build.replace("\"6\"", "\"file:../ava\""), vec![]),
        ] {
            let files = [
                ("package.json", package),
                ("package-lock.json", "{}"),
                (".npmrc", ""),
            ];
            let recipes = made(&files, &[(Language::Node, "test/a.js")]);
            assert_eq!(only_files(&recipes[0].setup[0]), read, "{package}");
        }
        let plain = made(
            &[("package.json", "{}"), ("test/a.js", "")],
            &[(Language::Node, "test/a.js")],
        );
        assert_eq!(commands(&plain[0]), [""; 0]);
        assert_eq!(plain[0].tool, "node");
        assert!(plain[0].check.contains("node --test-reporter=tap"));
        let package = r#"{"devDependencies": {"ava": "^6"}}"#;
        let ava = [("package.json", package), ("test.js", "")];
        let ava = made(&ava, &[(Language::Node, "test.js")]);
        assert_eq!(commands(&ava[0]), ["npm install --prefer-offline"]);
        assert!(
            ava[0].check.contains("ava --tap test.js > \"$report\""),
            "{}",
            ava[0].check
        );
    }

    #[test]
    fn python_with_and_without_packages() {
        let plain = made(
            &[("tests/test_a.py", "import unittest\n")],
            &[(Language::Python, "tests/test_a.py")],
        );
        assert_eq!(commands(&plain[0]), [""; 0]);
        assert!(plain[0].check.contains("python3 -I"), "{}", plain[0].check);
        assert!(plain[0].check.contains(" unittest "), "{}", plain[0].check);
        let files = [
            ("pyproject.toml", "[project]\ndependencies = [\"attrs\"]\n"),
            ("requirements-dev.txt", "pytest\n"),
            ("tests/test_a.py", "import pytest\n"),
        ];
        let with = made(&files, &[(Language::Python, "tests/test_a.py")]);
        let install = "python3 -m venv .venv && .venv/bin/python -m pip install -q pytest -r requirements-dev.txt";
        let own = ".venv/bin/python -m pip install -q -e .";
        assert_eq!(commands(&with[0]), [install, own]);
        let read = with[0].setup.iter().map(only_files);
        assert_eq!(Vec::from_iter(read), [vec!["requirements-dev.txt"], vec![]]);
        assert!(with[0].check.contains(" pytest "), "{}", with[0].check);
        let uv = [("uv.lock", ""), ("a_test.py", "import pytest\n")];
        let uv = made(&uv, &[(Language::Python, "a_test.py")]);
        assert!(
            commands(&uv[0])[1].ends_with("pip install -q pytest; }"),
            "{uv:?}"
        );
        assert_eq!((with[0].tool, uv[0].tool), ("python3", "python3"));
        let groups = "[project]\nname = \"a\"\n[dependency-groups]\ntests = [\"a[more]\", \"pytest\", \"x>1\"]\n";
        let files = [
            ("pyproject.toml", groups),
            ("requirements/dev.txt", "sphinx\n"),
            ("uv.lock", ""),
        ];
        let run = [(Language::Python, "tests/test_a.py")];
        let [packages, grouped] = &made(&files, &run)[0].setup[..] else {
            panic!("two steps");
        };
        assert_eq!(only_files(packages), ["pyproject.toml", "uv.lock"]);
        let grouped = &grouped.command;
        let sync = "uv sync -q --frozen --no-default-groups --group tests && ";
        assert!(grouped.contains(sync), "{grouped}");
        let by_pip = made(&files[..2], &run).remove(0);
        let [packages, own] = commands(&by_pip)[..] else {
            panic!("two steps");
        };
        assert!(packages.ends_with("install -q pytest pytest 'x>1'"));
        assert!(own.ends_with("install -q -e '.[more]'"), "{own}");
    }

    #[test]
    fn cargo_by_crate_and_target() {
        let lock = "[[package]]\nname = \"x\"\nsource = \"registry\"\n";
        let files = [
            ("Cargo.toml", "[workspace]"),
            ("Cargo.lock", lock),
            ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("crates/a/src/lib.rs", ""),
            ("crates/a/tests/it/main.rs", "mod b;\nmod e;\n"),
            ("crates/a/tests/it/b.rs", "#[test]\nfn b() {}\n"),
            (
                "crates/a/tests/it/e/mod.rs", "#[tokio::test]\nasync fn e() {}\n",
            ),
            ("crates/a/tests/it/helper.rs", "pub fn help() {}\n"),
        ];
        let run = [
            (Language::Rust, "crates/a/tests/it/main.rs"),
            (Language::Rust, "crates/a/tests/it/b.rs"),
            (Language::Rust, "crates/a/tests/it/e/mod.rs"),
            (Language::Rust, "crates/a/tests/it/helper.rs"),
            (Language::Rust, "crates/a/tests/common/mod.rs"),
            (Language::Rust, "crates/a/tests/c.rs"),
            (Language::Rust, "crates/a/src/d/tests.rs"),
        ];
        let recipes = made(&files, &run);
        assert_eq!(recipes.len(), 1);
        let keep = format!(
            "cargo vendor -q --locked vendor > vendor.log{} && {}",
            cargo::WITHOUT_WINDOWS,
            cargo::KEEP
        );
        let setup = commands(&recipes[0]);
        assert!(
            setup[0].starts_with("mkdir -p crates/a/src . && for file in crates/a/src/lib.rs; do")
        );
        assert!(
            setup[0].contains(&keep) && setup[0].contains(" -p a; }"),
            "{}",
            setup[0]
        );
        let read = ["Cargo.lock", "Cargo.toml", "crates/a/Cargo.toml"];
        assert_eq!(only_files(&recipes[0].setup[0]), read);
        assert_eq!(setup[1], format!("[ -d vendor ] || {{ {keep}; }}"));
        let build = "--manifest-path crates/a/Cargo.toml --no-run --tests > cargo.log 2>&1 || true";
        assert!(setup[2].ends_with(build), "{recipes:?}");
        let check = &recipes[0].check;
        for part in [
            "--manifest-path crates/a/Cargo.toml",
            "--config 'source.kept.directory=\"vendor\"'",
            " --no-fail-fast --lib --bins --test c >>",
            " --no-fail-fast --test it -- b:: e:: >>",
        ] {
            assert!(check.contains(part), "{check}");
        }
        assert!(!check.contains("common"), "{check}");
        for (test, targets) in [
            ("crates/a/tests/it/helper.rs", " --test it >"),
            ("crates/a/tests/common/mod.rs", " --tests >"),
        ] {
            let check = &made(&files, &[(Language::Rust, test)])[0].check;
            assert!(check.contains(targets), "{check}");
        }
        let settings = "[source.crates-io]\nreplace-with = \"kept\"\n";
        let files = [
            ("rust/Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"),
            ("rust/.cargo/config.toml", settings),
            ("rust/a/Cargo.toml", ""),
            ("rust/a/src/main.rs", ""),
        ];
        let recipes = made(&files, &[(Language::Rust, "rust/a/src/tests.rs")]);
        assert_eq!(recipes[0].setup.len(), 1, "it has its crates");
        let check = &recipes[0].check;
        assert!(check.starts_with("cd rust || exit 1\nfind . "), "{check}");
        let command = "\ncargo test --offline --manifest-path a/Cargo.toml --no-fail-fast --bins >";
        assert!(check.contains(command), "{check}");
        let recipes = made(&files[2..], &[(Language::Rust, "rust/a/src/tests.rs")]);
        let keep = "cd rust/a && [ -d vendor ] || { cargo vendor -q vendor > vendor.log";
        assert!(commands(&recipes[0])[1].starts_with(keep), "{recipes:?}");
    }

    #[test]
    fn go_by_package() {
        let files = [("go.mod", ""), ("go.sum", ""), ("a/b_test.go", "")];
        let run = [(Language::Go, "a/b_test.go"), (Language::Go, "c_test.go")];
        let recipes = made(&files, &run);
        assert_eq!(commands(&recipes[0])[0], "go mod vendor");
        assert!(commands(&recipes[0])[1].contains(" go test -run '^$' . ./a > "));
        assert!(
            recipes[0].check.contains(" -json . ./a > "),
            "{}",
            recipes[0].check
        );
    }

    #[test]
    fn languages_have_recipes_of_their_own() {
        let run = [
            (Language::Shell, "tests/a.sh"),
            (Language::Python, "test_b.py"),
        ];
        let tags: Vec<&str> = made(&[], &run).iter().map(|recipe| recipe.tag).collect();
        assert_eq!(tags, ["python", "shell"]);
    }
}
