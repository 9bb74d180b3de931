//! Agents: Terca's knowledge of each command-line coding agent, without any I/O.
//!
//! An agent is one file here: a [`Profile`] (facts), a function that makes an [`Invocation`] (how to start it) and a
//! `Protocol` (how to read what it prints). All agents are in one table, the built-in ones like any other, and each is
//! tested with recorded streams.
//!
//! ```text
//! variant ─► Inputs ─► invocation ─► argv, env, stdin, files to write      (the engine starts it)
//! stdout, stderr, side files, a line at a time ─► Decoder ─► Records … ─► finish(exit) ─► Reading
//! ```
//!
//! Reasons for this design:
//!
//! - **Pure.** A decoder that is fed lines can be tested with a recording, fuzzed, and run again on an old stream; a
//!   function from inputs to an invocation is a table in a test. The engine has one way to start, time, tail and end
//!   any of them.
//! - **One session for all.** Agents differ in their events, not in what Terca wants to know of a session. So
//!   `session` keeps calls, MCP servers, errors, last words and notes for all of them, and an adapter only says what
//!   its agent's events mean.
//! - **Exit status 0 is not success.** Agents end well after a 401, a 429 or a cut stream. Only the adapter knows what
//!   the end of a session looks like, so it decides the [`Ending`]: completed, crashed (judged if it has done
//!   something), or failed, which is an error of the trial and never of the work.
//! - **A figure that was not reported is `None`.** Zero would make the agent that reports nothing the cheapest.
//! - **Parts of a variant that an agent cannot use are refused** ([`Capabilities`]) before anything runs: an experiment
//!   that never reached the agent is not one.
//! - **Side files** exist because some agents write more to a session file than to their output: usage, the model,
//!   errors.
//! - **Memory is flat.** Lines may have any length ([`Line::Oversized`]), messages are handed on in parts.
//!
//! Rejected:
//!
//! - *A description of agents in data (YAML, TOML).* Every agent has its exceptions: how a prompt is escaped, which
//!   lines may be skipped, which of two totals is the right one. Code says that better than a language of our own.
//! - *Plug-ins.* An adapter is a few hundred lines, and worth nothing without the tests with the real program.
//!   `command` is for the rest.
//! - *One decoder for a family of agents that speak alike.* They differ exactly where it matters: what is counted,
//!   and how it ends. Shared parts are helpers (`session`, `fields`, `errors`, `openai_chat`), and forks share them by name
//!   (`kilo` is made from `opencode`).
//! - *Asking the agent for a summary at the end.* It costs tokens, differs between versions, and is missing when the
//!   agent dies.
//! - *A terminal (pty) and its screen.* A screen is not a protocol; every agent here has a headless mode.

pub mod access;
pub mod acp;
#[cfg(test)]
mod adapters;
mod aider;
mod anthropic_messages;
mod builtin;
#[cfg(test)]
mod claims;
mod claude_code;
mod cline;
mod codex;
mod config_texts;
mod continue_cli;
pub mod control;
mod conversation;
mod copilot;
mod decoder;
pub mod delivery;
mod droid;
mod errors;
mod fields;
mod gemini_cli;
mod goose;
mod invocation;
mod kilo;
mod litellm;
pub mod mcp;
mod mini_swe_agent;
pub mod model_hosts;
pub mod model_service;
pub(crate) mod models;
mod openai_chat;
mod opencode;
pub mod options;
pub mod package_hosts;
mod pi;
#[cfg(test)]
mod playback;
mod prelude;
mod profile;
mod project_servers;
mod qwen_code;
pub mod redirect;
mod session;
mod tokens;
mod wire_end;

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use builtin::cheat;
pub(crate) use config_texts::is_name_of_key;
pub use config_texts::{names_variable, secrets_in_config};
pub use conversation::{Conversation, TimeLimit};
pub use decoder::{Ending, Line, RawLine, Reading, Skippable};
pub use invocation::{Inputs, Invocation, Launch, PlacedFile, SideFile, Stdin};
pub use profile::provider_of;
pub use profile::{Capabilities, FilesYield, Package, Profile};
pub use project_servers::servers_in_project;
pub use session::Decoder;
use session::Protocol;
pub use wire_end::WireEnd;

use crate::text::prose;

static AGENTS: &[&Agent] = &[
    &gemini_cli::AGENT,
    &claude_code::AGENT,
    &codex::AGENT,
    &opencode::AGENT,
    &qwen_code::AGENT,
    &goose::AGENT,
    &copilot::AGENT,
    &cline::AGENT,
    &pi::AGENT,
    &kilo::AGENT,
    &droid::AGENT,
    &aider::AGENT,
    &mini_swe_agent::AGENT,
    &continue_cli::AGENT,
    &acp::AGENT,
    &builtin::command::AGENT,
    &builtin::ORACLE,
    &builtin::NOP,
    &builtin::CHEAT,
];

/// Returns all agents, those that are known by two names included.
fn all() -> impl Iterator<Item = &'static &'static Agent> {
    AGENTS.iter().chain(acp::KNOWN)
}

/// Returns the agent of this name or alias.
pub fn find(name: &str) -> Option<AgentRef> {
    all()
        .find(|agent| agent.profile.name == name || agent.profile.aliases.contains(&name))
        .copied()
}

/// Returns the names of all agents.
pub fn names() -> Vec<&'static str> {
    all().map(|agent| agent.profile.name).collect()
}

/// Returns the names and aliases of all agents, in the order of their table.
pub fn names_and_aliases() -> Vec<&'static str> {
    all()
        .flat_map(|agent| std::iter::once(&agent.profile.name).chain(agent.profile.aliases))
        .copied()
        .collect()
}

/// Returns the agent that was probably meant by a name that no agent has. The name may be a misspelt alias.
pub fn probably(name: &str) -> Option<&'static str> {
    prose::did_you_mean(name, names_and_aliases())
        .and_then(find)
        .map(|agent| agent.profile().name)
}

/// Returns the facts about every agent, in the order of the table. The known agents of `acp` are the same programs as
/// others in the table, and are left out.
pub fn profiles() -> impl Iterator<Item = &'static Profile> {
    AGENTS.iter().map(|agent| &agent.profile)
}

/// An agent, as its file defines it.
pub struct Agent {
    profile: Profile,
    invocation: fn(&Inputs<'_>) -> Invocation,
    protocol: fn(&Inputs<'_>) -> Box<dyn Protocol>,
}

/// An entry of the table of agents.
pub type AgentRef = &'static Agent;

impl Agent {
    /// Returns the facts about the agent.
    pub fn profile(&'static self) -> &'static Profile {
        &self.profile
    }

    /// Returns how to start the agent for one trial.
    pub fn invocation(&self, inputs: &Inputs<'_>) -> Invocation {
        (self.invocation)(inputs)
    }

    /// Returns a decoder for the output of one trial's agent.
    pub fn decoder(&'static self, inputs: &Inputs<'_>) -> Decoder {
        Decoder::new(&self.profile, inputs, (self.protocol)(inputs))
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.profile.name)
    }
}

impl Serialize for Agent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.profile.name.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AgentRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        find(&name).ok_or_else(|| D::Error::custom(format!("unknown agent `{name}`")))
    }
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        self.profile.name == other.profile.name
    }
}

/// The word for the latest version of an agent.
pub const LATEST: &str = "latest";

/// An agent as a suite chooses it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentChoice {
    /// The agent.
    #[serde(rename = "name")]
    pub agent: AgentRef,
    /// The shell command of the agent `command`, its program's path made absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A program in place of the agent's own: a name on `PATH`, or an absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The version that Terca installs: its number, or [`LATEST`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The file of the agent's rules, relative to the workspace, where it is not the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules_file: Option<String>,
}

impl AgentChoice {
    /// Returns the choice of an agent as it is.
    pub fn of(agent: AgentRef) -> Self {
        AgentChoice {
            agent,
            command: None,
            program: None,
            version: None,
            rules_file: None,
        }
    }

    /// Returns the file of the agent's rules, relative to the workspace.
    pub fn rules_file(&self) -> &str {
        let usual = self.agent.profile().rules_file;
        self.rules_file.as_deref().unwrap_or(usual)
    }

    /// Returns the program to look for: a name on `PATH`, or an absolute path. `None` for agents that have none.
    pub fn program(&self) -> Option<&str> {
        self.program.as_deref().or(self.agent.profile().program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_are_unique() {
        let mut seen = std::collections::BTreeSet::new();
        for agent in all() {
            let profile = &agent.profile;
            for name in profile.aliases.iter().chain([&profile.name]) {
                assert!(seen.insert(*name), "{name} is there twice");
            }
        }
        assert_eq!(find("gemini").unwrap().profile().name, "gemini-cli");
        assert!(find("no-such-agent").is_none());
        for (typed, meant) in [
            ("gemnini", Some("gemini-cli")),
            ("cluade", Some("claude-code")),
            ("hal", None),
        ] {
            assert_eq!(probably(typed), meant, "{typed}");
        }
    }
}
