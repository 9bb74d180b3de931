//! A session while it is read: the facts that the sessions of all agents have in common.
//!
//! An adapter implements [`Protocol`]. It turns the lines of its agent into calls of [`Session`], and says how the
//! session ended. Everything else is here: line numbers, pieces of messages, tool calls and their MCP servers, errors
//! that were overcome, last words, and the [`Reading`] that all of this ends in.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use super::conversation::{Conversation, Shows};
use super::errors::{Patterns, classify, is_context_overflow, is_wrong_model};
use super::mcp::{ServerTool, server_of};
use super::models::ModelsSeen;
use super::server_calls::ServerCalls;
use super::tokens::Tokens;
use super::{Decoder, Ending, Inputs, Line, Reading, Skippable};
use crate::agent::delivery::{McpDelivery, McpStatus};
use crate::process::Exit;
use crate::transcript::{Record, Role, Step, Usage};
use crate::trial_error::{ErrorKind, TrialError};

/// A message that arrives in pieces is handed on in parts when it grows beyond this many bytes, so that memory stays
/// flat.
const LONGEST_MESSAGE: usize = 1024 * 1024;
/// The longest part of an agent's last words that is kept, in characters.
const LONGEST_WORDS: usize = 300;
/// The name of an answer among the calls that have not ended.
const STEP: &str = "the step";
/// The most notes that are kept. The first ones say what went wrong.
const MOST_NOTES: usize = 50;

/// The language of one agent: what its lines mean.
pub(super) trait Protocol: Send {
    /// Reads a line of standard output.
    fn line(&mut self, text: &str, session: &mut Session);

    /// Reads the beginning of a line of standard output that is too long to hold.
    fn oversized_line(&mut self, _beginning: &str, bytes: u64, session: &mut Session) {
        session.time = None;
        session.notice(format!("an event of {bytes} bytes was not decoded"));
    }

    /// Returns the kind of a skippable line, as [`Decoder::skippable`] does.
    fn skippable(&self, _beginning: &[u8]) -> Option<Skippable> {
        None
    }

    /// Reads a line of standard error, without the white space around it.
    fn stderr(&mut self, text: &str, session: &mut Session) {
        session.remember(text);
    }

    /// Reads a line of a side file.
    fn side_line(&mut self, _label: &str, _line: &str, _session: &mut Session) {}

    /// Returns the parts of the talk with the model that its agent shows.
    fn shows(&self) -> Shows {
        Shows::Everything
    }

    /// Returns whether every session that ends well has the tokens of its answers.
    fn reports_tokens(&self) -> bool {
        false
    }

    /// Returns the name of the tool by which skills are used, if there is one. Agents without one read the files of a
    /// skill like any other.
    fn skill_tool(&self) -> Option<&'static str> {
        None
    }

    /// Returns the figures so far.
    fn usage(&self, session: &Session) -> Usage;

    /// Returns how the session ended. Called once, after the last line and before the last call of `usage`.
    fn ending(&mut self, exit: Exit, session: &mut Session) -> Ending;
}

/// Returns the decoder of an agent that speaks this protocol and whose errors have these words.
pub(super) fn decoder(
    inputs: &Inputs<'_>,
    patterns: Patterns,
    protocol: impl Protocol + 'static,
) -> Box<dyn Decoder> {
    let servers = inputs.mcp_servers.iter();
    Box::new(SessionDecoder {
        session: Session {
            patterns,
            servers: servers.map(|(name, _)| name.clone()).collect(),
            requested_model: inputs.model.map(str::to_owned),
            skill_tool: protocol.skill_tool(),
            ..Session::default()
        },
        protocol,
    })
}

struct SessionDecoder<P> {
    protocol: P,
    session: Session,
}

impl<P: Protocol> Decoder for SessionDecoder<P> {
    fn stdout(&mut self, line: Line<'_>) -> Vec<Record> {
        self.session.line += 1;
        match line {
            Line::Text(text) => self.protocol.line(text, &mut self.session),
            Line::Oversized { beginning, bytes } => {
                self.protocol
                    .oversized_line(beginning, bytes, &mut self.session);
            }
        }
        std::mem::take(&mut self.session.records)
    }

    fn skippable(&self, beginning: &[u8]) -> Option<Skippable> {
        // The next line may be the result of a call that counts.
        if self.session.server_calls.is_open() {
            return None;
        }
        self.protocol.skippable(beginning)
    }

    fn skipped(&mut self, lines: u64, words: bool) -> Vec<Record> {
        self.session.line += lines;
        self.session.conversation.tools_ended();
        if words {
            self.session.answered();
        }
        self.session.flush();
        std::mem::take(&mut self.session.records)
    }

    fn stderr(&mut self, line: Line<'_>) {
        if let Line::Text(text) = line {
            self.protocol.stderr(text.trim(), &mut self.session);
        }
    }

    fn side_line(&mut self, label: &str, line: &str) {
        self.protocol.side_line(label, line, &mut self.session);
    }

    fn usage(&self) -> Usage {
        self.protocol.usage(&self.session).plausible().0
    }

    fn progress(&self) -> u64 {
        self.session.conversation.progress()
    }

    fn lost(&self) -> Option<TrialError> {
        self.session
            .servers_settled
            .then(|| self.session.server_trouble())
            .flatten()
    }

    fn finish(mut self: Box<Self>, exit: Exit) -> Reading {
        let ending = self.protocol.ending(exit, &mut self.session);
        let ending = self.session.told_apart(ending);
        let (usage, remarks) = self.protocol.usage(&self.session).plausible();
        for remark in remarks {
            self.session.final_note(remark);
        }
        let has_tokens = usage.output_tokens.is_some_and(|tokens| tokens > 0);
        let conversation = &mut self.session.conversation;
        conversation.shows = self.protocol.shows();
        conversation.has_answer |= has_tokens;
        let ending = if self.protocol.reports_tokens() && !has_tokens {
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
    patterns: Patterns,
    /// The number of the line that is being read, from 1.
    line: u64,
    /// The time that the agent gives for the next steps.
    time: Option<String>,
    /// Steps that have not been handed on.
    records: Vec<Record>,
    /// A message or thought that is still arriving in pieces.
    unfinished: Option<Record>,
    /// Calls of tools.
    pub(super) tool_calls: u64,
    /// The tokens of each answer, by the answer's id.
    pub(super) answers: BTreeMap<String, Tokens>,
    /// The version of the agent, where its session says it.
    pub(super) version: Option<String>,
    /// The model of the variant.
    pub(super) requested_model: Option<String>,
    /// The models that answered in the main thread, where the agent passes on what the service says.
    pub(super) models: ModelsSeen,
    /// The MCP servers of the variant.
    servers: Vec<String>,
    server_calls: ServerCalls,
    /// The tool by which skills are used, and the uses of each.
    skill_tool: Option<&'static str>,
    skill_uses: BTreeMap<String, u64>,
    /// True if the agent gives no sign of the server that a tool belongs to.
    pub(super) hides_servers: bool,
    /// True if the agent does not tell a call that failed from one that did not.
    pub(super) hides_failed_calls: bool,
    /// True if all servers that are not broken have connected.
    pub(super) servers_ready: bool,
    /// True if the states of the servers will not change any more.
    servers_settled: bool,
    connected_servers: BTreeSet<String>,
    /// Servers that did not connect, with the reasons.
    broken_servers: BTreeMap<String, String>,
    /// The error after which nothing has come yet.
    pub(super) failure: Option<TrialError>,
    /// The talk with the model.
    conversation: Conversation,
    last_words: String,
    notes: Vec<String>,
}

/// Steps of the transcript.
impl Session {
    /// Sets the time of the steps that follow.
    pub(super) fn at(&mut self, time: Option<String>) {
        self.time = time;
    }

    /// Sets the time of the steps that follow, in milliseconds since 1970.
    pub(super) fn at_millisecond(&mut self, time: Option<i64>) {
        let time = time.and_then(|time| Timestamp::from_millisecond(time).ok());
        self.time = time.map(|time| time.to_string());
    }

    /// Adds a message.
    pub(super) fn message(&mut self, role: Role, text: String) {
        self.push(Step::Message { role, text });
    }

    /// Adds a thought.
    pub(super) fn reasoning(&mut self, text: String) {
        self.push(Step::Reasoning { text });
    }

    /// Adds a remark of the agent's program.
    pub(super) fn notice(&mut self, text: String) {
        self.push(Step::Notice { text });
    }

    /// Adds an error message.
    pub(super) fn error(&mut self, text: String) {
        self.push(Step::Error { text });
    }

    /// Adds the result of a tool.
    pub(super) fn result(&mut self, id: Option<String>, ok: bool, output: Option<String>) {
        self.conversation.tool_ended(id.as_deref());
        self.server_calls.ended(id.as_deref(), ok);
        self.push(Step::ToolResult { id, ok, output });
    }

    /// Adds and counts a call of a tool, for its MCP server too.
    pub(super) fn call(
        &mut self,
        id: Option<String>,
        tool: String,
        input: Value,
        at_server: Option<ServerTool>,
    ) {
        self.tool_calls += 1;
        self.answered();
        self.conversation.tool_started(id.as_deref());
        if self.skill_tool == Some(tool.as_str()) {
            self.skill_used(&input);
        }
        let (server, server_tool) = match at_server {
            Some(ServerTool { server, tool }) => {
                self.server_calls.started(&server, id.as_deref());
                (Some(server), Some(tool))
            }
            None => (None, None),
        };
        self.push(Step::ToolCall {
            id,
            tool,
            input,
            server,
            server_tool,
        });
    }

    fn skill_used(&mut self, input: &Value) {
        let names = ["skill", "name", "skill_name", "command"];
        if let Some(skill) = names.iter().find_map(|name| input[name].as_str()) {
            *self.skill_uses.entry(skill.to_owned()).or_default() += 1;
        }
    }

    /// Adds a piece of a message or thought. Pieces of the same kind become one step.
    pub(super) fn piece(&mut self, step: Step) {
        self.hear(&step);
        let unfinished = self.unfinished.as_mut().map(|record| &mut record.step);
        match (unfinished, &step) {
            (
                Some(Step::Message { role, text }),
                Step::Message {
                    role: same,
                    text: piece,
                },
            ) if role == same && text.len() < LONGEST_MESSAGE => text.push_str(piece),
            (Some(Step::Reasoning { text }), Step::Reasoning { text: piece })
                if text.len() < LONGEST_MESSAGE =>
            {
                text.push_str(piece);
            }
            _ => {
                self.flush();
                self.unfinished = Some(self.record(self.line, step));
            }
        }
    }

    /// Ends the message that arrives in pieces.
    pub(super) fn flush(&mut self) {
        self.records.extend(self.unfinished.take());
    }

    /// Adds a step.
    pub(super) fn push(&mut self, step: Step) {
        self.push_at(self.line, step);
    }

    /// Sets the line of the steps that follow to the number of an entry in a document, for agents that keep one.
    pub(super) fn read_entry(&mut self, number: u64) {
        self.line = number;
    }

    /// Adds a step that began at an earlier line.
    pub(super) fn push_at(&mut self, line: u64, step: Step) {
        self.hear(&step);
        self.flush();
        let record = self.record(line, step);
        if self.records.is_empty() {
            // Most lines have one step, and there may be millions of lines.
            self.records.reserve_exact(1);
        }
        self.records.push(record);
    }

    /// Notes the words and thoughts of the model as answers.
    fn hear(&mut self, step: &Step) {
        let is_answer = match step {
            Step::Message { role, text } => *role == Role::Assistant && !text.is_empty(),
            Step::Reasoning { text } => !text.is_empty(),
            _ => false,
        };
        if is_answer {
            self.answered();
        }
    }

    fn record(&self, line: u64, step: Step) -> Record {
        Record {
            time: self.time.clone(),
            line,
            step,
        }
    }

    /// Returns the number of the line that is being read.
    pub(super) fn line_number(&self) -> u64 {
        self.line
    }
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

    /// Notes that an answer has begun whose tools are only shown when they are over.
    pub(super) fn begins_step(&mut self) {
        self.conversation.tool_started(Some(STEP));
    }

    /// Notes that the answer is over, and its tools with it.
    pub(super) fn ends_step(&mut self) {
        self.conversation.tool_ended(Some(STEP));
    }

    /// Notes that a tool is at work, or not any more, without a step of the transcript.
    pub(super) fn tool_at_work(&mut self, id: &str, at_work: bool) {
        if at_work {
            self.conversation.tool_started(Some(id));
        } else {
            self.conversation.tool_ended(Some(id));
        }
    }

    /// Notes that a request to the model has failed and that the agent will try it again. It counts until the next
    /// answer.
    pub(super) fn request_failed(&mut self, kind: ErrorKind, message: impl Into<String>) {
        self.conversation.request_failed(kind, message.into());
    }
}

/// MCP servers.
impl Session {
    /// Returns the names of the servers of the variant.
    pub(super) fn servers(&self) -> &[String] {
        &self.servers
    }

    /// Returns the server that the name of a tool begins with.
    pub(super) fn server_of(&self, tool: &str, separator: &str) -> Option<ServerTool> {
        server_of(&self.servers, tool, separator)
    }

    /// Returns whether a tool of the server was called and did its work, which proves that the server is connected. A
    /// model may also call a tool that is not there.
    pub(super) fn has_answered(&self, server: &str) -> bool {
        self.server_calls.of(server).answered > 0
    }

    /// Notes that a server did not connect.
    pub(super) fn server_failed(&mut self, server: String, why: String) {
        self.broken_servers.insert(server, why);
    }

    /// Notes that a server has connected.
    pub(super) fn server_connected(&mut self, server: String) {
        self.connected_servers.insert(server);
    }

    /// Notes that the states of the servers are final. If one of the variant's own is broken, the agent is stopped at
    /// once, since its session would end in an error in any case.
    pub(super) fn servers_are_settled(&mut self) {
        self.servers_settled = true;
    }

    /// Returns the error of a session with broken servers. Without an MCP server of its variant the agent is not tested.
    fn server_trouble(&self) -> Option<TrialError> {
        let (server, why) = self.broken_servers().next()?;
        let mut message = format!("the MCP server `{server}` did not connect");
        if !why.is_empty() {
            message = format!("{message}: {why}");
        }
        Some(TrialError::new(ErrorKind::Mcp, message))
    }

    /// Forgets the state of a server, and returns why it was broken.
    pub(super) fn forget_server(&mut self, server: &str) -> Option<String> {
        self.connected_servers.remove(server);
        self.broken_servers.remove(server)
    }

    /// Returns the servers of the variant that did not connect, with the reasons.
    pub(super) fn broken_servers(&self) -> impl Iterator<Item = (&String, &String)> {
        self.servers
            .iter()
            .filter_map(|server| self.broken_servers.get_key_value(server))
    }

    fn delivery(&self, server: &str) -> McpDelivery {
        let status = if self.broken_servers.contains_key(server) {
            Some(McpStatus::Failed)
        } else if self.servers_ready
            || self.connected_servers.contains(server)
            || self.has_answered(server)
        {
            Some(McpStatus::Connected)
        } else {
            None
        };
        let calls = self.server_calls.of(server);
        McpDelivery {
            status,
            calls: (!self.hides_servers).then_some(calls.started),
            failed_calls: (!self.hides_servers && !self.hides_failed_calls).then_some(calls.failed),
        }
    }
}

/// Errors and the end.
impl Session {
    /// Returns the kind of an error, by its words.
    pub(super) fn classify(&self, text: &str) -> Option<ErrorKind> {
        classify(self.patterns, None, text)
    }

    /// Notes an error that ends the session, unless something follows.
    pub(super) fn fail(&mut self, kind: ErrorKind, message: impl Into<String>) {
        let error = TrialError::new(kind, message);
        if matches!(kind, ErrorKind::RateLimit | ErrorKind::ModelApi) {
            self.request_failed(kind, error.message.clone());
        }
        self.failure = Some(error);
    }

    /// Notes that the session went on after its last error.
    pub(super) fn recovered(&mut self) {
        if let Some(failure) = self.failure.take() {
            self.note(failure.message);
        }
    }

    /// Adds a note, up to a limit: an agent may complain for ever.
    pub(super) fn note(&mut self, text: String) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(text);
        }
    }

    /// Adds a note about the whole session, in any case.
    pub(super) fn final_note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Returns whether there is such a note.
    pub(super) fn has_note(&self, text: &str) -> bool {
        self.notes.iter().any(|note| note == text)
    }

    /// Keeps these words as the last ones, unless earlier words tell more.
    pub(super) fn remember(&mut self, text: &str) {
        if self.last_words.is_empty() || self.classify(text).is_some() {
            self.remember_last(text);
        }
    }

    /// Keeps the first words that tell the kind of the error, for agents that add advice to them.
    pub(super) fn remember_first(&mut self, text: &str) {
        if self.classify(&self.last_words).is_none() {
            self.remember(text);
        }
    }

    /// Keeps these words as the last ones.
    pub(super) fn remember_last(&mut self, text: &str) {
        if !text.is_empty() {
            self.last_words = text.chars().take(LONGEST_WORDS).collect();
        }
    }

    /// Adds words to the last ones, for agents whose errors have several lines.
    pub(super) fn remember_more(&mut self, text: &str) {
        let longer = format!("{} {text}", self.last_words);
        self.remember_last(longer.trim_start());
    }

    /// Returns the last words, or how the process ended where there are none.
    pub(super) fn last_words(&self, exit: Exit) -> String {
        if self.last_words.is_empty() {
            exit.describe()
        } else {
            self.last_words.clone()
        }
    }

    /// Returns the ending of a session with a broken MCP server or with an error that nothing followed.
    pub(super) fn trouble(&mut self) -> Option<Ending> {
        let error = self.server_trouble().or_else(|| self.failure.take());
        error.map(Ending::Failed)
    }

    /// Tells a wrong model and an overflow of the context from other trouble, for all agents by the same words. An
    /// overflow is the end of a session that can be judged: long rules and tools cause it.
    fn told_apart(&mut self, ending: Ending) -> Ending {
        let (Ending::Failed(error) | Ending::Crashed(error)) = &ending else {
            return ending;
        };
        let may_be_model = matches!(
            error.kind,
            ErrorKind::ModelApi | ErrorKind::Agent | ErrorKind::Auth
        );
        if may_be_model && is_wrong_model(&error.message) {
            return failed(ErrorKind::Model, error.message.clone());
        }
        let may_be_overflow = matches!(error.kind, ErrorKind::ModelApi | ErrorKind::Agent);
        if may_be_overflow && is_context_overflow(&error.message) {
            let note = format!(
                "the conversation outgrew the model's context: {}",
                error.message
            );
            self.final_note(note);
            return Ending::Completed;
        }
        ending
    }

    /// Returns the ending of a session without any tokens. If the model spoke and called no tool, its answer broke off:
    /// some agents take that for a good end.
    fn without_tokens(&self, ending: Ending) -> Ending {
        if ending == Ending::Completed && self.tool_calls == 0 {
            return failed(
                ErrorKind::ModelApi,
                "the model's answer broke off: the session ended without any tokens (or the service reports none)",
            );
        }
        ending
    }

    /// Returns the ending of a session that breaks off. The last words say why.
    pub(super) fn no_end(&self, exit: Exit) -> Ending {
        let kind = self.classify(&self.last_words).unwrap_or(ErrorKind::Agent);
        let words = self.last_words(exit);
        failed(kind, format!("the session has no end: {words}"))
    }

    fn reading(mut self, usage: Usage, ending: Ending) -> Reading {
        self.flush();
        self.notes.extend(self.models.note());
        let mcp_servers = self
            .servers
            .iter()
            .map(|server| (server.clone(), self.delivery(server)));
        Reading {
            mcp_servers: mcp_servers.collect(),
            skill_uses: self.skill_tool.map(|_| self.skill_uses),
            records: self.records,
            usage,
            model: self.models.most(),
            version: self.version,
            ending,
            conversation: self.conversation,
            notes: self.notes,
        }
    }
}

/// Returns the ending of a session that did not test the agent.
pub(super) fn failed(kind: ErrorKind, message: impl Into<String>) -> Ending {
    Ending::Failed(TrialError::new(kind, message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn session(servers: &[&str]) -> Session {
        Session {
            patterns: &[(ErrorKind::Auth, &["api key"])],
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
        assert_eq!(remembered(Session::remember), "an API key is needed");
        assert_eq!(remembered(Session::remember_first), "no API key");
        assert_eq!(remembered(Session::remember_last), "ends");
        assert_eq!(session(&[]).last_words(Exit::Code(1)), "exit status 1");
    }

    #[test]
    fn an_error_that_was_overcome_is_a_note() {
        let mut session = session(&[]);
        session.fail(ErrorKind::ModelApi, "busy");
        session.recovered();
        session.recovered();
        assert_eq!(session.trouble(), None);
        assert_eq!(session.notes, ["busy"]);
        for _ in 0..MOST_NOTES {
            session.note("again".to_owned());
        }
        session.final_note("over");
        assert_eq!(session.notes.len(), MOST_NOTES + 1);
    }

    #[test]
    fn a_server_is_known_by_its_failure_its_calls_or_the_others() {
        let mut session = session(&["bad", "used", "silent"]);
        session.server_failed("bad".to_owned(), "gone".to_owned());
        session.server_failed("of nobody".to_owned(), "gone".to_owned());
        let tool = |server: &str| ServerTool {
            server: server.to_owned(),
            tool: "t".to_owned(),
        };
        session.call(None, "t".to_owned(), json!({}), Some(tool("used")));
        session.result(None, true, None);
        session.call(None, "t".to_owned(), json!({}), Some(tool("silent")));
        session.result(None, false, None);
        let status = |session: &Session, server: &str| session.delivery(server).status;
        assert_eq!(status(&session, "bad"), Some(McpStatus::Failed));
        assert_eq!(status(&session, "used"), Some(McpStatus::Connected));
        assert_eq!(status(&session, "silent"), None);
        session.servers_ready = true;
        assert_eq!(status(&session, "silent"), Some(McpStatus::Connected));
        assert_eq!(session.delivery("used").calls, Some(1));
        assert_eq!(session.delivery("used").failed_calls, Some(0));
        assert_eq!(session.delivery("silent").failed_calls, Some(1));
        let message = "the MCP server `bad` did not connect: gone";
        assert_eq!(session.trouble(), Some(failed(ErrorKind::Mcp, message)));
    }
}
