//! Chooses commits that change code and tests together.

use camino::Utf8PathBuf;

use super::commit::{Change, Commit, Kind};
use super::file_role::{Role, role_of};
use super::{Reason, Refusal};

pub use super::file_role::Language;

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
}

/// Refuses a commit for what it says about itself. Returns its only parent.
pub fn parent_of(commit: &Commit) -> Result<&str, Refusal> {
    let [parent] = commit.parents.as_slice() else {
        let is_first = commit.parents.is_empty();
        return Err(if is_first {
            Reason::First
        } else {
            Reason::Merge
        }
        .into());
    };
    if commit.subject().starts_with("Revert ") {
        return Err(Reason::Revert.into());
    }
    Ok(parent)
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
    if run.is_empty() {
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
        assert_eq!(reason(&commit("a", &["1", "2"])), Some(Reason::Merge));
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
}
