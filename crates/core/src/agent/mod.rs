//! Agents: what Terca knows of each command-line coding agent, without any I/O.
//!
//! An agent is one file here: a [`Profile`] (facts), an [`Agent::invocation`] (how to start it) and a [`Decoder`]
//! (how to read what it prints). They stand in one table, the built-in ones like any other, and each is tested with
//! recorded streams.
//!
//! ```text
//! variant ─► Inputs ─► invocation ─► argv, env, stdin, files to place      (the engine starts it)
//! stdout, stderr, side files, a line at a time ─► Decoder ─► Records … ─► finish(exit) ─► Reading
//! ```
//!
//! Why it is so:
//!
//! - **Pure.** A decoder that is fed lines can be tested with a recording, fuzzed, and run again on an old stream; a
//!   function from inputs to an invocation is a table in a test. The engine has one way to start, time, tail and end
//!   any of them.
//! - **Exit status 0 is not success.** Agents end well after a 401, a 429 or a cut stream. Only the decoder knows
//!   what the end of a session looks like, so [`Ending`] is its word: completed, crashed (judged if it has done
//!   something), or failed, which is an error of the trial and never of the work.
//! - **A figure that was not reported is `None`.** Zero would make the agent that says nothing the cheapest.
//! - **What an agent cannot take is refused** ([`Capabilities`]) before anything runs: an experiment that never
//!   reached the agent is not one.
//! - **Side files** exist because some agents say more in a session file than on their output: usage, the model,
//!   errors.
//! - **Memory is flat.** Lines may be of any length ([`Line::Oversized`]), messages are handed on in parts.
//!
//! Rejected:
//!
//! - *A description of agents in data (YAML, TOML).* Every agent has its exceptions: how a prompt is escaped, what is
//!   an aside, which of two totals is the right one. Code says that better than a language of our own would.
//! - *Plug-ins.* An adapter is a few hundred lines, and worth nothing without the tests with the real program.
//!   `command` is for the rest.
//! - *One decoder for a family of agents that speak alike.* They differ exactly where it matters: what is counted,
//!   and how it ends. What is really the same is a helper (`mcp_tools`, `litellm`), and forks share it by name
//!   (`kilo` is made from `opencode`).
//! - *Asking the agent for a summary at the end.* It costs tokens, is in no two versions the same, and is not there
//!   when the agent dies.
//! - *A terminal (pty) and its screen.* What a screen shows is not a protocol; every agent here has a headless mode.

mod aider;
pub mod cheat;
mod claude_code;
mod cline;
mod codex;
mod command;
mod continue_cli;
mod copilot;
mod droid;
mod flood;
mod gemini_cli;
mod goose;
mod kilo;
mod litellm;
mod mcp_tools;
mod mini_swe_agent;
mod nop;
mod opencode;
mod oracle;
mod pi;
#[cfg(test)]
mod playback;
mod qwen_code;

pub use flood::{Aside, Flood};

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};

use crate::delivery::McpDelivery;
use crate::grade::Exit;
use crate::mcp::McpServer;
use crate::outcome::TrialError;
use crate::prose;
use crate::transcript::{Record, Step, Usage};

static AGENTS: &[&dyn Agent] = &[
    &gemini_cli::GeminiCli,
    &claude_code::ClaudeCode,
    &codex::Codex,
    &opencode::OpenCode,
    &qwen_code::QwenCode,
    &goose::Goose,
    &copilot::Copilot,
    &cline::Cline,
    &pi::Pi,
    &kilo::Kilo,
    &droid::Droid,
    &aider::Aider,
    &mini_swe_agent::MiniSweAgent,
    &continue_cli::Continue,
    &command::Command,
    &oracle::Oracle,
    &nop::Nop,
    &cheat::Cheat,
];

/// The agent of this name or alias.
pub fn find(name: &str) -> Option<AgentRef> {
    AGENTS
        .iter()
        .find(|agent| agent.profile().name == name || agent.profile().aliases.contains(&name))
        .map(|agent| AgentRef(*agent))
}

pub fn names() -> Vec<&'static str> {
    AGENTS.iter().map(|agent| agent.profile().name).collect()
}

/// The agent that was probably meant by a name that none has, be it an alias that was misspelt.
pub fn probably(name: &str) -> Option<&'static str> {
    let all = profiles().flat_map(|profile| profile.aliases.iter().chain([&profile.name]).copied());
    prose::did_you_mean(name, all).and_then(find).map(|agent| agent.profile().name)
}

/// The facts about every agent, in the order of the table.
pub fn profiles() -> impl Iterator<Item = &'static Profile> {
    AGENTS.iter().map(|agent| agent.profile())
}

pub trait Agent: Sync {
    fn profile(&self) -> &'static Profile;
    /// How to start it for one trial.
    fn invocation(&self, inputs: &Inputs<'_>) -> Invocation;
    fn decoder(&self, inputs: &Inputs<'_>) -> Box<dyn Decoder>;
    /// What it leaves in the workspace for itself and cannot be told to put elsewhere. It is removed when the agent
    /// has ended, unless it was there before.
    fn litter(&self) -> &'static [&'static str] {
        &[]
    }
}

/// An entry of the table of agents.
#[derive(Clone, Copy)]
pub struct AgentRef(&'static dyn Agent);

impl std::ops::Deref for AgentRef {
    type Target = dyn Agent;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl fmt::Debug for AgentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.profile().name)
    }
}

impl PartialEq for AgentRef {
    fn eq(&self, other: &Self) -> bool {
        self.profile().name == other.profile().name
    }
}

/// The facts about an agent that are the same in every trial.
#[derive(Debug)]
pub struct Profile {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// The program looked up on `PATH`; `None` for agents that are not one program.
    pub program: Option<&'static str>,
    pub version_args: &'static [&'static str],
    /// How to get the program, said when it is missing.
    pub install: &'static str,
    /// Whether it is `{name, command}` with a command of the user's own.
    pub takes_command: bool,
    /// Whether its output is a stream of events, to be read by its decoder rather than by people.
    pub streams_events: bool,
    /// Where it reads its project rules, relative to the workspace.
    pub rules_file: &'static str,
    /// The variables it signs in with. Passed on when they are set, and masked in everything Terca writes.
    pub credential_variables: &'static [&'static str],
    /// Variables passed on that are no secrets: endpoints, projects, regions.
    pub setting_variables: &'static [&'static str],
    /// Files it signs in with, which lie in the user's home.
    pub credential_files: &'static [CredentialFile],
    /// Where it reads its project skills, relative to the workspace.
    pub skills_dir: &'static str,
    /// The version that the adapter was proved with.
    pub proved_with: &'static str,
    pub stop_signal: StopSignal,
    pub capabilities: Capabilities,
}

impl Profile {
    /// Whether it is Terca itself that acts: there is no process, no session, no model.
    pub fn is_built_in(&self) -> bool {
        self.program.is_none() && !self.takes_command
    }
}

/// A file that is copied into the trial for the agent that needs it, and for no other.
#[derive(Debug)]
pub struct CredentialFile {
    /// Relative to the user's home.
    pub from: &'static str,
    /// Relative to the agent's home.
    pub to: &'static str,
}

/// What a variant can give this agent. Giving it anything else is an error, never silently ignored.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    pub model: bool,
    pub rules: bool,
    pub mcp_servers: bool,
    pub skills: bool,
    pub config: bool,
}

impl Capabilities {
    pub const ALL: Capabilities =
        Capabilities { model: true, rules: true, mcp_servers: true, skills: true, config: true };
}

/// The signal that asks the agent to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    Interrupt,
    Terminate,
}

/// What an adapter may use to describe how its agent is started.
#[derive(Debug)]
pub struct Inputs<'a> {
    pub model: Option<&'a str>,
    pub mcp_servers: &'a [(String, McpServer<String>)],
    pub config: Option<&'a serde_json::Value>,
    /// The command of the agent `command`.
    pub command: Option<&'a str>,
    /// The agent's home directory, outside the workspace.
    pub agent_home: &'a Utf8Path,
    pub workspace: &'a Utf8Path,
    /// Whether the workspace is a git repository.
    pub git: bool,
    pub prompt: &'a str,
    /// A name for the session, where the agent takes one: a random UUID.
    pub session_id: &'a str,
    /// Whether everything runs as the superuser, which some agents refuse.
    pub superuser: bool,
    pub prompt_file: &'a Utf8Path,
    pub stats_file: &'a Utf8Path,
    /// The names of the variables that the agent will be started with.
    pub variables: &'a BTreeSet<String>,
}

/// How one trial's agent is started.
#[derive(Debug)]
pub struct Invocation {
    pub launch: Launch,
    pub env: Vec<(String, String)>,
    pub stdin: Stdin,
    /// Settings to write before it starts.
    pub files: Vec<PlacedFile>,
    /// Files it leaves behind that say more than its output does.
    pub side_files: Vec<SideFile>,
}

#[derive(Debug, PartialEq)]
pub enum Stdin {
    Empty,
    Prompt,
    /// The prompt as this agent has to be given it, to arrive as it was written.
    Text(String),
}

#[derive(Debug, PartialEq)]
pub enum Launch {
    Program {
        program: String,
        args: Vec<String>,
    },
    Shell(String),
    /// Lays the eval's `_solution/` over the workspace.
    LaySolution,
    /// Tries the [`cheat::tricks`].
    Cheat,
    Nothing,
}

#[derive(Debug)]
pub struct PlacedFile {
    pub path: Utf8PathBuf,
    pub content: String,
    /// The name under which a copy is kept in the artifacts.
    pub artifact: &'static str,
}

#[derive(Debug)]
pub struct SideFile {
    pub dir: Utf8PathBuf,
    /// A glob below `dir`.
    pub glob: &'static str,
    /// What the decoder knows it by, and its name in the artifacts.
    pub label: &'static str,
}

impl SideFile {
    /// Whether it is one document, written anew again and again, rather than lines that become more. Such a file is
    /// read when the agent has ended.
    pub fn is_document(&self) -> bool {
        self.label.ends_with(".json")
    }
}

/// A line of the agent's output.
#[derive(Debug, Clone, Copy)]
pub enum Line<'a> {
    Text(&'a str),
    /// Too long to hold: how it begins, and how long it is.
    Oversized {
        beginning: &'a str,
        bytes: u64,
    },
}

impl<'a> Line<'a> {
    fn bytes(self) -> u64 {
        match self {
            Line::Text(text) => text.len() as u64,
            Line::Oversized { bytes, .. } => bytes,
        }
    }

    /// The line as an event to be decoded, or what is said of one that is too long for that.
    fn event(self) -> Result<&'a str, Step> {
        match self {
            Line::Text(text) => Ok(text),
            Line::Oversized { bytes, .. } => {
                Err(Step::Notice { text: format!("an event of {bytes} bytes was not decoded") })
            }
        }
    }
}

/// Reads an agent's output, a line at a time.
pub trait Decoder: Send {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record>;
    /// What a line of standard output is, by its beginning, if it is nothing that a count, a figure or an ending rests
    /// on. Of a [`Flood`] of such lines not all are handed over.
    fn aside(&self, _beginning: &[u8]) -> Option<Aside> {
        None
    }
    /// So many of them were not. What was held back until now is handed on.
    fn passed_over(&mut self, _lines: u64) -> Vec<Record> {
        Vec::new()
    }
    fn stderr(&mut self, _line: Line<'_>) {}
    /// A line of one of the [`SideFile`]s, read after the agent has ended.
    fn side_line(&mut self, _label: &str, _line: &str) {}
    /// What has been used so far, for the live display.
    fn usage(&self) -> Usage;
    fn finish(self: Box<Self>, exit: Exit) -> Reading;
}

/// What a session came to, according to the agent's own output.
#[derive(Debug)]
pub struct Reading {
    /// Steps that were held back until now.
    pub records: Vec<Record>,
    pub usage: Usage,
    pub model: Option<String>,
    pub mcp_servers: BTreeMap<String, McpDelivery>,
    pub ending: Ending,
    pub notes: Vec<String>,
}

/// How a session ended. Exit status 0 alone is not success.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// The session came to its end; the work can be judged.
    Completed,
    /// The program broke off. If it has done something, that is judged; if not, this is the error.
    Crashed(TrialError),
    /// The agent was not tested: not signed in, rate-limited, no answer from the model.
    Failed(TrialError),
}

/// A message that arrives in pieces and grows beyond this many bytes is handed on in parts: nothing that an agent says
/// is held as a whole, however long it talks.
const LONGEST_MESSAGE: usize = 1024 * 1024;

/// Adds a remark. The first ones say what went wrong; an agent that complains for ever is not listened to for ever.
fn note(notes: &mut Vec<String>, text: &str) {
    const MOST: usize = 50;
    if notes.len() < MOST {
        notes.push(text.to_owned());
    }
}

/// What agents without a stream of their own share: every line is a message, up to a limit.
#[derive(Debug, Default)]
struct PlainLines {
    line: u64,
}

impl PlainLines {
    const SHOWN: u64 = 2_000;

    fn record(&mut self, line: Line<'_>) -> Vec<Record> {
        use crate::transcript::Role;
        self.line += 1;
        let step = match (self.line, line) {
            (n, _) if n > Self::SHOWN + 1 => return Vec::new(),
            (n, _) if n == Self::SHOWN + 1 => Step::Notice {
                text: format!("the output goes on after {} lines: see artifacts/stdout.log", Self::SHOWN),
            },
            (_, Line::Text(text)) => Step::Message { role: Role::Assistant, text: text.to_owned() },
            (_, Line::Oversized { beginning, bytes }) => {
                let beginning: String = beginning.chars().take(200).collect();
                Step::Notice { text: format!("a line of {bytes} bytes: {beginning}…") }
            }
        };
        vec![Record { time: None, line: self.line, step }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_are_unique() {
        let mut seen = BTreeSet::new();
        for agent in AGENTS {
            let profile = agent.profile();
            for name in profile.aliases.iter().chain([&profile.name]) {
                assert!(seen.insert(*name), "{name} stands twice");
            }
        }
        assert_eq!(find("gemini").unwrap().profile().name, "gemini-cli");
        assert!(find("no-such-agent").is_none());
        for (typed, meant) in
            [("gemnini", Some("gemini-cli")), ("cluade", Some("claude-code")), ("hal", None)]
        {
            assert_eq!(probably(typed), meant, "{typed}");
        }
    }
}
