//! `run.log`: its parts, and the output of single tests.

use maud::{Markup, html};
use terca_core::text::excerpt::{Excerpt, without_middle};
use terca_core::text::prose;

use super::text::{fit, left_out, note, preformatted};

/// Splits a log into titles, such as `── test: unit ──`, and the lines below them. The title of lines before the first is empty.
fn parts(text: &str) -> Vec<(&str, &str)> {
    let mut parts = Vec::new();
    let mut title = "";
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let inner = line
            .trim_end()
            .strip_prefix("── ")
            .and_then(|line| line.strip_suffix(" ──"));
        if let Some(next) = inner {
            parts.push((title, &text[start..at]));
            title = next;
            start = at + line.len();
        }
        at += line.len();
    }
    parts.push((title, &text[start..]));
    parts.retain(|(title, text)| !title.is_empty() || !text.trim().is_empty());
    parts
}

/// Returns what a test wrote, without the line with its score that the log has below it.
pub fn of_test<'a>(log: &'a Excerpt, test: &str) -> Option<&'a str> {
    let wanted = format!("test: {test}");
    let mut all = parts(&log.head);
    all.extend(parts(&log.tail));
    let (_, text) = all.into_iter().rfind(|(title, _)| *title == wanted)?;
    let text = text.trim_end();
    let text = text.rsplit_once('\n').map_or("", |(above, _)| above);
    (!text.trim().is_empty()).then_some(text)
}

/// Returns a log in so many bytes of markup.
pub fn log(log: &Excerpt, room: usize) -> Markup {
    let mut pieces = chunks(&log.head);
    if log.left_out > 0 {
        pieces.push(note(&format!(
            "… {} bytes left out; see run.log …",
            prose::compact(log.left_out)
        )));
        pieces.extend(chunks(&log.tail));
    }
    html! {
        div.log tabindex="0" role="region" aria-label="Log" { (fit(pieces, room, left_out("piece", "run.log"))) }
    }
}

/// Returns pieces that can be left out one by one.
fn chunks(text: &str) -> Vec<Markup> {
    const LINES: usize = 20;
    const LONGEST: usize = 2_000;
    let mut chunks = Vec::new();
    for (title, text) in parts(text) {
        if !title.is_empty() {
            chunks.push(html! { h4 aria-level="3" { (title) } });
        }
        let lines = text.trim_end_matches('\n').split_inclusive('\n');
        let lines: Vec<&str> = lines.collect();
        for lines in lines.chunks(LINES) {
            let text: String = lines
                .iter()
                .map(|line| without_middle(line, LONGEST))
                .collect();
            chunks.push(preformatted(text.trim_end_matches('\n')));
        }
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "── before: npm ci ──\nadded 3\n── test: unit ──\nok 1\nnot ok 2\nscore 0.5: half\n── test: file ──\nscore 1: there\n";

    #[test]
    fn parts_of_a_log() {
        let found = parts(LOG);
        assert_eq!(
            found.iter().map(|(title, _)| *title).collect::<Vec<_>>(),
            ["before: npm ci", "test: unit", "test: file"]
        );
        let log = Excerpt::whole(LOG);
        assert_eq!(of_test(&log, "unit"), Some("ok 1\nnot ok 2"));
        assert_eq!(of_test(&log, "file"), None);
        assert_eq!(of_test(&log, "none"), None);
        assert_eq!(parts("torn line\n"), [("", "torn line\n")]);
    }

    #[test]
    fn megabytes_keep_to_their_room() {
        let text = format!(
            "── agent ──\n{}\n{}",
            "x".repeat(3_000_000),
            "y\n".repeat(100_000)
        );
        assert!(log(&Excerpt::whole(text), 4_000).0.len() < 4_400);
    }
}
