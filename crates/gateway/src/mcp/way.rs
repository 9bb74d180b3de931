//! The way of one trial's agent to an MCP server by HTTP.
//!
//! The agent is given an address of the gateway in the place of the server's. The headers of the suite, which may be keys,
//! and the server's own address, which may have one in its path or its query, stay outside. An agent reaches the address
//! of the server, the addresses that the server names for messages (the older transport by server-sent events), and the
//! documents about signing in: nothing else of that host.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hyper::Uri;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use terca_core::mcp_tap::{HiddenTools, RemoteTalk, SessionNumber, TapEvent, TapLine};
use terca_core::text::mask::Mask;

use crate::http::Closing;
use crate::http::event_stream::LONGEST;
use crate::http::request_body::Room;
use crate::upstream::{BadAddress, Connector, Upstream};

/// The path of a server behind its token.
pub(crate) const SERVER: &str = "mcp";
/// The path of the addresses for messages, behind the token. The number of the address follows.
const MESSAGES: &str = "messages";
/// The path of documents about signing in, before the token.
pub(crate) const WELL_KNOWN: &str = "/.well-known/";
/// The documents about signing in that clients ask for.
const DOCUMENTS: [&str; 3] = [
    PROTECTED_RESOURCE, "oauth-authorization-server", "openid-configuration",
];
/// The document that says who signs clients in to a server.
pub(crate) const PROTECTED_RESOURCE: &str = "oauth-protected-resource";
/// The most addresses for messages. A client has one at a time.
const MOST_ENDPOINTS: usize = 1000;

/// Takes what was seen of the talk with a server, in the order in which it was seen.
pub type EventSink = Box<dyn Fn(Vec<TapEvent>) + Send + Sync>;

/// An MCP server that is reached by HTTP.
pub struct RemoteMcpServer<'a> {
    /// Its address.
    pub url: &'a str,
    /// Headers for each request to it.
    pub headers: &'a [(String, String)],
    /// The tools that the agent is not offered.
    pub hides: Option<HiddenTools>,
    /// The secrets that must not be in the record.
    pub mask: &'a Mask,
    /// Takes the record.
    pub sink: EventSink,
}

impl fmt::Debug for RemoteMcpServer<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RemoteMcpServer")
            .finish_non_exhaustive()
    }
}

/// The way of one trial's agent to an MCP server.
pub(crate) struct McpWay {
    pub(crate) upstream: Upstream,
    /// The address of the server.
    pub(crate) url: Uri,
    pub(crate) headers: HeaderMap,
    /// The tools that the agent is not offered.
    pub(crate) hides: Option<HiddenTools>,
    pub(crate) room: Room,
    /// The address of the gateway, without a path.
    gateway: String,
    token: String,
    mask: Mask,
    opened: Instant,
    state: Mutex<State>,
    sink: EventSink,
    pub(crate) closing: Closing,
}

#[derive(Default)]
struct State {
    talk: RemoteTalk,
    /// The addresses for messages that the server has named.
    endpoints: Vec<Endpoint>,
    /// The address of the document about signing in that the server has named.
    protected_resource: Option<Uri>,
}

/// An address for messages, by the older transport.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) address: Uri,
    pub(crate) session: Option<SessionNumber>,
}

/// The place that a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    /// The address of the server.
    Server,
    /// An address for messages.
    Messages(usize),
    /// A document about signing in.
    Document(&'a str),
}

impl<'a> Place<'a> {
    /// Divides `/TOKEN/mcp`, `/TOKEN/messages/0` and `/.well-known/DOCUMENT/TOKEN/mcp`. Returns the token, too.
    pub(crate) fn of(path: &'a str) -> Option<(&'a str, Self)> {
        if let Some(rest) = path.strip_prefix(WELL_KNOWN) {
            let (document, rest) = rest.split_once('/')?;
            let (token, SERVER) = rest.split_once('/')? else {
                return None;
            };
            let is_known = DOCUMENTS.contains(&document);
            return is_known.then_some((token, Place::Document(document)));
        }
        let (token, rest) = path.strip_prefix('/')?.split_once('/')?;
        if rest == SERVER {
            return Some((token, Place::Server));
        }
        let (MESSAGES, number) = rest.split_once('/')? else {
            return None;
        };
        Some((token, Place::Messages(number.parse().ok()?)))
    }
}

impl McpWay {
    pub(crate) fn new(
        server: RemoteMcpServer<'_>,
        connector: &Connector,
        gateway: String,
        token: String,
    ) -> Result<Self, BadAddress> {
        let bad = || BadAddress(server.url.to_owned());
        let url: Uri = server.url.parse().map_err(|_| bad())?;
        let (Some(scheme), Some(authority)) = (url.scheme_str(), url.authority()) else {
            return Err(bad());
        };
        // Clients differ in what they make of a name and a password there.
        if authority.as_str().contains('@') {
            return Err(bad());
        }
        let upstream = connector.upstream(&format!("{scheme}://{authority}"))?;
        let mut headers = HeaderMap::new();
        for (name, value) in server.headers {
            let name: HeaderName = name.parse().map_err(|_| bad_header(name))?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad_header(name.as_str()))?;
            value.set_sensitive(true);
            headers.append(name, value);
        }
        Ok(McpWay {
            upstream,
            url,
            headers,
            hides: server.hides,
            room: Room::default(),
            gateway,
            token,
            mask: server.mask.clone(),
            opened: Instant::now(),
            state: Mutex::default(),
            sink: server.sink,
            closing: Closing::new(),
        })
    }

    /// Returns the address that the agent has in the place of the server's.
    pub(crate) fn address(&self) -> String {
        format!("{}/{}/{SERVER}", self.gateway, self.token)
    }

    /// Returns the address that the agent has in the place of that of a document about signing in.
    pub(crate) fn document_address(&self) -> String {
        let Self { gateway, token, .. } = self;
        format!("{gateway}{WELL_KNOWN}{PROTECTED_RESOURCE}/{token}/{SERVER}")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known of the talk, and hands on what was seen.
    pub(crate) fn hear<T>(
        &self,
        change: impl FnOnce(&mut RemoteTalk, u64, &mut Vec<TapEvent>) -> T,
    ) -> T {
        let mut events = Vec::new();
        let mut state = self.state();
        let at_ms = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        let result = change(&mut state.talk, at_ms, &mut events);
        // Still locked, so that events stay in their order.
        if !events.is_empty() {
            (self.sink)(events);
        }
        drop(state);
        result
    }

    /// Returns a text without the secrets in it.
    pub(crate) fn masked(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        self.mask.keys_in(&text).into_owned()
    }

    /// Keeps an address for messages. Returns the one that the agent is given in its place, if there is room for it.
    pub(crate) fn add_endpoint(
        &self,
        address: Uri,
        session: Option<SessionNumber>,
    ) -> Option<String> {
        let mut state = self.state();
        let number = state.endpoints.len();
        if number >= MOST_ENDPOINTS {
            return None;
        }
        state.endpoints.push(Endpoint { address, session });
        Some(format!(
            "{}/{}/{MESSAGES}/{number}",
            self.gateway, self.token
        ))
    }

    pub(crate) fn endpoint(&self, number: usize) -> Option<Endpoint> {
        self.state().endpoints.get(number).cloned()
    }

    /// Keeps the address of the document about signing in.
    pub(crate) fn set_protected_resource(&self, address: Uri) {
        self.state().protected_resource = Some(address);
    }

    pub(crate) fn protected_resource(&self) -> Option<Uri> {
        self.state().protected_resource.clone()
    }

    /// Ends everything that is on its way. Returns whether there were more sessions than were read.
    pub(crate) fn close(&self) -> bool {
        self.closing.close();
        self.hear(|talk, at_ms, events| {
            events.extend(talk.finish(at_ms));
            talk.has_too_many()
        })
    }
}

/// Returns a body as a line of the talk, by its beginning and its length.
pub(crate) fn line_of(beginning: &str, bytes: usize) -> TapLine<'_> {
    if bytes > LONGEST {
        let bytes = bytes as u64;
        TapLine::TooLong { beginning, bytes }
    } else {
        TapLine::Whole(beginning)
    }
}

fn bad_header(name: &str) -> BadAddress {
    BadAddress(format!("a header `{name}`"))
}

impl fmt::Debug for McpWay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("McpWay").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_reaches_these_places_and_no_others() {
        for (path, expected) in [
            ("/t/mcp", Some(("t", Place::Server))),
            ("/t/messages/7", Some(("t", Place::Messages(7)))),
            (
                "/.well-known/oauth-protected-resource/t/mcp",
                Some(("t", Place::Document("oauth-protected-resource"))),
            ),
            ("/.well-known/oauth-protected-resource", None),
            ("/.well-known/secrets/t/mcp", None),
            ("/.well-known/../t/mcp", None),
            ("/t/mcp/", None),
            ("/t/mcp/../admin", None),
            ("/t/messages/x", None),
            ("/t/messages/7/8", None),
            ("/t/0/v1/messages", None),
            ("/register", None),
            ("/", None),
        ] {
            assert_eq!(Place::of(path), expected, "{path}");
        }
    }
}
