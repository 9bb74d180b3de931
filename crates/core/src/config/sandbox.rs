//! `sandbox` of a suite, an environment or an experiment: the wall around the commands of a trial.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::reader::{Kind, Value, unlike};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;

/// The sandbox that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// No sandbox: commands run as the user and can reach what the user can.
    None,
    /// bubblewrap, or an error.
    Bwrap,
    /// The best sandbox that works on this machine, or an error.
    Auto,
}

impl Sandbox {
    /// All of them.
    pub const ALL: [Sandbox; 3] = [Sandbox::None, Sandbox::Bwrap, Sandbox::Auto];

    /// Returns the word for it in `terca.yaml` and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Sandbox::None => "none",
            Sandbox::Bwrap => "bwrap",
            Sandbox::Auto => "auto",
        }
    }

    /// Returns whether no sandbox is asked for.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
    pub fn is_none(&self) -> bool {
        *self == Sandbox::None
    }

    /// Finds the sandbox of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Sandbox::ALL
            .into_iter()
            .find(|sandbox| sandbox.word() == word)
    }
}

/// The sandbox that commands really ran in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContainedBy {
    /// Nothing: they ran as the user.
    None,
    /// bubblewrap.
    Bwrap,
}

impl ContainedBy {
    /// Returns the name of the program, for people. `None` if there is no sandbox.
    pub fn program(self) -> Option<&'static str> {
        match self {
            ContainedBy::None => None,
            ContainedBy::Bwrap => Some("bubblewrap"),
        }
    }
}

const EXPECTED: &str = "`none`, `bwrap` or `auto`";

/// `sandbox`. The image of a container is known and refused.
pub(super) fn sandbox() -> Kind<Sandbox> {
    let schema = json!({ "enum": Sandbox::ALL.map(Sandbox::word) });
    Kind::scalar(EXPECTED, schema, |node, reader| {
        let found = match &node.value {
            Value::Text(word) => Sandbox::of_word(word),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        let container = match &node.value {
            Value::Map(entries) => entries
                .iter()
                .map(|(key, _)| &key.value)
                .find(|kind| matches!(kind.as_str(), "docker" | "podman")),
            _ => None,
        };
        let problem = match container {
            Some(kind) => Diagnostic::error(
                Code::NotSupported,
                format!("`sandbox: {{{kind}: …}}` is not supported yet"),
            )
            .at(node.place, "this version of Terca cannot do that")
            .help(
                "write `sandbox: bwrap` or remove it; nothing is run while it is here, so that it is never silently ignored",
            ),
            None => unlike(&node, EXPECTED),
        };
        reader.refuse(problem)
    })
}
