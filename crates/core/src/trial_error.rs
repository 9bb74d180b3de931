//! The reason why a trial could not be judged, and who must act.

use serde::{Deserialize, Serialize};

use crate::text::Code;

/// Why a trial could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ErrorKind {
    /// An action or the `command` before the agent failed.
    Setup,
    /// The agent's program is not installed.
    AgentMissing,
    /// Not signed in, or the key was refused.
    Auth,
    /// The model's service asked for fewer requests.
    RateLimit,
    /// The account has no money left.
    Credit,
    /// The model's service failed or could not be reached.
    ModelApi,
    /// The service has no such model, or not for this account.
    Model,
    /// An MCP server did not connect.
    Mcp,
    /// The rules or skills of the variant were not in the requests to models, and the suite requires it.
    Delivery,
    /// A request to a model is not in the recording that is replayed, or there is no recording that can be.
    Replay,
    /// The agent crashed before doing anything, or its session has no proper end.
    Agent,
    /// The worker was lost: its machine, its connection or its process ended. It is never the agent's failure.
    Lost,
    /// The machine refused, or Terca itself is at fault.
    Internal,
}

impl ErrorKind {
    /// Returns the word in `results.json`.
    pub fn as_str(self) -> &'static str {
        Code::from(self).as_str()
    }

    /// Returns what to do about it, in a few words.
    pub fn help(self) -> &'static str {
        match self {
            ErrorKind::Setup => {
                "correct the command or the test that the message names; its output is in the log"
            }
            ErrorKind::AgentMissing => "install the agent, or choose another with `--agent`",
            ErrorKind::Auth => "replace the credentials that the message names",
            ErrorKind::RateLimit => "wait, or start fewer trials at once with `-c`",
            ErrorKind::Credit => "add credit to the account of the key, or set another key",
            ErrorKind::ModelApi => {
                "check the address and the network, or wait until the service works again"
            }
            ErrorKind::Model => "correct `model` in terca.yaml, or name another with `--model`",
            ErrorKind::Mcp => {
                "correct `mcpServers` in terca.yaml; the server's output is in the log"
            }
            ErrorKind::Delivery => "check that the agent reads the rules and skills of its variant",
            ErrorKind::Replay => "record the requests again with `--gateway record`",
            ErrorKind::Agent => "the agent's output is in the log",
            ErrorKind::Lost => "check the worker's machine",
            ErrorKind::Internal => "check the disk space and the permissions; the log says more",
        }
    }
}

/// The error of a trial that could not be judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialError {
    /// The kind, which says who must act.
    pub kind: ErrorKind,
    /// One or more sentences for people.
    pub message: String,
}

impl TrialError {
    /// Makes an error.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        TrialError {
            kind,
            message: message.into(),
        }
    }
}

/// `results.json` calls them by the same words.
impl From<ErrorKind> for Code {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Setup => Code::Setup,
            ErrorKind::AgentMissing => Code::AgentMissing,
            ErrorKind::Auth => Code::Auth,
            ErrorKind::RateLimit => Code::RateLimit,
            ErrorKind::Credit => Code::Credit,
            ErrorKind::ModelApi => Code::ModelApi,
            ErrorKind::Model => Code::Model,
            ErrorKind::Mcp => Code::Mcp,
            ErrorKind::Delivery => Code::Delivery,
            ErrorKind::Replay => Code::Replay,
            ErrorKind::Agent => Code::Agent,
            ErrorKind::Lost => Code::Lost,
            ErrorKind::Internal => Code::Internal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_trials_have_the_words_of_the_results() {
        use ErrorKind::{
            Agent, AgentMissing, Auth, Credit, Delivery, Internal, Lost, Mcp, Model, ModelApi,
            RateLimit, Replay, Setup,
        };
        for kind in [
            Setup, AgentMissing, Auth, RateLimit, Credit, ModelApi, Model, Mcp, Delivery, Replay,
            Agent, Lost, Internal,
        ] {
            assert_eq!(Code::from(kind).as_str(), kind.as_str());
            assert!(Code::from(kind).topic().starts_with("Trials"));
        }
    }
}
