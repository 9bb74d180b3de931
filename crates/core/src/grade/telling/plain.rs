//! Output of no known runner: the first line that looks like an error, or else the last line.

use std::sync::LazyLock;

use regex::RegexSet;

use super::Complaint;

/// A line that says what went wrong, by its beginning or by the words of an assertion.
static LOOKS_LIKE_AN_ERROR: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    RegexSet::new([
        r"^\s*(?:Uncaught )?[A-Za-z_.]*(?:Error|Exception|Failure)(?: \[\w+\])?: \S",
        r"(?i)^\s*(?:error|fatal|failure|failed|fail|panic|assertion failed)(?:\[\w+\])?: \S",
        r"(?i)^\s*assert(?:ion)?\b.*\b(?:fail|error)",
        r"(?i)\bexpected\b.+\b(?:got|but|received|found|actual|to (?:be|equal|have|contain|match))\b",
        r"^not ok\b",
    ])
    .ok()
});

/// Lines that follow every failure and say nothing about it.
const NOISE: [&str; 9] = [
    "npm notice",
    "npm warn",
    "npm WARN",
    "npm error",
    "npm ERR!",
    "Node.js v",
    "[notice]",
    "WARNING: You are using pip",
    "error Command failed with exit code",
];

/// Returns the first line that looks like an error, or else the last one that is not noise, or else the last one.
pub(super) fn complaint(lines: &[&str]) -> Option<String> {
    let said = |line: &&&str| !line.trim().is_empty();
    let is_noise = |line: &str| {
        NOISE
            .iter()
            .any(|noise| line.trim_start().starts_with(noise))
    };
    let looks = LOOKS_LIKE_AN_ERROR.as_ref();
    let error = lines
        .iter()
        .find(|line| !is_noise(line) && looks.is_some_and(|looks| looks.is_match(line)));
    let last = || lines.iter().rev().filter(said).find(|line| !is_noise(line));
    let line = error
        .or_else(last)
        .or_else(|| lines.iter().rev().find(said))?;
    Some(line.trim().to_owned())
}

/// The error of npm itself, which comes after lines with codes and paths.
pub(super) fn npm(lines: &[&str]) -> Option<Complaint> {
    const OTHER: [&str; 12] = [
        "code ",
        "errno ",
        "syscall ",
        "path ",
        "command ",
        "dest ",
        "signal ",
        "location ",
        "workspace ",
        "Lifecycle script ",
        "A complete log",
        "    at ",
    ];
    let mut said = lines.iter().filter_map(|line| {
        let rest = line
            .strip_prefix("npm error")
            .or(line.strip_prefix("npm ERR!"))?;
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        let is_other = rest.trim().is_empty() || OTHER.iter().any(|other| rest.starts_with(other));
        (!is_other).then(|| rest.trim())
    });
    // A script that failed has said more itself, above.
    if lines
        .iter()
        .any(|line| line.contains("npm error command ") || line.contains("Lifecycle script"))
    {
        return None;
    }
    said.next()
        .map(|said| Complaint::plain(format!("npm: {said}")))
}
