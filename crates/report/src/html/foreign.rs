//! Text that others wrote, made fit to be read.
//!
//! Colours and movements for a terminal (ANSI sequences) are removed. Other control characters become pictures of
//! themselves, and so do the marks that turn the direction of text, which can make a diff read as what it is not.
//! Line ends and tabs stay.

use std::borrow::Cow;

use maud::{Markup, html};

use crate::term::width::visible;

/// Returns foreign text without terminal sequences and control characters.
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
            // The end of a line, or a line that is written over again.
            '\r' if rest.starts_with('\n') => {}
            '\r' => cleaned.push('\n'),
            other => cleaned.extend(shown(other)),
        }
    }
    Cow::Owned(cleaned)
}

/// Replaces the control characters of a page: those of names, which few clean, and of a text that was forgotten.
pub fn without_control_characters(page: String) -> String {
    if page.chars().all(|c| shown(c) == Some(c)) {
        return page;
    }
    page.chars().filter_map(shown).collect()
}

fn shown(c: char) -> Option<char> {
    match c {
        '\n' | '\t' => Some(c),
        other => visible(other),
    }
}

/// Returns text with its line ends. A parser drops a newline at the beginning of `<pre>`, so that one is doubled.
pub fn preformatted(text: &str) -> Markup {
    let text = clean(text);
    html! { pre { @if text.starts_with('\n') { "\n" } (text) } }
}

/// Returns a sentence in which `words in back-quotes` are code. A number and its sign stay on one line.
pub fn sentence(text: &str) -> Markup {
    html! {
        @for (index, part) in clean(text).split('`').enumerate() {
            @if index % 2 == 1 {
                code { (part) }
            } @else {
                (part.replace(" %", "\u{a0}%").replace(" ×", "\u{a0}×"))
            }
        }
    }
}

/// Returns the length of the terminal sequence that the text begins with.
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
            // A title or a link: it ends with BEL or ESC \, not too far away.
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

    #[test]
    fn words_in_quotes() {
        let html = sentence("`a<b` is 5 % better").into_string();
        assert_eq!(html, "<code>a&lt;b</code> is 5\u{a0}% better");
    }

    #[test]
    fn the_first_newline_stays() {
        assert_eq!(preformatted("\na").into_string(), "<pre>\n\na</pre>");
        assert_eq!(preformatted("a\n").into_string(), "<pre>a\n</pre>");
    }

    #[test]
    fn nothing_breaks_out() {
        let evil = "\"'><script>alert(1)</script>&amp;<!--\u{0}\u{1b}[31mred\u{202e}";
        let html = html! { a title=(clean(evil)) { (clean(evil)) } };
        let escaped =
            "&quot;'&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&lt;!--␀red\u{fffd}";
        assert_eq!(
            html.into_string(),
            format!("<a title=\"{escaped}\">{escaped}</a>")
        );
    }
}
