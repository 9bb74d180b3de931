//! The live display of the real program, read through a terminal emulator.

use std::num::NonZeroU16;

use crate::common::project;
use terca_testkit::{Project, Terminal};

fn good_and_bad(repetitions: usize) -> Project {
    project().file(
        "terca.yaml",
        format!(
            "name: many\nconcurrency: 6\nrepetitions: {repetitions}\nenvironments:\n  - name: e\n    agent: {{name: command, command: 'true'}}\n\
             evals:\n  - {{name: good, prompt: x, tests: [{{commandSuccess: 'true'}}]}}\n  - {{name: bad, prompt: x, tests: [{{commandSuccess: 'false'}}]}}\n"
        ),
    )
}

/// What a person finds in the terminal afterwards, scrollback included.
fn scrollback(stderr: &str) -> Vec<String> {
    let size = |n| NonZeroU16::new(n).unwrap_or(NonZeroU16::MIN);
    let mut parser = vt100::Parser::new(size(24), size(80), 100_000);
    // A terminal's line discipline adds what a pipe does not.
    parser.process(stderr.replace('\n', "\r\n").as_bytes());
    let mut rows = Vec::new();
    parser.screen_mut().set_scrollback(usize::MAX);
    let above = parser.screen().scrollback();
    for offset in (1..=above).rev() {
        parser.screen_mut().set_scrollback(offset);
        rows.extend(parser.screen().rows(0, 80).next());
    }
    parser.screen_mut().set_scrollback(0);
    rows.extend(parser.screen().rows(0, 80));
    while rows.last().is_some_and(|row| row.trim().is_empty()) {
        rows.pop();
    }
    assert!(!parser.screen().hide_cursor(), "the cursor is back");
    rows
}

#[test]
fn every_trial_scrolls_by_once_and_the_frame_is_gone() {
    let project = good_and_bad(100);
    let outcome = project.terca(&["--format", "tty"]);
    assert_eq!(outcome.status, 1);
    let rows = scrollback(&outcome.stderr);
    let count = |words: &str| rows.iter().filter(|row| row.contains(words)).count();
    assert!(rows[0].starts_with("many: 200 trials"), "{}", rows[0]);
    assert_eq!((count("✓ 1.00   good"), count("✗ 0.00   bad")), (100, 100));
    for repetition in 1..=100 {
        assert_eq!(count(&format!("#{repetition:02} ")), 2, "{repetition}");
    }
    let other: Vec<&String> = rows[2..]
        .iter()
        .filter(|row| !row.contains(" e #"))
        .filter(|row| !row.is_empty())
        .collect();
    assert!(
        other.is_empty(),
        "the header, the trials, and nothing of the frame: {other:#?}"
    );
}

#[test]
fn a_terminal_that_wants_no_colour_gets_none() {
    let project = good_and_bad(2).env("NO_COLOR", "1");
    let outcome = project.terca(&["--format", "tty"]);
    assert!(!is_coloured(&outcome.stderr), "{:?}", outcome.stderr);
    let colourful = project.terca(&["--format", "tty", "--color", "always"]);
    assert!(is_coloured(&colourful.stderr));
}

#[test]
fn colour_can_be_forced_on_a_pipe() {
    let project = good_and_bad(1);
    for (variables, is_expected) in [
        (&[][..], false),
        (&[("FORCE_COLOR", "1")], true),
        (&[("CLICOLOR_FORCE", "1")], true),
        (&[("FORCE_COLOR", "0")], false),
        (&[("FORCE_COLOR", "")], false),
        (&[("FORCE_COLOR", "1"), ("NO_COLOR", "1")], false),
    ] {
        let outcome = project.terca_with(variables, &["--format", "plain"]);
        let said = [&outcome.stdout, &outcome.stderr];
        let is_found = said.map(|said| is_coloured(said));
        assert_eq!(is_found, [is_expected; 2], "{variables:?}: {said:?}");
    }
    let never = project.terca_with(&[("FORCE_COLOR", "1")], &["show", "--color", "never"]);
    assert!(!is_coloured(&never.stdout), "{:?}", never.stdout);
}

/// Whether there is an escape sequence that ends in `m`; others move the cursor.
fn is_coloured(screen: &str) -> bool {
    let ends = |sequence: &str| sequence.chars().find(char::is_ascii_alphabetic);
    screen
        .split("\x1b[")
        .skip(1)
        .any(|sequence| ends(sequence) == Some('m'))
}

#[test]
fn a_terminal_that_cannot_be_painted_on_gets_lines() {
    let project = good_and_bad(1).env("TERM", "dumb");
    let (status, text) = Terminal::start(project.command(&[])).finish();
    assert_eq!(status, 1, "{text}");
    assert!(
        text.contains("✓ 1.00   good") && !text.contains('\x1b'),
        "{text:?}"
    );
}
