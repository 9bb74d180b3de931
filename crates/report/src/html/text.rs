//! Text that others wrote, made fit to be read: cleaned, cut in its middle where it is too long, and folded; and the
//! small pieces that all pages have.
//!
//! Colours and movements for a terminal (ANSI sequences) are removed. Other control characters become pictures of
//! themselves, and so do the marks that turn the direction of text, which can make a diff read as what it is not.
//! Line ends and tabs stay.

use std::borrow::Cow;

use jiff::Timestamp;
use maud::{Markup, Render, html};
use terca_core::run::event::RunStatus;
use terca_core::text::excerpt::without_middle;
use terca_core::text::prose;

use crate::term::visible;

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

/// Returns the parts that fit into so many bytes of markup, and a remark in the place of the others.
pub fn fit(parts: &[Markup], room: usize, remark: impl Fn(usize) -> String) -> Markup {
    let head = if fitting(parts.iter(), room) == parts.len() {
        parts.len()
    } else {
        fitting(parts.iter(), room / 4 * 3)
    };
    let tail = fitting(parts[head..].iter().rev(), room / 4);
    let left_out = parts.len() - head - tail;
    html! {
        @for part in &parts[..head] { (part) }
        @if left_out > 0 { (note(&remark(left_out))) }
        @for part in &parts[parts.len() - tail..] { (part) }
    }
}

/// Counts the parts that fit.
fn fitting<'a>(parts: impl Iterator<Item = &'a Markup>, room: usize) -> usize {
    let sizes = parts.scan(0, |sum, part| {
        *sum += size(part);
        Some(*sum)
    });
    sizes.take_while(|sum| *sum <= room).count()
}

/// Returns the text, cut in its middle until its markup fits.
pub fn fit_text(text: &str, room: usize) -> String {
    let mut limit = text.len();
    loop {
        let short = without_middle(text, limit);
        if size(&clean(&short).render()) <= room || limit < 64 {
            return short;
        }
        limit = (limit / 2).min(room);
    }
}

/// Returns the bytes that a piece of a page takes.
pub fn size(markup: &Markup) -> usize {
    markup.0.len()
}

/// Returns a remark of Terca's among foreign text.
pub fn note(text: &str) -> Markup {
    html! { p.note { (text) } }
}

/// The lines that are shown.
const FIRST_LINES: usize = 8;
/// The bytes of these lines that are shown.
const FIRST_BYTES: usize = 1_600;
/// So many more lines are not worth a fold.
const FEW: usize = 3;

/// Returns a text.
pub fn preview(text: &str) -> Markup {
    let text = clean(text);
    let text = text.trim_matches('\n');
    let (first, rest) = split(text);
    // A parser drops a line end at the beginning of `pre`, so none is there.
    html! {
        pre.code { (first) }
        @if !rest.is_empty() {
            details.fold {
                summary { (preview_size(rest)) }
                pre.code { (rest) }
            }
        }
    }
}

/// Splits a text into the part that is shown and the part that is folded.
fn split(text: &str) -> (&str, &str) {
    let mut ends = text.match_indices('\n').map(|(place, _)| place);
    let by_lines = ends
        .nth(FIRST_LINES - 1)
        .filter(|_| ends.nth(FEW).is_some());
    let by_bytes = (text.len() > FIRST_BYTES + FIRST_BYTES / 2).then(|| {
        let mut place = FIRST_BYTES;
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        // The end of a line, if one is near.
        text[..place]
            .rfind('\n')
            .filter(|end| *end > place / 2)
            .unwrap_or(place)
    });
    let place = match (by_lines, by_bytes) {
        (Some(lines), Some(bytes)) => lines.min(bytes),
        (Some(place), None) | (None, Some(place)) => place,
        (None, None) => return (text, ""),
    };
    let rest = &text[place..];
    (&text[..place], rest.strip_prefix('\n').unwrap_or(rest))
}

fn preview_size(rest: &str) -> String {
    match rest.lines().count() {
        0 | 1 => format!(
            "{} more characters",
            prose::compact(rest.chars().count() as u64)
        ),
        lines => prose::count(lines, "more line"),
    }
}

/// Returns the bar at the top of a page, with its links.
pub fn navigation(links: &Markup) -> Markup {
    html! {
        nav.top aria-label="Pages" {
            b.brand { "terca" }
            (links)
            button #theme .quiet.scripted type="button" title="System, light or dark" { "Theme: system" }
        }
    }
}

/// Returns the row with the names of a table's columns.
pub fn column_titles(titles: &[&str]) -> Markup {
    html! {
        tr { @for title in titles { th scope="col" { (title) } } }
    }
}

/// Returns a word in a rounded frame, coloured by its class.
pub fn pill(class: &str, word: &str) -> Markup {
    html! { span class={ "pill " (class) } { (word) } }
}

/// Returns the status of a run.
pub fn run_status(status: RunStatus) -> Markup {
    let word = match status {
        RunStatus::Running => "running",
        RunStatus::Complete => "complete",
        RunStatus::Interrupted => "interrupted",
    };
    pill(word, word)
}

/// Returns a time to the minute, in UTC, so that all readers see the same.
pub fn time(at: Timestamp) -> Markup {
    html! {
        time datetime=(at.to_string()) { (at.strftime("%Y-%m-%d %H:%M UTC").to_string()) }
    }
}

/// Returns the text, or a dash for what is not known.
pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
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

    #[test]
    fn a_text_fits_with_its_escapes() {
        assert_eq!(fit_text("short", 5), "short");
        for text in ["<".repeat(10_000), "日".repeat(10_000), "x".repeat(10_000)] {
            let size = size(&fit_text(&text, 1000).render());
            assert!((200..=1000).contains(&size), "{size}");
        }
    }

    #[test]
    fn the_middle_is_left_out() {
        let numbers = |number: usize| -> Vec<Markup> {
            (0..number)
                .map(|part| format!("{part:04}").render())
                .collect()
        };
        let remark = |number: usize| format!("{number} left out");
        assert_eq!(fit(&numbers(3), 12, remark).0, "000000010002");
        assert_eq!(
            fit(&numbers(100), 40, remark).0,
            "0000000100020003000400050006<p class=\"note\">91 left out</p>00980099"
        );
        assert_eq!(
            fit(&numbers(5), 0, remark).0,
            "<p class=\"note\">5 left out</p>"
        );
    }

    #[test]
    fn eight_lines_are_shown() {
        let lines = |number: usize| vec!["x"; number].join("\n");
        assert_eq!(split(&lines(11)).1, "");
        let long = lines(40);
        let (first, rest) = split(&long);
        assert_eq!((first.lines().count(), rest.lines().count()), (8, 32));
        assert!(
            preview(&long)
                .0
                .contains("<summary>32 more lines</summary>")
        );
        let wide = "日".repeat(5_000);
        let (first, rest) = split(&wide);
        assert_eq!(format!("{first}{rest}"), wide);
        assert!(preview(&wide).0.contains("more characters"));
    }
}
