//! `run.log`: its parts, folded, and what the tests wrote, apart.

use terca_core::text::prose;
use terca_core::transcript::trial_files::Excerpt;

use super::fit::{fit, note};
use super::markup::{Html, el};

/// A part of a log: `── test: unit ──` and what follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Part<'a> {
    pub title: &'a str,
    pub text: &'a str,
}

/// The parts of a log. What stands before the first title has none.
pub fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut title, mut start, mut at) = ("", 0, 0);
    for line in text.split_inclusive('\n') {
        let inner = line
            .trim_end()
            .strip_prefix("── ")
            .and_then(|line| line.strip_suffix(" ──"));
        if let Some(next) = inner {
            parts.push(Part {
                title,
                text: &text[start..at],
            });
            (title, start) = (next, at + line.len());
        }
        at += line.len();
    }
    parts.push(Part {
        title,
        text: &text[start..],
    });
    parts.retain(|part| !part.title.is_empty() || !part.text.trim().is_empty());
    parts
}

/// What a test wrote, without the line with its score, which the log has below it.
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

pub fn log(log: &Excerpt, room: usize) -> Html {
    let mut shown: Vec<Html> = chunks(&log.head);
    if log.left_out > 0 {
        shown.push(note(&format!(
            "… {} bytes left out here: the whole is in run.log …",
            prose::compact(log.left_out)
        )));
        shown.extend(chunks(&log.tail));
    }
    let remark = |number| {
        format!(
            "… {} left out here: the whole is in run.log …",
            prose::count(number, "piece")
        )
    };
    el("div")
        .class("log")
        .attr("tabindex", 0)
        .attr("role", "region")
        .attr("aria-label", "Log")
        .child(fit(shown, room, remark))
        .into()
}

/// Pieces that can be left out one by one.
fn chunks(text: &str) -> Vec<Html> {
    const LINES: usize = 20;
    const LONGEST: usize = 2_000;
    let mut chunks = Vec::new();
    for part in parts(text) {
        if !part.title.is_empty() {
            chunks.push(el("h4").text(part.title).into());
        }
        let lines: Vec<&str> = part
            .text
            .trim_end_matches('\n')
            .split_inclusive('\n')
            .collect();
        for lines in lines
            .chunks(LINES)
            .filter(|lines| !lines.concat().is_empty())
        {
            let text: String = lines
                .iter()
                .map(|line| terca_core::transcript::trial_files::shortened(line, LONGEST))
                .collect();
            chunks.push(el("pre").text(text.trim_end_matches('\n')).into());
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
            [Part {
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
        assert!(log(&Excerpt::whole(text), 4_000).len() < 4_400);
    }
}
