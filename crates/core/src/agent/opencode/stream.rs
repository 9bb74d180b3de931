//! Reads the stream of opencode, and its log.

use serde::Deserialize;
use serde_json::Value;

use super::log::Log;
use crate::agent::session::{self, Protocol, Session, failed};
use crate::agent::tokens::{Tokens, known_cost};
use crate::agent::{Decoder, Ending, Inputs, errors};
use crate::process::Exit;
use crate::text::prose;
use crate::transcript::{Role, Usage, total};
use crate::trial_error::{ErrorKind, TrialError};

/// Returns the decoder of opencode and of the programs made from it.
pub(in crate::agent) fn decoder(inputs: &Inputs<'_>) -> Box<dyn Decoder> {
    session::decoder(inputs, errors::COMMON, Stream::default())
}

#[derive(Debug, Default)]
struct Stream {
    /// The id of the main session; sub-agents have sessions of their own.
    main: Option<String>,
    /// Steps that are over, with their tokens and cost. Each was one request.
    steps: u64,
    tokens: Tokens,
    cost: f64,
    /// True if a step has no figures, as one whose answer broke off.
    unknown_step: bool,
    /// True if the session has ended and the tokens of some requests are not known.
    incomplete: bool,
    /// The reason for the end of the last step.
    stop_reason: String,
    /// A permission that was not given.
    rejected: Option<String>,
    log: Log,
}

impl Stream {
    fn event(&mut self, event: Event, session: &mut Session) {
        match event {
            Event::StepStart => {
                session.recovered();
                session.begins_step();
            }
            Event::Text { part } => session.message(Role::Assistant, part.text),
            Event::Reasoning { part } => session.reasoning(part.text),
            Event::ToolUse { part } => self.tool_use(part, session),
            Event::StepFinish { part } => {
                self.steps += 1;
                let tokens = part.tokens.tokens();
                self.unknown_step |= tokens.is_unknown();
                self.tokens += tokens;
                self.cost += part.cost;
                session.ends_step();
                if is_known(&part.reason) {
                    session.answered();
                } else {
                    session.request_failed(ErrorKind::ModelApi, BROKE_OFF);
                }
                self.stop_reason = part.reason;
            }
            Event::Error { error } => {
                let said = if error.data.message.is_empty() {
                    &error.name
                } else {
                    &error.data.message
                };
                let text = match error.data.status_code {
                    Some(status) => format!("{said} (HTTP {status})"),
                    None => said.clone(),
                };
                session.fail(kind_of(&error), text.clone());
                session.error(text);
            }
            Event::Other => {}
        }
    }

    /// Adds a call and its result, which come in one event.
    fn tool_use(&mut self, part: ToolPart, session: &mut Session) {
        let state = part.state;
        if let Some(error) = &state.error
            && error.contains("rejected permission")
        {
            let tool = &part.tool;
            self.rejected = Some(format!("the permission to use `{tool}` was rejected"));
        }
        // MCP tools are called `<server>_<tool>`.
        let server = session.server_of(&part.tool, "_");
        session.call(part.call_id.clone(), part.tool, state.input, server);
        let ok = state.status == "completed";
        session.result(part.call_id, ok, state.output.or(state.error));
    }

    /// Returns the requests of the main session: steps that are over or, from the log, also the one under way and
    /// those that failed.
    fn main_requests(&self) -> u64 {
        let logged = match &self.main {
            Some(main) => self.log.requests.get(main).copied().unwrap_or(0),
            None => self.log.requests.values().sum(),
        };
        logged.max(self.steps)
    }

    /// Returns the requests of sub-agents, which are not in the stream.
    fn other_requests(&self) -> u64 {
        let Some(main) = &self.main else { return 0 };
        let sessions = self.log.requests.iter();
        let others = sessions.filter(|(session, _)| *session != main);
        others.map(|(_, requests)| requests).sum()
    }

    /// Notes the requests whose tokens the stream does not have. The sum of the others is no figure of the session.
    fn note_unknown(&mut self, session: &mut Session) {
        let others = self.other_requests();
        if others > 0 {
            let requests = prose::count(count(others), "request");
            session.final_note(format!(
                "the tokens of {requests} by sub-agents are not known, so there are none of the session"
            ));
        }
        let unfinished = self.main_requests().saturating_sub(self.steps);
        if unfinished > 0 && self.steps > 0 {
            let requests = prose::count(count(unfinished), "request");
            session.final_note(format!(
                "the tokens of {requests} without an end are not known, so there are none of the session"
            ));
        }
        self.incomplete = others > 0 || unfinished > 0;
    }

    /// Adds the cause from the log: the stream calls most errors inside opencode just unexpected.
    fn explain(&self, failure: &mut TrialError) {
        let Some(cause) = &self.log.cause else { return };
        if cause.contains("ModelNotFound") {
            failure.kind = ErrorKind::Agent;
            failure.message =
                format!("{cause} (either there is no such model, or no key for its provider)");
        } else if failure.kind == ErrorKind::Agent {
            failure.message.clone_from(cause);
        }
    }
}

const BROKE_OFF: &str = "the model's answer broke off";

/// Returns whether an answer that ended for this reason is a whole one.
fn is_known(reason: &str) -> bool {
    ["stop", "tool-calls", "length", "content-filter"].contains(&reason)
}

fn count(requests: u64) -> usize {
    usize::try_from(requests).unwrap_or(usize::MAX)
}

fn kind_of(failure: &Failure) -> ErrorKind {
    if failure.name == "ProviderAuthError" {
        return ErrorKind::Auth;
    }
    // Other refusals of the service, of an unknown model for example, are trouble with the service too.
    let otherwise = if failure.name == "APIError" {
        ErrorKind::ModelApi
    } else {
        ErrorKind::Agent
    };
    let FailureData {
        message,
        status_code,
    } = &failure.data;
    errors::classify(errors::COMMON, *status_code, message).unwrap_or(otherwise)
}

impl Protocol for Stream {
    fn line(&mut self, text: &str, session: &mut Session) {
        if let Ok(line) = serde_json::from_str::<Stamped>(text) {
            self.main = self.main.take().or(line.session);
            session.at_millisecond(line.timestamp);
            self.event(line.event, session);
        }
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        if self.log.line(text, session) {
            return;
        }
        if text.contains("auto-rejecting") {
            self.rejected = Some(text.trim_start_matches("! ").to_owned());
        }
        session.remember(text);
    }

    fn skill_tool(&self) -> Option<&'static str> {
        Some("skill")
    }

    fn usage(&self, session: &Session) -> Usage {
        let requests = self.main_requests() + self.other_requests();
        let counted = session.counted(requests);
        if self.steps == 0 || self.unknown_step || self.incomplete {
            return counted;
        }
        Usage {
            cost_usd: known_cost(self.cost),
            ..self.tokens.usage().or(counted)
        }
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        self.note_unknown(session);
        if let Some(failure) = &mut session.failure {
            self.explain(failure);
        }
        if let Some(trouble) = session.trouble() {
            return trouble;
        }
        match (exit, self.stop_reason.as_str(), self.rejected.take()) {
            (Exit::Code(0), "stop", _) => return Ending::Completed,
            // The turn is over, although something was rejected.
            (Exit::Code(0), "tool-calls", Some(rejected)) => {
                session.final_note(rejected);
                return Ending::Completed;
            }
            (Exit::Code(0), reason @ ("length" | "content-filter"), _) => {
                session.final_note(format!("the last answer was cut off: {reason}"));
                return Ending::Completed;
            }
            (Exit::Code(0), reason, _) if !reason.is_empty() && !is_known(reason) => {
                return failed(ErrorKind::ModelApi, BROKE_OFF);
            }
            _ => {}
        }
        match &self.log.refused {
            Some(refused) if self.steps == 0 => failed(
                session.classify(refused).unwrap_or(ErrorKind::ModelApi),
                format!("the model never answered: {refused}"),
            ),
            _ => session.no_end(exit),
        }
    }
}

/// A line of `--format json`.
#[derive(Debug, Deserialize)]
struct Stamped {
    /// In milliseconds since 1970.
    timestamp: Option<i64>,
    #[serde(rename = "sessionID")]
    session: Option<String>,
    #[serde(flatten)]
    event: Event,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    StepStart,
    Text {
        part: Spoken,
    },
    Reasoning {
        part: Spoken,
    },
    /// Written once, when the tool is done.
    ToolUse {
        part: ToolPart,
    },
    StepFinish {
        part: Finish,
    },
    Error {
        error: Failure,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Spoken {
    #[serde(default)]
    text: String,
}

#[derive(Debug, Deserialize)]
struct ToolPart {
    tool: String,
    #[serde(rename = "callID")]
    call_id: Option<String>,
    state: ToolState,
}

#[derive(Debug, Deserialize)]
struct ToolState {
    status: String,
    #[serde(default)]
    input: Value,
    output: Option<String>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Finish {
    reason: String,
    #[serde(default)]
    tokens: WireTokens,
    #[serde(default)]
    cost: f64,
}

/// The tokens of one request: input without the cached ones, output without the reasoning.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct WireTokens {
    input: u64,
    output: u64,
    reasoning: u64,
    cache: Cached,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Cached {
    read: u64,
    write: u64,
}

impl WireTokens {
    fn tokens(self) -> Tokens {
        Tokens {
            input: total([self.input, self.cache.read, self.cache.write]),
            cached: self.cache.read,
            output: total([self.output, self.reasoning]),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Failure {
    name: String,
    data: FailureData,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct FailureData {
    message: String,
    status_code: Option<u16>,
}
