//! Compiles globs that strangers wrote.
//!
//! A glob becomes a regular expression, and the library panics where that one is too deep or too large. So both are
//! looked at first.

use globset::{GlobBuilder, GlobMatcher};

/// No path is longer.
const LONGEST: usize = 4096;
/// No pattern for people has more braces within braces.
const DEEPEST: usize = 10;

/// Compiles a glob, set up as the caller likes. The error is a reason in a few words.
pub(crate) fn compiled<'a>(
    pattern: &'a str,
    set_up: impl FnOnce(&mut GlobBuilder<'a>),
) -> Result<GlobMatcher, String> {
    if pattern.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    if depth(pattern) > DEEPEST {
        return Err(format!("its braces are nested more than {DEEPEST} deep"));
    }
    let mut builder = GlobBuilder::new(pattern);
    set_up(&mut builder);
    let glob = builder.build().map_err(|error| error.kind().to_string())?;
    regex::bytes::Regex::new(glob.regex()).map_err(|_| "it is too large".to_owned())?;
    Ok(glob.compile_matcher())
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
            assert!(compiled(&pattern, |_| {}).is_err(), "{}", &pattern[..10]);
        }
        for pattern in [
            nested(10),
            "{a,b}/**/*.[jt]s".to_owned(),
            "?".repeat(LONGEST),
            "[a-z]".repeat(800),
            "{ab,c}".repeat(600),
            "**/".repeat(1000),
        ] {
            assert!(compiled(&pattern, |_| {}).is_ok(), "{}", &pattern[..10]);
        }
    }
}
