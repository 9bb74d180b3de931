//! Evals from the history of a repository: which commits become one, and what it is made of.
//!
//! ```text
//! commit ─choice─► Chosen { tests, solution } ─contents─► small, text, no secrets
//!                            │
//!                            ├─ recipe   setup and hidden check, by the language of its tests
//!                            ├─ code     what source declares, tests inside of it, places for bugs
//!                            ├─ prompt   the issue, the message without the answer, the names that tests need
//!                            └─ draft    the files of the eval ─► proven by the engine, or refused
//!                                           ├─ lists      the tests that must pass, found in reports of the runners
//!                                           └─ describe   the prompt of an agent, if there is no leak in it
//! ```
//!
//! Everything here is told what git has; nothing asks git or runs anything. A commit that does not become an eval has
//! a [`Refusal`], which says why.

pub mod choice;
pub mod code;
pub mod commit;
pub mod contents;
pub mod describe;
pub mod draft;
pub mod inject;
mod issues;
mod leaks;
pub mod lists;
mod prompt;
pub mod recipe;
mod suite_file;

use std::{fmt, io};

use camino::Utf8PathBuf;
use serde::Serialize;

use commit::Commit;
use describe::Described;
pub use issues::Issues;
pub use suite_file::{MARK, bugs_file, bugs_mark, proof_file, suite_file};

/// A class of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// It has several parents.
    Merge,
    /// It has no parent.
    First,
    /// It takes another commit back.
    Revert,
    /// No test file is new or changed.
    NoTests,
    /// No source file is new or changed.
    NoCode,
    /// Files only have other names.
    OnlyRenamed,
    /// It changes too many files or lines, or its tree is too large.
    TooLarge,
    /// It changes a file that is not text.
    Binary,
    /// It changes a link or a submodule.
    NotAFile,
    /// It changes files that belong to somebody else.
    Vendored,
    /// A path or a link of its tree leads out of the tree.
    BadPath,
    /// Its tree has submodules.
    Submodules,
    /// Its diff or message has a key in it.
    Secret,
    /// Its message has too few words for a task.
    SaysNothing,
    /// No test notices the bug.
    Unnoticed,
    /// The bug leaves no test that could be named, since nothing can be compiled or loaded.
    NoSymptom,
    /// Its tests need names that the prompt lacks.
    Unsolvable,
    /// It is not known how its tests are run.
    UnknownTests,
    /// The suite has an eval of it.
    Already,
    /// Its objects cannot be read.
    Unreadable,
    /// The setup failed.
    Setup,
    /// Its tests fail after it, too.
    Broken,
    /// Its tests take longer than they may.
    Slow,
    /// Its tests pass before it.
    Trivial,
    /// Its tests can be passed without the work.
    Gameable,
    /// Its tests do not always end in the same way.
    Flaky,
    /// A trial could not be judged.
    Unknown,
}

impl Reason {
    /// Returns the reason in words that follow the commit.
    pub fn words(self) -> &'static str {
        match self {
            Reason::Merge => "it is a merge",
            Reason::First => "it has no parent",
            Reason::Revert => "it reverts another commit",
            Reason::NoTests => "it adds or changes no tests",
            Reason::NoCode => "it changes no code beside tests",
            Reason::OnlyRenamed => "it only renames files",
            Reason::TooLarge => "it is too large",
            Reason::Binary => "it changes a file that is not text",
            Reason::NotAFile => "it changes a link or a submodule",
            Reason::Vendored => "it changes vendored files",
            Reason::BadPath => "its tree has a path that leads out of it",
            Reason::Submodules => "its tree has submodules",
            Reason::Secret => "it has a secret in it",
            Reason::SaysNothing => "its message says too little for a task",
            Reason::Unnoticed => "no test notices the bug",
            Reason::NoSymptom => "with the bug no test runs",
            Reason::Unsolvable => "its tests need names that the prompt lacks",
            Reason::UnknownTests => "it is not known how to run its tests",
            Reason::Already => "the suite has it already",
            Reason::Unreadable => "it cannot be read",
            Reason::Setup => "the setup failed",
            Reason::Broken => "its tests fail after the commit, too",
            Reason::Slow => "its tests take too long (--timeout)",
            Reason::Trivial => "its tests pass before the commit",
            Reason::Gameable => "its tests can be passed by cheating",
            Reason::Flaky => "its tests are flaky",
            Reason::Unknown => "it could not be judged",
        }
    }

    /// Tells whether most commits of a repository are of this kind. They are counted rather than listed.
    pub fn is_usual(self) -> bool {
        matches!(
            self,
            Reason::Merge
                | Reason::First
                | Reason::Revert
                | Reason::NoTests
                | Reason::NoCode
                | Reason::OnlyRenamed
                | Reason::Unnoticed
                | Reason::NoSymptom
        )
    }
}

/// The reason why a commit does not become an eval, with its particulars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The class.
    pub reason: Reason,
    /// The file, the number or the message of a test.
    pub detail: Option<String>,
}

impl Refusal {
    /// Adds the particulars.
    pub fn with(reason: Reason, detail: impl Into<String>) -> Self {
        Refusal {
            reason,
            detail: Some(detail.into()),
        }
    }
}

/// Git or the file system refused.
impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Refusal::with(Reason::Unreadable, error.to_string())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason.words())?;
        self.detail
            .iter()
            .try_for_each(|detail| write!(f, ": {detail}"))
    }
}

impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Self {
        Refusal {
            reason,
            detail: None,
        }
    }
}

/// The commits that were looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Mined {
    /// The directory of the suite.
    pub suite: Utf8PathBuf,
    /// The number of commits that became evals.
    pub written: usize,
    /// The number of those that did not.
    pub refused: usize,
    /// The cost of the agent that wrote prompts, as far as it is known.
    pub cost_usd: Option<f64>,
    /// The commits, the newest first.
    pub commits: Vec<MinedCommit>,
}

/// A commit, and what became of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MinedCommit {
    /// Its hash.
    pub commit: String,
    /// The day on which it was made.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
    /// The name of the eval; `None` if it was refused.
    pub eval: Option<String>,
    /// The reason why it was refused.
    pub reason: Option<Reason>,
    /// The particulars of the reason.
    pub detail: Option<String>,
    /// The agent that was to write the prompt, and what became of it; `None` if none was asked.
    pub described: Option<Described>,
}

impl MinedCommit {
    /// Notes that a commit became an eval.
    pub fn written(commit: &Commit, eval: &str) -> Self {
        MinedCommit {
            eval: Some(eval.to_owned()),
            ..MinedCommit::looked_at(commit)
        }
    }

    /// Notes that a commit was refused.
    pub fn refused(commit: &Commit, refusal: Refusal) -> Self {
        MinedCommit {
            reason: Some(refusal.reason),
            detail: refusal.detail,
            ..MinedCommit::looked_at(commit)
        }
    }

    fn looked_at(commit: &Commit) -> Self {
        MinedCommit {
            commit: commit.id.clone(),
            date: commit.date(),
            subject: commit.subject().to_owned(),
            ..MinedCommit::default()
        }
    }
}

impl Mined {
    /// Counts commits. The cost is that of the agent that wrote prompts.
    pub fn new(suite: Utf8PathBuf, commits: Vec<MinedCommit>, cost_usd: Option<f64>) -> Self {
        let written = commits
            .iter()
            .filter(|commit| commit.eval.is_some())
            .count();
        Mined {
            suite,
            written,
            refused: commits.len() - written,
            cost_usd,
            commits,
        }
    }
}
