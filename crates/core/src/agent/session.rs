//! A session while it is read: the facts that the sessions of all agents have in common.
//!
//! An adapter implements [`Protocol`]. It turns the lines of its agent into calls of [`Session`], and says how the
//! session ended. Everything else is here: line numbers, pieces of messages, tool calls and their MCP servers, errors
//! that were overcome, last words, and the [`Reading`] that all of this ends in.

mod ending;
mod filter;
mod steps;

use std::collections::BTreeMap;

use filter::Filter;
use serde_json::Value;

use super::conversation::{Conversation, Shows};
use super::errors::classify;
use super::invocation::is_document;
use super::models::ModelsSeen;
use super::tokens::Tokens;
use super::{Ending, Inputs, Line, Profile, Reading, Skippable};
use crate::process::Exit;
use crate::transcript::{Record, Usage};
use crate::trial_error::{ErrorKind, TrialError};

/// The language of one agent: what its lines mean.
pub(super) trait Protocol: Send {
    /// Reads an event: a line of standard output that is JSON.
    fn event(&mut self, _event: Value, _session: &mut Session) {}

    /// Reads a line of standard output.
    fn line(&mut self, text: &str, session: &mut Session) {
        if let Ok(event) = serde_json::from_str(text) {
            self.event(event, session);
        }
    }

    /// Reads the beginning of a line of standard output that is too long to hold.
    fn oversized_line(&mut self, _beginning: &str, bytes: u64, session: &mut Session) {
        session.time = None;
        session.notice(format!("an event of {bytes} bytes was not decoded"));
    }

    /// Reads a line of standard error, without the white space around it.
    fn stderr(&mut self, text: &str, session: &mut Session) {
        session.remember(text);
    }

    /// Reads a line of a side file that is JSON.
    fn side_event(&mut self, _event: Value, _session: &mut Session) {}

    /// Reads a line of a side file. One that is a document as a whole is in the session when it ends.
    fn side_line(&mut self, _label: &str, line: &str, session: &mut Session) {
        if let Ok(event) = serde_json::from_str(line) {
            self.side_event(event, session);
        }
    }

    /// Returns the parts of the talk with the model that its agent shows.
    fn shows(&self) -> Shows {
        Shows::Everything
    }

    /// Returns the figures so far. Tokens, requests and models of most agents are known from the gateway only.
    fn usage(&self, session: &Session) -> Usage {
        session.usage
    }

    /// Returns how the session ended, unless it failed with an error that nothing followed. Called once, after the last
    /// line and before the last call of `usage`.
    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending;
}

/// Reads an agent's output, a line at a time.
#[expect(missing_debug_implementations, reason = "a protocol has none")]
pub struct Decoder {
    profile: &'static Profile,
    protocol: Box<dyn Protocol>,
    session: Session,
    filter: Filter,
}

impl Decoder {
    /// Returns the decoder of an agent that speaks this protocol.
    pub(super) fn new(
        profile: &'static Profile,
        inputs: &Inputs<'_>,
        protocol: Box<dyn Protocol>,
    ) -> Self {
        // The servers of the variant are not used by an agent without a session, so nothing is known of them.
        let servers = inputs.mcp_servers.iter();
        let servers = servers.filter(|_| !profile.is_built_in());
        let by_sse = servers.clone().filter(|(_, server)| server.is_by_sse());
        Decoder {
            profile,
            protocol,
            session: Session {
                servers_by_sse: by_sse.map(|(name, _)| name.clone()).collect(),
                servers: servers.map(|(name, _)| name.clone()).collect(),
                requested_model: inputs.model.map(str::to_owned),
                skill_tool: profile.skill_tool,
                ..Session::default()
            },
            filter: Filter::default(),
        }
    }

    /// Reads a line of standard output.
    pub fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        let session = &mut self.session;
        session.line += 1;
        match line {
            Line::Text(text) => self.protocol.line(text, session),
            Line::Oversized { beginning, bytes } => {
                self.protocol.oversized_line(beginning, bytes, session);
            }
        }
        std::mem::take(&mut session.records)
    }

    /// Returns the kind of a line of standard output, by its beginning, if no count, figure or ending depends on it.
    /// Floods of such lines may be left out.
    pub fn skippable(&self, beginning: &[u8]) -> Option<Skippable> {
        let mut known = self.profile.skippable.iter();
        let (_, kind) = known.find(|(start, _)| beginning.starts_with(start.as_bytes()))?;
        Some(*kind)
    }

    /// Reads a line of standard error.
    pub fn stderr(&mut self, line: Line<'_>) {
        if let Line::Text(text) = line {
            self.protocol.stderr(text.trim(), &mut self.session);
        }
    }

    /// Reads a line of one of the [`SideFile`](super::SideFile)s.
    pub fn side_line(&mut self, label: &str, line: &str) {
        if is_document(label) {
            self.session.document += line;
            self.session.document += "\n";
        } else {
            self.protocol.side_line(label, line, &mut self.session);
        }
    }

    /// Returns the figures so far, for the live display.
    pub fn usage(&self) -> Usage {
        self.figures().0
    }

    /// Returns the figures so far, with a remark for each that cannot be.
    fn figures(&self) -> (Usage, Vec<String>) {
        let mut usage = self.protocol.usage(&self.session);
        if self.session.compacted {
            usage.requests = None;
        }
        usage.plausible()
    }

    /// Ends the session.
    pub fn finish(mut self, exit: Exit) -> Reading {
        self.end_gap();
        if self.session.compacted {
            self.session.final_note(
                "the conversation was shortened, and the number of requests for that is not known",
            );
        }
        let ending = self.protocol.ending(exit, &mut self.session);
        let trouble = self.session.failure.take().map(Ending::Failed);
        let ending = self.session.told_apart(trouble.unwrap_or(ending));
        let (usage, remarks) = self.figures();
        for remark in remarks {
            self.session.final_note(remark);
        }
        let has_tokens =
            self.session.has_tokens || usage.output_tokens.is_some_and(|tokens| tokens > 0);
        let conversation = &mut self.session.conversation;
        conversation.shows = self.protocol.shows();
        conversation.has_answer |= has_tokens;
        let ending = if self.profile.reports_tokens && !has_tokens {
            self.session.without_tokens(ending)
        } else {
            ending
        };
        self.session.reading(usage, ending)
    }
}

/// The facts of a session so far.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The number of the line that is being read, from 1; of an entry in a document, for agents that keep one.
    pub line: u64,
    /// The time that the agent gives for the next steps.
    pub time: Option<String>,
    /// Steps that have not been handed on.
    records: Vec<Record>,
    /// A message or thought that is still arriving in pieces.
    unfinished: Option<Record>,
    /// The figures, where they are known at the end only.
    pub usage: Usage,
    /// True if the agent's own totals have tokens, where they are not read as figures.
    pub has_tokens: bool,
    /// Calls of tools.
    pub tool_calls: u64,
    /// The tokens of each answer, by the answer's id.
    pub answers: BTreeMap<String, Tokens>,
    /// The version of the agent, where its session says it.
    pub version: Option<String>,
    /// The model of the variant.
    pub requested_model: Option<String>,
    /// The models that answered in the main thread, where the agent passes on what the service says.
    pub models: ModelsSeen,
    /// The MCP servers of the variant.
    pub servers: Vec<String>,
    /// Those that speak by server-sent events, which some agents do not support.
    pub servers_by_sse: Vec<String>,
    /// The tool by which skills are used, and the uses of each.
    skill_tool: Option<&'static str>,
    skill_uses: BTreeMap<String, u64>,
    /// True if the conversation was shortened, by requests that nothing tells of.
    pub compacted: bool,
    /// The error after which nothing has come yet.
    pub failure: Option<TrialError>,
    /// The talk with the model.
    conversation: Conversation,
    /// The text of the side file that is a document.
    pub document: String,
    last_words: String,
    notes: Vec<String>,
}

/// Figures.
impl Session {
    /// Returns the figures that were counted: the requests, where there were any, and the calls of tools.
    pub(super) fn counted(&self, requests: u64) -> Usage {
        Usage {
            requests: (requests > 0).then_some(requests),
            tool_calls: Some(self.tool_calls),
            ..Usage::default()
        }
    }

    /// Returns the figures of all answers, where there were any. An answer without figures makes the sum unknown.
    pub(super) fn answers_usage(&self) -> Usage {
        if self.answers.is_empty() {
            return Usage::default();
        }
        let tokens = if self.has_unknown_tokens() {
            Usage::default()
        } else {
            self.answers.values().copied().sum::<Tokens>().usage()
        };
        Usage {
            requests: Some(self.answers.len() as u64),
            ..tokens
        }
    }

    /// Returns whether an answer has no figures, as one that broke off.
    pub(super) fn has_unknown_tokens(&self) -> bool {
        self.answers.values().any(|tokens| tokens.is_unknown())
    }
}

/// The talk with the model. Words, thoughts and calls of tools are taken for answers without any of these.
impl Session {
    /// Notes that an answer of the model has come, where the agent shows it in another way.
    pub(super) fn answered(&mut self) {
        self.conversation.answered();
    }

    /// Notes that a tool is at work, or not any more, without a step of the transcript.
    pub(super) fn tool_at_work(&mut self, id: &str, at_work: bool) {
        self.conversation.tool_at_work(id, at_work);
    }

    /// Notes that a request to the model has failed and that the agent will try it again. It counts until the next
    /// answer.
    pub(super) fn request_failed(&mut self, kind: ErrorKind, message: impl Into<String>) {
        self.conversation.request_failed(kind, message.into());
    }
}

/// Returns the ending of a session that failed with these words. They tell the kind, or else it is this one.
pub(super) fn failed_with(words: &str, otherwise: ErrorKind) -> Ending {
    failed(classify(None, words).unwrap_or(otherwise), words)
}

/// Returns the ending of a session that did not test the agent.
pub(super) fn failed(kind: ErrorKind, message: impl Into<String>) -> Ending {
    Ending::Failed(TrialError::new(kind, message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ending::MOST_NOTES;
    use super::steps::LONGEST_MESSAGE;
    use super::*;
    use crate::transcript::{Role, Step};

    fn session(servers: &[&str]) -> Session {
        Session {
            servers: servers.iter().map(|name| (*name).to_owned()).collect(),
            ..Session::default()
        }
    }

    fn said(text: &str) -> Step {
        Step::Message {
            role: Role::Assistant,
            text: text.to_owned(),
        }
    }

    #[test]
    fn pieces_are_one_message_until_something_else_comes() {
        let mut session = session(&[]);
        for piece in ["a", "b"] {
            session.line += 1;
            session.piece(said(piece));
        }
        session.line += 1;
        session.call(None, "shell".to_owned(), json!({}), None);
        session.line += 1;
        session.piece(said("c"));
        let reading = session.reading(Usage::default(), Ending::Completed);
        let lines: Vec<u64> = reading.records.iter().map(|record| record.line).collect();
        assert_eq!(lines, [1, 3, 4]);
        assert_eq!(reading.records[0].step, said("ab"));
        assert_eq!(reading.records[2].step, said("c"));
    }

    #[test]
    fn a_message_that_never_ends_is_handed_on_in_parts() {
        let mut session = session(&[]);
        for _ in 0..3 {
            session.piece(said(&"x".repeat(LONGEST_MESSAGE)));
        }
        assert_eq!(session.records.len(), 2);
    }

    #[test]
    fn words_that_tell_the_kind_are_kept() {
        let remembered = |remember: fn(&mut Session, &str)| {
            let mut session = session(&[]);
            for line in ["begins", "no API key", "", "an API key is needed", "ends"] {
                remember(&mut session, line);
            }
            session.last_words(Exit::Code(1))
        };
        assert_eq!(remembered(Session::remember), "no API key");
        assert_eq!(remembered(Session::remember_last), "ends");
        assert_eq!(session(&[]).last_words(Exit::Code(1)), "exit status 1");
    }

    #[test]
    fn an_error_that_was_overcome_is_a_note() {
        let mut session = session(&[]);
        session.fail(ErrorKind::ModelApi, "busy");
        session.recovered();
        session.recovered();
        assert_eq!(session.failure, None);
        assert_eq!(session.notes, ["busy"]);
        for number in 0..MOST_NOTES {
            session.note(format!("again {number}"));
            session.note(format!("again {number}"));
        }
        session.final_note("over");
        assert_eq!(session.notes.len(), MOST_NOTES + 1);
    }
}
