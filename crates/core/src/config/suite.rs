//! The suite as resolved: names are unique, paths exist, defaults are filled in.
//!
//! Two things wait for the matrix, because they depend on what is selected: laying experiments over
//! environments, and taking `${NAME}` from Terca's own environment.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8PathBuf;

use crate::agent::AgentChoice;
use crate::agent::mcp::McpServer;
use crate::config::adaptive::Adaptive;
use crate::config::read::Patch;
use crate::grade::TestSpec;
use crate::text::source::{Located, Place};

pub const DEFAULT_AGENT_SECONDS: f64 = 300.0;
pub const DEFAULT_COMMAND_SECONDS: f64 = 600.0;
pub const DEFAULT_TEST_SECONDS: f64 = 120.0;

#[derive(Debug, Clone)]
pub struct Suite {
    pub name: String,
    pub description: Option<String>,
    /// The suite's directory.
    pub root: Utf8PathBuf,
    /// The most, where they are adaptive.
    pub repetitions: u32,
    /// Repetitions are added until the comparisons are decided.
    pub adaptive: Option<Adaptive>,
    pub concurrency: Concurrency,
    /// How often a trial that ended in an error is tried again.
    pub retries: u32,
    pub timeout: Duration,
    pub preamble: Option<String>,
    pub postamble: Option<String>,
    /// Directories that every workspace starts from, lowest first.
    pub layers: Vec<Utf8PathBuf>,
    /// Done once to the layers; every workspace starts from the result.
    pub prepare: Vec<Action>,
    pub before: Vec<Action>,
    /// Whether changes that `.gitignore` ignores are looked at too.
    pub track_ignored: bool,
    pub env: Variables,
    pub evals: Vec<Eval>,
    pub environments: Vec<Setup>,
    pub experiments: Vec<Setup>,
    /// The name of the experiment that the others are compared with.
    pub baseline: String,
}

/// Trials in flight at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Concurrency {
    /// For all agents that are not named together; `None` is the number of CPUs.
    pub others: Option<u32>,
    pub agents: BTreeMap<String, u32>,
}

#[derive(Debug, Clone)]
pub struct Eval {
    pub name: String,
    pub description: Option<String>,
    /// The directory of the YAML file.
    pub dir: Utf8PathBuf,
    pub prompt: String,
    pub repetitions: Option<u32>,
    pub timeout: Option<Duration>,
    /// `_base/`, laid over the suite's layers.
    pub layer: Option<Utf8PathBuf>,
    /// `_tests/`, laid over the copy that the tests run on.
    pub tests_layer: Option<Utf8PathBuf>,
    /// `_solution/`, laid over the workspace by `oracle`.
    pub solution: Option<Utf8PathBuf>,
    /// `_solution.sh`, run in the workspace by `oracle` after that.
    pub solution_script: Option<Utf8PathBuf>,
    /// Done once to the layers of this eval.
    pub prepare: Vec<Action>,
    pub before: Vec<Action>,
    pub tests: Vec<TestSpec>,
    pub env: Variables,
    pub tags: Vec<String>,
}

/// An environment, or an experiment to be laid over one.
#[derive(Debug, Clone)]
pub struct Setup {
    pub name: String,
    /// Where its name stands; `None` for the default that nobody wrote.
    pub place: Option<Place>,
    /// The experiment that this is, when it is run under another name.
    pub stands_for: Option<String>,
    pub agent: Patch<AgentChoice>,
    pub model: Patch<String>,
    pub rules: Patch<Vec<Utf8PathBuf>>,
    pub skills: Patch<Vec<Utf8PathBuf>>,
    pub mcp_servers: Patch<Vec<(String, Patch<McpServer<Template>>)>>,
    pub config: Patch<serde_json::Value>,
    pub env: Variables,
    /// `env: null`: none of the variables of the environment below are taken over.
    pub drops_env: bool,
    pub command: Patch<ShellCommand>,
    pub before: Vec<Action>,
    pub preamble: Option<String>,
    pub postamble: Option<String>,
    pub timeout: Patch<Duration>,
}

impl Eval {
    /// Whether there is something for `oracle` to do.
    pub fn has_solution(&self) -> bool {
        self.solution.is_some() || self.solution_script.is_some()
    }
}

impl Setup {
    /// What stands in when a suite names no environments or no experiments.
    pub fn named_default() -> Self {
        Setup {
            name: "default".into(),
            place: None,
            stands_for: None,
            agent: Patch::Keep,
            model: Patch::Keep,
            rules: Patch::Keep,
            skills: Patch::Keep,
            mcp_servers: Patch::Keep,
            config: Patch::Keep,
            env: Vec::new(),
            drops_env: false,
            command: Patch::Keep,
            before: Vec::new(),
            preamble: None,
            postamble: None,
            timeout: Patch::Keep,
        }
    }
}

/// Variables whose values may still hold `${NAME}`; `null` removes one set by a lower layer.
pub type Variables = Vec<(String, Patch<Template>)>;

/// Text in which `${NAME}` stands for a variable of Terca's own environment.
pub type Template = Located<String>;

/// Something done to the workspace before the agent starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A file or directory, to a path inside the workspace.
    Copy {
        source: Utf8PathBuf,
        destination: Utf8PathBuf,
    },
    Write {
        destination: Utf8PathBuf,
        content: String,
    },
    Run(ShellCommand),
}

#[derive(Debug, Clone, PartialEq)]
pub struct ShellCommand {
    pub command: String,
    pub timeout: Duration,
    /// The directory of the YAML file that names it; stands at the end of `PATH`.
    pub dir: Utf8PathBuf,
}
