//! Chooses commits that change code and tests together.

use camino::{Utf8Path, Utf8PathBuf};

use super::commit::{Change, Commit, Kind};
use super::{Reason, Refusal};

/// A commit that changes more files does several things.
const MOST_FILES: usize = 30;

/// A commit that may become an eval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The commit.
    pub commit: Commit,
    /// The hash of its parent.
    pub parent: String,
    /// The changed files of its tests, also those that are gone.
    pub tests: Vec<Change>,
    /// The rest of its changes.
    pub solution: Vec<Change>,
    /// The tests to run, with their languages.
    pub run: Vec<(Language, Utf8PathBuf)>,
    /// Source files of Rust with new tests inside of them, and the modules that the check adds.
    pub inline: Vec<(Utf8PathBuf, String)>,
}

/// Refuses a commit for what it says about itself. Returns its parent; that of a merge is the branch that it is made on.
pub fn parent_of(commit: &Commit) -> Result<&str, Refusal> {
    let parent = match commit.parents.as_slice() {
        [] => return Err(Reason::First.into()),
        [parent] | [parent, _] => parent,
        _ => return Err(Reason::Merge.into()),
    };
    if commit.subject().starts_with("Revert ") {
        return Err(Reason::Revert.into());
    }
    Ok(parent)
}

/// Takes a merge for the commit that it could have been: its first line, which names branches, is left out. A merge that says
/// nothing else is refused.
pub fn merged(commit: &Commit) -> Result<Commit, Refusal> {
    let (_, message) = commit.message.split_once('\n').unwrap_or_default();
    let message = message.trim_start();
    match message.is_empty() {
        true => Err(Reason::Merge.into()),
        false => Ok(Commit {
            message: message.to_owned(),
            ..commit.clone()
        }),
    }
}

/// Chooses a commit by the paths that it changes, or says why not.
pub fn choose(commit: Commit, parent: &str, changes: Vec<Change>) -> Result<Chosen, Refusal> {
    let roles: Vec<Role> = changes.iter().map(|change| role_of(&change.path)).collect();
    let mut run = Vec::new();
    for (change, role) in changes.iter().zip(&roles) {
        if let (Role::Test(language), Some(_)) = (role, &change.new) {
            run.push((*language, change.path.clone()));
        }
    }
    // Files of Rust may have tests inside of them, which are found when they are read.
    let may_have_tests =
        |change: &Change| change.new.is_some() && change.path.extension() == Some("rs");
    if run.is_empty() && !changes.iter().any(may_have_tests) {
        return Err(Reason::NoTests.into());
    }
    if !roles.contains(&Role::Code) {
        return Err(Reason::NoCode.into());
    }
    if changes.len() > MOST_FILES {
        let detail = format!(
            "{} files are changed, and {MOST_FILES} may be",
            changes.len()
        );
        return Err(Refusal::with(Reason::TooLarge, detail));
    }
    for (change, role) in changes.iter().zip(&roles) {
        if *role == Role::Vendored {
            return Err(Refusal::with(Reason::Vendored, change.path.as_str()));
        }
        let sides = change.old.iter().chain(&change.new);
        if sides
            .into_iter()
            .any(|side| !matches!(side.kind, Kind::File(_)))
        {
            return Err(Refusal::with(Reason::NotAFile, change.path.as_str()));
        }
    }
    let of_tests = |role: &Role| matches!(role, Role::Test(_) | Role::OfTests);
    let (mut tests, mut solution) = (Vec::new(), Vec::new());
    for (change, role) in changes.into_iter().zip(&roles) {
        match of_tests(role) {
            true => tests.push(change),
            false => solution.push(change),
        }
    }
    if is_only_renamed(&solution) {
        return Err(Reason::OnlyRenamed.into());
    }
    Ok(Chosen {
        parent: parent.to_owned(),
        commit,
        tests,
        solution,
        run,
        inline: Vec::new(),
    })
}

/// Tells whether every new content was there before, under another name.
fn is_only_renamed(changes: &[Change]) -> bool {
    let gone: Vec<&str> = changes
        .iter()
        .filter(|change| change.new.is_none())
        .filter_map(|change| Some(change.old.as_ref()?.id.as_str()))
        .collect();
    let mut new = changes.iter().filter_map(|change| change.new.as_ref());
    !gone.is_empty() && new.all(|side| gone.contains(&side.id.as_str()))
}

/// The language of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// JavaScript and TypeScript.
    Node,
    /// Python.
    Python,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// A script for `sh`.
    Shell,
}

/// The part that a file has in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::new_suite) enum Role {
    /// A test that can be run.
    Test(Language),
    /// A file beside tests that they need.
    OfTests,
    /// A source file.
    Code,
    /// A copy of somebody else's work.
    Vendored,
    /// Documents, settings, lock files.
    Other,
}

const CODE: &str = "rs go py pyi js mjs cjs jsx ts mts cts tsx vue svelte sh bash c h cc cpp hpp cs java kt kts scala \
                    rb php pl lua swift m ex exs erl hs ml clj dart zig nim jl r sql proto";

pub(in crate::new_suite) fn role_of(path: &Utf8Path) -> Role {
    let dirs: Vec<&str> = path
        .parent()
        .into_iter()
        .flat_map(|dir| dir.components())
        .map(|part| part.as_str())
        .collect();
    let is_vendored = |dir: &&str| {
        matches!(
            *dir,
            "vendor" | "node_modules" | "third_party" | "third-party" | "vendored" | ".yarn"
        )
    };
    if dirs.iter().any(is_vendored) {
        return Role::Vendored;
    }
    let is_in_tests = dirs
        .iter()
        .any(|dir| matches!(*dir, "test" | "tests" | "__tests__" | "testdata" | "spec"));
    match (language_of(path), is_in_tests) {
        (Some(language), _) if is_test(path, language, is_in_tests) => Role::Test(language),
        (_, true) => Role::OfTests,
        _ if path.file_name() == Some("conftest.py") => Role::OfTests,
        _ if is_code(path) => Role::Code,
        _ => Role::Other,
    }
}

fn is_code(path: &Utf8Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_lowercase();
    CODE.split_whitespace().any(|code| code == extension)
}

pub(super) fn language_of(path: &Utf8Path) -> Option<Language> {
    Some(match path.extension()? {
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => Language::Node,
        "py" => Language::Python,
        "rs" => Language::Rust,
        "go" => Language::Go,
        "sh" => Language::Shell,
        _ => return None,
    })
}

/// Tells whether a runner of the language takes the file for a test.
fn is_test(path: &Utf8Path, language: Language, is_in_tests: bool) -> bool {
    let stem = path.file_stem().unwrap_or_default();
    // Small projects have one file for all tests.
    let is_the_one = matches!(stem, "test" | "tests");
    let is_named = is_the_one || stem.starts_with("test_") || stem.ends_with("_test");
    match language {
        Language::Go => stem.ends_with("_test"),
        Language::Python => is_named,
        Language::Rust => is_in_tests || is_the_one,
        Language::Shell => is_named || (is_in_tests && !is_helper(stem)),
        Language::Node => {
            let is_marked = [".test", ".spec", "-test"]
                .iter()
                .any(|end| stem.ends_with(end));
            is_marked || is_named || (is_in_tests && !is_helper(stem))
        }
    }
}

/// Tells whether a file beside tests is named as something that they load.
fn is_helper(stem: &str) -> bool {
    let name = stem.to_lowercase();
    [
        "helper", "util", "fixture", "setup", "mock", "common", "lib", "index",
    ]
    .iter()
    .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::new_suite::mine::commit::Object;

    fn side(kind: Kind, id: &str) -> Option<Object> {
        Some(Object {
            kind,
            id: id.to_owned(),
            text: String::new(),
        })
    }

    fn changed(path: &str) -> Change {
        Change {
            path: path.into(),
            old: side(Kind::File(false), "1"),
            new: side(Kind::File(false), "2"),
        }
    }

    fn commit(subject: &str, parents: &[&str]) -> Commit {
        Commit {
            id: "c".repeat(40),
            parents: parents.iter().map(|parent| (*parent).to_owned()).collect(),
            seconds: 0,
            message: subject.to_owned(),
        }
    }

    fn reason(changes: Vec<Change>) -> Option<Reason> {
        let chosen = choose(commit("Fix it", &["p"]), "p", changes);
        chosen.err().map(|refusal| refusal.reason)
    }

    #[test]
    fn merges_first_commits_and_reverts_are_refused() {
        let reason = |commit: &Commit| parent_of(commit).err().map(|refusal| refusal.reason);
        assert_eq!(reason(&commit("a", &[])), Some(Reason::First));
        assert_eq!(reason(&commit("a", &["1", "2"])), None);
        assert_eq!(reason(&commit("a", &["1", "2", "3"])), Some(Reason::Merge));
        let merge = |message: &str| merged(&commit(message, &["1", "2"]));
        assert_eq!(merge("Merge x\n").unwrap_err().reason, Reason::Merge);
        let message = "Merge pull request #1 from a/b\n\nParse it\n";
        assert_eq!(merge(message).unwrap().message, "Parse it\n");
        assert_eq!(
            reason(&commit("Revert \"a\"", &["1"])),
            Some(Reason::Revert)
        );
        assert_eq!(reason(&commit("Revertible", &["1"])), None);
    }

    #[test]
    fn code_and_tests_are_told_apart() {
        let changes = ["a.py", "tests/test_a.py", "tests/data.json", "README.md"];
        let changes = changes.map(changed).to_vec();
        let chosen = choose(commit("Fix it", &["p"]), "p", changes).unwrap();
        let paths = |changes: &[Change]| -> Vec<String> {
            changes
                .iter()
                .map(|change| change.path.to_string())
                .collect()
        };
        assert_eq!(paths(&chosen.tests), ["tests/test_a.py", "tests/data.json"]);
        assert_eq!(paths(&chosen.solution), ["a.py", "README.md"]);
        assert_eq!(chosen.run, [(Language::Python, "tests/test_a.py".into())]);
    }

    #[test]
    fn what_is_no_task_is_refused() {
        assert_eq!(reason(vec![changed("a.py")]), Some(Reason::NoTests));
        assert_eq!(reason(vec![changed("test_a.py")]), Some(Reason::NoCode));
        let lock_only = vec![changed("Cargo.lock"), changed("tests/a.rs")];
        assert_eq!(reason(lock_only), Some(Reason::NoCode));
        let gone = Change {
            new: None,
            ..changed("test_a.py")
        };
        assert_eq!(reason(vec![changed("a.py"), gone]), Some(Reason::NoTests));
        let linked = Change {
            new: side(Kind::Link, "3"),
            ..changed("b")
        };
        assert_eq!(
            reason(vec![changed("a.py"), changed("test_a.py"), linked]),
            Some(Reason::NotAFile)
        );
        assert_eq!(
            reason(vec![
                changed("a.py"),
                changed("test_a.py"),
                changed("vendor/x.py")
            ]),
            Some(Reason::Vendored)
        );
        let moved = [
            Change {
                new: None,
                ..changed("a.py")
            },
            Change {
                old: None,
                new: side(Kind::File(false), "1"),
                ..changed("b.py")
            },
            changed("test_a.py"),
        ];
        assert_eq!(reason(moved.to_vec()), Some(Reason::OnlyRenamed));
        let mut many: Vec<Change> = (0..30).map(|n| changed(&format!("{n}.py"))).collect();
        many.push(changed("test_a.py"));
        assert_eq!(reason(many), Some(Reason::TooLarge));
    }

    #[test]
    fn files_by_their_paths() {
        use Language::{Go, Node, Python, Rust, Shell};
        for (path, role) in [
            ("src/parse.py", Role::Code),
            ("tests/test_parse.py", Role::Test(Python)),
            ("pkg/parse_test.py", Role::Test(Python)),
            ("tests/conftest.py", Role::OfTests),
            ("conftest.py", Role::OfTests),
            ("tests/data/a.json", Role::OfTests),
            ("parse_test.go", Role::Test(Go)),
            ("testdata/x.go", Role::OfTests),
            ("src/a.test.ts", Role::Test(Node)),
            ("src/a.spec.js", Role::Test(Node)),
            ("src/__tests__/a.tsx", Role::Test(Node)),
            ("test/a.mjs", Role::Test(Node)),
            ("test/helpers.js", Role::OfTests),
            ("crates/a/tests/it/b.rs", Role::Test(Rust)),
            ("crates/a/src/b/tests.rs", Role::Test(Rust)),
            ("crates/a/src/b.rs", Role::Code),
            ("tests/run.sh", Role::Test(Shell)),
            ("vendor/a/b_test.go", Role::Vendored),
            ("node_modules/a/index.js", Role::Vendored),
            ("README.md", Role::Other),
            ("Cargo.lock", Role::Other),
            ("latest.py", Role::Code),
            ("testing.py", Role::Code),
            ("test.py", Role::Test(Python)),
            ("test.js", Role::Test(Node)),
        ] {
            assert_eq!(role_of(Utf8Path::new(path)), role, "{path}");
        }
    }
}
