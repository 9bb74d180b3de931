//! Reads the events of the client: what the session of an ACP agent came to.

use crate::agent::prelude::*;

use super::AUTH_REQUIRED;
use super::tools::ToolCalls;
use crate::agent::errors::by_status;
use crate::agent::errors::classify;
use crate::text::prose;

/// The beginnings of words that come in pieces. The client prints the fields of an event in the order of their names.
pub(super) const SKIPPABLE: &[(&str, Skippable)] = &[
    (r#"{"of":"agent_message_chunk""#, Skippable::Words),
    (r#"{"of":"agent_thought_chunk""#, Skippable::Words),
];
/// The lines that are no messages and are told of when a session fails.
const MOST_NOISE: usize = 3;

#[derive(Default)]
pub(super) struct AcpStream {
    /// The reader of the agent's session file and its standard error, where it has an adapter of its own.
    own: Option<Box<dyn Protocol>>,
    /// The program that downloads the agent, where its command begins with one.
    downloader: Option<&'static str>,
    calls: ToolCalls,
    /// The first lines that are no messages.
    noise: Vec<String>,
    /// The last plan.
    plan: String,
    /// Methods that the agent asked for in vain.
    refused: Vec<String>,
    /// True if the session has begun.
    is_ready: bool,
    /// The last event of the session: its end, or what keeps it from going on.
    outcome: Option<Value>,
}

impl AcpStream {
    /// Returns the stream of an agent that has an adapter of its own.
    pub(super) fn of(own: Box<dyn Protocol>) -> Self {
        AcpStream {
            own: Some(own),
            ..AcpStream::default()
        }
    }

    /// Returns the stream of an agent that this command starts.
    pub(super) fn of_command(command: &str) -> Self {
        let mut words = command.split_whitespace();
        let program = words.find(|word| !word.contains('='));
        let downloaders = ["npx", "uvx"].into_iter();
        AcpStream {
            downloader: downloaders.into_iter().find(|it| Some(*it) == program),
            ..AcpStream::default()
        }
    }

    fn update(&mut self, update: Value, session: &mut Session) {
        let of = update.text("sessionUpdate").to_owned();
        match of.as_str() {
            "agent_message_chunk" | "agent_thought_chunk" => {
                // Empty ones carry figures.
                let text = update["content"].text("text").to_owned();
                if text.is_empty() {
                    return;
                }
                self.calls.release(session);
                let role = Role::Assistant;
                session.piece(match of.as_str() {
                    "agent_message_chunk" => Step::Message { role, text },
                    _ => Step::Reasoning { text },
                });
            }
            "tool_call" | "tool_call_update" => self.calls.update(update, session),
            "plan" => {
                let plan = plan(&update["entries"]);
                if !plan.is_empty() && plan != self.plan {
                    self.calls.release(session);
                    session.notice(format!("plan: {plan}"));
                    self.plan = plan;
                }
            }
            _ => {}
        }
    }

    /// Returns what the agent said when the client could not bring the session to its end.
    fn said(&self, message: &str, exited: bool, exit: Exit, session: &Session) -> String {
        let mut said = message.to_owned();
        let words = session.last_words(exit);
        if exited && words != exit.describe() {
            said = format!("{said}: {words}");
        }
        if !self.is_ready && !self.noise.is_empty() {
            let printed = prose::quoted_list(&self.noise, "and");
            said = format!("{said} (it printed {printed})");
        }
        if let Some(downloader) = self.downloader.filter(|_| !self.is_ready) {
            said = format!(
                "{said}; `{downloader}` downloads the agent in each trial: install its package and write its program as `command`, \
                 or let the trial reach the package's registry with `allow`"
            );
        }
        said
    }
}

fn stopped(reason: &str, session: &mut Session) -> Ending {
    match reason {
        "end_turn" => Ending::Completed,
        "max_tokens" | "max_turn_requests" | "refusal" => {
            session.final_note(format!("the agent stopped with the reason `{reason}`"));
            Ending::Completed
        }
        "cancelled" => {
            let message = "the session was cancelled before its end";
            Ending::Crashed(TrialError::new(ErrorKind::Agent, message))
        }
        other => {
            let message = format!("the agent stopped with an unknown reason: {other:?}");
            Ending::Crashed(TrialError::new(ErrorKind::Agent, message))
        }
    }
}

/// Returns the kind of an error by its code: one of the protocol, or the status of a model's answer.
fn kind_of_code(code: i64) -> Option<ErrorKind> {
    match code {
        AUTH_REQUIRED => Some(ErrorKind::Auth),
        code => by_status(u16::try_from(code).ok().filter(|status| *status < 600)?),
    }
}

/// Returns a plan in one line.
fn plan(entries: &Value) -> String {
    let entries = entries.as_array().into_iter().flatten();
    let lines = entries.filter_map(|entry| {
        let mark = match entry["status"].as_str() {
            Some("completed") => "[x]",
            Some("in_progress") => "[~]",
            _ => "[ ]",
        };
        Some(format!("{mark} {}", entry["content"].as_str()?))
    });
    prose::joined(lines, "; ")
}

impl Protocol for AcpStream {
    fn event(&mut self, mut event: Value, session: &mut Session) {
        session.at_millisecond(event["time"].as_i64());
        match event.text("type") {
            "agent" => session.version = event.owned("version"),
            "session" => self.is_ready = true,
            "update" => self.update(event["update"].take(), session),
            "permission" => {
                self.calls.release(session);
                if event["answer"].is_null() {
                    let call = event.text("call");
                    session.note(format!(
                        "the agent asked for a permission that could not be given ({call})"
                    ));
                }
            }
            "refused" => {
                let method = event.text("method");
                // Others are the agent's own, which it tries with every client.
                let is_known = method.starts_with("fs/") || method.starts_with("terminal/");
                let is_new = !self.refused.iter().any(|known| known == method);
                if is_known && is_new && self.refused.len() < MOST_NOISE {
                    self.refused.push(method.to_owned());
                }
            }
            "noise" if self.noise.len() < MOST_NOISE => self.noise.extend(event.owned("text")),
            "failed" => {
                self.calls.release(session);
                session.error(event.text("message"));
                self.outcome = Some(event);
            }
            "end" => {
                self.calls.release(session);
                session.flush();
                self.outcome = Some(event);
            }
            _ => {}
        }
    }

    fn stderr(&mut self, text: &str, session: &mut Session) {
        match &mut self.own {
            Some(own) => own.stderr(text, session),
            None => session.remember(text),
        }
    }

    fn side_event(&mut self, event: Value, session: &mut Session) {
        if let Some(own) = &mut self.own {
            own.side_event(event, session);
        }
    }

    /// The protocol has no figures of a session that mean the same for all agents: some tell those of the last request.
    fn usage(&self, session: &Session) -> Usage {
        let own = self.own.as_ref().map(|own| own.usage(session));
        own.unwrap_or_default().or(session.counted(0))
    }

    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending {
        self.calls.release(session);
        if !self.refused.is_empty() {
            let methods = prose::quoted_list(&self.refused, "and");
            session.final_note(format!(
                "the agent asked its client for {methods}, which Terca does not offer"
            ));
        }
        let Some(outcome) = &self.outcome else {
            return session.no_end(exit);
        };
        if outcome["type"] == "end" {
            return stopped(outcome.text("stopReason"), session);
        }
        let has_exited = !outcome["exit"].is_null();
        let message = self.said(outcome.text("message"), has_exited, exit, session);
        let stage = outcome.text("stage");
        let is_missing = matches!(outcome["exit"]["code"].as_i64(), Some(126 | 127));
        let kind = serde_json::from_value(outcome["kind"].clone()).ok();
        let kind = kind
            .or(outcome["code"].as_i64().and_then(kind_of_code))
            .or((stage == "initialize" && is_missing).then_some(ErrorKind::AgentMissing))
            .or(classify(None, &message))
            .unwrap_or(match stage {
                "model" => ErrorKind::Model,
                _ => ErrorKind::Agent,
            });
        if stage == "prompt" && has_exited && kind == ErrorKind::Agent {
            return Ending::Crashed(TrialError::new(kind, message));
        }
        failed(kind, message)
    }
}
