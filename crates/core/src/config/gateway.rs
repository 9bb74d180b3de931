//! `gateway`: whether the agent's requests to models pass through Terca.

use serde::{Deserialize, Serialize};

use crate::reader::{Kind, word};

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

/// `gateway`.
pub(super) fn gateway() -> Kind<GatewayMode> {
    let words = GatewayMode::ALL.map(|mode| (mode.as_str(), mode));
    // A replay belongs to a run, and is no setting of a suite.
    let help = "a run that was recorded is replayed with `terca replay RUN`";
    word(words, Some(help))
        .value()
        .called("`off`, `meter`, `record`")
}
