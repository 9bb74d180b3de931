//! The way of an agent to its models: through the gateway, or past it.

use std::io;

use rustix::process::Pid;
use terca_core::agent::access::Access;
use terca_core::agent::redirect::{Redirect, addresses_of_shell};
use terca_core::agent::{Ending, Profile, Reading, WireEnd};
use terca_core::config::gateway::GatewayMode;
use terca_core::prices::Prices;
use terca_core::text::prose;
use terca_core::transcript::{CostSource, Usage};
use terca_core::trial_error::ErrorKind;
use terca_core::wire::Wire;
use terca_core::wire::sent_parts::Sought;
use terca_gateway::{Passage, Playback};

use super::network::pass_by_proxies;
use super::recordings::{self, RecordingFile, open_replay};
use super::{AgentStart, Attachment, CommandEnd, json_lines};
use crate::host::credentials;
use crate::process::supervise::Turn;
use crate::trial::stage_error::StageError;
use crate::trial::timing::rounded;

/// The file of the artifacts with a line for each request to a model.
const WIRE_LOG: &str = "wire.jsonl";

/// The way of an agent to its models.
struct Models {
    /// `None` if the agent asks its models itself.
    passage: Option<Passage>,
    /// The recording of its exchanges, if there is one.
    recording: Option<RecordingFile>,
    /// The parts of the variant that are looked for in its requests.
    sought: Vec<Sought>,
    /// The model that it is asked to use.
    requested_model: Option<String>,
    /// The advice for a program that the gateway does not know and that asked nothing of it.
    advice: String,
}

/// Leads an agent through the gateway, if it is on: its addresses and keys are replaced, in its variables and its
/// settings.
pub(super) fn attach(start: &mut AgentStart<'_>) -> Result<Box<dyn Attachment>, StageError> {
    let context = start.context;
    let request = start.request;
    let replay = open_replay(start)?;
    let of_shell = |name: &str| context.host.get(name).map(str::to_owned);
    let addresses = addresses_of_shell(start.profile, &start.env, &of_shell);
    start.own_env = start.env.clone();
    start.access = credentials::access(&context.host, start.profile, &start.env, request.config);
    let mut models = Models {
        passage: None,
        recording: None,
        sought: request.sought.to_vec(),
        requested_model: request.model.map(str::to_owned),
        advice: String::new(),
    };
    if replay.is_none() && request.gateway == GatewayMode::Off {
        return Ok(Box::new(models));
    }
    let redirect = Redirect::find(start.profile, &start.env, request.config);
    if redirect.is_empty() {
        let reason = reason_for_none(start.profile, &redirect, &start.access);
        if replay.is_some() {
            // Never past the gateway: a replay asks no service.
            let message = format!("nothing can be replayed: {reason}");
            return Err(StageError::new(ErrorKind::Replay, message));
        }
        // A gateway that nobody asked for is missed where the agent holds something of value.
        if request.gateway_is_asked || !start.access.credentials.is_empty() {
            start.notes.push(format!("the gateway is off: {reason}"));
        }
        return Ok(Box::new(models));
    }
    let playback = match replay {
        Some(replay) => Playback::Replay(Box::new(replay)),
        None if request.gateway == GatewayMode::Record => {
            let mask = &context.mask;
            let (file, new) = RecordingFile::create(start.dirs, start.version, addresses, mask)?;
            models.recording = Some(file);
            Playback::Record(new)
        }
        None => Playback::None,
    };
    let gateway = context.gateway.get(&context.host)?;
    let sought = models.sought.clone();
    let paths = request.allow_paths;
    let opened = gateway.open(&redirect.origins, &redirect.keys, sought, paths, playback);
    let passage = opened.map_err(|error| {
        let message = format!("the gateway cannot serve the agent: {error}");
        StageError::new(ErrorKind::Setup, message)
    })?;
    let (addresses, tokens) = (&passage.addresses, &passage.tokens);
    start.config = redirect.apply(addresses, tokens, &mut start.env, request.config);
    pass_by_proxies(&mut start.env);
    start.notes.extend(not_led(&redirect, &start.access));
    if start.profile.takes_command {
        let variables = prose::quoted_list(&redirect.variables(), "and");
        models.advice = format!(
            ", to which {variables} led the agent: for one that reads its address elsewhere, write `gateway: off`, and its host in `allow`"
        );
    }
    start.began = Some(passage.opened());
    start.is_metered = true;
    start.needs_gateway = true;
    start.led_origins = redirect.origins;
    models.passage = Some(passage);
    Ok(Box::new(models))
}

impl Attachment for Models {
    fn on_turn(&mut self, _root: Option<Pid>) -> Turn {
        let has_diverged = self.passage.as_ref().is_some_and(Passage::has_diverged);
        if has_diverged { Turn::Stop } else { Turn::Wait }
    }

    fn detach(self: Box<Self>, end: &mut CommandEnd<'_, '_>) -> Result<(), StageError> {
        let context = end.run.context;
        let Some(session) = &mut end.session else {
            return Ok(());
        };
        let mut played = None;
        let mut exchanges = None;
        if let Some(passage) = self.passage {
            let closed = passage.close();
            session.reading.notes.extend(closed.notes);
            played = closed.played;
            exchanges = Some(closed.exchanges);
        }
        if let Some(recording) = self.recording {
            session.reading.notes.extend(recording.keep()?);
        }
        let diverged = played
            .as_ref()
            .and_then(|played| recordings::error(context, played));
        let has_diverged = diverged.is_some();
        if let Some(error) = diverged {
            end.ended.stopped = false;
            let note = "the agent was stopped at once: the trial could not be judged any more";
            session.reading.notes.push(note.to_owned());
            session.reading.ending = Ending::Failed(error);
        }
        let is_whole =
            session.reading.ending == Ending::Completed && !end.ended.timed_out && !end.ended.lost;
        let prices = &end.run.spec.case.suite.prices;
        if let Some(exchanges) = exchanges {
            let limit = session.time_limit.map(|end| end.limit);
            let wire_end = WireEnd::of(&exchanges, limit, is_whole);
            if !has_diverged {
                settle(&wire_end, &mut session.reading);
            }
            session.wire_end = Some(wire_end);
            let mut wire = Wire::of(&exchanges, prices.of_exchanges(&exchanges));
            wire.look_for(&self.sought, &exchanges);
            let has_ended = !end.ended.timed_out && !end.ended.lost;
            wire.split_time(&exchanges, rounded(end.ended.seconds), has_ended);
            add_wire(&wire, is_whole, &self.advice, &mut session.reading);
            let lines = context
                .mask
                .text(&json_lines(&exchanges).map_err(io::Error::from)?);
            fs_err::write(session.artifacts.join(WIRE_LOG), lines)?;
            session.wire = Some(wire);
        }
        let wire = session.wire.as_ref();
        let reading = &mut session.reading;
        match (&played, wire) {
            (Some(played), Some(wire)) => recordings::add(played, wire, reading),
            _ => add_cost(prices, wire, self.requested_model.as_deref(), reading),
        }
        Ok(())
    }
}

/// Returns a remark about credentials that the agent holds itself.
fn not_led(redirect: &Redirect, access: &Access) -> Option<String> {
    let files = access
        .credentials
        .iter()
        .filter(|name| name.starts_with('~'));
    let variables = redirect.untouched.iter().map(|name| format!("${name}"));
    let untouched: Vec<String> = files.cloned().chain(variables).collect();
    (!untouched.is_empty()).then(|| {
        format!(
            "the agent was given {} directly: the gateway does not know its service",
            prose::list(&untouched, "and")
        )
    })
}

fn reason_for_none(profile: &Profile, redirect: &Redirect, access: &Access) -> String {
    let given = prose::list(&access.credentials, "and");
    if !redirect.elsewhere.is_empty() && !given.is_empty() {
        let places = prose::quoted_list(&redirect.elsewhere, "and");
        format!(
            "it cannot lead the address in {places}, so the agent was given {given} as it is; `allow` lets it reach its service"
        )
    } else if access.credentials.iter().any(|name| name.starts_with('~')) {
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

/// Replaces what an agent says about its end by what its requests say.
fn settle(wire_end: &WireEnd, reading: &mut Reading) {
    match (wire_end, &mut reading.ending) {
        (WireEnd::Fault(error), ending) => *ending = Ending::Failed(error.clone()),
        (WireEnd::Answered, Ending::Failed(error) | Ending::Crashed(error))
            if error.kind != ErrorKind::Mcp =>
        {
            let note = format!("{}; its work until then was judged", error.message);
            reading.notes.push(note);
            reading.ending = Ending::Completed;
        }
        // It has not come to its model, so the service is not to blame.
        (WireEnd::NoRequest, Ending::Failed(error) | Ending::Crashed(error))
            if error.kind == ErrorKind::ModelApi =>
        {
            error.kind = ErrorKind::Agent;
        }
        _ => {}
    }
}

/// Replaces the figures that an agent has reported by those of the wire, as far as it knows them. A difference is noted where the
/// agent came to its end. `advice` follows the note about one that asked for nothing.
fn add_wire(wire: &Wire, is_whole: bool, advice: &str, reading: &mut Reading) {
    if wire.requests == 0 {
        if reading.ending == Ending::Completed {
            let note = "no request to a model passed through the gateway";
            reading.notes.push(format!("{note}{advice}"));
        }
        return;
    }
    if is_whole {
        reading.notes.extend(wire.difference(&reading.usage));
    }
    if reading.usage != Usage::default() {
        reading.reported = Some(reading.usage);
    }
    reading.usage = wire.usage().or(reading.usage);
    reading.model = wire.model().map(str::to_owned).or(reading.model.take());
}

/// Adds the cost to the figures of a session: that of the wire, or else the agent's own, or else what tokens and prices give.
/// The requested model counts where nobody says which one answered.
fn add_cost(
    prices: &Prices,
    wire: Option<&Wire>,
    requested_model: Option<&str>,
    reading: &mut Reading,
) {
    let of_wire = wire.and_then(|wire| wire.cost_usd);
    if reading.usage.cost_usd.is_some() && of_wire.is_none() {
        return;
    }
    let is_metered = wire.is_some_and(|wire| wire.requests > 0);
    let computed = if is_metered {
        of_wire
    } else {
        let model = reading.model.as_deref().or(requested_model);
        model
            .filter(|_| !reading.several_models)
            .and_then(|model| prices.of_session(model, &reading.usage))
    };
    if computed.is_some() {
        reading.usage.cost_usd = computed;
        reading.cost_source = Some(CostSource::Computed);
    }
}
