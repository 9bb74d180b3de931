//! Reads the stream of Claude Code and the transcripts it keeps.

use std::collections::BTreeSet;

use serde_json::Value;

use super::wire::{Block, Event, Message, SessionResult, Stamped, System};
use crate::agent::errors::{self, Patterns};
use crate::agent::session::{self, Protocol, Session, failed};
use crate::agent::{Decoder, Ending, Inputs, Skippable};
use crate::process::Exit;
use crate::text::prose;
use crate::transcript::{Role, Usage};
use crate::trial_error::ErrorKind;

const ERRORS: Patterns = &[
    (
        ErrorKind::RateLimit,
        &[
            "rate_limit", "rate limit", "limit reached", "usage limit", "credit balance", "quota",
            "(429)",
        ],
    ),
    (
        ErrorKind::Auth,
        &[
            "not logged in", "/login", "authentication", "invalid api key", "invalid x-api-key",
            "oauth token", "unauthorized", "permission_error",
        ],
    ),
    (
        ErrorKind::ModelApi,
        &[
            "api error", "unable to connect", "connection error", "connectionrefused",
            "econnrefused", "enotfound", "fetch failed", "timed out", "overloaded", "server_error",
        ],
    ),
];

pub(super) fn decoder(inputs: &Inputs<'_>) -> Box<dyn Decoder> {
    session::decoder(inputs, ERRORS, Stream::default())
}

#[derive(Debug, Default)]
struct Stream {
    /// All answers of a model: those in the stream and those that only the transcripts have. The tokens of an answer,
    /// in the session, are from the transcripts, since those in the stream are of its first moment.
    requests: BTreeSet<String>,
    calls: BTreeSet<String>,
    /// True if the conversation was shortened. The requests for that are in no transcript.
    compacted: bool,
    /// The last of several results counts.
    result: Option<SessionResult>,
    /// The error of the requests since the last answer.
    trouble: Option<(ErrorKind, String)>,
}

impl Stream {
    fn event(&mut self, event: Event, session: &mut Session) {
        match event {
            Event::System(system) if system.subtype == "api_retry" => self.retry(&system, session),
            Event::System(system) if system.subtype == "compact_boundary" => self.compacted = true,
            Event::Assistant {
                message,
                parent_tool_use_id,
            } => self.answer(message, parent_tool_use_id.is_none(), session),
            Event::User { message } => {
                for block in message.content.into_blocks() {
                    said_to_it(block, session);
                }
            }
            Event::Result(result) => {
                let errors = result.errors_for_people();
                if !errors.is_empty() {
                    session.error(errors);
                }
                self.result = Some(result);
            }
            Event::System(_) | Event::Other => {}
        }
    }

    fn retry(&mut self, system: &System, session: &mut Session) {
        let error = match &system.error {
            Some(Value::String(error)) => error.clone(),
            Some(error) => error.to_string(),
            None => "no answer".to_owned(),
        };
        let why = match system.error_status {
            Some(status) => format!("{status} {error}"),
            None => error,
        };
        session.notice(format!(
            "a request failed and is tried again, {}/{}: {why}",
            system.attempt, system.max_retries
        ));
        // Without a status there was no answer at all.
        let kind = errors::classify(ERRORS, system.error_status, &why);
        let kind = kind.unwrap_or(ErrorKind::ModelApi);
        session.request_failed(kind, why.as_str());
        self.trouble = Some((kind, why));
    }

    fn answer(&mut self, message: Message, in_main_thread: bool, session: &mut Session) {
        if !message.is_from_a_model() {
            session.error(message.content.text());
            return;
        }
        self.trouble = None;
        // An answer comes once for each of its parts.
        if let Some(id) = message.id
            && self.requests.insert(id)
            && in_main_thread
            && let Some(model) = &message.model
        {
            session.models.answered(model);
        }
        for block in message.content.into_blocks() {
            self.said_by_it(block, session);
        }
    }

    fn said_by_it(&mut self, block: Block, session: &mut Session) {
        match block {
            Block::Text { text } if !text.is_empty() => session.message(Role::Assistant, text),
            Block::Thinking { thinking } if !thinking.is_empty() => session.reasoning(thinking),
            // An answer comes once for each of its parts.
            Block::ToolUse { id, name, input } if self.calls.insert(id.clone()) => {
                // MCP tools are called `mcp__<server>__<tool>`.
                let server = name
                    .strip_prefix("mcp__")
                    .and_then(|rest| session.server_of(rest, "__"));
                session.call(Some(id), name, input, server);
            }
            _ => {}
        }
    }

    fn judge(&self, result: &SessionResult, session: &mut Session) -> Ending {
        if result.guesses_cost() {
            session.final_note("it has no price for the model, so the cost is not known");
        }
        if let Some(denials) = denials(result) {
            session.final_note(denials);
        }
        if ["error_max_turns", "error_max_budget_usd"].contains(&result.subtype.as_str()) {
            session.final_note(words(result));
            return Ending::Completed;
        }
        if result.is_error {
            let words = words(result);
            let kind = errors::classify(ERRORS, result.api_error_status, &words);
            return failed(kind.unwrap_or(ErrorKind::Agent), words);
        }
        // It took the prompt for a command of its own.
        if result.num_turns == Some(0) {
            return failed(ErrorKind::Agent, words(result));
        }
        if broke_off(result) {
            return failed(ErrorKind::ModelApi, "the model's last answer broke off");
        }
        Ending::Completed
    }
}

fn said_to_it(block: Block, session: &mut Session) {
    match block {
        Block::Text { text } => session.message(Role::User, text),
        Block::ToolResult {
            tool_use_id,
            content,
            is_error,
        } => {
            let output = content.map(|content| content.text());
            session.result(Some(tool_use_id), !is_error.unwrap_or(false), output);
        }
        _ => {}
    }
}

/// Returns whether the last answer gave no reason for its end: there is none, or the one of the answer before, which
/// called a tool. A stream that breaks off passes for success, and what the model was about to do is lost.
fn broke_off(result: &SessionResult) -> bool {
    matches!(result.stop_reason.as_deref(), None | Some("tool_use"))
        || result.model_usage.is_empty()
}

fn words(result: &SessionResult) -> String {
    let errors = result.errors_for_people();
    match &result.result {
        Some(text) if !text.is_empty() => text.clone(),
        _ if !errors.is_empty() => errors,
        _ => format!("the session ended with `{}`", result.subtype),
    }
}

fn denials(result: &SessionResult) -> Option<String> {
    let denials = &result.permission_denials;
    if denials.is_empty() {
        return None;
    }
    let tools: BTreeSet<&str> = denials.iter().map(|denial| &*denial.tool_name).collect();
    let tools: Vec<&str> = tools.into_iter().collect();
    let calls = prose::count(denials.len(), "tool call");
    Some(format!(
        "no permission was given for {calls}: {}",
        tools.join(", ")
    ))
}

impl Protocol for Stream {
    fn line(&mut self, text: &str, session: &mut Session) {
        let Ok(event) = serde_json::from_str(text) else {
            return;
        };
        let stamped = serde_json::from_str::<Stamped>(text).ok();
        session.at(stamped.and_then(|stamped| stamped.timestamp));
        self.event(event, session);
    }

    fn skippable(&self, beginning: &[u8]) -> Option<Skippable> {
        beginning
            .starts_with(br#"{"type":"user""#)
            .then_some(Skippable::Output)
    }

    /// Reads an answer in a transcript, where the last mention has the final figures.
    fn side_line(&mut self, _label: &str, line: &str, session: &mut Session) {
        let Ok(Event::Assistant { message, .. }) = serde_json::from_str(line) else {
            return;
        };
        if !message.is_from_a_model() {
            return;
        }
        let Some(id) = message.id else { return };
        if let Some(tokens) = message.usage {
            session.answers.insert(id.clone(), tokens.tokens());
        }
        self.requests.insert(id);
    }

    fn skill_tool(&self) -> Option<&'static str> {
        Some("Skill")
    }

    /// The result has the totals with everything in them, unless it says nothing; then the transcripts count.
    fn usage(&self, session: &Session) -> Usage {
        let totals = self.result.as_ref().map(SessionResult::usage);
        let requests = self.requests.len() as u64;
        let counted = session.counted(requests);
        let figures = totals
            .unwrap_or_default()
            .or(session.answers_usage())
            .or(counted);
        Usage {
            requests: counted.requests.filter(|_| !self.compacted),
            ..figures
        }
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        if self.compacted {
            session.final_note(
                "the conversation was shortened, and the number of requests for that is not known",
            );
        }
        if let Some(result) = &self.result {
            return self.judge(result, session);
        }
        if let Some((kind, words)) = self.trouble.take() {
            return failed(kind, format!("the session broke off: {words}"));
        }
        session.no_end(exit)
    }
}
