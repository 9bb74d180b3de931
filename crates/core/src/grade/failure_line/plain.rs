//! Output of no known runner: the first line that looks like an error, or else the last line that says something.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

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

/// A line that may say what went wrong, and a count that says that nothing did.
static MAY_BE_AN_ERROR: LazyLock<Option<[Regex; 2]>> = LazyLock::new(|| {
    let words = r"(?i)\b(?:errors?|fail(?:ed|ures?)|not found|no such|cannot|can't|unable|denied|refused|missing)\b";
    let none = r"(?i)\b(?:0|no) (?:errors?|fail)";
    Some([Regex::new(words).ok()?, Regex::new(none).ok()?])
});

/// Lines that follow every failure and say nothing about it.
const NOISE: [&str; 9] = [
    "npm notice", "npm warn", "npm WARN", "npm error", "npm ERR!", "Node.js v", "[notice]",
    "WARNING: You are using pip", "error Command failed with exit code",
];

/// Returns the first line that looks like an error, or else the last one that may be one, or else the last one with a word
/// that is not noise, or else the last one.
pub(super) fn complaint(lines: &[String]) -> Option<&str> {
    let telling = || {
        let all = lines.iter().enumerate();
        all.filter(|(at, line)| !is_noise(line) && !is_echo(lines, *at))
            .map(|(_, line)| line.as_str())
            .filter(|line| !line.trim().is_empty())
    };
    let looks = LOOKS_LIKE_AN_ERROR.as_ref();
    let error = telling().find(|line| looks.is_some_and(|looks| looks.is_match(line)));
    let last = || lines.iter().rev().find(|line| !line.trim().is_empty());
    let words = || telling().filter(|line| line.contains(char::is_alphanumeric));
    let may_be = |line: &&str| {
        let looks = MAY_BE_AN_ERROR.as_ref();
        looks.is_some_and(|[words, none]| words.is_match(line) && !none.is_match(line))
    };
    let line = error.or_else(|| words().rfind(may_be));
    let line = line.or_else(|| words().next_back());
    line.or_else(|| last().map(String::as_str)).map(str::trim)
}

fn is_noise(line: &str) -> bool {
    let line = line.trim_start();
    NOISE.iter().any(|noise| line.starts_with(noise))
}

/// Returns whether npm names a script that it starts: the package and the script, then the command, each after `> `.
fn is_echo(lines: &[String], at: usize) -> bool {
    let begins = |at: Option<usize>| {
        let line = at.and_then(|at| lines.get(at));
        line.is_some_and(|line| line.starts_with("> "))
    };
    begins(Some(at)) && (begins(at.checked_sub(1)) || begins(at.checked_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_npm_starts_is_no_error() {
        let complaint = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            complaint(&lines).unwrap().to_owned()
        };
        let echo = ["", "> tinyq@1.2.0 build", "> tsc", ""];
        let said = ["sh: 1: tsc: not found"];
        for lines in [[&said[..], &echo].concat(), [&echo[..], &said].concat()] {
            assert_eq!(complaint(&lines), "sh: 1: tsc: not found");
        }
        let object = ["Cannot find it {", "  code: 'E1'", "}", ""];
        assert_eq!(complaint(&object), "Cannot find it {");
        assert_eq!(
            complaint(&["of 3", "0 failed, no errors", "]"]),
            "0 failed, no errors"
        );
        assert_eq!(complaint(&["}"]), "}");
        // Where nothing else was said, it is better than nothing.
        assert_eq!(complaint(&echo), "> tsc");
        assert_eq!(
            complaint(&["first", "> quoted"]),
            "> quoted",
            "one line alone is no command of npm"
        );
    }
}
