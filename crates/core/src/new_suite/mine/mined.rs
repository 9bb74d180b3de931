//! The answer of `terca mine`: the commits that were looked at, and what became of each.

use camino::Utf8PathBuf;
use serde::Serialize;

use super::commit::Commit;
use super::describe::Described;
use super::{Reason, Refusal};

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
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    pub fn written(commit: &Commit, eval: &str, described: Option<Described>) -> Self {
        MinedCommit {
            eval: Some(eval.to_owned()),
            described,
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
            eval: None,
            reason: None,
            detail: None,
            described: None,
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
