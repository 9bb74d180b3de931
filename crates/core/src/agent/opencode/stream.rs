//! Reads the stream of opencode, and its log.

use crate::agent::prelude::*;

use super::log::Log;
use crate::text::prose;

#[derive(Debug, Default)]
pub(in crate::agent) struct OpencodeStream {
    /// The id of the main session; sub-agents have sessions of their own.
    main: Option<String>,
    /// Steps that are over, with their tokens and cost. Each was one request.
    steps: u64,
    tokens: Tokens,
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

impl OpencodeStream {
    fn step_finish(&mut self, part: &Value, session: &mut Session) {
        self.steps += 1;
        // Input without the cached tokens, output without the reasoning.
        let mut tokens = Tokens::read_apart(&part["tokens"]);
        tokens.output = total([tokens.output, part["tokens"].number("reasoning")]);
        self.unknown_step |= tokens.is_unknown();
        self.tokens += tokens;
        self.tokens.cost += part["cost"].as_f64().unwrap_or(0.0);
        session.tool_at_work(STEP, false);
        self.stop_reason = part.text("reason").to_owned();
        if is_known(&self.stop_reason) {
            session.answered();
        } else {
            session.request_failed(ErrorKind::ModelApi, BROKE_OFF);
        }
    }

    /// Adds a call and its result, which come in one event when the tool is done.
    fn tool_use(&mut self, part: &Value, session: &mut Session) {
        let (tool, state) = (part.text("tool"), &part["state"]);
        let error = state.owned("error");
        if state.text("error").contains("rejected permission") {
            self.rejected = Some(format!("the permission to use `{tool}` was rejected"));
        }
        let id = part.owned("callID");
        // MCP tools are called `<server>_<tool>`.
        let server = session.server_of(tool, "_");
        session.call(id.clone(), tool, state["input"].clone(), server);
        let ok = state["status"] == "completed";
        session.result(id, ok, state.owned("output").or(error));
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
        let unfinished = self.main_requests().saturating_sub(self.steps);
        let told = if self.steps > 0 { unfinished } else { 0 };
        for (requests, whose) in [(others, "by sub-agents"), (told, "without an end")] {
            if requests > 0 {
                let requests = prose::count(requests as usize, "request");
                session.final_note(format!(
                    "the tokens of {requests} {whose} are not known, so there are none of the session"
                ));
            }
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

/// A step of the agent, in which its tools are at work.
const STEP: &str = "the step";
const BROKE_OFF: &str = "the model's answer broke off";

/// Returns whether an answer that ended for this reason is a whole one.
fn is_known(reason: &str) -> bool {
    ["stop", "tool-calls", "length", "content-filter"].contains(&reason)
}

fn fail(error: &Value, session: &mut Session) {
    let (name, data) = (error.text("name"), &error["data"]);
    let (message, status) = (data.text("message"), data.status("statusCode"));
    let kind = match name {
        "ProviderAuthError" => Some(ErrorKind::Auth),
        _ => errors::classify(status, message),
    };
    // Other refusals of the service, of an unknown model for example, are trouble with the service too.
    let otherwise = match name {
        "APIError" => ErrorKind::ModelApi,
        _ => ErrorKind::Agent,
    };
    let said = if message.is_empty() { name } else { message };
    let text = match status {
        Some(status) => format!("{said} (HTTP {status})"),
        None => said.to_owned(),
    };
    session.fail(kind.unwrap_or(otherwise), text.as_str());
    session.error(text);
}

impl Protocol for OpencodeStream {
    fn event(&mut self, event: Value, session: &mut Session) {
        self.main = self.main.take().or(event.owned("sessionID"));
        session.at_millisecond(event["timestamp"].as_i64());
        let part = &event["part"];
        match event.text("type") {
            "step_start" => {
                session.recovered();
                session.tool_at_work(STEP, true);
            }
            "text" => session.message(Role::Assistant, part.text("text")),
            "reasoning" => session.reasoning(part.text("text")),
            "tool_use" => self.tool_use(part, session),
            "step_finish" => self.step_finish(part, session),
            "error" => fail(&event["error"], session),
            _ => {}
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

    fn usage(&self, session: &Session) -> Usage {
        let requests = self.main_requests() + self.other_requests();
        let counted = session.counted(requests);
        if self.steps == 0 || self.unknown_step || self.incomplete {
            return counted;
        }
        self.tokens.usage().or(counted)
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        self.note_unknown(session);
        if let Some(failure) = &mut session.failure {
            self.explain(failure);
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
            Some(refused) if self.steps == 0 => {
                let said = format!("the model never answered: {refused}");
                session::failed_with(&said, ErrorKind::ModelApi)
            }
            _ => session.no_end(exit),
        }
    }
}
