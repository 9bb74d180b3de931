//! The answer of an MCP server: passed on as it comes, and read as it goes by.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::StatusCode;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use terca_core::mcp_tap::{RemoteRequest, RemoteTalk};
use terca_core::text::excerpt::beginning;

use crate::http::event_stream::{EventStream, LONGEST, StreamEvent};
use crate::http::{BodyError, ClosedWatch, LONGEST_TEXT, TRIAL_IS_OVER, reason};
use crate::mcp::address::{EndpointSearch, Searched, resolve};
use crate::mcp::hiding::HidingBody;
use crate::mcp::way::{McpWay, line_of};

/// An answer of a server on its way to the agent.
pub(crate) struct McpAnswer {
    body: Incoming,
    /// The number of bytes that are still to come, if the server has said so.
    to_come: Option<u64>,
    closed: ClosedWatch,
    hearing: Option<Hearing>,
    /// Set at the beginning of a stream that may name an address for messages.
    search: Option<EndpointSearch>,
    /// Set where tools are hidden, until the end.
    hiding: Option<HidingBody>,
}

/// An answer that is read.
pub(crate) struct Hearing {
    way: Arc<McpWay>,
    request: RemoteRequest,
    status: StatusCode,
    form: Form,
    /// The stream belongs to a session by the older transport, which ends with it.
    is_whole_session: bool,
}

enum Form {
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
        Hearing {
            way,
            request,
            status,
            form: if is_encoded {
                Form::Unreadable
            } else if is_stream {
                Form::Events(EventStream::default())
            } else {
                Form::Document {
                    begun: Vec::new(),
                    bytes: 0,
                }
            },
            is_whole_session: false,
        }
    }

    fn feed(&mut self, piece: &[u8]) {
        match &mut self.form {
            Form::Events(events) => {
                let (way, request) = (&self.way, &self.request);
                events.feed(piece, &mut |event| hear(way, request, &event));
            }
            Form::Document { begun, bytes } => {
                *bytes += piece.len();
                let room = LONGEST - begun.len();
                begun.extend_from_slice(&piece[..room.min(piece.len())]);
            }
            Form::Unreadable => {}
        }
    }

    /// Reads the end of the answer. `broken` is the reason why it is not whole.
    fn finish(mut self, broken: Option<&str>) {
        let (way, request) = (&self.way, &self.request);
        let mut can_be_taken_up = false;
        let mut words = String::new();
        match &mut self.form {
            Form::Events(events) => {
                events.finish(&mut |event| hear(way, request, &event));
                can_be_taken_up = events.has_ids || broken.is_none();
            }
            Form::Document { begun, bytes } => {
                words = way.masked(begun);
                // A page about an error is no answer.
                if broken.is_none() && (self.status.is_success() || words.starts_with('{')) {
                    let line = line_of(&words, *bytes);
                    way.hear(|talk, at_ms, events| {
                        events.extend(talk.answered(request, at_ms, line));
                    });
                }
            }
            Form::Unreadable => "it is compressed".clone_into(&mut words),
        }
        way.hear(|talk, at_ms, events| {
            if self.is_whole_session {
                let why = broken.unwrap_or("it has closed its stream");
                events.extend(talk.lost(request, at_ms, why));
            } else if talk.is_open(request) && !can_be_taken_up {
                events.extend(match broken {
                    Some(why) => talk.lost(request, at_ms, why),
                    None => {
                        let words = beginning(words.trim(), LONGEST_TEXT);
                        let why = format!("HTTP {}: {words}", self.status.as_u16());
                        talk.refused(request, at_ms, &why)
                    }
                });
            }
        });
    }

    /// Begins a session by the older transport, whose address for messages is in the stream. Returns the one that the
    /// agent is given in its place.
    fn lead(&mut self, address: &str) -> Option<String> {
        let address = resolve(&self.way.url, address)?;
        let session = self.way.hear(RemoteTalk::begin);
        if let Some(session) = session {
            self.request = RemoteRequest::of(session);
            self.is_whole_session = true;
        }
        self.way.add_endpoint(address, session)
    }
}

/// Reads an event of a stream.
fn hear(way: &McpWay, request: &RemoteRequest, event: &StreamEvent<'_>) {
    // Others are for the transport.
    if !matches!(event.name, "" | "message") || event.data.is_empty() {
        return;
    }
    let text = way.masked(event.data);
    let line = if event.is_whole() {
        line_of(&text, event.bytes.min(LONGEST))
    } else {
        line_of(&text, event.bytes.max(LONGEST + 1))
    };
    way.hear(|talk, at_ms, events| events.extend(talk.answered(request, at_ms, line)));
}

impl McpAnswer {
    /// Passes a body on. With a `search`, it is a stream that may name an address for messages.
    pub(crate) fn new(
        body: Incoming,
        way: &McpWay,
        hearing: Option<Hearing>,
        search: Option<EndpointSearch>,
        hiding: Option<HidingBody>,
    ) -> Self {
        let mut answer = McpAnswer {
            to_come: body.size_hint().exact(),
            body,
            closed: way.closing.watch(),
            hearing,
            search,
            hiding,
        };
        answer.end_if_whole();
        answer
    }

    /// Reads the end of an answer whose last byte has come: nobody asks for more of it.
    fn end_if_whole(&mut self) {
        if self.to_come == Some(0)
            && self.hiding.is_none()
            && let Some(hearing) = self.hearing.take()
        {
            hearing.finish(None);
        }
    }

    /// Returns the bytes for the agent.
    fn pass(&mut self, bytes: Bytes) -> Result<Bytes, BodyError> {
        let mut bytes = self.lead(bytes);
        if let Some(hiding) = &mut self.hiding {
            bytes = Bytes::from(hiding.feed(&bytes)?);
        }
        self.hear(&bytes);
        Ok(bytes)
    }

    /// Returns the rest of the bytes for the agent, when the body has ended.
    fn rest(&mut self) -> Result<Bytes, BodyError> {
        let held = self.search.take().map(|mut search| search.take());
        let mut bytes = Bytes::from(held.unwrap_or_default());
        if let Some(mut hiding) = self.hiding.take() {
            let mut all = hiding.feed(&bytes)?;
            all.extend(hiding.finish());
            bytes = Bytes::from(all);
        }
        self.hear(&bytes);
        Ok(bytes)
    }

    /// Puts the gateway's address in the place of the one that the server names for messages.
    fn lead(&mut self, bytes: Bytes) -> Bytes {
        let Some(search) = &mut self.search else {
            return bytes;
        };
        match search.feed(&bytes) {
            Searched::NotYet(before) => Bytes::from(before),
            Searched::None(all) => {
                self.search = None;
                Bytes::from(all)
            }
            Searched::Found {
                before,
                address,
                after,
            } => {
                self.search = None;
                let led = self
                    .hearing
                    .as_mut()
                    .and_then(|hearing| hearing.lead(&address));
                let address = led.unwrap_or(address);
                let mut all = before;
                all.extend_from_slice(format!("event: endpoint\ndata: {address}\n\n").as_bytes());
                all.extend_from_slice(&after);
                Bytes::from(all)
            }
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        if let Some(hearing) = &mut self.hearing {
            hearing.feed(bytes);
        }
    }

    /// Notes that nothing more is passed on, for this reason.
    fn broken(&mut self, error: BodyError) -> BodyError {
        if let Some(hearing) = self.hearing.take() {
            hearing.finish(Some(&error.to_string()));
        }
        error
    }
}

impl Body for McpAnswer {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.closed.is_over(context) {
            return Poll::Ready(Some(Err(TRIAL_IS_OVER.into())));
        }
        loop {
            let polled = Pin::new(&mut self.body).poll_frame(context);
            let Poll::Ready(frame) = polled else {
                return Poll::Pending;
            };
            match frame {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => {
                        let length = bytes.len() as u64;
                        self.to_come = self.to_come.map(|to_come| to_come.saturating_sub(length));
                        let bytes = match self.pass(bytes) {
                            Ok(bytes) => bytes,
                            Err(error) => return Poll::Ready(Some(Err(self.broken(error)))),
                        };
                        self.end_if_whole();
                        if !bytes.is_empty() {
                            return Poll::Ready(Some(Ok(Frame::data(bytes))));
                        }
                    }
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                Some(Err(error)) => {
                    if let Some(hearing) = self.hearing.take() {
                        hearing.finish(Some(&format!("it broke off: {}", reason(&error))));
                    }
                    return Poll::Ready(Some(Err(error.into())));
                }
                None => {
                    let rest = match self.rest() {
                        Ok(rest) => rest,
                        Err(error) => return Poll::Ready(Some(Err(self.broken(error)))),
                    };
                    if !rest.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(rest))));
                    }
                    if let Some(hearing) = self.hearing.take() {
                        hearing.finish(None);
                    }
                    return Poll::Ready(None);
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        // The end is to be seen here, too.
        self.hearing.is_none() && self.hiding.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.search.is_some() || self.hiding.is_some() {
            // Its beginning may be replaced, and tools are left out.
            return SizeHint::default();
        }
        self.body.size_hint()
    }
}
