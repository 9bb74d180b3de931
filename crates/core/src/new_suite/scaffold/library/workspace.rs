//! Workspaces of package managers: several packages below one root, of which a package needs some.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::{Files, NO_SOURCES, is_plain};
use crate::reader::PathKind;
use crate::text::globs;

/// The patterns of a root's members, and of those that are none.
pub(super) type Patterns = (Vec<String>, Vec<String>);
/// A package's name, and the names of packages that it needs.
pub(super) type Identity = (String, Vec<String>);

/// The reading of one package manager's files.
#[derive(Clone, Copy)]
pub(super) struct Manager {
    /// Reads the manifest of a root.
    pub members: fn(&Files<'_>) -> Option<Patterns>,
    /// Reads the manifest of a package.
    pub identity: fn(&Files<'_>) -> Option<Identity>,
}

/// The packages below one root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The root's directory.
    pub root: Utf8PathBuf,
    /// The packages, by their paths below it.
    pub members: Vec<Member>,
}

/// A package of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name, as it is published.
    pub name: String,
    /// Its path below the root.
    pub place: String,
    /// The names of the packages that it needs.
    pub(super) needs: Vec<String>,
}

impl Workspace {
    /// Returns the workspace that has its root in this directory.
    pub(super) fn at(manager: Manager, files: &Files<'_>) -> Option<Self> {
        let (patterns, excluded) = (manager.members)(files)?;
        let mut places = Vec::new();
        for pattern in &patterns {
            let parts: Vec<&str> = pattern.split('/').filter(|part| *part != ".").collect();
            expand(files, "", &parts, &mut places);
        }
        let leaves_out = |place: &str| {
            let globs = excluded
                .iter()
                .filter_map(|path| globs::compiled(path, true).ok());
            globs.into_iter().any(|glob| glob.is_match(place))
        };
        places.retain(|place| is_plain(place) && !leaves_out(place));
        places.sort();
        places.dedup();
        let members = places.into_iter().filter_map(|place| {
            let dir = files.dir.join(&place);
            let own = Files {
                dir: &dir,
                ..*files
            };
            let (name, needs) = (manager.identity)(&own)?;
            Some(Member { name, place, needs })
        });
        let members: Vec<Member> = members.collect();
        (!members.is_empty()).then(|| Workspace {
            root: files.dir.to_owned(),
            members,
        })
    }

    /// Returns the workspace around a package that is a member of it.
    pub(super) fn around(manager: Manager, files: &Files<'_>) -> Option<Self> {
        let above = files.dir.ancestors().skip(1);
        above
            .take_while(|dir| dir.starts_with(files.top))
            .find_map(|dir| {
                let workspace = Workspace::at(manager, &Files { dir, ..*files })?;
                workspace.member(files.dir).is_some().then_some(workspace)
            })
    }

    fn member(&self, dir: &Utf8Path) -> Option<&Member> {
        let mut members = self.members.iter();
        members.find(|member| self.root.join(&member.place) == dir)
    }

    /// Returns the member in a directory, and behind it those that it needs, directly or not.
    pub(super) fn needed(&self, dir: &Utf8Path) -> Vec<&Member> {
        let mut needed: Vec<&Member> = self.member(dir).into_iter().collect();
        let mut at = 0;
        while let Some(member) = needed.get(at) {
            let names = &member.needs;
            let more = self
                .members
                .iter()
                .filter(|other| names.contains(&other.name));
            let more: Vec<&Member> = more.filter(|other| !needed.contains(other)).collect();
            needed.extend(more);
            at += 1;
        }
        needed
    }
}

/// Finds the directories that the parts of a pattern mean.
fn expand(files: &Files<'_>, at: &str, parts: &[&str], found: &mut Vec<String>) {
    let below = |name: &str| match at {
        "" => name.to_owned(),
        at => format!("{at}/{name}"),
    };
    let Some((part, rest)) = parts.split_first() else {
        found.push(at.to_owned());
        return;
    };
    if !part.contains(['*', '?', '[', '{']) {
        return expand(files, &below(part), rest, found);
    }
    if *part == "**" {
        expand(files, at, rest, found);
    }
    let Ok(glob) = globs::compiled(part, false) else {
        return;
    };
    let dir = files.dir.join(at);
    for name in files.surroundings.names_in(&dir) {
        let is_dir = PathKind::Directory == files.surroundings.kind(&dir.join(&name));
        let is_own = is_plain(&name) && !NO_SOURCES.contains(&name.as_str());
        if is_dir && is_own && glob.is_match(&name) {
            let rest = if *part == "**" { parts } else { rest };
            expand(files, &below(&name), rest, found);
        }
    }
}

/// Returns the patterns of a manifest that calls them `members` and `exclude`.
pub(super) fn patterns(workspace: &Value) -> Patterns {
    (texts(&workspace["members"]), texts(&workspace["exclude"]))
}

/// Returns the texts of a list in a manifest.
pub(super) fn texts(list: &Value) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten();
    texts.filter_map(Value::as_str).map(str::to_owned).collect()
}
