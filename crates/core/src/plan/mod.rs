//! What will be run: trials, each with all that it is made of.

pub mod aa_check;
pub mod expand;
pub mod fingerprint;
mod interpolate;
mod judges;
pub mod order;
pub mod selection;
pub mod shard;

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde_json::Value;

use crate::agent::AgentChoice;
use crate::agent::mcp::McpServer;
use crate::config::adaptive::Adaptive;
use crate::config::suite::{Action, Eval, ShellCommand};

/// One environment with one experiment laid over it.
#[derive(Debug, Clone)]
pub struct Variant {
    pub environment: String,
    pub experiment: String,
    /// What the suite's own commands are told that the experiment is.
    pub told_experiment: String,
    pub agent: AgentChoice,
    pub model: Option<String>,
    pub rules: Vec<Utf8PathBuf>,
    /// Directories, each with a `SKILL.md`.
    pub skills: Vec<Utf8PathBuf>,
    pub mcp_servers: Vec<(String, McpServer<String>)>,
    pub config: Option<Value>,
    pub command: Option<ShellCommand>,
}

impl Variant {
    /// How people name it.
    pub fn label(&self) -> String {
        format!("{}.{}", self.environment, self.experiment)
    }
}

/// Files that a workspace starts from.
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// A directory of the suite.
    Directory(Utf8PathBuf),
    /// What `prepare` makes of other layers, once.
    Prepared(Arc<PreparedLayer>),
}

/// The same for all trials that start from it: it knows nothing of variants and repetitions.
#[derive(Debug, PartialEq)]
pub struct PreparedLayer {
    pub below: Vec<Layer>,
    pub actions: Vec<Action>,
    pub env: Vec<(String, String)>,
    /// The eval it is for, where it is not the suite's.
    pub eval: Option<String>,
}

/// One eval in one variant: what all its repetitions share.
#[derive(Debug, Clone)]
pub struct Case {
    pub eval: Arc<Eval>,
    pub variant: Arc<Variant>,
    pub prompt: String,
    /// What the workspace starts from, lowest first.
    pub layers: Vec<Layer>,
    /// Everything done before the agent starts, in order, except the variant's `command`.
    pub actions: Vec<Action>,
    pub env: Vec<(String, String)>,
    /// What a judge is given, where one of the tests has one: the suite's own variables, the same in every variant.
    pub judge_env: Vec<(String, String)>,
    pub timeout: Duration,
    /// Whether changes that `.gitignore` ignores are looked at too.
    pub track_ignored: bool,
}

/// One eval × variant × repetition.
#[derive(Debug, Clone)]
pub struct TrialSpec {
    pub id: u32,
    pub case: Arc<Case>,
    pub repetition: u32,
    /// Its folder in the run, relative.
    pub dir: Utf8PathBuf,
}

/// What will be run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// In the order of their ids.
    pub trials: Vec<TrialSpec>,
    /// Values taken from Terca's environment: to be masked in everything that is written.
    pub secrets: Vec<String>,
    /// Not all repetitions may be needed.
    pub adaptive: Option<Adaptive>,
}
