//! `go test`, as it prints for people.

use super::{Complaint, next_line};

/// `--- FAIL: TestAdd/small (0.00s)`, with `add_test.go:14: …` below it, or before it with `-v`.
pub(super) fn test(lines: &[&str]) -> Option<Complaint> {
    let title = |line: &str| {
        let name = line.trim_start().strip_prefix("--- FAIL: ")?;
        Some(name.split(' ').next().unwrap_or(name).to_owned())
    };
    let titles: Vec<usize> = (0..lines.len())
        .filter(|place| title(lines[*place]).is_some())
        .collect();
    let first = *titles.first()?;
    let told = lines[first..].iter().position(|line| said(line).is_some());
    let place = match told {
        Some(place) => first + place,
        None => lines[..first]
            .iter()
            .rposition(|line| said(line).is_some())?,
    };
    let owner = titles
        .iter()
        .rev()
        .find(|title| **title <= place)
        .unwrap_or(&first);
    let name = title(lines[*owner])?;
    // A parent fails with its subtests.
    let names: Vec<String> = titles
        .iter()
        .filter_map(|place| title(lines[*place]))
        .collect();
    let is_parent = |name: &str| {
        let below = format!("{name}/");
        names
            .iter()
            .take(1_000)
            .any(|other| other.starts_with(&below))
    };
    let failed = names
        .iter()
        .take(1_000)
        .filter(|name| !is_parent(name))
        .count();
    let words = match said(lines[place])? {
        // testify puts the reason in the lines below.
        "" => {
            let below = &lines[place + 1..];
            let error = below
                .iter()
                .take(12)
                .find_map(|line| line.trim().strip_prefix("Error:"));
            error.map(str::trim).or_else(|| next_line(below))?
        }
        words => words,
    };
    Some(Complaint::new(&name, words, failed.saturating_sub(1)))
}

/// Returns the words of `    add_test.go:14: words`.
fn said(line: &str) -> Option<&str> {
    if !line.starts_with(' ') {
        return None;
    }
    let (_, rest) = line.trim_start().split_once(".go:")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let words = rest[digits..].strip_prefix(':')?;
    (digits > 0).then(|| words.trim())
}
