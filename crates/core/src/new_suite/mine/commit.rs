//! Commits, changes and trees as git's plumbing tells them.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::{Reason, Refusal};

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its hash.
    pub id: String,
    /// The hashes of its parents.
    pub parents: Vec<String>,
    /// The time at which it was made, in seconds since 1970.
    pub seconds: i64,
    /// Its message.
    pub message: String,
}

impl Commit {
    /// Reads the object of a commit.
    pub fn read(id: &str, object: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(object);
        let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
        let mut parents = Vec::new();
        let mut seconds = None;
        for line in head.lines() {
            match line.split_once(' ') {
                Some(("parent", parent)) => parents.push(parent.to_owned()),
                // `committer A B <a@b> 1700000000 +0100`
                Some(("committer", rest)) => seconds = rest.rsplit(' ').nth(1)?.parse().ok(),
                _ => {}
            }
        }
        Some(Commit {
            id: id.to_owned(),
            parents,
            seconds: seconds?,
            message: message.trim().to_owned(),
        })
    }

    /// Returns the first line of the message.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default().trim()
    }

    /// Returns the beginning of the hash, by which people name it.
    pub fn short(&self) -> &str {
        self.id.get(..9).unwrap_or(&self.id)
    }

    /// Returns the day on which it was made.
    pub fn date(&self) -> String {
        let at = jiff::Timestamp::from_second(self.seconds).unwrap_or_default();
        at.strftime("%Y-%m-%d").to_string()
    }
}

/// The kind of an entry of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file; `true` if it may be run.
    File(bool),
    /// A symbolic link. Its content is the target.
    Link,
    /// A commit of another repository.
    Submodule,
}

/// An object of git that a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its kind.
    pub kind: Kind,
    /// The hash of its content.
    pub id: String,
    /// Its content, once the file of a change was read.
    pub text: String,
}

impl Object {
    fn new(mode: &str, id: &str) -> Option<Self> {
        let kind = match mode {
            "100755" => Kind::File(true),
            "120000" => Kind::Link,
            "160000" => Kind::Submodule,
            _ if mode.starts_with("100") => Kind::File(false),
            _ => return None,
        };
        Some(Object {
            kind,
            id: id.to_owned(),
            text: String::new(),
        })
    }
}

/// A path that a commit changes. A renamed file is gone in one place and new in another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path.
    pub path: Utf8PathBuf,
    /// The entry before; `None` if it is new.
    pub old: Option<Object>,
    /// The entry after; `None` if it is gone.
    pub new: Option<Object>,
}

impl Change {
    /// Returns the texts of a file that was read, before and after.
    pub fn texts(&self) -> [&str; 2] {
        [&self.old, &self.new].map(|object| object.as_ref().map_or("", |object| &object.text))
    }
}

/// Reads the output of `git diff-tree -r -z --no-renames --no-abbrev`.
pub fn changes(output: &[u8]) -> Result<Vec<Change>, Refusal> {
    let mut parts = output.split(|byte| *byte == 0);
    let mut changes = Vec::new();
    while let Some(head) = parts.next().filter(|head| !head.is_empty()) {
        let head = std::str::from_utf8(head).map_err(|_| Reason::Unreadable)?;
        let path = path(parts.next().ok_or(Reason::Unreadable)?)?;
        let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
        let [old_mode, new_mode, old, new, _] = words.as_slice() else {
            return Err(Reason::Unreadable.into());
        };
        let side = |mode: &str, id: &str| match mode {
            "000000" => Ok(None),
            mode => match Object::new(mode, id) {
                None => Err(Refusal::with(Reason::NotAFile, path.as_str())),
                object => Ok(object),
            },
        };
        changes.push(Change {
            old: side(old_mode, old)?,
            new: side(new_mode, new)?,
            path: path.clone(),
        });
    }
    Ok(changes)
}

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path.
    pub path: Utf8PathBuf,
    /// What is there.
    pub object: Object,
    /// The bytes of its content.
    pub size: u64,
}

/// Reads the output of `git ls-tree -r -z -l`.
pub fn tree(output: &[u8]) -> Result<Vec<Entry>, Refusal> {
    let mut entries = Vec::new();
    for line in output
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty())
    {
        let tab = line.iter().position(|byte| *byte == b'\t');
        let (head, name) = line.split_at(tab.ok_or(Reason::Unreadable)?);
        let head = std::str::from_utf8(head).map_err(|_| Reason::Unreadable)?;
        let path = path(&name[1..])?;
        let words: Vec<&str> = head.split_whitespace().collect();
        let [mode, _, id, size] = words.as_slice() else {
            return Err(Reason::Unreadable.into());
        };
        let object = Object::new(mode, id).ok_or(Reason::Unreadable)?;
        if object.kind == Kind::Submodule {
            return Err(Refusal::with(Reason::Submodules, path.as_str()));
        }
        entries.push(Entry {
            path,
            object,
            size: size.parse().map_err(|_| Reason::Unreadable)?,
        });
    }
    Ok(entries)
}

/// Reads a path of a tree. Anybody can write a tree, with any path in it.
fn path(bytes: &[u8]) -> Result<Utf8PathBuf, Refusal> {
    let bad = || Refusal::with(Reason::BadPath, String::from_utf8_lossy(bytes));
    let text = std::str::from_utf8(bytes).map_err(|_| bad())?;
    let path = Utf8Path::new(text);
    is_inside(path).then(|| path.to_owned()).ok_or_else(bad)
}

/// A longer path is not one of a project.
const LONGEST: usize = 1_000;

/// Tells whether a path of a tree leads to a file below the tree's root that is none of git's own.
fn is_inside(path: &Utf8Path) -> bool {
    let text = path.as_str();
    let is_plain = |part: &str| {
        !matches!(part, "" | "." | "..") && part.len() <= 255 && !part.eq_ignore_ascii_case(".git")
    };
    text.len() <= LONGEST && !text.contains('\0') && text.split('/').all(is_plain)
}

/// Tells whether a symbolic link leads to a place in its tree.
pub fn link_stays_inside(path: &Utf8Path, target: &str) -> bool {
    if target.is_empty() || target.len() > LONGEST || target.contains('\0') {
        return false;
    }
    let mut depth = path.components().count().saturating_sub(1);
    for part in Utf8Path::new(target).components() {
        match part {
            Utf8Component::Normal(_) => depth += 1,
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir if depth > 0 => depth -= 1,
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";
    const NONE: &str = "0000000000000000000000000000000000000000";

    #[test]
    fn a_commit_is_read_with_its_parents_time_and_message() {
        let object = format!(
            "tree {ONE}\nparent {TWO}\nauthor A <a@b> 5 +0000\ncommitter A B <a@b> 1700000000 +0100\n\
             gpgsig -----BEGIN\n parent of nothing\n\nFix it\n\nBecause.\n"
        );
        let commit = Commit::read(TWO, object.as_bytes()).unwrap();
        assert_eq!(commit.parents, [TWO]);
        assert_eq!(commit.subject(), "Fix it");
        assert_eq!(commit.message, "Fix it\n\nBecause.");
        assert_eq!(commit.date(), "2023-11-14");
        assert_eq!(Commit::read(TWO, b"tree x\n\nno committer"), None);
    }

    #[test]
    fn changes_are_read_with_their_sides() {
        let output = format!(
            ":100644 100755 {ONE} {TWO} M\0src/a.py\0:000000 120000 {NONE} {ONE} A\0link\0:100644 000000 {ONE} {NONE} D\0b\0"
        );
        let changes = changes(output.as_bytes()).unwrap();
        let kinds: Vec<_> = changes
            .iter()
            .map(|change| {
                let kind = |side: &Option<Object>| side.as_ref().map(|side| side.kind);
                (change.path.as_str(), kind(&change.old), kind(&change.new))
            })
            .collect();
        let (file, program) = (Some(Kind::File(false)), Some(Kind::File(true)));
        assert_eq!(
            kinds,
            [
                ("src/a.py", file, program),
                ("link", None, Some(Kind::Link)),
                ("b", file, None),
            ]
        );
    }

    #[test]
    fn a_tree_is_refused_for_its_paths_and_submodules() {
        let line = |mode: &str, kind: &str, size: &str, path: &str| {
            tree(format!("{mode} {kind} {ONE} {size}\t{path}\0").as_bytes())
        };
        let entries = line("100644", "blob", "     12", "a\tb").unwrap();
        assert_eq!((entries[0].path.as_str(), entries[0].size), ("a\tb", 12));
        let reason = |read: Result<Vec<Entry>, Refusal>| read.unwrap_err().reason;
        assert_eq!(
            reason(line("160000", "commit", "-", "sub")),
            Reason::Submodules
        );
        for path in ["../a", "a/../b", "/a", "a/.git/config", ".GIT/hooks/x", ""] {
            assert_eq!(
                reason(line("100644", "blob", "1", path)),
                Reason::BadPath,
                "{path}"
            );
        }
        assert_eq!(reason(line("100644", "blob", "x", "a")), Reason::Unreadable);
    }

    #[test]
    fn links_that_lead_out_are_known() {
        let stays = |path: &str, target| link_stays_inside(Utf8Path::new(path), target);
        assert!(stays("CLAUDE.md", "AGENTS.md"));
        assert!(stays("a/b/c", "../../d"));
        for (path, target) in [
            ("a", "/etc/passwd"),
            ("a", ".."),
            ("a/b", "../../c"),
            ("a/b", "x/../../../c"),
            ("a", ""),
        ] {
            assert!(!stays(path, target), "{path} -> {target}");
        }
    }
}
