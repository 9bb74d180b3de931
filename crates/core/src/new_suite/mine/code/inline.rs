//! Rust's tests that are inside of source files.
//!
//! The workspace has the file as it was, with the tests of that time. The check puts the commit's module of tests behind the
//! file that it finds, under a name of its own, and runs the tests of these names alone.

use std::ops::Range;

use super::super::choice::{Chosen, Language, Role, role_of};
use super::super::{Reason, Refusal};
use super::Code;

/// The beginning of the names of modules that the check adds.
pub(crate) const ADDED: &str = "terca_mined_";

/// The modules of tests in a source text.
struct Modules {
    spans: Vec<Range<usize>>,
    /// The places of their names.
    names: Vec<usize>,
}

fn modules(text: &str) -> Modules {
    let code = Code::read(Language::Rust, text);
    let (mut spans, mut names) = (Vec::new(), Vec::new());
    let (mut at, mut start) = (0, None);
    while at < code.tokens.len() {
        if code.word(at) == "#" && code.word(at + 1) == "[" {
            let close = code.closed_by[at + 1];
            let is_for_tests =
                code.word(at + 2) == "cfg" && (at + 3..close).any(|at| code.word(at) == "test");
            if is_for_tests {
                start = start.or(Some(at));
            }
            at = close + 1;
            continue;
        }
        let is_module = code.word(at) == "mod" && code.word(at + 2) == "{";
        if let (Some(first), true) = (start, is_module) {
            let close = code.closed_by[at + 2];
            spans.push(code.tokens[first].start..code.tokens[close].end());
            names.push(code.tokens[at + 1].start);
        }
        // Visibility may be between the attribute and the module.
        if code.word(at) != "pub" {
            start = None;
        }
        at = code
            .closed_by
            .get(at + 2 * usize::from(is_module))
            .map_or(at, |close| *close)
            + 1;
    }
    Modules { spans, names }
}

/// Returns a text without its modules of tests, and these modules.
pub(crate) fn parts(text: &str) -> (String, String) {
    let (mut source, mut tests, mut at) = (String::new(), String::new(), 0);
    for span in modules(text).spans {
        source += &text[at..span.start];
        tests += &text[span.clone()];
        tests.push('\n');
        at = span.end;
    }
    (source + &text[at..], tests)
}

/// Returns the modules of tests in a text under the names that the check gives them; `None` without a test.
pub(crate) fn added(text: &str) -> Option<String> {
    let Modules { spans, names } = modules(text);
    let mut added = String::new();
    for (span, name) in spans.into_iter().zip(names) {
        let (head, rest) = (&text[span.start..name], &text[name..span.end]);
        added += &format!("\n{head}{ADDED}{rest}\n");
    }
    let is_test =
        |line: &str| line.starts_with("#[") && line.contains("test") && !line.contains("cfg(");
    added
        .lines()
        .any(|line| is_test(line.trim()))
        .then_some(added)
}

/// Finds the new tests inside of the source files of a commit that was read. A commit without any tests is refused.
pub fn settle(chosen: &mut Chosen) -> Result<(), Refusal> {
    let mut has_code = false;
    for change in &chosen.solution {
        if role_of(&change.path) != Role::Code {
            continue;
        }
        let [old, new] = change.texts();
        if change.path.extension() != Some("rs") {
            has_code = true;
            continue;
        }
        let ((old_source, old_tests), (source, tests)) = (parts(old), parts(new));
        has_code |= old_source.trim() != source.trim();
        if let Some(added) = added(new).filter(|_| old_tests != tests) {
            chosen.run.push((Language::Rust, change.path.clone()));
            chosen.inline.push((change.path.clone(), added));
        }
    }
    if chosen.run.is_empty() {
        return Err(Reason::NoTests.into());
    }
    has_code.then_some(()).ok_or_else(|| Reason::NoCode.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "#![allow(x)]\nfn f() { \"mod tests {\" }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn t() { f(); }\n}\n\
                        #[cfg(test)]\nfn helper() {}\nmod other { fn g() {} }\n#[cfg(all(test, unix))]\n#[rustfmt::skip]\npub mod more { #[tokio::test] fn u() {} }\n";

    #[test]
    fn modules_of_tests_are_told_from_the_code() {
        let (source, tests) = parts(FILE);
        for kept in ["fn f()", "fn helper()", "mod other", "#![allow(x)]"] {
            assert!(
                source.contains(kept) && !tests.contains(kept),
                "{kept}: {source}"
            );
        }
        for gone in ["fn t()", "fn u()", "all(test"] {
            assert!(
                !source.contains(gone) && tests.contains(gone),
                "{gone}: {source}"
            );
        }
    }

    #[test]
    fn added_modules_have_names_of_their_own() {
        let added = added(FILE).unwrap();
        assert!(
            added.starts_with("\n#[cfg(test)]\nmod terca_mined_tests {\n"),
            "{added}"
        );
        assert!(
            added.contains("#[rustfmt::skip]\npub mod terca_mined_more {"),
            "{added}"
        );
        assert_eq!(
            super::added("#[cfg(test)]\nmod tests { fn helper() {} }\n"),
            None
        );
        assert_eq!(super::added("#[cfg(test)]\nmod tests;\n"), None);
    }
}
