//! Tests as data, and the pure half of grading.
//!
//! The engine gathers [`Evidence`] (it ran the command, it looked for the file); [`judge`] decides what the
//! evidence is worth. So every verdict is table-tested, and grading again is the same two steps. A test that
//! cannot be judged gives no score at all: [`NoVerdict`] ends the trial as an error, because what the agent did
//! is not known to be wrong.

mod budget;
mod changed_files;
mod command;
mod command_score;
mod files;
pub mod grades;
mod judge;
mod programs;
mod transcript;

use std::time::Duration;

use camino::Utf8PathBuf;
use globset::GlobMatcher;
use regex::Regex;
use serde::{Deserialize, Serialize};

pub use budget::Budget;
pub use changed_files::ChangedFiles;
pub use command::CommandEnd;
pub use files::FileContent;
pub use judge::{
    Brief, JudgeRecord, JudgeTest, JudgedBy, Judgement, Opinion, Reason, VERDICT_FILE,
    prompt as judge_prompt,
};
pub use programs::programs_named;
pub use transcript::{Session, ToolUse, TranscriptTest};

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
    CommandSuccess {
        command: String,
        output_contains: Option<String>,
        output_matches: Option<Regex>,
    },
    FileExists(Vec<PathPattern>),
    FileContains {
        path: Utf8PathBuf,
        text: Option<String>,
        matches: Option<Regex>,
    },
    CommandScore {
        command: String,
    },
    Transcript(TranscriptTest),
    ChangedFiles(ChangedFiles),
    Budget(Budget),
    Judge(JudgeTest),
}

/// A path, or a glob over paths.
#[derive(Debug, Clone)]
pub enum PathPattern {
    Path(Utf8PathBuf),
    Glob(Glob),
}

impl PathPattern {
    pub fn written(&self) -> &str {
        match self {
            PathPattern::Path(path) => path.as_str(),
            PathPattern::Glob(glob) => &glob.written,
        }
    }
}

/// A glob, and how its author wrote it.
#[derive(Debug, Clone)]
pub struct Glob {
    pub written: String,
    pub matcher: GlobMatcher,
}

/// What was found when a test was carried out.
#[derive(Debug, Clone)]
pub enum Evidence {
    Command(CommandEnd),
    /// For each pattern, whether something matched it.
    Files(Vec<bool>),
    /// The text of the file.
    Content(FileContent),
    /// What the agent changed, as paths relative to the workspace.
    Changes(Vec<String>),
    Session(Session),
    Judgement(Judgement),
}

/// What one test is worth, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grade {
    pub score: f64,
    pub message: String,
    pub duration_seconds: f64,
    /// Of a `judge`: who judged, why, and what that took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeRecord>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub score: f64,
    pub message: String,
}

impl Verdict {
    fn pass(message: impl Into<String>) -> Self {
        Verdict {
            score: 1.0,
            message: message.into(),
        }
    }

    fn fail(message: impl Into<String>) -> Self {
        Verdict {
            score: 0.0,
            message: message.into(),
        }
    }
}

/// Why a test could not be judged. Nobody knows whether the agent did well, so it is no failure of the agent's.
#[derive(Debug, Clone, PartialEq)]
pub struct NoVerdict(pub String);

pub fn judge(test: &TestSpec, evidence: &Evidence) -> Result<Verdict, NoVerdict> {
    match (&test.kind, evidence) {
        (
            TestKind::CommandSuccess {
                output_contains,
                output_matches,
                ..
            },
            Evidence::Command(end),
        ) => command::judge(
            end,
            test.timeout,
            output_contains.as_deref(),
            output_matches.as_ref(),
        ),
        (TestKind::CommandScore { .. }, Evidence::Command(end)) => {
            command_score::judge(end, test.timeout)
        }
        (TestKind::FileExists(patterns), Evidence::Files(found)) => {
            Ok(files::judge_existence(patterns, found))
        }
        (
            TestKind::FileContains {
                path,
                text,
                matches,
            },
            Evidence::Content(content),
        ) => Ok(files::judge_content(
            path.as_str(),
            content,
            text.as_deref(),
            matches.as_ref(),
        )),
        (TestKind::ChangedFiles(asked), Evidence::Changes(changes)) => Ok(asked.judge(changes)),
        (TestKind::Transcript(asked), Evidence::Session(session)) => asked.judge(session),
        (TestKind::Budget(asked), Evidence::Session(session)) => asked.judge(session),
        (TestKind::Judge(asked), Evidence::Judgement(judgement)) => {
            asked.judge(judgement, test.timeout)
        }
        _ => Err(NoVerdict(
            "the evidence does not belong to this test (a bug in Terca)".into(),
        )),
    }
}

/// A pattern as it would be typed: a line end in it is not to be taken for a blank.
fn on_one_line(pattern: &Regex) -> String {
    pattern.as_str().replace('\n', "\\n").replace('\t', "\\t")
}

/// `$` is the end of the text, and also the place before a last line end: `^55$` matches what `echo 55` prints.
fn is_match(pattern: &Regex, text: &str) -> bool {
    pattern.is_match(text)
        || text
            .strip_suffix('\n')
            .is_some_and(|text| pattern.is_match(text))
}

/// The last line of an output that says something.
fn last_line(output: &str) -> Option<&str> {
    output
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
}

/// So much of a line as has room in a message; the log has all of it.
fn shortened(line: &str) -> String {
    const LONGEST: usize = 200;
    let shown: String = line.chars().take(LONGEST).collect();
    if shown.len() < line.len() {
        format!("{shown}…")
    } else {
        shown
    }
}

/// A reason with the last line of the output, which usually says most.
fn with_tail(reason: &str, output: &str) -> String {
    match last_line(output) {
        None => reason.to_owned(),
        Some(line) => format!("{reason}: {}", shortened(line)),
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
    Some(
        grades
            .iter()
            .map(|(weight, score)| weight * score)
            .sum::<f64>()
            / total,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights() {
        assert_eq!(score(&[]), None);
        assert_eq!(score(&[(1.0, 1.0), (3.0, 0.0)]), Some(0.25));
        assert_eq!(score(&[(0.1, 1.0), (0.2, 1.0), (0.3, 1.0)]), Some(1.0));
        assert_eq!(score(&[(2.0, 0.0)]), Some(0.0));
    }
}
