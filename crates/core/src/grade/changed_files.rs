//! `changedFiles`: what the agent changed stays where it may.

use super::{Glob, Verdict};
use crate::text::prose;

/// Where changes may be, and where they may not.
#[derive(Debug, Clone)]
pub struct ChangedFiles {
    /// `None`: anywhere. An empty list: nowhere.
    pub only: Option<Vec<Glob>>,
    pub never: Vec<Glob>,
}

impl ChangedFiles {
    /// A file that was renamed is among the changes twice: where it was, and where it is.
    pub(super) fn judge(&self, changes: &[String]) -> Verdict {
        let mut forbidden = Vec::new();
        for path in changes {
            if let Some(glob) = self.never.iter().find(|glob| glob.matcher.is_match(path)) {
                forbidden.push(format!("{path} (never {})", glob.written));
            } else if let Some(only) = &self.only
                && !only.iter().any(|glob| glob.matcher.is_match(path))
            {
                forbidden.push(path.clone());
            }
        }
        if forbidden.is_empty() {
            return Verdict::pass(match changes.len() {
                0 => "nothing was changed".into(),
                number => format!(
                    "{}, all where they may be",
                    prose::count(number, "changed file")
                ),
            });
        }
        Verdict::fail(format!(
            "changed where it may not: {}",
            first_few(&forbidden)
        ))
    }
}

fn first_few(paths: &[String]) -> String {
    const SHOWN: usize = 5;
    match paths.len() {
        0..=SHOWN => prose::list(paths, "and"),
        number => format!("{} and {} more", paths[..SHOWN].join(", "), number - SHOWN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(patterns: &[&str]) -> Vec<Glob> {
        let glob = |pattern: &&str| Glob {
            written: (*pattern).to_owned(),
            matcher: globset::GlobBuilder::new(pattern)
                .literal_separator(true)
                .build()
                .unwrap()
                .compile_matcher(),
        };
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
                "1 changed file, all where they may be",
            ),
            (
                Some(&["src/**"]),
                &[],
                &["README", "src/a"],
                0.0,
                "changed where it may not: README",
            ),
            (
                Some(&[]),
                &[],
                &["a", "b"],
                0.0,
                "changed where it may not: a and b",
            ),
            (
                None,
                &["*.lock"],
                &["a.js"],
                1.0,
                "1 changed file, all where they may be",
            ),
            (
                None,
                &["*.lock"],
                &["x.lock", "a"],
                0.0,
                "changed where it may not: x.lock (never *.lock)",
            ),
            (
                None,
                &["*"],
                &["a/b"],
                1.0,
                "1 changed file, all where they may be",
            ),
            (
                Some(&["src/**"]),
                &["src/gen/**"],
                &["src/a", "src/gen/x"],
                0.0,
                "changed where it may not: src/gen/x (never src/gen/**)",
            ),
            (
                Some(&["x"]),
                &[],
                &["1", "2", "3", "4", "5", "6", "7"],
                0.0,
                "changed where it may not: 1, 2, 3, 4, 5 and 2 more",
            ),
        ] {
            let asked = ChangedFiles {
                only: only.map(globs),
                never: globs(never),
            };
            let changes: Vec<String> = changes.iter().map(|path| (*path).to_owned()).collect();
            assert_eq!(
                asked.judge(&changes),
                Verdict {
                    score,
                    message: message.into()
                }
            );
        }
    }
}
