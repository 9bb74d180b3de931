//! Text that others wrote, made fit to be read: cleaned, cut in its middle where it is too long, and folded; and the
//! small pieces that all pages have.
//!
//! Colours and movements for a terminal (ANSI sequences) and other control characters are removed. The marks that turn the
//! direction of text, which can make a diff read as what it is not, are replaced. Line ends and tabs stay.

use std::borrow::Cow;

use jiff::Timestamp;
use maud::{Markup, Render, html};
use terca_core::run::event::RunStatus;
use terca_core::run::outcome::Status;
use terca_core::text::excerpt::without_middle;
use terca_core::text::prose;
use terca_core::text::stripped::stripped;

use crate::term::visible;
use crate::text::runs::ListedStatus;

/// Returns foreign text without terminal sequences and control characters.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
    {
        return Cow::Borrowed(text);
    }
    // The end of a line, or a line that is written over again.
    let text = stripped(text).replace("\r\n", "\n").replace('\r', "\n");
    Cow::Owned(text.chars().filter_map(shown).collect())
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

/// Returns the parts that fit into so many bytes of markup, and a remark in the place of the others.
pub fn fit(parts: Vec<Markup>, room: usize, remark: impl Fn(usize) -> String) -> Markup {
    let parts = parts.into_iter().map(|part| (1, part));
    fit_counted(&Vec::from_iter(parts), room, remark)
}

/// Does the same with parts of several things each, which the remark counts.
pub fn fit_counted(
    parts: &[(usize, Markup)],
    room: usize,
    remark: impl Fn(usize) -> String,
) -> Markup {
    let sizes: Vec<usize> = parts.iter().map(|(_, part)| size(part)).collect();
    let (head, tail) = ends(&sizes, room);
    let end = parts.len() - tail;
    let left_out: usize = parts[head..end].iter().map(|(number, _)| number).sum();
    html! {
        @for (_, part) in &parts[..head] { (part) }
        @if left_out > 0 { (note(&remark(left_out))) }
        @for (_, part) in &parts[end..] { (part) }
    }
}

/// Returns the remark on so many things that are left out, and are in a file.
pub fn left_out(noun: &str, file: &str) -> impl Fn(usize) -> String {
    move |number| format!("… {} left out; see {file} …", prose::count(number, noun))
}

/// Counts the parts at the beginning and at the end that fit into so many bytes.
pub fn ends(sizes: &[usize], room: usize) -> (usize, usize) {
    let fitting = |sizes: &mut dyn Iterator<Item = &usize>, room: usize| {
        let mut sum = 0;
        let fits = |size: &&usize| {
            sum += **size;
            sum <= room
        };
        sizes.take_while(fits).count()
    };
    if sizes.iter().sum::<usize>() <= room {
        return (sizes.len(), 0);
    }
    let head = fitting(&mut sizes.iter(), room / 4 * 3);
    (head, fitting(&mut sizes[head..].iter().rev(), room / 4))
}

/// Returns the text, cleaned, and cut in its middle until its markup fits.
pub fn fit_text(text: &str, room: usize) -> String {
    let mut limit = text.len();
    loop {
        let short = clean(&without_middle(text, limit)).into_owned();
        if size(&short.render()) <= room || limit < 64 {
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
    let Some(place) = by_lines.into_iter().chain(by_bytes).min() else {
        return (text, "");
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

/// Returns a part of a page, with its title.
pub fn section(id: &str, title: &str, body: &Markup) -> Markup {
    let title_id = format!("{id}-title");
    html! {
        section aria-labelledby=(title_id) {
            h2 id=(title_id) { (title) }
            (body)
        }
    }
}

/// Returns a table that can be wider than the page, with a title for readers that do not see it.
pub fn wide_table(class: &str, label: &str, caption: &str, head: &Markup, rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table class=(class) {
                caption.unseen { (caption) }
                thead { (head) }
                tbody { (rows) }
            }
        }
    }
}

/// Returns the sign of an outcome. Its shape says it, its colour only repeats it.
pub fn sign(status: Status) -> &'static str {
    match status {
        Status::Passed => "●",
        Status::Partial => "◐",
        Status::Failed => "○",
        Status::Error => "×",
        Status::Unverified => "?",
        Status::Interrupted | Status::Pending => "·",
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
    let word = ListedStatus::of(status, 0).as_str();
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
            ("\u{1b}[", ""),
            ("\u{1b}]never ended\nnext", "\nnext"),
            ("a\u{202e}b\u{0}c", "a\u{fffd}bc"),
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
        let escaped = "&quot;'&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&lt;!--red\u{fffd}";
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
        assert_eq!(fit(numbers(3), 12, remark).0, "000000010002");
        assert_eq!(
            fit(numbers(100), 40, remark).0,
            "0000000100020003000400050006<p class=\"note\">91 left out</p>00980099"
        );
        assert_eq!(
            fit(numbers(5), 0, remark).0,
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
