//! Paths and links that stay in their tree.

use camino::{Utf8Component, Utf8Path};

/// A longer path is not one of a project.
const LONGEST: usize = 1_000;

/// Tells whether a path of a tree leads to a file below the tree's root that is none of git's own.
pub(super) fn is_inside(path: &Utf8Path) -> bool {
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
