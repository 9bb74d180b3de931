//! The answer of an MCP server: read message by message, with addresses replaced and tools hidden.

use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use terca_core::mcp_tap::{LONGEST_MESSAGE, MessageTooLong, RemoteRequest, RemoteTalk, Side};
use terca_core::text::excerpt::beginning;
use terca_core::wire::messages::{Framing, Message, MessagePieces, Piece};

use crate::http::watched_body::Watcher;
use crate::http::{BodyError, LONGEST_TEXT, reason};
use crate::mcp::remote_server::resolve;
use crate::mcp::way::McpWay;

/// An answer of a server on its way to the agent.
pub(crate) struct McpAnswer {
    way: Arc<McpWay>,
    /// The request, if its answer counts.
    request: Option<RemoteRequest>,
    status: StatusCode,
    framing: Framing,
    pieces: MessagePieces,
    /// Set at the beginning of a stream that may name an address for messages.
    is_searched: bool,
    /// The stream belongs to a session by the older transport, which ends with it.
    is_whole_session: bool,
    /// It is a stream that can be taken up again.
    has_ids: bool,
    /// The words of a document.
    words: String,
}

impl McpAnswer {
    /// Begins an answer. With `is_searched`, it is a stream that may name an address for messages.
    pub(crate) fn new(
        way: Arc<McpWay>,
        request: Option<RemoteRequest>,
        status: StatusCode,
        framing: Framing,
        is_searched: bool,
    ) -> Self {
        McpAnswer {
            way,
            request,
            status,
            framing,
            pieces: MessagePieces::new(framing, LONGEST_MESSAGE),
            is_searched,
            is_whole_session: false,
            has_ids: false,
            words: String::new(),
        }
    }

    /// Reads a message. Returns the bytes for the agent.
    fn take(&mut self, piece: Piece) -> Result<Vec<u8>, BodyError> {
        if !piece.is_whole {
            return Err(MessageTooLong.into());
        }
        let mut message = piece.message();
        let mut changed = None;
        // The first event names the address. Remarks have no data.
        if self.is_searched && !message.data.is_empty() {
            self.is_searched = false;
            if message.name == "endpoint" {
                changed = self.lead(&message.data);
            }
        } else if let Some(hides) = &self.way.hides {
            changed = hides.changed(Side::Server, message.data.as_bytes());
        }
        let bytes = piece.changed(changed.as_deref());
        message.data = changed.unwrap_or(message.data);
        self.hear(&message);
        Ok(bytes)
    }

    /// Begins a session by the older transport, whose address for messages is in the stream. Returns the one that the
    /// agent is given in its place.
    fn lead(&mut self, address: &str) -> Option<String> {
        let address = resolve(&self.way.server.url, address)?;
        let session = self.way.hear(RemoteTalk::begin);
        if session.is_some() {
            let mut request = RemoteRequest::default();
            request.session = session;
            self.request = Some(request);
            self.is_whole_session = true;
        }
        self.way.add_endpoint(address, session)
    }

    fn hear(&mut self, message: &Message) {
        let data = message.data.as_bytes();
        self.has_ids |= message.has_id;
        let is_answer = if self.framing == Framing::Document {
            self.words = self.way.masked(data);
            // A page about an error is no answer.
            self.status.is_success() || data.starts_with(b"{")
        } else {
            // Others are for the transport.
            matches!(message.name.as_str(), "" | "message")
        };
        if let Some(request) = self.request.as_ref().filter(|_| is_answer) {
            let way = &self.way;
            way.hear_line(data, |talk, line| talk.answered(request, line));
        }
    }
}

impl Watcher for McpAnswer {
    fn pass(&mut self, bytes: Bytes) -> Result<Bytes, BodyError> {
        let mut passed = Vec::new();
        for piece in self.pieces.feed(&bytes) {
            passed.extend(self.take(piece)?);
        }
        Ok(Bytes::from(passed))
    }

    fn end(&mut self, broken: Option<&BodyError>) -> Result<Bytes, BodyError> {
        let rest = self.pieces.finish().filter(|_| broken.is_none());
        let rest = rest.map(|piece| self.take(piece)).transpose()?;
        let broken = broken.map(|error| format!("it broke off: {}", reason(&**error)));
        let can_be_taken_up = self.framing == Framing::Events && (self.has_ids || broken.is_none());
        if let Some(request) = self.request.take() {
            self.way.hear(|talk| match broken {
                _ if self.is_whole_session => {
                    let why = broken.as_deref().unwrap_or("it has closed its stream");
                    talk.lost(&request, why);
                }
                _ if can_be_taken_up || !talk.is_open(&request) => {}
                Some(why) => talk.lost(&request, &why),
                None => {
                    let words = beginning(self.words.trim(), LONGEST_TEXT);
                    let why = format!("HTTP {}: {words}", self.status.as_u16());
                    talk.refused(&request, &why);
                }
            });
        }
        Ok(Bytes::from(rest.unwrap_or_default()))
    }

    fn keeps_length(&self) -> bool {
        // The beginning may be replaced, and tools are left out.
        !self.is_searched && self.way.hides.is_none()
    }
}
