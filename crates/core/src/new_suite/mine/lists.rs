//! The tests that a mined eval demands: those that the commit makes pass, and those that it must not break.
//!
//! They are found in the reports of several gradings of the commit itself and of doing nothing. A test that does not always
//! end in the same way is in no list, nor is one that fails after the commit, too.

use std::collections::BTreeSet;

use super::Reason;
use crate::grade::test_report::Cases;
use crate::text::json::yaml_line;

/// The most tests of a list that the commit must not break.
const MOST: usize = 1_000;

/// The tests of one runner that must pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lists {
    /// They fail at first.
    pub fail_to_pass: Vec<String>,
    /// They pass at first, too.
    pub pass_to_pass: Vec<String>,
}

impl Lists {
    /// Tells whether nothing is demanded.
    pub fn is_empty(&self) -> bool {
        self.fail_to_pass.is_empty() && self.pass_to_pass.is_empty()
    }

    /// Returns the lines of `mustPass`.
    pub(super) fn lines(&self) -> String {
        let lines = |about: &str, names: &[String]| {
            let names = names
                .iter()
                .map(|name| format!("        - {}\n", yaml_line(&name.as_str().into())));
            let names: String = names.collect();
            match names.is_empty() {
                true => names,
                false => format!("        # {about}\n{names}"),
            }
        };
        lines("They fail at first.", &self.fail_to_pass)
            + &lines("They pass at first, too.", &self.pass_to_pass)
    }
}

/// The reports of one runner, from all gradings of the same work. A grading that left none has no tests.
#[derive(Debug, Clone, Default)]
pub struct Gradings(pub Vec<Cases>);

impl Gradings {
    /// Returns the tests that passed every time, and those that passed at least once.
    fn passed(&self) -> (BTreeSet<&str>, BTreeSet<&str>) {
        let mut gradings = self.0.iter().map(Cases::names_passed);
        let first = gradings.next().unwrap_or_default();
        let (mut always, mut once) = (first.clone(), first);
        for names in gradings {
            always.retain(|name| names.contains(name));
            once.extend(names);
        }
        (always, once)
    }
}

/// Returns the lists of each runner, by what it reported of the commit and of doing nothing, or the reason why they prove
/// nothing.
pub fn lists(runners: &[(Gradings, Gradings)]) -> Result<Vec<Lists>, Reason> {
    let mut all = Vec::new();
    let (mut is_flaky, mut has_failures) = (false, false);
    for (commit, nothing) in runners {
        let ((after, once), (before, ever)) = (commit.passed(), nothing.passed());
        is_flaky |= once.len() > after.len();
        has_failures |= after.is_empty() || commit.0.iter().any(|cases| cases.failed > 0);
        let owned = |names: Vec<&&str>| names.into_iter().map(|name| (*name).to_owned()).collect();
        all.push(Lists {
            fail_to_pass: owned(after.difference(&ever).collect()),
            pass_to_pass: owned(after.intersection(&before).take(MOST).collect()),
        });
    }
    if all.iter().any(|lists| !lists.fail_to_pass.is_empty()) {
        return Ok(all);
    }
    Err(match (is_flaky, has_failures) {
        (true, _) => Reason::Flaky,
        (_, true) => Reason::Broken,
        _ => Reason::Trivial,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::test_report;

    /// Each text is a grading: names of tests that passed, and those that failed with a `!`.
    fn gradings(texts: &[&str]) -> Gradings {
        let read = |text: &&str| {
            let lines = text
                .split_whitespace()
                .map(|name| match name.strip_prefix('!') {
                    Some(name) => format!("not ok 1 - {name}\n"),
                    None => format!("ok 1 - {name}\n"),
                });
            let lines: String = lines.collect();
            test_report::read(&format!("TAP version 13\n{lines}")).unwrap_or_default()
        };
        Gradings(texts.iter().map(read).collect())
    }

    fn found(after: &[&str], before: &[&str]) -> Result<Vec<Lists>, Reason> {
        lists(&[(gradings(after), gradings(before))])
    }

    #[test]
    fn old_failures_are_in_no_list() {
        let after = "new kept !old";
        let lists = found(&[after, after], &["!new kept !old", "kept !old"]).unwrap();
        assert_eq!(lists[0].fail_to_pass, ["new"]);
        assert_eq!(lists[0].pass_to_pass, ["kept"]);
        let lines = "        # They fail at first.\n        - \"new\"\n        # They pass at first, too.\n        - \"kept\"\n";
        assert_eq!(lists[0].lines(), lines);
    }

    #[test]
    fn flaky_tests_are_in_no_list() {
        let lists = found(&["a b c d", "a b !c d"], &["!a b d", "!a b !d"]).unwrap();
        assert_eq!(lists[0].fail_to_pass, ["a"]);
        assert_eq!(lists[0].pass_to_pass, ["b"]);
    }

    #[test]
    fn the_reason_why_nothing_is_proven() {
        for (after, before, reason) in [
            (["a b", "a b"], ["a b", "a b"], Reason::Trivial),
            (["a !b", "a !b"], ["a !b", "a !b"], Reason::Broken),
            (["", ""], ["", ""], Reason::Broken),
            (["a b", "a !b"], ["a !b", "a !b"], Reason::Flaky),
        ] {
            assert_eq!(found(&after, &before), Err(reason), "{after:?}");
        }
    }

    #[test]
    fn one_runner_that_proves_something_is_enough() {
        let same = || gradings(&["a", "a"]);
        let runners = [
            (same(), same()),
            (gradings(&["b", "b"]), gradings(&["", "!b"])),
        ];
        let lists = lists(&runners).unwrap();
        assert_eq!(lists[0].pass_to_pass, ["a"]);
        assert_eq!(lists[1].fail_to_pass, ["b"]);
    }
}
