//! `run.log`: its parts, and the output of single tests.

use maud::{Markup, html};
use terca_core::text::excerpt::{Excerpt, without_middle};
use terca_core::text::prose;

use super::text::{clean, fit, note, preformatted};

/// A part of a log: `── test: unit ──` and the lines below it.
#[derive(Debug, Clone, PartialEq)]
struct LogSection<'a> {
    /// Empty for lines before the first title.
    title: &'a str,
    text: &'a str,
}

/// Splits a log at its titles.
fn parts(text: &str) -> Vec<LogSection<'_>> {
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
            parts.push(LogSection {
                title,
                text: &text[start..at],
            });
            title = next;
            start = at + line.len();
        }
        at += line.len();
    }
    parts.push(LogSection {
        title,
        text: &text[start..],
    });
    parts.retain(|part| !part.title.is_empty() || !part.text.trim().is_empty());
    parts
}

/// Returns what a test wrote, without the line with its score that the log has below it.
pub fn of_test<'a>(log: &'a Excerpt, test: &str) -> Option<&'a str> {
    let wanted = format!("test: {test}");
    let found = [&log.tail, &log.head].into_iter().find_map(|text| {
        parts(text)
            .into_iter()
            .rev()
            .find(|part| part.title == wanted)
    });
    let text = found?.text.trim_end();
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
    let remark = |number| {
        format!(
            "… {} left out; see run.log …",
            prose::count(number, "piece")
        )
    };
    html! {
        div.log tabindex="0" role="region" aria-label="Log" { (fit(&pieces, room, remark)) }
    }
}

/// Returns pieces that can be left out one by one.
fn chunks(text: &str) -> Vec<Markup> {
    const LINES: usize = 20;
    const LONGEST: usize = 2_000;
    let mut chunks = Vec::new();
    for part in parts(text) {
        if !part.title.is_empty() {
            chunks.push(html! { h4 aria-level="3" { (clean(part.title)) } });
        }
        let lines: Vec<&str> = part
            .text
            .trim_end_matches('\n')
            .split_inclusive('\n')
            .collect();
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
            found.iter().map(|part| part.title).collect::<Vec<_>>(),
            ["before: npm ci", "test: unit", "test: file"]
        );
        let log = Excerpt::whole(LOG);
        assert_eq!(of_test(&log, "unit"), Some("ok 1\nnot ok 2"));
        assert_eq!(of_test(&log, "file"), None);
        assert_eq!(of_test(&log, "none"), None);
        assert_eq!(
            parts("torn line\n"),
            [LogSection {
                title: "",
                text: "torn line\n"
            }]
        );
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
