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
mod decoder;
pub mod delivery;
mod droid;
mod endings;
mod flood;
mod gemini_cli;
mod goose;
mod invocation;
mod kilo;
mod litellm;
pub mod mcp;
mod mcp_tools;
mod mini_swe_agent;
mod nop;
mod opencode;
mod oracle;
mod pi;
#[cfg(test)]
mod playback;
mod profile;
mod qwen_code;

use std::fmt;

pub use decoder::{Decoder, Ending, Line, Reading};
use decoder::{LONGEST_MESSAGE, PlainLines, note};
pub use flood::{Aside, Flood};
pub use invocation::{Inputs, Invocation, Launch, PlacedFile, SideFile, Stdin};
pub use profile::{Capabilities, CredentialFile, Profile, StopSignal};

use crate::text::prose;

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
    prose::did_you_mean(name, all)
        .and_then(find)
        .map(|agent| agent.profile().name)
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

/// An agent as a suite chooses it.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentChoice {
    pub agent: AgentRef,
    /// The shell command of the agent `command`, its program's path made absolute.
    pub command: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_are_unique() {
        let mut seen = std::collections::BTreeSet::new();
        for agent in AGENTS {
            let profile = agent.profile();
            for name in profile.aliases.iter().chain([&profile.name]) {
                assert!(seen.insert(*name), "{name} stands twice");
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
