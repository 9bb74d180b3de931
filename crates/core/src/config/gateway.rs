//! `gateway`: whether the agent's requests to models pass through Terca, and what goes wrong with them on purpose.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::reader::values::{boolean, count, error_status, whole};
use crate::reader::{Fields, Kind, Node, Value, list_of, object, or_map, unlike};
use crate::text::diagnostic::Diagnostic;
use crate::text::explain::Code;
use crate::text::source::Located;

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

/// `gateway` of a suite, an environment or an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GatewaySettings {
    /// The part that it has.
    pub mode: GatewayMode,
    /// The faults of models that it makes.
    pub inject: Vec<Injection>,
}

/// A fault of models that the gateway makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Injection {
    /// The request is answered with this HTTP status, and the service is not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// It strikes every so many requests. With neither `every` nor `first` it strikes all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<u32>,
    /// It strikes so many requests from the first one on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u32>,
    /// It strikes no more than so many times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The seconds after which the agent is asked to come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// The time that passes before anything else, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u32>,
    /// The answer of the service breaks off in its middle.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// There is no answer, and the connection stays open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hang: bool,
}

impl Injection {
    /// Returns whether it strikes the request of this number, counted from 1, when it has struck so many times.
    pub fn strikes(&self, number: u64, struck: u32) -> bool {
        let is_left = self.times.is_none_or(|times| struck < times);
        let is_first = self.first.is_some_and(|first| number <= u64::from(first));
        let is_turn = (self.every).is_some_and(|every| number.is_multiple_of(u64::from(every)));
        let is_any = self.first.is_none() && self.every.is_none();
        is_left && (is_first || is_turn || is_any)
    }
}

/// `gateway`: a word, or a map.
pub(super) fn gateway() -> Kind<GatewaySettings> {
    let map = object("gateway", "`gateway`", settings)
        .example("{inject: [{status: 429, every: 5}]}")
        .linked("[map](terca-yaml.md#injected-faults)")
        .kind();
    let word = gateway_mode().map(|mode| GatewaySettings {
        mode,
        inject: Vec::new(),
    });
    or_map(word, map)
}

fn settings(fields: &mut Fields<'_, '_>) -> Option<GatewaySettings> {
    let injects = fields.present(&["inject"]);
    let mode = fields.optional(
        "mode",
        gateway_mode(),
        "The mode: `off`, `meter` or `record`. Default: `meter`.",
    );
    let inject = fields.optional(
        "inject",
        list_of(injection()),
        "[Faults](terca-yaml.md#injected-faults) that the gateway makes, to test how agents handle them.",
    );
    let inject = inject.unwrap_or_default();
    if let (Some(GatewayMode::Off), Some(key)) = (mode, injects.first())
        && !inject.is_empty()
    {
        return fields.refuse(
            Diagnostic::error(
                Code::ConflictingKeys,
                "a gateway that is `off` makes no faults",
            )
            .at(key.place, "no request passes through the gateway")
            .help("remove `mode` or `inject`"),
        );
    }
    Some(GatewaySettings {
        mode: mode.unwrap_or(GatewayMode::Meter),
        inject,
    })
}

fn injection() -> Kind<Injection> {
    object("injection", "a fault", fault)
        .example("{status: 429, every: 5}")
        .linked("[map](terca-yaml.md#injected-faults)")
        .kind()
}

fn fault(fields: &mut Fields<'_, '_>) -> Option<Injection> {
    let keys = fields.present(&["status", "cut", "hang", "delayMs", "retryAfter"]);
    let status = fields.optional(
        "status",
        error_status(),
        "Answers with this HTTP status, and does not ask the service.",
    );
    let retry_after = fields.optional(
        "retryAfter",
        whole(),
        "With `status`: the header `retry-after`, in seconds.",
    );
    let cut = fields.optional(
        "cut",
        boolean(),
        "Asks the service, and breaks its answer off in the middle.",
    );
    let hang = fields.optional(
        "hang",
        boolean(),
        "Does not answer, and keeps the connection open.",
    );
    let delay_ms = fields.optional(
        "delayMs",
        count(),
        "Waits this many milliseconds first. Alone, it makes the service slow.",
    );
    let every = fields.optional(
        "every",
        count(),
        "Affects every N-th request of a trial: with 5, the 5th, the 10th and so on.",
    );
    let first = fields.optional(
        "first",
        count(),
        "Affects this many requests of a trial, from the first one on.",
    );
    let times = fields.optional(
        "times",
        count(),
        "Affects at most this many requests of a trial.",
    );
    let fault = Injection {
        status: status.map(|status| status.value),
        every: every.map(|every| every.value),
        first: first.map(|first| first.value),
        times: times.map(|times| times.value),
        retry_after: retry_after.map(|seconds| seconds.value),
        delay_ms: delay_ms.map(|milliseconds| milliseconds.value),
        cut: cut.is_some_and(|cut| cut.value),
        hang: hang.is_some_and(|hang| hang.value),
    };
    check(&fault, &keys, fields)?;
    Some(fault)
}

/// Checks that there is a fault, and that one request can have all of it.
fn check(fault: &Injection, keys: &[Located<String>], fields: &mut Fields<'_, '_>) -> Option<()> {
    let place = |names: &[&str]| {
        let found = keys.iter().rfind(|key| names.contains(&&*key.value));
        found.map(|key| key.place)
    };
    let endings = [fault.status.is_some(), fault.cut, fault.hang];
    let endings = endings.into_iter().filter(|is_there| *is_there).count();
    if endings > 1 {
        let place = place(&["status", "cut", "hang"]).unwrap_or(fields.place);
        return fields.refuse(
            Diagnostic::error(
                Code::ConflictingKeys,
                "a fault has one of `status`, `cut` and `hang`",
            )
            .at(place, "this is a second one")
            .help("write a fault for each: the first in the list that affects a request is used"),
        );
    }
    if let (Some(_), None, Some(place)) = (fault.retry_after, fault.status, place(&["retryAfter"]))
    {
        return fields.refuse(
            Diagnostic::error(
                Code::MisplacedKey,
                "`retryAfter` is for a fault with a `status`",
            )
            .at(place, "this fault has no `status`"),
        );
    }
    // A key that has a wrong value is reported already.
    let is_written = keys
        .iter()
        .any(|key| matches!(&*key.value, "status" | "delayMs"));
    if endings == 0 && !is_written {
        return fields.refuse(
            Diagnostic::error(
                Code::MissingKey,
                "a fault needs `status`, `cut`, `hang` or `delayMs`",
            )
            .at(fields.place, "nothing goes wrong here")
            .help("such as `{status: 429, every: 5}`"),
        );
    }
    Some(())
}

/// The word of `gateway`. YAML takes `off` for a boolean in some of its versions, so both spellings are read.
pub(super) fn gateway_mode() -> Kind<GatewayMode> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_strikes_as_it_is_told() {
        let struck = |injection: Injection| -> Vec<u64> {
            let mut struck = Vec::new();
            for number in 1..=10 {
                if injection.strikes(number, u32::try_from(struck.len()).unwrap()) {
                    struck.push(number);
                }
            }
            struck
        };
        let fault = Injection::default();
        let every = Injection {
            every: Some(3),
            ..fault
        };
        assert_eq!(struck(every), [3, 6, 9]);
        let twice = Injection {
            times: Some(2),
            ..every
        };
        assert_eq!(struck(twice), [3, 6]);
        let first = Injection {
            first: Some(2),
            ..every
        };
        assert_eq!(struck(first), [1, 2, 3, 6, 9]);
        let once = Injection {
            times: Some(1),
            ..fault
        };
        assert_eq!(struck(once), [1]);
        assert_eq!(struck(fault).len(), 10);
    }
}
