//! Compiles globs that strangers wrote, and decides which brackets of a path are wildcards.
//!
//! A glob becomes a regular expression, and the library panics where that one is too deep or too large. So both are
//! looked at first.

use globset::{GlobBuilder, GlobMatcher};

/// No path is longer.
const LONGEST: usize = 4096;
/// No pattern for people has more braces within braces.
const DEEPEST: usize = 10;

/// Compiles a glob over paths, or over names, in which a `/` is a character like others. The error is a reason in a few
/// words.
pub(crate) fn compiled(pattern: &str, is_path: bool) -> Result<GlobMatcher, String> {
    if pattern.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    if depth(pattern) > DEEPEST {
        return Err(format!("its braces are nested more than {DEEPEST} deep"));
    }
    let mut builder = GlobBuilder::new(pattern);
    builder
        .literal_separator(is_path)
        .empty_alternates(!is_path);
    let glob = builder.build().map_err(|error| error.kind().to_string())?;
    regex::bytes::Regex::new(glob.regex()).map_err(|_| "it is too large".to_owned())?;
    Ok(glob.compile_matcher())
}

/// Escapes the brackets of a path that are a part of a name, such as `[id]`, `[...slug]` and `{name}`.
///
/// Wildcards are `*`, `?`, alternatives with a comma (`{a,b}`), a class of ranges (`[0-9]`), a class in a name that has a
/// `*` or `?` too (`*.[jt]s`), and a sign that is escaped (`[[]`, `\\[`). A bracket that is not closed stays, and is an
/// error when the pattern is compiled.
///
/// Returns the pattern; `None` if it has no wildcards.
pub(crate) fn literal_names(path: &str) -> Option<String> {
    if path.len() > LONGEST {
        let may_have_some = path.contains(['*', '?', '[', '{']);
        return may_have_some.then(|| path.to_owned());
    }
    let mut text = String::with_capacity(path.len());
    let mut has_wildcards = false;
    // Each open brace: whether it begins alternatives.
    let mut braces = Vec::new();
    let mut rest = path;
    while let Some(sign) = rest.chars().next() {
        let mut length = sign.len_utf8();
        match sign {
            '\\' => {
                length += rest[1..].chars().next().map_or(0, char::len_utf8);
                has_wildcards = true;
                text.push_str(&rest[..length]);
            }
            '*' | '?' => {
                has_wildcards = true;
                text.push(sign);
            }
            '[' => match class_length(rest) {
                Some(class) if !is_class(&rest[1..class - 1], name_around(path, rest)) => {
                    text.push_str("[[]");
                }
                class => {
                    length = class.unwrap_or(length);
                    has_wildcards = true;
                    text.push_str(&rest[..length]);
                }
            },
            ']' => text.push_str("[]]"),
            '{' => {
                let is_alternatives = has_comma_or_no_end(rest);
                has_wildcards |= is_alternatives;
                braces.push(is_alternatives);
                text.push_str(if is_alternatives { "{" } else { "[{]" });
            }
            '}' => {
                let is_alternatives = braces.pop().unwrap_or(false);
                text.push_str(if is_alternatives { "}" } else { "[}]" });
            }
            _ => text.push(sign),
        }
        rest = &rest[length..];
    }
    has_wildcards.then_some(text)
}

/// Escapes every bracket of a pattern, so that only `*` and `?` are wildcards.
pub(crate) fn literal_brackets(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    for sign in pattern.chars() {
        match sign {
            '[' | ']' | '{' | '}' => text.extend(['[', sign, ']']),
            _ => text.push(sign),
        }
    }
    text
}

/// Returns the length of the class at the beginning of a text, brackets included. A `]` that comes first is a member.
fn class_length(text: &str) -> Option<usize> {
    let inner = text[1..].strip_prefix(['!', '^']).unwrap_or(&text[1..]);
    let first = text.len() - inner.len();
    let after_first = first + inner.chars().next()?.len_utf8();
    let end = text[after_first..].find(']')?;
    Some(after_first + end + 1)
}

/// Returns whether brackets with this between them are a class, in a name of a path.
fn is_class(inner: &str, name: &str) -> bool {
    if matches!(inner, "[" | "]" | "{" | "}" | "*" | "?") || name.contains(['*', '?']) {
        return true;
    }
    let ranges: Vec<char> = inner
        .strip_prefix(['!', '^'])
        .unwrap_or(inner)
        .chars()
        .collect();
    ranges.len().is_multiple_of(3) && ranges.chunks(3).all(|range| range[1] == '-')
}

/// Returns the name of a path that the rest of it begins in.
fn name_around<'a>(path: &'a str, rest: &str) -> &'a str {
    let place = path.len() - rest.len();
    let start = path[..place].rfind('/').map_or(0, |slash| slash + 1);
    let end = path[place..]
        .find('/')
        .map_or(path.len(), |slash| place + slash);
    &path[start..end]
}

/// Returns whether a text that begins with a brace has a comma in it, outside of other braces. A brace without an end
/// counts too: it is an error.
fn has_comma_or_no_end(text: &str) -> bool {
    let mut open = 0;
    for sign in text.chars() {
        match sign {
            '{' => open += 1,
            '}' if open == 1 => return false,
            '}' => open -= 1,
            ',' if open == 1 => return true,
            _ => {}
        }
    }
    true
}

/// Returns the largest number of braces that are open at once.
fn depth(pattern: &str) -> usize {
    let mut open: usize = 0;
    let mut deepest = 0;
    for c in pattern.chars() {
        match c {
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_of_names_are_no_wildcards() {
        for (path, pattern, has_wildcards) in [
            ("src/app.js", "src/app.js", false),
            ("app/[id]/page.tsx", "app/[[]id[]]/page.tsx", false),
            ("app/[...slug]/a", "app/[[]...slug[]]/a", false),
            ("app/[[...slug]]/a", "app/[[][[]...slug[]][]]/a", false),
            ("app/[post-id]/a", "app/[[]post-id[]]/a", false),
            ("tpl/{name}.txt", "tpl/[{]name[}].txt", false),
            ("app/[id]/*.tsx", "app/[[]id[]]/*.tsx", true),
            ("src/**/*.[jt]s", "src/**/*.[jt]s", true),
            ("log[0-9].txt", "log[0-9].txt", true),
            ("log[!a-zA-Z].txt", "log[!a-zA-Z].txt", true),
            ("{a,b}/{name}", "{a,b}/[{]name[}]", true),
            ("{a,{b}}", "{a,[{]b[}]}", true),
            ("app/[[]id[]]/a", "app/[[]id[]]/a", true),
            (r"app/\[id\]/a", r"app/\[id\]/a", true),
            ("src/a}b]", "src/a[}]b[]]", false),
            ("src/[", "src/[", true),
            ("a{b", "a{b", true),
        ] {
            let pattern = has_wildcards.then_some(pattern);
            assert_eq!(literal_names(path).as_deref(), pattern, "{path}");
        }
    }

    #[test]
    fn a_bomb_is_refused_and_does_not_go_off() {
        let nested = |depth: usize| format!("{}a{}", "{a,".repeat(depth), "}".repeat(depth));
        for pattern in [
            nested(11),
            nested(200),
            nested(100_000),
            "{".repeat(1_000_000),
            "[a-z]".repeat(1000),
            "*".repeat(LONGEST + 1),
        ] {
            assert!(compiled(&pattern, false).is_err(), "{}", &pattern[..10]);
        }
        for pattern in [
            nested(10),
            "{a,b}/**/*.[jt]s".to_owned(),
            "?".repeat(LONGEST),
            "[a-z]".repeat(800),
            "{ab,c}".repeat(600),
            "**/".repeat(1000),
        ] {
            assert!(compiled(&pattern, false).is_ok(), "{}", &pattern[..10]);
        }
    }
}
