//! Maps directories of a container to directories of a workspace.

use camino::{Utf8Path, Utf8PathBuf};

/// The directory in which Harbor's agents work by default.
pub const DEFAULT_ROOT: &str = "/app";

/// Harbor's own directories, and their replacements below the workspace.
pub(super) const MOVED: [(&str, &str); 3] = [
    ("/tests", "/.harbor/tests"),
    ("/logs", "/.harbor/logs"),
    ("/solution", "/.harbor/solution"),
];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Places {
    /// The directory that the workspace replaces.
    pub(super) root: Utf8PathBuf,
    /// Whether that directory is only assumed.
    pub(super) is_assumed: bool,
}

impl Places {
    /// Returns whether it is the root, which cannot be a workspace.
    pub(super) fn new(workdir: Option<&Utf8Path>) -> Self {
        let said = workdir.filter(|path| path.is_absolute() && path.parent().is_some());
        Places {
            root: said.unwrap_or(Utf8Path::new(DEFAULT_ROOT)).to_owned(),
            is_assumed: said.is_none(),
        }
    }

    /// Returns a path relative to the workspace; `None` when it is elsewhere.
    pub(super) fn below_root<'a>(&self, path: &'a Utf8Path) -> Option<&'a Utf8Path> {
        path.strip_prefix(&self.root).ok()
    }

    /// Returns whether a script that names this path finds something there.
    pub(super) fn knows(&self, path: &Utf8Path) -> bool {
        self.below_root(path).is_some() || MOVED.iter().any(|(from, _)| path.starts_with(from))
    }

    /// Rewrites the prompt with paths that exist: `/app/src` becomes `./src`.
    pub(super) fn in_prompt(&self, text: &str) -> String {
        let root = self.root.as_str();
        let mut told = String::with_capacity(text.len());
        let mut done = 0;
        for (start, _) in text.match_indices(root) {
            let end = start + root.len();
            if start < done || !begins_here(&text[..start]) || !ends_here(&text[end..]) {
                continue;
            }
            told.push_str(&text[done..start]);
            told.push_str("./");
            done = if text[end..].starts_with('/') {
                end + 1
            } else {
                end
            };
        }
        told.push_str(&text[done..]);
        told
    }
}

/// Returns whether a path can begin after this character: not inside another path or after a variable.
fn begins_here(before: &str) -> bool {
    before
        .chars()
        .next_back()
        .is_none_or(|c| !c.is_alphanumeric() && !"_./~-})*".contains(c))
}

/// Returns whether the name ends before this text: `/app` is neither `/apple` nor `/app.py`, but may end a
/// sentence.
fn ends_here(after: &str) -> bool {
    let mut rest = after.chars();
    match rest.next() {
        Some('.') => rest.next().is_none_or(|c| !c.is_alphanumeric()),
        Some(c) => !c.is_alphanumeric() && !"_-".contains(c),
        None => true,
    }
}
