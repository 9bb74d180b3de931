//! A test of an eval: the question it asks about the work.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use super::evidence::{CommandEnd, FileContent, Session};
use super::grades::Grade;
use super::judgement::{JudgeTest, Judgement};
use super::verdict::NoVerdict;
use crate::reader::patterns::PathPattern;
use crate::text::Place;

/// A test of an eval.
#[derive(Debug, Clone)]
pub struct TestSpec {
    /// Its name, unique in the eval.
    pub name: String,
    /// A text for people. It changes nothing of what is tested.
    pub description: Option<String>,
    /// The key of its kind, such as `fileExists`.
    pub key: &'static str,
    /// The kind with its settings.
    pub kind: Arc<dyn TestKind>,
    /// The settings as the user wrote them.
    pub settings: Value,
    /// The place of its kind in the file.
    pub place: Place,
    /// Its share in the score.
    pub weight: f64,
    /// Its time limit.
    pub timeout: Duration,
    /// The directory of the YAML file that names it. It is at the end of a command's `PATH`.
    pub dir: Utf8PathBuf,
}

impl TestSpec {
    /// Returns the question that the test asks.
    pub fn question(&self) -> Question<'_> {
        self.kind.question(self.timeout)
    }

    /// Returns the judge that the test needs, where it is a `judge`.
    pub fn judge(&self) -> Option<&JudgeTest> {
        match self.question() {
            Question::Judge { asked, .. } => Some(asked),
            _ => None,
        }
    }

    /// Returns all that the test asks for as JSON, for `run.json` and fingerprints.
    pub fn document(&self) -> Value {
        let mut settings = self.settings.clone();
        // Variables are filled in: another judge is another test.
        if let Some(judge) = self.judge() {
            if let (Some(written), Some(model)) = (settings.get_mut("model"), &judge.model) {
                *written = json!(model);
            }
            if let (Some(written), Some(config)) = (settings.get_mut("config"), &judge.config) {
                written.clone_from(config);
            }
        }
        json!({
            "name": self.name,
            self.key: settings,
            "weight": self.weight,
            "timeoutSeconds": self.timeout.as_secs_f64(),
        })
    }
}

/// A kind of test with its settings.
pub trait TestKind: fmt::Debug + Send + Sync {
    /// Returns the evidence that is wanted and the judge of it. The limit is the test's time limit.
    fn question(&self, limit: Duration) -> Question<'_>;
}

/// Judges evidence of one type.
pub type JudgeOf<'a, E> = Box<dyn Fn(&E) -> Result<Grade, NoVerdict> + 'a>;

/// A request for evidence, with the judge of what is found.
pub enum Question<'a> {
    /// Run a shell command on a copy of the work.
    Command {
        /// The command.
        command: &'a str,
        /// Keep standard output apart from the rest of the output.
        separate_stdout: bool,
        /// A report that it writes, as a path in the workspace.
        report: Option<&'a Utf8Path>,
        /// The judge of its end.
        judge: JudgeOf<'a, CommandEnd>,
    },
    /// Find out for each pattern if a file matches it.
    Files {
        /// Paths and globs in the workspace.
        patterns: &'a [PathPattern],
        /// The judge of the answers, in the order of the patterns.
        judge: JudgeOf<'a, [bool]>,
    },
    /// Read a file.
    Content {
        /// The path in the workspace.
        path: &'a Utf8Path,
        /// The judge of its content.
        judge: JudgeOf<'a, FileContent>,
    },
    /// List the files that the agent changed, as paths relative to the workspace.
    Changes {
        /// The judge of the list.
        judge: JudgeOf<'a, [String]>,
    },
    /// Look at the agent's session: its tool calls, its words and its usage.
    Session {
        /// The judge of the session.
        judge: JudgeOf<'a, Session>,
    },
    /// Ask an agent for its opinion.
    Judge {
        /// The rubric, and who judges.
        asked: &'a JudgeTest,
        /// The judge of the opinion.
        judge: JudgeOf<'a, Judgement>,
    },
}

impl fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").finish_non_exhaustive()
    }
}
