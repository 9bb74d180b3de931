//! Text that others wrote, made fit to be looked at.
//!
//! Colours and movements for a terminal (ANSI sequences) go; other control characters become pictures of
//! themselves, and so do the marks that turn the direction of text, which can make a diff read as what it is not.
//! Lines and tabs stay.

use std::borrow::Cow;

use crate::term::width::visible;

pub fn clean(text: &str) -> Cow<'_, str> {
    if text
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
    {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(length) = terminal_sequence(rest) {
            rest = &rest[length..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '\n' | '\t' => cleaned.push(c),
            // The end of a line, or a line that is written over again.
            '\r' if rest.starts_with('\n') => {}
            '\r' => cleaned.push('\n'),
            other => cleaned.extend(visible(other)),
        }
    }
    Cow::Owned(cleaned)
}

/// How long the sequence for a terminal is that the text begins with.
fn terminal_sequence(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('\u{1b}')?;
    match rest.bytes().next()? {
        b'[' => {
            let end = rest[1..].find(|c: char| !matches!(c, ' '..='?'))?;
            let last = rest[1 + end..]
                .chars()
                .next()
                .filter(|c| matches!(c, '@'..='~'))?;
            Some(1 + 1 + end + last.len_utf8())
        }
        b']' => {
            // A title or a link: up to BEL or ESC \, if that comes soon.
            const LONGEST: usize = 4096;
            let end = rest
                .char_indices()
                .take(LONGEST)
                .find(|(_, c)| matches!(c, '\u{7}' | '\u{1b}'))?;
            let is_string_end = rest[end.0..].starts_with("\u{1b}\\");
            Some(1 + end.0 + if is_string_end { 2 } else { 1 })
        }
        b'(' | b')' if rest.len() >= 2 && rest.is_char_boundary(2) => Some(3),
        b'=' | b'>' | b'7' | b'8' | b'M' | b'c' => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_not_here() {
        for (text, cleaned) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("50%\r100%\r\nnext", "50%\n100%\nnext"),
            ("\u{1b}[", "␛["),
            ("\u{1b}]never ended", "␛]never ended"),
            ("\u{1b}日\u{1b}(日", "␛日␛(日"),
            ("a\u{202e}b\u{0}c\u{9b}31m", "a\u{fffd}b␀c\u{fffd}31m"),
            ("日本語 é", "日本語 é"),
        ] {
            assert_eq!(clean(text), cleaned, "{text:?}");
        }
    }
}
