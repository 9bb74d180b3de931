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

/// A part of a source text that is of its tests.
struct Part {
    span: Range<usize>,
    /// The place of the name, if it is a module; else it is a function.
    module: Option<usize>,
}

/// Finds modules for tests, and functions that are tests beside the code.
fn found(text: &str) -> Vec<Part> {
    let code = Code::read(Language::Rust, text);
    let mut parts = Vec::new();
    let (mut at, mut start, mut is_test) = (0, None, false);
    while at < code.tokens.len() {
        if code.word(at) == "#" && code.word(at + 1) == "[" {
            let close = code.closed_by[at + 1];
            let mut words = (at + 2..close).map(|at| code.word(at));
            let is_condition = code.word(at + 2) == "cfg";
            if words.any(|word| word == "test") {
                start = start.or(Some(at));
                is_test |= !is_condition;
            }
            at = close + 1;
            continue;
        }
        let word = code.word(at);
        let is_module = word == "mod" && code.word(at + 2) == "{";
        let body = match word {
            "mod" if is_module => Some(at + 2),
            "fn" if is_test => code.next_of(at, &["{"]),
            _ => None,
        };
        if let (Some(first), Some(open)) = (start, body) {
            let close = code.closed_by[open];
            parts.push(Part {
                span: code.tokens[first].start..code.tokens[close].end(),
                module: is_module.then(|| code.tokens[at + 1].start),
            });
        }
        // Words may be between the attribute and the item.
        if !matches!(word, "pub" | "async") {
            (start, is_test) = (None, false);
        }
        at = code.closed_by[body.unwrap_or(at)] + 1;
    }
    parts
}

/// Returns where the tests are.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    found(text).into_iter().map(|part| part.span).collect()
}

/// Returns a text without its tests, and these.
pub(crate) fn parts(text: &str) -> (String, String) {
    let (mut source, mut tests, mut at) = (String::new(), String::new(), 0);
    for span in spans(text) {
        source += &text[at..span.start];
        tests += &text[span.clone()];
        tests.push('\n');
        at = span.end;
    }
    (source + &text[at..], tests)
}

/// Returns the tests in a text in modules that the check adds, under names of its own; `None` without a test.
pub(crate) fn added(text: &str) -> Option<String> {
    let (mut added, mut functions) = (String::new(), String::new());
    for Part { span, module } in found(text) {
        match module {
            Some(name) => {
                let (head, rest) = (&text[span.start..name], &text[name..span.end]);
                added += &format!("\n{head}{ADDED}{rest}\n");
            }
            None => functions += &format!("{}\n", &text[span]),
        }
    }
    if !functions.is_empty() {
        let head = "#[cfg(test)]\n#[allow(unused_imports)]";
        added += &format!("\n{head}\nmod {ADDED}functions {{\nuse super::*;\n{functions}}}\n");
    }
    has_tests(&added).then_some(added)
}

/// Tells whether a text has tests of its own, by any attribute for one.
pub(crate) fn has_tests(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    lines.any(|line| line.starts_with("#[") && line.contains("test") && !line.contains("cfg("))
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
    fn tests_beside_the_code_get_a_module() {
        let text =
            "fn f() {}\n#[test]\nfn t() { f(); }\n#[tokio::test]\nasync fn u() {}\nfn g() {}\n";
        let (source, tests) = parts(text);
        assert_eq!(
            source.split_whitespace().collect::<Vec<_>>().concat(),
            "fnf(){}fng(){}"
        );
        assert!(
            tests.contains("fn t()") && tests.contains("async fn u()"),
            "{tests}"
        );
        let added = added(text).unwrap();
        let module = "mod terca_mined_functions {\nuse super::*;\n#[test]\nfn t() { f(); }\n#[tokio::test]\nasync fn u() {}\n}\n";
        assert!(added.ends_with(module), "{added}");
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
