//! `gateway`: whether the agent's requests to models pass through Terca.

use serde::{Deserialize, Serialize};

use crate::reader::{Fields, Kind, filled_text, object, or_map, word};
use crate::text::{Code, Diagnostic, Located};

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

/// `gateway` of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GatewaySettings {
    /// The mode, if the suite names one.
    pub mode: Option<GatewayMode>,
    /// Paths of services that the key is passed to, beside those that models are asked by.
    pub allow_paths: Vec<String>,
}

/// `gateway` of a suite: a mode, or a map.
pub(super) fn gateway_settings() -> Kind<GatewaySettings> {
    let of_mode = gateway().map(|mode| GatewaySettings {
        mode: Some(mode),
        ..GatewaySettings::default()
    });
    let map = object("gateway", "`gateway`", settings)
        .linked("[map](terca-yaml.md#gateway)")
        .kind();
    or_map(of_mode, map)
}

fn settings(fields: &mut Fields<'_, '_>) -> Option<GatewaySettings> {
    let mode = fields.optional("mode", gateway(), "`off`, `meter` or `record`, as above.");
    let allow_paths = fields.list(
        "allowPaths",
        path(),
        "Paths of services that the gateway passes the key to, beside those that models are asked by. `*` at the end is for the rest of \
         a path.",
    );
    Some(GatewaySettings { mode, allow_paths })
}

fn path() -> Kind<String> {
    filled_text()
        .called("path")
        .then(|path: Located<String>, reader| {
            let before = path.value.strip_suffix('*').unwrap_or(&path.value);
            if before.starts_with('/') && !before.contains(['*', '?', '#']) {
                return Some(path.value);
            }
            let message = format!("`{}` is not a path of a service", path.value);
            reader.refuse(
                Diagnostic::error(Code::WrongValue, message)
                    .at(
                        path.place,
                        "a path begins with `/`, and `*` is for its end alone",
                    )
                    .help("write it as the note of the trial does, such as `/v1/rerank`"),
            )
        })
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
