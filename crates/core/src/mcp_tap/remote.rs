//! The talk with a server by HTTP: several sessions, and an answer that comes by another request than its question.

use serde_json::Value;

use super::conversation::{Conversation, Side, TapLine, messages_of};
use super::{ServerRecord, TapEventKind};

/// The most sessions with one server that are read. An agent that begins more is out of its mind, or wants Terca to be.
const MOST_SESSIONS: usize = 200;

/// Reads the talk with a server by HTTP, in all its sessions.
#[derive(Debug, Default)]
pub struct RemoteTalk {
    /// Everything that was seen of it.
    pub record: ServerRecord,
    /// There were more sessions than are read.
    pub has_too_many: bool,
    sessions: Vec<Session>,
    is_finished: bool,
}

#[derive(Debug)]
struct Session {
    /// The name that the server has given it.
    name: Option<String>,
    /// `None` once it has ended.
    conversation: Option<Conversation>,
    /// The server could not be reached, and nothing has come from it since.
    is_lost: bool,
}

/// A request by HTTP, and the questions in it.
#[derive(Debug, Clone, Default)]
pub struct RemoteRequest {
    /// The number of its session.
    pub session: Option<usize>,
    ids: Vec<Value>,
}

impl RemoteRequest {
    fn session_in<'a>(&self, sessions: &'a mut [Session]) -> Option<&'a mut Session> {
        sessions.get_mut(self.session?)
    }

    /// Returns the conversation of its session, unless it has ended.
    fn find<'a>(&self, sessions: &'a mut [Session]) -> Option<&'a mut Conversation> {
        self.session_in(sessions)?.conversation.as_mut()
    }
}

impl RemoteTalk {
    /// Begins a session. Returns its number.
    pub fn begin(&mut self) -> Option<usize> {
        if self.is_finished {
            return None;
        }
        if self.sessions.len() >= MOST_SESSIONS {
            self.has_too_many = true;
            return None;
        }
        self.sessions.push(Session {
            name: None,
            conversation: Some(Conversation::begin(&mut self.record)),
            is_lost: false,
        });
        Some(self.sessions.len() - 1)
    }

    /// Reads the body of a request. Its session is that whose stream named the address that it went to, or that of the
    /// name in its header.
    pub fn asked(
        &mut self,
        known: Option<usize>,
        name: Option<&str>,
        body: TapLine<'_>,
    ) -> RemoteRequest {
        let mut ids = Vec::new();
        let mut is_first = false;
        for message in messages_of(body).iter().flatten() {
            if let Some(method) = message["method"].as_str() {
                is_first |= method == "initialize";
                ids.extend(message.get("id").filter(|id| !id.is_null()).cloned());
            }
        }
        let named = self.find(name).filter(|_| !is_first);
        let session = known.or(named).or_else(|| self.begin());
        let request = RemoteRequest { session, ids };
        if let Some(conversation) = request.find(&mut self.sessions) {
            conversation.line(Side::Agent, body, &[], &mut self.record);
        }
        request
    }

    /// Returns a request without a body, of the session that its header names.
    pub fn listening(&self, name: Option<&str>) -> RemoteRequest {
        RemoteRequest {
            session: self.find(name),
            ids: Vec::new(),
        }
    }

    /// Notes the name that the server gives to the session of a request.
    pub fn named(&mut self, request: &RemoteRequest, name: &str) {
        if let Some(session) = request.session_in(&mut self.sessions) {
            session.name = Some(name.to_owned());
        }
    }

    /// Reads a message of the server.
    pub fn answered(&mut self, request: &RemoteRequest, message: TapLine<'_>) {
        if let Some(session) = request.session_in(&mut self.sessions) {
            session.is_lost = false;
            if let Some(conversation) = &mut session.conversation {
                conversation.line(Side::Server, message, &request.ids, &mut self.record);
            }
        }
    }

    /// Returns whether one of the questions in a request still has no answer.
    pub fn is_open(&mut self, request: &RemoteRequest) -> bool {
        let conversation = request.find(&mut self.sessions);
        conversation
            .is_some_and(|conversation| request.ids.iter().any(|id| conversation.is_open(id)))
    }

    /// Notes that a request was refused, so that there will be no answer.
    pub fn refused(&mut self, request: &RemoteRequest, reason: &str) {
        if let Some(conversation) = request.find(&mut self.sessions) {
            conversation.refused(&request.ids, reason, &mut self.record);
        }
    }

    /// Notes that a session could not even be begun.
    pub fn not_begun(&mut self, reason: &str) {
        // A further stream of a session is no must.
        if self.sessions.is_empty() {
            let question = TapLine {
                text: r#"{"id": 0, "method": "initialize"}"#,
                bytes: 0,
                is_whole: true,
            };
            let request = self.asked(None, None, question);
            self.refused(&request, reason);
        }
    }

    /// Notes that the server cannot be reached any more: none of the open questions will have an answer.
    pub fn lost(&mut self, request: &RemoteRequest, reason: &str) {
        if let Some(session) = request.session_in(&mut self.sessions)
            && let Some(conversation) = &mut session.conversation
        {
            conversation.lost(reason, &mut self.record);
            if !std::mem::replace(&mut session.is_lost, true) {
                let reason = reason.to_owned();
                conversation.note(TapEventKind::Lost { reason }, &mut self.record);
            }
        }
    }

    /// Notes that the agent has ended a session.
    pub fn ended(&mut self, name: Option<&str>) {
        if let Some(number) = self.find(name) {
            self.end(number);
        }
    }

    fn end(&mut self, number: usize) {
        let session = self.sessions.get_mut(number);
        if let Some(conversation) = session.and_then(|session| session.conversation.take()) {
            conversation.finish(None, false, &mut self.record);
        }
    }

    /// Reads the end of the agent, after which nothing is read.
    pub fn finish(&mut self) {
        self.is_finished = true;
        for number in 0..self.sessions.len() {
            self.end(number);
        }
    }

    /// Returns the latest session of this name, or just the latest: servers need not name their sessions.
    fn find(&self, name: Option<&str>) -> Option<usize> {
        let is_open = |session: &Session| session.conversation.is_some();
        let sessions = self.sessions.iter();
        sessions
            .clone()
            .rposition(|session| is_open(session) && session.name.as_deref() == name)
            .or_else(|| sessions.clone().rposition(is_open))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::ServerTap;
    use super::*;

    #[derive(Default)]
    struct Server {
        talk: RemoteTalk,
    }

    impl Server {
        fn ask(&mut self, name: Option<&str>, message: &Value) -> RemoteRequest {
            self.talk.record.now_ms = 1;
            self.talk.asked(None, name, whole(&message.to_string()))
        }

        fn answer(&mut self, request: &RemoteRequest, message: &Value) {
            self.talk.record.now_ms = 5;
            self.talk.answered(request, whole(&message.to_string()));
        }

        fn figures(mut self) -> ServerTap {
            self.talk.finish();
            self.talk.record.figures
        }
    }

    fn whole(text: &str) -> TapLine<'_> {
        TapLine {
            text,
            bytes: text.len() as u64,
            is_whole: true,
        }
    }

    fn initialize() -> Value {
        json!({"id": 0, "method": "initialize"})
    }

    fn call(id: u64, tool: &str) -> Value {
        json!({"id": id, "method": "tools/call", "params": {"name": tool}})
    }

    #[test]
    fn sessions_with_the_same_numbers_are_kept_apart() {
        let mut server = Server::default();
        for name in ["a", "b"] {
            let request = server.ask(None, &initialize());
            server.talk.named(&request, name);
            server.answer(&request, &json!({"id": 0, "result": {}}));
        }
        let first = server.ask(Some("a"), &call(1, "look"));
        let second = server.ask(Some("b"), &call(1, "find"));
        server.answer(&second, &json!({"id": 1, "result": {"isError": true}}));
        // By a stream of the session's own.
        let stream = server.talk.listening(Some("a"));
        server.answer(&stream, &json!({"id": 1, "result": {}}));
        assert!(!server.talk.is_open(&first));
        server.talk.ended(Some("a"));
        let figures = server.figures();
        assert_eq!((figures.starts, figures.connected), (2, 2));
        assert_eq!(figures.tools["look"].errors, 0);
        assert_eq!(figures.tools["look"].durations_ms, [4]);
        assert_eq!(figures.tools["find"].errors, 1);
        assert_eq!(figures.deaths, Vec::<String>::new());
    }

    #[test]
    fn a_server_that_is_lost_has_died_once_and_leaves_no_call_open() {
        let mut server = Server::default();
        let request = server.ask(None, &initialize());
        server.answer(&request, &json!({"id": 0, "result": {}}));
        for id in 1..4 {
            let request = server.ask(None, &call(id, "look"));
            server.talk.lost(&request, "nobody is there");
            assert!(!server.talk.is_open(&request));
        }
        let figures = server.figures();
        assert_eq!(figures.deaths, ["nobody is there"]);
        let look = &figures.tools["look"];
        assert_eq!((look.calls, look.errors, look.unanswered), (3, 3, 0));
    }

    #[test]
    fn refusals_are_errors_of_their_own_requests() {
        let mut server = Server::default();
        let request = server.ask(None, &initialize());
        server.talk.refused(&request, "HTTP 401");
        let one = server.ask(None, &call(1, "look"));
        let other = server.ask(None, &call(2, "look"));
        server.talk.refused(&one, "HTTP 500");
        assert!(server.talk.is_open(&other));
        let long = TapLine {
            is_whole: false,
            ..whole("{\"result\":")
        };
        let another = server.ask(None, &call(3, "look"));
        server.talk.answered(&another, long);
        let figures = server.figures();
        assert_eq!(
            (figures.starts, figures.connected, figures.refused),
            (1, 0, 1)
        );
        let look = &figures.tools["look"];
        assert_eq!((look.calls, look.errors, look.unanswered), (3, 1, 1));
    }

    #[test]
    fn more_sessions_than_are_read_take_no_memory() {
        let mut server = Server::default();
        for _ in 0..2 * MOST_SESSIONS {
            let request = server.ask(None, &initialize());
            server.answer(&request, &json!({"id": 0, "result": {}}));
        }
        assert!(server.talk.has_too_many);
        assert_eq!(server.figures().starts, MOST_SESSIONS as u64);
    }
}
