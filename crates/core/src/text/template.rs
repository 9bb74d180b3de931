//! Texts in which `${NAME}` is replaced by a variable.
//!
//! `${NAME:-default}` has a default for a variable that is not set or empty, and the default may have variables of
//! its own. `$${` is the text `${`. A `${` without its `}` is text, too.
//!
//! Nothing here recurses: a text may have any number of defaults in each other.

use std::collections::BTreeMap;

use crate::text::Code;
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Place;

const OPEN: &str = "${";
const ESCAPED: &str = "$${";

/// A text with its variables filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filled {
    /// The text.
    pub text: String,
    /// The values that were taken from variables and are not empty.
    pub taken: Vec<String>,
    /// The names of variables that are not set and have no default. Nothing is in their place.
    pub unset: Vec<String>,
}

/// Fills in the variables of a text.
pub fn fill(template: &str, variable: &dyn Fn(&str) -> Option<String>) -> Filled {
    let mut filled = Filled::default();
    if !template.contains(OPEN) {
        template.clone_into(&mut filled.text);
        return filled;
    }
    let ends = ends(template);
    // The ends of the defaults that the position is inside of, the innermost last.
    let mut inside: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(rest) = template.get(at..).filter(|rest| !rest.is_empty()) {
        if inside.last() == Some(&at) {
            inside.pop();
            at += 1;
            continue;
        }
        if rest.starts_with(ESCAPED) {
            filled.text.push_str(OPEN);
            at += ESCAPED.len();
            continue;
        }
        let Some(&end) = ends.get(&at).filter(|_| rest.starts_with(OPEN)) else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            filled.text.push_str(&rest[..length]);
            at += length;
            continue;
        };
        let inner = &template[at + OPEN.len()..end];
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        match (variable(name), default) {
            (Some(value), default) if !value.is_empty() || default.is_none() => {
                filled.text.push_str(&value);
                if !value.is_empty() && !filled.taken.contains(&value) {
                    filled.taken.push(value);
                }
                at = end + 1;
            }
            (_, Some(default)) => {
                inside.push(end);
                at = end - default.len();
            }
            (_, None) => {
                filled.unset.push(name.to_owned());
                at = end + 1;
            }
        }
    }
    filled
}

/// Returns the position of the `}` for each `${` that has one.
fn ends(template: &str) -> BTreeMap<usize, usize> {
    let mut ends = BTreeMap::new();
    // `None` is an escaped one: its `}` is text.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut at = 0;
    while let Some(rest) = template
        .as_bytes()
        .get(at..)
        .filter(|rest| !rest.is_empty())
    {
        if rest.starts_with(ESCAPED.as_bytes()) {
            open.push(None);
            at += ESCAPED.len();
        } else if rest.starts_with(OPEN.as_bytes()) {
            open.push(Some(at));
            at += OPEN.len();
        } else {
            if rest[0] == b'}'
                && let Some(Some(start)) = open.pop()
            {
                ends.insert(start, at);
            }
            at += 1;
        }
    }
    ends
}

/// Reports a variable that is not set and has no default.
pub fn unset(name: &str, place: Place) -> Diagnostic {
    Diagnostic::error(
        Code::UnsetVariable,
        format!("the variable `{name}` is not set"),
    )
    .at(place, "read from the environment that Terca runs in")
    .help(format!("set it, or write `${{{name}:-default}}`"))
    .help(format!(
        "for the text `${{{name}}}` itself, write `$${{{name}}}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<String> {
        match name {
            "A" => Some("first".into()),
            "B" => Some("second".into()),
            "EMPTY" => Some(String::new()),
            _ => None,
        }
    }

    #[test]
    fn what_is_written_and_what_it_comes_to() {
        for (written, text, taken, unset) in [
            ("plain $A {x} }", "plain $A {x} }", &[][..], &[][..]),
            (
                "${A} ${B}${A}",
                "first secondfirst",
                &["first", "second"],
                &[],
            ),
            ("${X:-none} ${EMPTY:-none}", "none none", &[], &[]),
            ("${X:-${B}}", "second", &["second"], &[]),
            ("${X:-${Y:-${Z:-deep}}}", "deep", &[], &[]),
            ("${X:-a${Y:-b}c}d", "abcd", &[], &[]),
            ("${A:-${X}}", "first", &["first"], &[]),
            ("${X:-${Y}}", "", &[], &["Y"]),
            ("$${A}", "${A}", &[], &[]),
            ("$${A:-${B}}", "${A:-second}", &["second"], &[]),
            ("${X:-$${A}} $$ $", "${A} $$ $", &[], &[]),
            ("$$${A}", "$${A}", &[], &[]),
            ("${user.name}", "", &[], &["user.name"]),
            ("${A", "${A", &[], &[]),
            ("${X:-${A", "${X:-${A", &[], &[]),
            ("a ${ ß", "a ${ ß", &[], &[]),
            ("größe ${A} ß", "größe first ß", &["first"], &[]),
            ("${X:-{1}}", "{1}", &[], &[]),
        ] {
            let filled = fill(written, &variable);
            assert_eq!(filled.text, text, "{written}");
            assert_eq!(filled.taken, taken, "{written}");
            assert_eq!(filled.unset, unset, "{written}");
        }
    }

    #[test]
    fn many_defaults_in_each_other_are_no_trouble() {
        let depth = 200_000;
        let written = format!("{}x{}", "${X:-".repeat(depth), "}".repeat(depth));
        assert_eq!(fill(&written, &variable).text, "x");
        let unclosed = "${X:-".repeat(depth);
        assert_eq!(fill(&unclosed, &variable).text, unclosed);
        let nameless = format!("{}{}", "${".repeat(depth), "}".repeat(depth));
        assert_eq!(fill(&nameless, &variable).unset.len(), 1);
    }
}
