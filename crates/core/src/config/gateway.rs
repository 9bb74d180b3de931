//! `gateway`: whether the agent's requests to models pass through Terca.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::reader::{Kind, Node, Value, unlike};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;

/// The part that Terca's gateway has between an agent and its models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GatewayMode {
    /// None: the agent gets the key and asks its models itself.
    #[default]
    Off,
    /// Requests pass through the gateway, which keeps the key and counts tokens.
    Meter,
    /// Like [`GatewayMode::Meter`], and every exchange is kept with the trial.
    Record,
}

impl GatewayMode {
    /// All of them.
    pub const ALL: [GatewayMode; 3] = [GatewayMode::Off, GatewayMode::Meter, GatewayMode::Record];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            GatewayMode::Off => "off",
            GatewayMode::Meter => "meter",
            GatewayMode::Record => "record",
        }
    }
}

/// The word of `gateway`. YAML takes `off` for a boolean in some of its versions, so both spellings are read.
pub(super) fn gateway() -> Kind<GatewayMode> {
    let names = GatewayMode::ALL.map(GatewayMode::as_str);
    Kind::scalar(
        "`off`, `meter`, `record`",
        json!({ "enum": names }),
        |node, reader| {
            let written = match &node.value {
                Value::Text(text) => text.as_str(),
                Value::Bool { written, .. } => written.as_str(),
                _ => "",
            };
            let mode = GatewayMode::ALL
                .into_iter()
                .find(|mode| mode.as_str() == written);
            match mode {
                Some(mode) => Some(mode),
                None if written == "replay" => reader.refuse(no_setting_for_replay(&node)),
                None => reader.refuse(unlike(&node, "`off`, `meter` or `record`")),
            }
        },
    )
}

/// The complaint about `gateway: replay`: a replay belongs to a run, and is no setting of a suite.
fn no_setting_for_replay(node: &Node) -> Diagnostic {
    Diagnostic::error(Code::WrongValue, "`replay` is not a setting of `gateway`")
        .at(node.place, "this is a command: `terca replay`")
        .help("`terca replay RUN` replays a run that was recorded with `gateway: record`")
}
