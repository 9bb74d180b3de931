//! The answer of an MCP server: read as it goes by, with addresses replaced and tools hidden.

use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use terca_core::mcp_tap::{Framing, HidingStream, MessagePieces, RemoteRequest, RemoteTalk, Side};
use terca_core::text::excerpt::beginning;

use crate::http::event_stream::{EventStream, LONGEST, StreamEvent};
use crate::http::watched_body::Watcher;
use crate::http::{BodyError, LONGEST_TEXT, reason};
use crate::mcp::remote_server::resolve;
use crate::mcp::way::McpWay;

/// An answer of a server on its way to the agent.
pub(crate) struct McpAnswer {
    hearing: Option<Hearing>,
    /// Set at the beginning of a stream that may name an address for messages.
    search: Option<MessagePieces>,
    hiding: Option<HidingStream>,
}

/// An answer that is read.
pub(crate) struct Hearing {
    way: Arc<McpWay>,
    request: RemoteRequest,
    status: StatusCode,
    form: HeardForm,
    /// The stream belongs to a session by the older transport, which ends with it.
    is_whole_session: bool,
}

enum HeardForm {
    Events(EventStream),
    Document {
        begun: Vec<u8>,
        bytes: usize,
    },
    /// Compressed, although nobody asked for it.
    Unreadable,
}

impl Hearing {
    pub(crate) fn new(
        way: Arc<McpWay>,
        request: RemoteRequest,
        status: StatusCode,
        is_stream: bool,
        is_encoded: bool,
    ) -> Self {
        let form = match (is_encoded, is_stream) {
            (true, _) => HeardForm::Unreadable,
            (_, true) => HeardForm::Events(EventStream::default()),
            _ => HeardForm::Document {
                begun: Vec::new(),
                bytes: 0,
            },
        };
        Hearing {
            way,
            request,
            status,
            form,
            is_whole_session: false,
        }
    }

    fn feed(&mut self, piece: &[u8]) {
        match &mut self.form {
            HeardForm::Events(events) => {
                let (way, request) = (&self.way, &self.request);
                events.feed(piece, &mut |event| hear(way, request, &event));
            }
            HeardForm::Document { begun, bytes } => {
                *bytes += piece.len();
                let room = LONGEST - begun.len();
                begun.extend_from_slice(&piece[..room.min(piece.len())]);
            }
            HeardForm::Unreadable => {}
        }
    }

    /// Reads the end of the answer. `broken` is the reason why it is not whole.
    fn finish(&mut self, broken: Option<&str>) {
        let (way, request) = (&self.way, &self.request);
        let mut can_be_taken_up = false;
        let mut words = String::new();
        match &mut self.form {
            HeardForm::Events(events) => {
                events.finish(&mut |event| hear(way, request, &event));
                can_be_taken_up = events.has_ids || broken.is_none();
            }
            HeardForm::Document { begun, bytes } => {
                // A page about an error is no answer.
                if broken.is_none() && (self.status.is_success() || begun.starts_with(b"{")) {
                    way.hear_line(begun, *bytes, |talk, line| talk.answered(request, line));
                }
                words = way.masked(begun);
            }
            HeardForm::Unreadable => "it is compressed".clone_into(&mut words),
        }
        way.hear(|talk| {
            if self.is_whole_session {
                talk.lost(request, broken.unwrap_or("it has closed its stream"));
            } else if talk.is_open(request) && !can_be_taken_up {
                match broken {
                    Some(why) => talk.lost(request, why),
                    None => {
                        let words = beginning(words.trim(), LONGEST_TEXT);
                        let why = format!("HTTP {}: {words}", self.status.as_u16());
                        talk.refused(request, &why);
                    }
                }
            }
        });
    }

    /// Begins a session by the older transport, whose address for messages is in the stream. Returns the one that the
    /// agent is given in its place.
    fn lead(&mut self, address: &str) -> Option<String> {
        let address = resolve(&self.way.server.url, address)?;
        let session = self.way.hear(RemoteTalk::begin);
        if session.is_some() {
            self.request = RemoteRequest::default();
            self.request.session = session;
            self.is_whole_session = true;
        }
        self.way.add_endpoint(address, session)
    }
}

/// Reads an event of a stream.
fn hear(way: &McpWay, request: &RemoteRequest, event: &StreamEvent<'_>) {
    // Others are for the transport.
    if matches!(event.name, "" | "message") && !event.data.is_empty() {
        way.hear_line(event.data, event.bytes, |talk, line| {
            talk.answered(request, line);
        });
    }
}

impl McpAnswer {
    /// Begins an answer. With `is_searched`, it is a stream that may name an address for messages.
    pub(crate) fn new(
        way: &McpWay,
        hearing: Option<Hearing>,
        is_searched: bool,
        is_stream: bool,
    ) -> Self {
        let framing = match is_stream {
            true => Framing::Events,
            false => Framing::Document,
        };
        let hides = way.hides.clone();
        McpAnswer {
            hearing,
            search: is_searched.then(|| MessagePieces::new(Framing::Events)),
            hiding: hides.map(|hides| HidingStream::new(Some(hides), Side::Server, framing)),
        }
    }

    /// Puts the gateway's address in the place of the one that the server names for messages, in the first event of
    /// a stream.
    fn lead(&mut self, bytes: Bytes) -> Result<Bytes, BodyError> {
        let Some(mut search) = self.search.take() else {
            return Ok(bytes);
        };
        let mut passed = Vec::new();
        let mut is_over = false;
        search.feed(&bytes, &mut |event| {
            let text = String::from_utf8_lossy(event);
            let field = |name: &str| {
                let mut lines = text.lines();
                lines.find_map(|line| line.strip_prefix(name).map(str::trim))
            };
            match (field("event:"), field("data:")) {
                (Some("endpoint"), Some(address)) if !is_over => {
                    let hearing = self.hearing.as_mut();
                    let ours = hearing.and_then(|hearing| hearing.lead(address));
                    let address = ours.as_deref().unwrap_or(address);
                    let event = format!("event: endpoint\ndata: {address}\n\n");
                    passed.extend_from_slice(event.as_bytes());
                }
                _ => passed.extend_from_slice(event),
            }
            // Remarks are for nobody.
            is_over |= field("data:").is_some();
        })?;
        if is_over {
            passed.extend(search.rest());
        } else {
            self.search = Some(search);
        }
        Ok(Bytes::from(passed))
    }

    /// Hides tools in bytes, and reads them. At the end, those that were held are among them.
    fn see(&mut self, mut bytes: Bytes, is_last: bool) -> Result<Bytes, BodyError> {
        if let Some(hiding) = &mut self.hiding {
            let mut passed = hiding.pass(&bytes)?;
            if is_last {
                passed.extend(hiding.finish());
            }
            bytes = Bytes::from(passed);
        }
        if let Some(hearing) = &mut self.hearing {
            hearing.feed(&bytes);
        }
        Ok(bytes)
    }
}

impl Watcher for McpAnswer {
    fn pass(&mut self, bytes: Bytes) -> Result<Bytes, BodyError> {
        let bytes = self.lead(bytes)?;
        self.see(bytes, false)
    }

    fn end(&mut self, broken: Option<&BodyError>) -> Result<Bytes, BodyError> {
        let mut rest = Bytes::new();
        if broken.is_none() {
            let held = self.search.take().map(|mut search| search.rest());
            rest = self.see(Bytes::from(held.unwrap_or_default()), true)?;
        }
        if let Some(mut hearing) = self.hearing.take() {
            let broken = broken.map(|error| format!("it broke off: {}", reason(&**error)));
            hearing.finish(broken.as_deref());
        }
        Ok(rest)
    }

    fn keeps_length(&self) -> bool {
        // The beginning may be replaced, and tools are left out.
        self.search.is_none() && self.hiding.is_none()
    }
}
