//! pytest, unittest, and tracebacks.

use super::{Complaint, next_line};

/// The lines `E   …` below a title `____ test_small ____`, or the summary where they are not shown.
pub(super) fn pytest(lines: &[&str]) -> Option<Complaint> {
    let is_summary =
        |line: &&str| rule(line, '=').is_some_and(|title| title == "short test summary info");
    let summary: Vec<&str> = match lines.iter().position(is_summary) {
        Some(place) => lines[place + 1..]
            .iter()
            .filter_map(|line| line.strip_prefix("FAILED ").or(line.strip_prefix("ERROR ")))
            .collect(),
        None => Vec::new(),
    };
    let titles = lines.iter().position(|line| {
        rule(line, '=').is_some_and(|title| matches!(title, "FAILURES" | "ERRORS"))
    });
    let more = |listed: usize| summary.len().max(listed).saturating_sub(1);
    let shown = titles.and_then(|start| {
        let below = &lines[start + 1..];
        let tests = below.iter().filter_map(|line| rule(line, '_'));
        let (test, listed) = (tests.clone().next()?, tests.count());
        let place = below.iter().position(|line| is_error(line))?;
        let mut errors = below[place..].iter().take_while(|line| is_error(line));
        let first = errors.next()?[1..].trim();
        let said = match errors.next().map(|line| line[1..].trim()) {
            Some(next) if next.starts_with("assert ") => format!("{first}: {next}"),
            _ => first.to_owned(),
        };
        Some(Complaint::new(test, said, more(listed)))
    });
    shown.or_else(|| {
        let (test, said) = summary.first()?.split_once(" - ")?;
        let test = test.rsplit("::").next().unwrap_or(test);
        Some(Complaint::new(test, said, more(0)))
    })
}

fn is_error(line: &str) -> bool {
    line.starts_with("E  ")
}

/// Returns the title in a line such as `==== FAILURES ====`.
fn rule(line: &str, sign: char) -> Option<&str> {
    let title = line.strip_prefix(sign)?.trim_matches(sign);
    let title = title.strip_prefix(' ')?.strip_suffix(' ')?;
    (!title.is_empty()).then_some(title)
}

/// `FAIL: test_lists (test_add.Lists.test_lists)`, with a traceback below.
pub(super) fn unittest(lines: &[&str]) -> Option<Complaint> {
    let title = |line: &&str| {
        let title = line
            .strip_prefix("FAIL: ")
            .or(line.strip_prefix("ERROR: "))?;
        Some(title.split(" (").next().unwrap_or(title).to_owned())
    };
    let is_title = |place: usize| {
        let below = lines.get(place + 1..place + 3).unwrap_or_default();
        title(&lines[place]).is_some() && below.iter().any(|line| line.starts_with("-----"))
    };
    let places: Vec<usize> = (0..lines.len()).filter(|place| is_title(*place)).collect();
    let first = *places.first()?;
    let end = places.get(1).copied().unwrap_or(lines.len());
    let said = error_of(&lines[first..end])?;
    Some(Complaint::new(
        &title(&lines[first])?,
        said,
        places.len() - 1,
    ))
}

/// The error at the end of the last traceback.
pub(super) fn traceback(lines: &[&str]) -> Option<Complaint> {
    let last = lines.iter().rposition(|line| is_traceback(line))?;
    error_of(&lines[last..]).map(Complaint::plain)
}

fn is_traceback(line: &str) -> bool {
    line.starts_with("Traceback (most recent call last)")
}

/// Returns the error below a traceback: the first line that is not further in. A bare `AssertionError` gets the line
/// of the program that it is about.
fn error_of(lines: &[&str]) -> Option<String> {
    let start = lines.iter().position(|line| is_traceback(line))?;
    let below = &lines[start + 1..];
    let place = below
        .iter()
        .position(|line| !line.starts_with(' ') && !line.is_empty())?;
    let error = next_line(&below[place..])?;
    let is_code = |line: &&&str| {
        let line = line.trim();
        !line.is_empty()
            && !line.starts_with("File \"")
            && !line.trim_start_matches(['^', '~']).is_empty()
    };
    let code = below[..place]
        .iter()
        .rev()
        .find(is_code)
        .map(|line| line.trim());
    match code {
        Some(code) if !error.contains(':') => Some(format!("{error}: {code}")),
        _ => Some(error.to_owned()),
    }
}
