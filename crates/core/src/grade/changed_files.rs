//! `changedFiles`: the agent must change only certain files.

use std::time::Duration;

use super::declaration::{TestKindDeclaration, asking, settings};
use super::grades::Grade;
use super::test::{Question, TestKind};
use crate::reader::patterns::{PathPattern, path_pattern};
use crate::reader::{Fields, object, one_or_more};
use crate::text::prose;

pub(super) const KIND: TestKindDeclaration = TestKindDeclaration {
    key: "changedFiles",
    about: "Every file that the agent changed must be where changes are allowed.",
    settings: || {
        let asked = object("changedFiles", "`changedFiles`", fields);
        let asked = asked.linked("[map](eval-yaml.md#changedfiles)").kind();
        settings(asking("changedFiles", "only: ['src/**']", asked))
    },
};

/// The most files that are named.
const SHOWN: usize = 5;

/// The files that may be changed, and those that may not.
#[derive(Debug)]
struct ChangedFiles {
    /// `None` allows all, an empty list nothing.
    only: Option<Vec<PathPattern>>,
    never: Vec<PathPattern>,
}

fn fields(fields: &mut Fields<'_, '_>) -> Option<ChangedFiles> {
    Some(ChangedFiles {
        only: fields.optional(
            "only",
            one_or_more(path_pattern("glob")),
            "Every changed file must match one of these globs. `[]` allows no change.",
        ),
        never: fields.defaulted(
            "never",
            one_or_more(path_pattern("glob")),
            "No changed file may match one of these globs.",
        ),
    })
}

impl TestKind for ChangedFiles {
    fn question(&self, _: Duration) -> Question<'_> {
        Question::Changes {
            judge: Box::new(|changes| Ok(self.judge(changes))),
        }
    }
}

impl ChangedFiles {
    /// Judges a list of changes. A renamed file is in it twice, under both names.
    fn judge(&self, changes: &[String]) -> Grade {
        let mut forbidden = Vec::new();
        for path in changes {
            if let Some(glob) = self.never.iter().find(|glob| glob.is_match(path)) {
                forbidden.push(format!("{path} (never {})", glob.written));
            } else if let Some(only) = &self.only
                && !only.iter().any(|glob| glob.is_match(path))
            {
                forbidden.push(path.clone());
            }
        }
        if forbidden.is_empty() {
            return Grade::pass(match changes.len() {
                0 => "nothing was changed".into(),
                number => format!("{}, all allowed", prose::count(number, "changed file")),
            });
        }
        Grade::fail(format!(
            "changed files that it must not change: {}",
            prose::few(&forbidden, SHOWN)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(patterns: &[&str]) -> Vec<PathPattern> {
        let glob = |pattern: &&str| PathPattern::new(pattern, (*pattern).into()).unwrap();
        patterns.iter().map(glob).collect()
    }

    #[test]
    fn only_and_never() {
        for (only, never, changes, score, message) in [
            (
                Some(&["src/**"][..]),
                &[][..],
                &[][..],
                1.0,
                "nothing was changed",
            ),
            (
                Some(&["src/**"]),
                &[],
                &["src/a/b.js"],
                1.0,
                "1 changed file, all allowed",
            ),
            (
                Some(&["src/**"]),
                &[],
                &["README", "src/a"],
                0.0,
                "changed files that it must not change: README",
            ),
            (
                Some(&[]),
                &[],
                &["a", "b"],
                0.0,
                "changed files that it must not change: a and b",
            ),
            (
                None,
                &["*.lock"],
                &["a.js"],
                1.0,
                "1 changed file, all allowed",
            ),
            (
                None,
                &["*.lock"],
                &["x.lock", "a"],
                0.0,
                "changed files that it must not change: x.lock (never *.lock)",
            ),
            (None, &["*"], &["a/b"], 1.0, "1 changed file, all allowed"),
            (
                Some(&["src/**"]),
                &["src/gen/**"],
                &["src/a", "src/gen/x"],
                0.0,
                "changed files that it must not change: src/gen/x (never src/gen/**)",
            ),
            (
                Some(&["x"]),
                &[],
                &["1", "2", "3", "4", "5", "6", "7"],
                0.0,
                "changed files that it must not change: 1, 2, 3, 4, 5 and 2 more",
            ),
        ] {
            let asked = ChangedFiles {
                only: only.map(globs),
                never: globs(never),
            };
            let changes: Vec<String> = changes.iter().map(|path| (*path).to_owned()).collect();
            assert_eq!(asked.judge(&changes), Grade::scored(score, message));
        }
    }
}
