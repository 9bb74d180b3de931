//! What the YAML says, typed and with places, before anything is looked up, defaulted or merged.

use crate::config::read::Patch;
use crate::text::source::{FileId, Located, Place};

/// `terca.yaml`.
#[derive(Debug, Clone)]
pub struct RawSuite {
    pub file: FileId,
    pub name: Option<Located<String>>,
    pub description: Option<Located<String>>,
    pub repetitions: Option<RawRepetitions>,
    pub concurrency: Option<RawConcurrency>,
    pub retries: Option<Located<u32>>,
    pub timeout_seconds: Option<Located<f64>>,
    pub preamble: Option<Located<String>>,
    pub postamble: Option<Located<String>>,
    pub prepare: Vec<RawAction>,
    pub before: Vec<RawAction>,
    pub evals: Vec<RawEval>,
    pub environments: Vec<RawSetup>,
    pub experiments: Vec<RawSetup>,
    pub env: RawVariables,
    pub sandbox: Option<RawSandbox>,
    pub workspace_dir: Option<Located<String>>,
    pub track_ignored: Option<Located<bool>>,
}

/// `repetitions`: one number, or as many as are needed.
#[derive(Debug, Clone)]
pub enum RawRepetitions {
    Fixed(Located<u32>),
    Adaptive {
        min: Option<Located<u32>>,
        max: Located<u32>,
    },
}

/// `concurrency`: one number, or one for each agent.
#[derive(Debug, Clone)]
pub enum RawConcurrency {
    Overall(Located<u32>),
    ByAgent(Vec<(Located<String>, Patch<Located<u32>>)>),
}

/// `eval.terca.yaml`, or an entry of `evals`.
#[derive(Debug, Clone)]
pub struct RawEval {
    pub file: FileId,
    pub place: Place,
    pub name: Option<Located<String>>,
    pub description: Option<Located<String>>,
    pub prompt: Option<RawPrompt>,
    pub repetitions: Option<Located<u32>>,
    pub timeout_seconds: Option<Located<f64>>,
    pub prepare: Vec<RawAction>,
    pub before: Vec<RawAction>,
    pub tests: Vec<RawTest>,
    pub env: RawVariables,
    pub tags: Vec<Located<String>>,
}

#[derive(Debug, Clone)]
pub enum RawPrompt {
    Inline(Located<String>),
    File(Located<String>),
}

/// An environment or an experiment.
#[derive(Debug, Clone)]
pub struct RawSetup {
    pub file: FileId,
    pub name: Option<Located<String>>,
    pub agent: Patch<RawAgent>,
    pub model: Patch<Located<String>>,
    pub rules: Patch<Vec<Located<String>>>,
    pub mcp_servers: Patch<Vec<(Located<String>, Patch<RawMcpServer>)>>,
    pub skills: Patch<Vec<Located<String>>>,
    pub config: Patch<Located<serde_json::Value>>,
    pub env: Patch<RawVariables>,
    pub command: Patch<RawCommand>,
    pub before: Vec<RawAction>,
    pub preamble: Option<Located<String>>,
    pub postamble: Option<Located<String>>,
    pub timeout_seconds: Patch<Located<f64>>,
    pub baseline: Option<Located<bool>>,
}

#[derive(Debug, Clone)]
pub struct RawAgent {
    pub name: Located<String>,
    pub command: Option<Located<String>>,
}

#[derive(Debug, Clone)]
pub struct RawMcpServer {
    pub transport: RawTransport,
}

#[derive(Debug, Clone)]
pub enum RawTransport {
    Stdio {
        command: Located<String>,
        args: Vec<Located<String>>,
        env: RawVariables,
        cwd: Option<Located<String>>,
    },
    Remote {
        url: Located<String>,
        headers: RawVariables,
        kind: Option<Located<String>>,
    },
}

/// Names and values, as in `env` and `headers`.
pub type RawVariables = Vec<(Located<String>, Patch<Located<String>>)>;

#[derive(Debug, Clone)]
pub enum RawAction {
    Copy(Vec<(Located<String>, Located<String>)>),
    Files(Vec<(Located<String>, Located<String>)>),
    Command(RawCommand),
}

#[derive(Debug, Clone)]
pub struct RawCommand {
    pub command: Located<String>,
    pub timeout_seconds: Option<Located<f64>>,
}

#[derive(Debug, Clone)]
pub struct RawTest {
    pub place: Place,
    pub name: Option<Located<String>>,
    /// Every kind that was given; exactly one is right.
    pub kinds: Vec<Located<RawTestKind>>,
    /// Whether a kind was there but unreadable, which is already among the problems.
    pub unreadable: bool,
    pub weight: Option<Located<f64>>,
    pub timeout_seconds: Option<Located<f64>>,
}

#[derive(Debug, Clone)]
pub enum RawTestKind {
    CommandSuccess {
        command: Located<String>,
        output_contains: Option<Located<String>>,
        output_matches: Option<Located<String>>,
    },
    FileExists(Vec<Located<String>>),
    FileContains {
        path: Located<String>,
        text: Option<Located<String>>,
        matches: Option<Located<String>>,
    },
    CommandScore(Located<String>),
    Transcript {
        used_tool: Vec<Located<String>>,
        not_used_tool: Vec<Located<String>>,
        output_contains: Option<Located<String>>,
        max_tool_calls: Option<Located<u64>>,
    },
    ChangedFiles {
        /// An empty list allows nothing; a missing one everything.
        only: Option<Vec<Located<String>>>,
        never: Vec<Located<String>>,
    },
    Budget {
        max_tokens: Option<Located<u64>>,
        max_cost_usd: Option<Located<f64>>,
        max_seconds: Option<Located<f64>>,
        max_requests: Option<Located<u64>>,
    },
    Judge {
        rubric: Located<String>,
        agent: Option<RawAgent>,
        model: Option<Located<String>>,
        config: Option<Located<serde_json::Value>>,
        pass_score: Option<Located<f64>>,
    },
}

impl RawTestKind {
    pub const KEYS: [&str; 8] = [
        "commandSuccess",
        "fileExists",
        "fileContains",
        "commandScore",
        "transcript",
        "changedFiles",
        "budget",
        "judge",
    ];

    pub fn key(&self) -> &'static str {
        match self {
            RawTestKind::CommandSuccess { .. } => "commandSuccess",
            RawTestKind::FileExists(_) => "fileExists",
            RawTestKind::FileContains { .. } => "fileContains",
            RawTestKind::CommandScore(_) => "commandScore",
            RawTestKind::Transcript { .. } => "transcript",
            RawTestKind::ChangedFiles { .. } => "changedFiles",
            RawTestKind::Budget { .. } => "budget",
            RawTestKind::Judge { .. } => "judge",
        }
    }
}

/// What the agent may reach: a word, or a map (`{docker: IMAGE}`).
#[derive(Debug, Clone)]
pub struct RawSandbox {
    pub place: Place,
    pub kind: String,
}
