//! What the tests know about each agent whose real program they start: a file each.
//!
//! The program, its package and its version are in the agent's `Profile`.

mod acp;
mod aider;
mod claude_code;
mod cline;
mod codex;
mod continue_cli;
mod copilot;
mod droid;
mod gemini_cli;
mod goose;
mod kilo;
mod mini_swe_agent;
mod opencode;
mod pi;
mod qwen_code;

pub use acp::{
    ACP_CLAUDE, ACP_CODEX, ACP_COPILOT, ACP_GEMINI, ACP_GOOSE, ACP_KILO, ACP_OPENCODE, ACP_QWEN,
};
pub use aider::AIDER;
pub use claude_code::CLAUDE;
pub use cline::CLINE;
pub use codex::CODEX;
pub use continue_cli::CONTINUE;
pub use copilot::COPILOT;
pub use droid::DROID;
pub use gemini_cli::GEMINI;
pub use goose::GOOSE;
pub use kilo::KILO;
pub use mini_swe_agent::MINI;
pub use opencode::OPENCODE;
pub use pi::PI;
pub use qwen_code::QWEN;

use camino::Utf8PathBuf;
use serde_json::{Value, json};
use terca_core::agent::{self, Package as Source, Profile};

use crate::install::{self, Package};
use crate::model::{Call, Dialect, NewFile, Tools, Vocabulary};

/// Every agent.
pub const ALL: [RealAgent; 14] = [
    GEMINI, CLAUDE, CODEX, OPENCODE, QWEN, GOOSE, COPILOT, CLINE, PI, KILO, DROID, AIDER, MINI,
    CONTINUE,
];

/// What is particular to an agent in tests.
#[derive(Debug, Clone, Copy)]
pub struct RealAgent {
    /// As Terca calls it. The directory with its lock file is called so, too: without `acp:`, or as the program that speaks the
    /// protocol for it.
    pub name: &'static str,
    pub model: &'static str,
    /// What it calls that model when it asks for it.
    pub asked_for: &'static str,
    /// The protocol in which it asks.
    pub dialect: Dialect,
    pub vocabulary: Vocabulary,
    /// Whether it tells what it has used before it has come to its end.
    pub tells_as_it_goes: bool,
    /// Whether it gives up a service that is down within a minute. Some try for longer and cannot be told not to.
    pub gives_up: bool,
    /// Whether it asks its model once more when it is told to end.
    pub goes_on: bool,
    /// Variables of Terca's environment that lead the agent to the server at this address.
    pub env: fn(&str) -> Vec<(&'static str, String)>,
    /// The `config` of its environment that does the same; null where variables suffice.
    pub config: fn(&str) -> Value,
}

impl RealAgent {
    /// What Terca knows about it.
    pub fn profile(&self) -> &'static Profile {
        agent::find(self.name)
            .unwrap_or_else(|| panic!("Terca knows no agent {}", self.name))
            .profile()
    }

    /// The name of its program, however it is spoken to.
    pub fn program_name(&self) -> &'static str {
        self.name.strip_prefix("acp:").unwrap_or(self.name)
    }

    /// The version that is installed, now if it has not been.
    ///
    /// # Panics
    /// Where it cannot be installed.
    pub fn version(&self) -> String {
        install::require(&self.package()).1
    }

    /// Returns a directory for `PATH` with its real program, installed now if it has not been.
    ///
    /// # Panics
    /// Where it cannot be installed: a test that was not run has not passed.
    pub fn program(&self) -> Utf8PathBuf {
        install::require(&self.package()).0
    }

    pub(crate) fn package(&self) -> Package {
        let profile = self.profile();
        let program = profile.program.expect("an agent with a program");
        let adapter = agent::find(self.program_name()).expect("an agent with an adapter");
        Package {
            name: match adapter.profile().package == profile.package {
                true => self.program_name(),
                false => program,
            },
            program,
            version: profile.tested_version,
            version_args: profile.version_args,
            // The others have a package for each platform alone.
            source: (profile.package).unwrap_or(Source::Npm("@aaif/goose-binary")),
        }
    }
}
