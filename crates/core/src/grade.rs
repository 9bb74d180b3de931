//! Tests as data, and the pure half of grading.
//!
//! The engine gathers [`Evidence`] (it ran the command, it looked for the file); [`judge`] decides what the
//! evidence is worth. So every verdict is table-tested, and grading again is the same two steps.

use std::time::Duration;

use camino::Utf8PathBuf;
use globset::GlobMatcher;
use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::prose;

#[derive(Debug, Clone)]
pub struct TestSpec {
    pub name: String,
    pub kind: TestKind,
    pub weight: f64,
    pub timeout: Duration,
    /// The directory of the YAML file that names it; stands at the end of a command's `PATH`.
    pub dir: Utf8PathBuf,
}

#[derive(Debug, Clone)]
pub enum TestKind {
    CommandSuccess { command: String, output_contains: Option<String>, output_matches: Option<Regex> },
    FileExists(Vec<PathPattern>),
    FileContains { path: Utf8PathBuf, text: Option<String>, matches: Option<Regex> },
}

#[derive(Debug, Clone)]
pub enum PathPattern {
    Path(Utf8PathBuf),
    Glob { written: String, matcher: GlobMatcher },
}

impl PathPattern {
    pub fn written(&self) -> &str {
        match self {
            PathPattern::Path(path) => path.as_str(),
            PathPattern::Glob { written, .. } => written,
        }
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

impl Exit {
    pub fn code(self) -> Option<i32> {
        match self {
            Exit::Code(code) => Some(code),
            Exit::Signal(_) => None,
        }
    }

    pub fn describe(self) -> String {
        match self {
            // How a shell says that what it ran was killed.
            Exit::Code(code @ 129..=159) => format!("exit status {code} ({})", signal_name(code - 128)),
            Exit::Code(code) => format!("exit status {code}"),
            Exit::Signal(signal) => format!("killed by {}", signal_name(signal)),
        }
    }
}

/// The name of a signal, for messages.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}

/// What was found when a test was carried out.
#[derive(Debug, Clone)]
pub enum Evidence {
    Command {
        exit: Exit,
        timed_out: bool,
        output: String,
    },
    /// For each pattern, whether something matched it.
    Files(Vec<bool>),
    /// The text of the file.
    Content(FileContent),
}

#[derive(Debug, Clone)]
pub enum FileContent {
    Text(String),
    Missing,
    Unreadable(String),
}

/// What one test is worth, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grade {
    pub score: f64,
    pub message: String,
    pub duration_seconds: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub score: f64,
    pub message: String,
}

impl Verdict {
    fn pass(message: impl Into<String>) -> Self {
        Verdict { score: 1.0, message: message.into() }
    }

    fn fail(message: impl Into<String>) -> Self {
        Verdict { score: 0.0, message: message.into() }
    }
}

pub fn judge(test: &TestSpec, evidence: &Evidence) -> Verdict {
    match (&test.kind, evidence) {
        (
            TestKind::CommandSuccess { output_contains, output_matches, .. },
            Evidence::Command { exit, timed_out, output },
        ) => {
            if *timed_out {
                let limit = prose::duration(test.timeout.as_secs_f64());
                return Verdict::fail(with_tail(&format!("still running after {limit}"), output));
            }
            judge_command(*exit, output, output_contains.as_deref(), output_matches.as_ref())
        }
        (TestKind::FileExists(patterns), Evidence::Files(found)) => judge_files(patterns, found),
        (TestKind::FileContains { path, text, matches }, Evidence::Content(content)) => {
            judge_content(path.as_str(), content, text.as_deref(), matches.as_ref())
        }
        _ => Verdict::fail("the evidence does not belong to this test (a bug in Terca)"),
    }
}

fn judge_command(exit: Exit, output: &str, contains: Option<&str>, matches: Option<&Regex>) -> Verdict {
    if exit != Exit::Code(0) {
        return Verdict::fail(with_tail(&exit.describe(), output));
    }
    if let Some(text) = contains
        && !output.contains(text)
    {
        return Verdict::fail(with_tail(&format!("the output does not contain {text:?}"), output));
    }
    if let Some(pattern) = matches
        && !is_match(pattern, output)
    {
        return Verdict::fail(with_tail(
            &format!("the output does not match /{}/", on_one_line(pattern)),
            output,
        ));
    }
    Verdict::pass(exit.describe())
}

fn judge_files(patterns: &[PathPattern], found: &[bool]) -> Verdict {
    let missing: Vec<&str> = patterns
        .iter()
        .zip(found)
        .filter(|(_, found)| !**found)
        .map(|(pattern, _)| pattern.written())
        .collect();
    let all: Vec<&str> = patterns.iter().map(PathPattern::written).collect();
    let verb =
        |files: &[&str], one: &'static str, many: &'static str| if files.len() == 1 { one } else { many };
    if missing.is_empty() {
        Verdict::pass(format!("{} {}", prose::list(&all, "and"), verb(&all, "exists", "exist")))
    } else {
        Verdict::fail(format!("{} {} not exist", prose::list(&missing, "and"), verb(&missing, "does", "do")))
    }
}

fn judge_content(path: &str, content: &FileContent, text: Option<&str>, matches: Option<&Regex>) -> Verdict {
    let found = match content {
        FileContent::Missing => return Verdict::fail(format!("{path} does not exist")),
        FileContent::Unreadable(reason) => return Verdict::fail(format!("{path} cannot be read: {reason}")),
        FileContent::Text(found) => found,
    };
    if let Some(text) = text
        && !found.contains(text)
    {
        return Verdict::fail(format!("{path} does not contain {text:?}"));
    }
    if let Some(pattern) = matches
        && !is_match(pattern, found)
    {
        return Verdict::fail(format!("{path} does not match /{}/", on_one_line(pattern)));
    }
    Verdict::pass(format!("{path} has it"))
}

/// A pattern as it would be typed: a line end in it is not to be taken for a blank.
fn on_one_line(pattern: &Regex) -> String {
    pattern.as_str().replace('\n', "\\n").replace('\t', "\\t")
}

/// `$` is the end of the text, and also the place before a last line end: `^55$` matches what `echo 55` prints.
fn is_match(pattern: &Regex, text: &str) -> bool {
    pattern.is_match(text) || text.strip_suffix('\n').is_some_and(|text| pattern.is_match(text))
}

/// A reason with the last line of the output, which usually says most.
fn with_tail(reason: &str, output: &str) -> String {
    const LONGEST: usize = 200;
    match output.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
        None => reason.to_owned(),
        Some(line) => {
            let shown: String = line.chars().take(LONGEST).collect();
            let more = if shown.len() < line.len() { "…" } else { "" };
            format!("{reason}: {shown}{more}")
        }
    }
}

/// The weighted mean of the tests' scores; `None` when there are none.
pub fn score(grades: &[(f64, f64)]) -> Option<f64> {
    let total: f64 = grades.iter().map(|(weight, _)| weight).sum();
    if grades.is_empty() || total <= 0.0 {
        return None;
    }
    // All passed is exactly 1, whatever the weights do to the last bit.
    if grades.iter().all(|(_, score)| *score >= 1.0) {
        return Some(1.0);
    }
    Some(grades.iter().map(|(weight, score)| weight * score).sum::<f64>() / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(kind: TestKind) -> TestSpec {
        TestSpec { name: "t".into(), kind, weight: 1.0, timeout: Duration::from_secs(120), dir: "/s".into() }
    }

    fn command(contains: Option<&str>, matches: Option<&str>) -> TestSpec {
        spec(TestKind::CommandSuccess {
            command: "x".into(),
            output_contains: contains.map(Into::into),
            output_matches: matches.map(|pattern| Regex::new(pattern).unwrap()),
        })
    }

    fn ran(exit: Exit, output: &str) -> Evidence {
        Evidence::Command { exit, timed_out: false, output: output.into() }
    }

    #[test]
    fn commands() {
        let timed_out = Evidence::Command { exit: Exit::Signal(9), timed_out: true, output: String::new() };
        for (test, evidence, score, message) in [
            (command(None, None), ran(Exit::Code(0), ""), 1.0, "exit status 0"),
            (command(None, None), ran(Exit::Code(3), "a\nlast words\n\n"), 0.0, "exit status 3: last words"),
            (command(None, None), ran(Exit::Signal(9), ""), 0.0, "killed by SIGKILL"),
            (command(None, None), ran(Exit::Signal(33), ""), 0.0, "killed by signal 33"),
            (command(None, None), timed_out, 0.0, "still running after 2m 00s"),
            (command(Some("ok"), None), ran(Exit::Code(0), "all ok"), 1.0, "exit status 0"),
            (
                command(Some("ok"), None),
                ran(Exit::Code(0), "no"),
                0.0,
                "the output does not contain \"ok\": no",
            ),
            (command(Some("ok"), None), ran(Exit::Code(1), "ok"), 0.0, "exit status 1: ok"),
            (command(None, Some("^[0-9]+$")), ran(Exit::Code(0), "55\n"), 1.0, "exit status 0"),
            (command(None, Some("^55\n$")), ran(Exit::Code(0), "55\n"), 1.0, "exit status 0"),
            (
                command(None, Some("^a$")),
                ran(Exit::Code(0), "55"),
                0.0,
                "the output does not match /^a$/: 55",
            ),
        ] {
            assert_eq!(judge(&test, &evidence), Verdict { score, message: message.into() });
        }
    }

    #[test]
    fn files() {
        let test = spec(TestKind::FileExists(vec![
            PathPattern::Path("a.js".into()),
            PathPattern::Path("b.js".into()),
        ]));
        assert_eq!(judge(&test, &Evidence::Files(vec![true, true])), Verdict::pass("a.js and b.js exist"));
        assert_eq!(judge(&test, &Evidence::Files(vec![true, false])), Verdict::fail("b.js does not exist"));
        assert_eq!(
            judge(&test, &Evidence::Files(vec![false, false])),
            Verdict::fail("a.js and b.js do not exist")
        );
    }

    #[test]
    fn contents() {
        let test = |text: Option<&str>, matches: Option<&str>| {
            spec(TestKind::FileContains {
                path: "a.txt".into(),
                text: text.map(Into::into),
                matches: matches.map(|pattern| Regex::new(pattern).unwrap()),
            })
        };
        let text = |text: &str| Evidence::Content(FileContent::Text(text.into()));
        assert_eq!(judge(&test(Some("x"), None), &text("axb")).score, 1.0);
        assert_eq!(
            judge(&test(None, Some("^#!\n")), &text("axb")),
            Verdict::fail(r"a.txt does not match /^#!\n/")
        );
        assert_eq!(
            judge(&test(Some("x"), Some("^b")), &text("axb")),
            Verdict::fail("a.txt does not match /^b/")
        );
        assert_eq!(
            judge(&test(Some("x"), None), &Evidence::Content(FileContent::Missing)),
            Verdict::fail("a.txt does not exist")
        );
    }

    #[test]
    fn weights() {
        assert_eq!(score(&[]), None);
        assert_eq!(score(&[(1.0, 1.0), (3.0, 0.0)]), Some(0.25));
        assert_eq!(score(&[(0.1, 1.0), (0.2, 1.0), (0.3, 1.0)]), Some(1.0));
        assert_eq!(score(&[(2.0, 0.0)]), Some(0.0));
    }
}
