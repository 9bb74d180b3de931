//! Annotations for GitHub Actions, which it shows beside the job, and text that it does not take for commands.
//!
//! The runner reads what a step prints, on either stream. A line that begins with `::`, after white space, is a
//! command to it (`::add-mask::`, `::stop-commands::`, …), and so is `##[` anywhere in a line. Names come from the
//! suite and messages from agents: neither may give commands. A space in the right place is enough, and can be seen.
//!
//! The runner compares as .NET compares text, which overlooks what has no width; so does this.

use std::borrow::Cow;

use terca_core::analysis::results::{Results, TrialResult};
use terca_core::analysis::summary::Verdict;
use terca_core::run::outcome::Status;
use terca_core::text::stripped::stripped;
use unicode_width::UnicodeWidthChar;

use crate::names::Names;
use crate::outcome::{by_case, reasons};
use crate::term::{clean, truncate};
use crate::text::failures::is_failure;

/// GitHub shows no more than ten errors of a step, and as many notices.
const MOST: usize = 10;
const LONGEST: usize = 1_000;

/// A line of a file in the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    pub file: String,
    /// From 1.
    pub line: usize,
}

/// One line for each eval in a variant that did not always pass, one for each verdict, and a note when there are more than
/// GitHub shows. A trial that was not judged is an error. One that did not pass is an error where it is to pass: the trials of
/// a baseline, and of an experiment that is not worse, are no more than a notice. `place` finds the line that a trial is shown
/// beside.
pub fn annotations(results: &Results, place: &dyn Fn(&TrialResult) -> Option<FilePlace>) -> String {
    let names = Names::of_results(results);
    let mut lines: Vec<(&str, String)> = Vec::new();
    for comparison in &results.summary.comparisons {
        let level = match comparison.verdict {
            Verdict::Worse => "error",
            _ => "notice",
        };
        let place = comparison.place.as_ref();
        let place = place.map_or_else(String::new, |place| format!(" ({place})"));
        let title = format!("{}{place}: {}", comparison.arm, comparison.verdict.as_str());
        let said = data(&one_line(&comparison.sentence));
        lines.push((level, format!("title={}::{said}", property(&title))));
    }
    for trials in by_case(results) {
        let is_error = |trial: &&TrialResult| trial.report.status == Status::Error;
        let (errors, failed): (Vec<&TrialResult>, Vec<&TrialResult>) = trials
            .iter()
            .filter(|trial| is_failure(trial.report.status))
            .copied()
            .partition(is_error);
        for alike in [errors, failed] {
            let Some(first) = alike.first() else { continue };
            let (summary, head) = (&results.summary, &first.head);
            let is_bad = is_error(first) || summary.is_to_pass(&head.environment, &head.experiment);
            let level = if is_bad { "error" } else { "notice" };
            let line = annotation(&alike, trials.len(), &names, place(first));
            lines.push((level, line));
        }
    }
    // GitHub shows the first ones alone.
    lines.sort_by_key(|(level, _)| *level != "error");
    let more = lines.len().saturating_sub(MOST);
    let shown = lines.into_iter().take(MOST);
    let mut text: String = shown
        .map(|(level, line)| format!("::{level} {line}\n"))
        .collect();
    if more > 0 {
        text += &format!("::notice title=Terca::{more} more lines are in the job's summary\n");
    }
    text
}

/// Returns the line about the trials of an eval in a variant that did not pass.
fn annotation(
    failed: &[&TrialResult],
    trials: usize,
    names: &Names,
    place: Option<FilePlace>,
) -> String {
    let first = failed[0];
    let of = match trials {
        1 => String::new(),
        trials => format!(" in {} of {trials} trials", failed.len()),
    };
    let status = first.report.status.as_str();
    let title = format!("{}: {status}{of}", names.cell(&first.head));
    let said = reasons(&first.report).join("; ");
    let place = place.map_or_else(String::new, |FilePlace { file, line }| {
        format!(",file={},line={line}", property(&file))
    });
    format!(
        "title={}{place}::{}",
        property(&title),
        data(&one_line(&said))
    )
}

fn one_line(text: &str) -> String {
    truncate(&clean(&stripped(text)), LONGEST).into_owned()
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&one_line(text))
        .replace(':', "%3A")
        .replace(',', "%2C")
}

/// The kind of text: JSON stays the same document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    Text,
    Json,
}

/// The part of a command that has been seen so far.
#[derive(Clone, Copy)]
enum Seen {
    LineStart,
    Colon,
    Hash,
    Hashes,
    Nothing,
}

/// The text, with nothing in it that the runner would obey. It is taken to begin a line.
pub fn defused(text: &str, printed: Printed) -> Cow<'_, str> {
    if !text.contains([':', '#']) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 1);
    let mut seen = Seen::LineStart;
    for c in text.chars() {
        let ends_command = matches!((seen, c), (Seen::Colon, ':') | (Seen::Hashes, '['));
        match printed {
            Printed::Json if ends_command => safe.push_str(&format!("\\u{:04x}", u32::from(c))),
            Printed::Text if ends_command => safe.extend([' ', c]),
            _ => safe.push(c),
        }
        seen = match (seen, c) {
            (_, '\n' | '\r') => Seen::LineStart,
            (Seen::LineStart, c) if c.is_whitespace() => Seen::LineStart,
            (seen, c) if is_overlooked(c) => seen,
            (Seen::LineStart, ':') => Seen::Colon,
            (Seen::Hash | Seen::Hashes, '#') => Seen::Hashes,
            (_, '#') => Seen::Hash,
            _ => Seen::Nothing,
        };
    }
    Cow::Owned(safe)
}

fn is_overlooked(c: char) -> bool {
    !c.is_whitespace() && c.width().unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Script};

    #[test]
    fn a_run_with_everything() {
        insta::assert_snapshot!(
            "annotations",
            annotations(&fixture::mixed_run().results(), &|_| None)
        );
    }

    #[test]
    fn ten_and_a_note() {
        let mut script = Script::new(fixture::heads(13, 1, 1), 1);
        for id in 1..=13 {
            script.finish(
                id,
                &fixture::failed(1.0, "t", "100% wrong\n::set-env name=X::y"),
            );
        }
        let place = |trial: &TrialResult| {
            let file = format!("{}/a, b: c.yaml", trial.head.eval);
            (trial.head.id > 1).then_some(FilePlace { file, line: 7 })
        };
        let text = annotations(&script.results(), &place);
        assert_eq!(text.matches("::error ").count(), 10);
        assert_eq!(text.lines().count(), 11);
        assert!(text.ends_with("::notice title=Terca::3 more lines are in the job's summary\n"));
        let second = text.lines().nth(1).unwrap();
        assert!(
            second.contains("%3A failed,file=fib-recursive/a%2C b%3A c.yaml,line=7::t: "),
            "{second}"
        );
        let first = text.lines().next().unwrap();
        assert_eq!(
            first,
            "::error title=fib gemini.base%3A failed::t: 100%25 wrong ::set-env name=X::y"
        );
    }

    #[test]
    fn no_text_gives_commands() {
        for (text, safe) in [
            ("fib  1.00\n", "fib  1.00\n"),
            ("a::b: c # d ## e [f]", "a::b: c # d ## e [f]"),
            (": one colon", ": one colon"),
            ("::error::x", ": :error::x"),
            ("a\n  ::error::x\n", "a\n  : :error::x\n"),
            ("a\r::error::x", "a\r: :error::x"),
            ("\u{200b}:\u{ad}:error::x", "\u{200b}:\u{ad} :error::x"),
            (":::", ": ::"),
            ("x ##[add-mask]y", "x ## [add-mask]y"),
            ("###[group]", "### [group]"),
            ("#\u{2060}#[group]", "#\u{2060}# [group]"),
            ("##\n[a]", "##\n[a]"),
        ] {
            assert_eq!(defused(text, Printed::Text), safe, "{text:?}");
        }
    }

    #[test]
    fn what_is_made_safe_stays_so() {
        for text in [
            "::a", " \t::a", "##[b]", "##::##[a]\n:: ::", "#[#[##[", ":\u{200b}:",
        ] {
            let once = defused(text, Printed::Text);
            assert_eq!(defused(&once, Printed::Text), once, "{text:?}");
        }
    }

    #[test]
    fn a_document_stays_what_it_is() {
        let document =
            serde_json::json!({"eval": "::x", "message": "##[group]\n::y", "list": ["##", "["]});
        let written = document.to_string();
        let safe = defused(&written, Printed::Json);
        assert!(written.contains("##[") && !safe.contains("##["), "{safe}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&safe).unwrap(),
            document
        );
    }
}
