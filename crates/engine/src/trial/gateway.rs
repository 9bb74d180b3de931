//! The gateway of a run, and the way of an agent through it.

use std::sync::OnceLock;

use serde_json::Value;
use terca_core::agent::access::Access;
use terca_core::agent::redirect::Redirect;
use terca_core::agent::{Ending, Profile, Reading};
use terca_core::sought::Sought;
use terca_core::text::prose;
use terca_core::trial_error::ErrorKind;
use terca_core::wire::Wire;
use terca_gateway::{Gateway, Passage, Playback};

use super::stage_error::StageError;
use crate::host::environment::{Host, Variables};

/// The file of the artifacts with a line for each request to a model.
pub(super) const WIRE_LOG: &str = "wire.jsonl";

/// The host that the gateway listens on.
const GATEWAY_HOST: &str = "127.0.0.1";

/// The gateway of a run. It is started when the first trial needs it.
#[derive(Debug, Default)]
pub struct RunGateway(OnceLock<Result<Gateway, String>>);

impl RunGateway {
    pub(super) fn get(&self, host: &Host) -> Result<&Gateway, StageError> {
        let gateway = self.0.get_or_init(|| {
            Gateway::start(&|name| host.get(name).map(str::to_owned))
                .map_err(|error| error.to_string())
        });
        gateway.as_ref().map_err(|error| {
            let message = format!("the gateway could not be started: {error}");
            StageError::new(ErrorKind::Internal, message)
        })
    }
}

/// An agent's way to its models.
#[derive(Debug, Default)]
pub(super) struct Led {
    /// `None` if the agent asks its models itself.
    pub(super) passage: Option<Passage>,
    /// The agent's settings, with the addresses of the gateway in them.
    pub(super) config: Option<Value>,
    /// The origins that the gateway asks for the agent.
    pub(super) origins: Vec<String>,
    /// Remarks about what does not pass through the gateway.
    pub(super) notes: Vec<String>,
}

/// The work of an agent, as far as its way to its models depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LedRequest<'a> {
    /// The agent's settings.
    pub(super) config: Option<&'a Value>,
    /// The parts of the variant that are looked for in its requests.
    pub(super) sought: &'a [Sought],
    /// Somebody has asked for the gateway.
    pub(super) is_asked: bool,
    /// Answers come from a recording.
    pub(super) is_replay: bool,
}

impl Led {
    /// Returns the way of an agent without the gateway.
    pub(super) fn past_the_gateway(config: Option<&Value>) -> Self {
        Led {
            config: config.cloned(),
            ..Led::default()
        }
    }

    /// Leads an agent through the gateway: its addresses and keys are replaced, in its variables and its settings.
    pub(super) fn through(
        gateway: &RunGateway,
        host: &Host,
        profile: &'static Profile,
        access: &Access,
        env: &mut Variables,
        request: LedRequest<'_>,
        playback: impl FnOnce() -> Result<Playback, StageError>,
    ) -> Result<Self, StageError> {
        let config = request.config;
        let redirect = Redirect::find(profile, env, config);
        if redirect.is_empty() {
            // A gateway that nobody asked for is missed where the agent holds something of value.
            let is_missed = request.is_asked || !access.credentials.is_empty();
            let reason = reason_for_none(profile, access);
            if request.is_replay {
                // Never past the gateway: a replay asks no service.
                let message = format!("nothing can be replayed: {reason}");
                return Err(StageError::new(ErrorKind::Replay, message));
            }
            let note = is_missed.then(|| format!("the gateway is off: {reason}"));
            return Ok(Led {
                notes: note.into_iter().collect(),
                ..Led::past_the_gateway(config)
            });
        }
        let gateway = gateway.get(host)?;
        let sought = request.sought.to_vec();
        let opened = gateway.open_with(&redirect.origins, &redirect.keys, sought, playback()?);
        let passage = opened.map_err(|error| {
            StageError::new(
                ErrorKind::Setup,
                format!("the gateway cannot serve the agent: {error}"),
            )
        })?;
        let config = redirect.apply(&passage.addresses, &passage.tokens, env, config);
        pass_by_proxies(env);
        let files = access
            .credentials
            .iter()
            .filter(|name| name.starts_with('~'));
        let variables = redirect.untouched.iter().map(|name| format!("${name}"));
        let untouched: Vec<String> = files.cloned().chain(variables).collect();
        let mut notes = Vec::new();
        if !untouched.is_empty() {
            notes.push(format!(
                "the agent was given {} directly: the gateway does not know its service",
                prose::list(&untouched, "and")
            ));
        }
        Ok(Led {
            passage: Some(passage),
            config,
            origins: redirect.origins,
            notes,
        })
    }
}

fn reason_for_none(profile: &Profile, access: &Access) -> String {
    let given = prose::list(&access.credentials, "and");
    if access.credentials.iter().any(|name| name.starts_with('~')) {
        format!("the agent signs in with {given}, not with a key")
    } else if access.credentials.is_empty() {
        "the agent was given neither a key nor the address of a service".to_owned()
    } else if profile.services.is_empty() {
        format!(
            "`{}` cannot be pointed at another address, unless `config` has the address of its provider",
            profile.name
        )
    } else {
        format!("it knows no service for {given}")
    }
}

/// Keeps an agent that uses a proxy from asking it for the gateway, which is on this machine.
pub(super) fn pass_by_proxies(env: &mut Variables) {
    let is_proxy = |name: &String| name.to_lowercase().ends_with("_proxy");
    if !env.keys().any(is_proxy) {
        return;
    }
    for name in ["NO_PROXY", "no_proxy"] {
        let value = env.entry(name.to_owned()).or_default();
        if value.split(',').any(|host| host == GATEWAY_HOST) {
            continue;
        }
        if !value.is_empty() {
            value.push(',');
        }
        value.push_str(GATEWAY_HOST);
    }
}

/// Adds the figures of the wire to what an agent has reported. Those of an agent that did not come to its end are all
/// from the wire.
pub(super) fn add_wire(wire: &Wire, is_whole: bool, reading: &mut Reading) {
    if wire.requests == 0 {
        if reading.ending == Ending::Completed {
            let note = "no request to a model passed through the gateway";
            reading.notes.push(note.to_owned());
        }
        return;
    }
    if is_whole {
        reading.notes.extend(wire.difference(&reading.usage));
        reading.usage = reading.usage.or(wire.usage());
    } else {
        reading.usage = wire.usage().or(reading.usage);
    }
    if reading.model.is_none() {
        reading.model = wire.model().map(str::to_owned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_with_a_proxy_finds_the_gateway_past_it() {
        let mut env = Variables::from([
            ("https_proxy".to_owned(), "http://proxy.example".to_owned()),
            ("NO_PROXY".to_owned(), "inside.example".to_owned()),
        ]);
        pass_by_proxies(&mut env);
        // A second time changes nothing.
        pass_by_proxies(&mut env);
        assert_eq!(env["NO_PROXY"], "inside.example,127.0.0.1");
        assert_eq!(env["no_proxy"], "127.0.0.1");
        let mut none = Variables::new();
        pass_by_proxies(&mut none);
        assert!(none.is_empty());
    }
}
