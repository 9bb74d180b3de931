//! The talk with a server by HTTP: several sessions, and an answer that comes by another request than its question.

use serde_json::Value;

use super::conversation::{Conversation, Side, TapLine, messages_of};
use super::{TapEvent, TapEventKind};

/// The most sessions with one server that are read. An agent that begins more is out of its mind, or wants Terca to be.
const MOST_SESSIONS: usize = 200;

/// Reads the talk with a server by HTTP, in all its sessions.
#[derive(Debug, Default)]
pub struct RemoteTalk {
    sessions: Vec<Session>,
    has_too_many: bool,
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

/// The number of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionNumber(usize);

/// The session that a request says it belongs to.
#[derive(Debug, Clone, Copy)]
pub enum SessionOfRequest<'a> {
    /// The name in its header, if it has one.
    Named(Option<&'a str>),
    /// The session whose stream named the address that the request went to.
    Known(SessionNumber),
}

/// A request by HTTP, and the questions in it.
#[derive(Debug, Clone, Default)]
pub struct RemoteRequest {
    session: Option<SessionNumber>,
    ids: Vec<Value>,
}

impl RemoteRequest {
    /// Returns a request without a question, of this session.
    pub fn of(session: SessionNumber) -> Self {
        RemoteRequest {
            session: Some(session),
            ids: Vec::new(),
        }
    }
}

impl RemoteTalk {
    /// Returns whether there were more sessions than are read.
    pub fn has_too_many(&self) -> bool {
        self.has_too_many
    }

    /// Begins a session.
    pub fn begin(&mut self, at_ms: u64, events: &mut Vec<TapEvent>) -> Option<SessionNumber> {
        if self.is_finished {
            return None;
        }
        if self.sessions.len() >= MOST_SESSIONS {
            self.has_too_many = true;
            return None;
        }
        let number = self.sessions.len();
        let conversation = Conversation::new(number as u32 + 1);
        events.push(conversation.started(at_ms));
        self.sessions.push(Session {
            name: None,
            conversation: Some(conversation),
            is_lost: false,
        });
        Some(SessionNumber(number))
    }

    /// Reads the body of a request. Keys in it must be masked.
    pub fn asked(
        &mut self,
        at_ms: u64,
        session: SessionOfRequest<'_>,
        body: TapLine<'_>,
        events: &mut Vec<TapEvent>,
    ) -> RemoteRequest {
        let messages = match body {
            TapLine::Whole(text) => messages_of(text),
            TapLine::TooLong { .. } => None,
        };
        let mut ids = Vec::new();
        let mut is_first = false;
        for message in messages.iter().flatten() {
            if let Some(method) = message["method"].as_str() {
                is_first |= method == "initialize";
                ids.extend(message.get("id").filter(|id| !id.is_null()).cloned());
            }
        }
        let number = match session {
            SessionOfRequest::Known(number) => Some(number),
            SessionOfRequest::Named(_) if is_first => self.begin(at_ms, events),
            SessionOfRequest::Named(name) => self.find(name).or_else(|| self.begin(at_ms, events)),
        };
        if let Some(conversation) = number.and_then(|number| self.conversation(number)) {
            match &messages {
                Some(messages) => {
                    for message in messages {
                        events.extend(conversation.message(Side::Agent, at_ms, message));
                    }
                }
                None => events.extend(conversation.line(Side::Agent, at_ms, body)),
            }
        }
        RemoteRequest {
            session: number,
            ids,
        }
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
        if let Some(session) = request
            .session
            .and_then(|number| self.sessions.get_mut(number.0))
        {
            session.name = Some(name.to_owned());
        }
    }

    /// Reads a message of the server. Keys in it must be masked.
    pub fn answered(
        &mut self,
        request: &RemoteRequest,
        at_ms: u64,
        message: TapLine<'_>,
    ) -> Vec<TapEvent> {
        let Some(number) = request.session else {
            return Vec::new();
        };
        if let Some(session) = self.sessions.get_mut(number.0) {
            session.is_lost = false;
        }
        let Some(conversation) = self.conversation(number) else {
            return Vec::new();
        };
        match (message, request.ids.as_slice()) {
            (TapLine::TooLong { beginning, .. }, [id]) if conversation.is_open(id) => {
                conversation.long_answer(id, at_ms, beginning)
            }
            _ => conversation.line(Side::Server, at_ms, message),
        }
    }

    /// Returns whether one of the questions in a request still has no answer.
    pub fn is_open(&mut self, request: &RemoteRequest) -> bool {
        let conversation = request.session.and_then(|number| self.conversation(number));
        conversation
            .is_some_and(|conversation| request.ids.iter().any(|id| conversation.is_open(id)))
    }

    /// Notes that a request was refused, so that there will be no answer.
    pub fn refused(&mut self, request: &RemoteRequest, at_ms: u64, reason: &str) -> Vec<TapEvent> {
        let conversation = request.session.and_then(|number| self.conversation(number));
        conversation.map_or_else(Vec::new, |conversation| {
            conversation.refused(&request.ids, at_ms, reason)
        })
    }

    /// Notes that a session could not even be begun.
    pub fn not_begun(&mut self, at_ms: u64, reason: &str) -> Vec<TapEvent> {
        let mut events = Vec::new();
        // A further stream of a session is no must.
        if self.sessions.is_empty()
            && let Some(number) = self.begin(at_ms, &mut events)
            && let Some(conversation) = self.conversation(number)
        {
            events.push(conversation.not_begun(at_ms, reason));
        }
        events
    }

    /// Notes that the server cannot be reached any more: none of the open questions will have an answer.
    pub fn lost(&mut self, request: &RemoteRequest, at_ms: u64, reason: &str) -> Vec<TapEvent> {
        let Some(session) = request
            .session
            .and_then(|number| self.sessions.get_mut(number.0))
        else {
            return Vec::new();
        };
        let Some(conversation) = &mut session.conversation else {
            return Vec::new();
        };
        let mut events = conversation.lost(at_ms, reason);
        if !std::mem::replace(&mut session.is_lost, true) {
            let reason = reason.to_owned();
            events.push(conversation.event(at_ms, TapEventKind::Lost { reason }));
        }
        events
    }

    /// Notes that the agent has ended a session.
    pub fn ended(&mut self, name: Option<&str>, at_ms: u64) -> Vec<TapEvent> {
        let found = self.find(name);
        let session = found.and_then(|number| self.sessions.get_mut(number.0));
        let conversation = session.and_then(|session| session.conversation.take());
        conversation.map_or_else(Vec::new, |conversation| {
            conversation.finish(at_ms, None, false)
        })
    }

    /// Reads the end of the agent, after which nothing is read.
    pub fn finish(&mut self, at_ms: u64) -> Vec<TapEvent> {
        self.is_finished = true;
        let mut events = Vec::new();
        for session in &mut self.sessions {
            if let Some(conversation) = session.conversation.take() {
                events.extend(conversation.finish(at_ms, None, false));
            }
        }
        events
    }

    fn conversation(&mut self, number: SessionNumber) -> Option<&mut Conversation> {
        self.sessions.get_mut(number.0)?.conversation.as_mut()
    }

    /// Returns the latest session of this name, or just the latest: servers need not name their sessions.
    fn find(&self, name: Option<&str>) -> Option<SessionNumber> {
        let is_open = |session: &Session| session.conversation.is_some();
        let named = self
            .sessions
            .iter()
            .rposition(|session| is_open(session) && session.name.as_deref() == name);
        let found = named.or_else(|| self.sessions.iter().rposition(is_open));
        found.map(SessionNumber)
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
        events: Vec<TapEvent>,
    }

    impl Server {
        fn ask(&mut self, name: Option<&str>, message: &Value) -> RemoteRequest {
            let text = message.to_string();
            let session = SessionOfRequest::Named(name);
            self.talk
                .asked(1, session, TapLine::Whole(&text), &mut self.events)
        }

        fn answer(&mut self, request: &RemoteRequest, message: &Value) {
            let text = message.to_string();
            let events = self.talk.answered(request, 5, TapLine::Whole(&text));
            self.events.extend(events);
        }

        fn figures(mut self) -> ServerTap {
            self.events.extend(self.talk.finish(9));
            let mut figures = ServerTap::default();
            for event in &self.events {
                figures.add(event);
            }
            figures
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
        let events = server.talk.ended(Some("a"), 7);
        server.events.extend(events);
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
            let events = server.talk.lost(&request, 6, "nobody is there");
            server.events.extend(events);
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
        let events = server.talk.refused(&request, 2, "HTTP 401");
        server.events.extend(events);
        let one = server.ask(None, &call(1, "look"));
        let other = server.ask(None, &call(2, "look"));
        let events = server.talk.refused(&one, 2, "HTTP 500");
        server.events.extend(events);
        assert!(server.talk.is_open(&other));
        let long = TapLine::TooLong {
            beginning: "{\"result\":",
            bytes: 1 << 30,
        };
        let another = server.ask(None, &call(3, "look"));
        let events = server.talk.answered(&another, 3, long);
        server.events.extend(events);
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
        assert!(server.talk.has_too_many());
        assert_eq!(server.figures().starts, MOST_SESSIONS as u64);
    }
}
