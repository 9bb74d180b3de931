//! Panics, as `cargo test` and nextest show them.

use super::{Complaint, next_line};

/// `thread 'tests::small' (7) panicked at src/lib.rs:6:26:`, with the message below.
pub(super) fn panic(lines: &[&str]) -> Option<Complaint> {
    let is_panic = |line: &&str| thread(line).is_some();
    let place = lines.iter().position(&is_panic)?;
    let more = lines[place + 1..]
        .iter()
        .filter(|line| is_panic(line))
        .count();
    let (test, after) = thread(lines[place])?;
    // Before Rust 1.73 the message was in the same line.
    let said = match after.strip_prefix('\'') {
        Some(old) => old
            .rsplit_once("', ")
            .map_or(old, |(said, _)| said)
            .to_owned(),
        None => message(&lines[place + 1..]),
    };
    Some(Complaint::new(test, said, more))
}

/// Returns the name of a thread that panicked, and the rest of the line.
fn thread(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix("thread '")?;
    let (name, rest) = rest.split_once('\'')?;
    let (_, after) = rest.split_once(" panicked at ")?;
    Some((name, after))
}

/// Returns the message, with the values that were compared.
fn message(lines: &[&str]) -> String {
    let said = next_line(lines).unwrap_or_default();
    let value = |name: &str| {
        let few = lines.iter().take(8).map(|line| line.trim());
        few.filter_map(|line| line.strip_prefix(name)).next()
    };
    match (value("left: "), value("right: ")) {
        (Some(left), Some(right)) => format!("{said} (left: {left}, right: {right})"),
        _ => said.to_owned(),
    }
}
