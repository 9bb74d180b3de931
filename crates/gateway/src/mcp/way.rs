//! The way of one trial's agent to an MCP server by HTTP.
//!
//! The agent is given an address of the gateway in the place of the server's. The headers of the suite, which may be keys,
//! and the server's own address, which may have one in its path or its query, stay outside. An agent reaches the address
//! of the server and the addresses that the server names for messages (the older transport by server-sent events):
//! nothing else of that host.

use std::sync::Mutex;
use std::time::Instant;

use hyper::Uri;
use hyper::header::HeaderName;
use terca_core::mcp_tap::{HiddenTools, RemoteTalk, ServerRecord, TapLine};
use terca_core::text::excerpt::char_boundary;
use terca_core::text::mask::Mask;

use crate::http::request_body::Room;
use crate::http::{Closing, LONGEST, lock, milliseconds};
use crate::mcp::remote_server::RemoteServer;
use crate::upstream::{BadAddress, Connector};

/// The header with the name of a session.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The path of a server behind its token.
const SERVER: &str = "mcp";
/// The path of the addresses for messages, behind the token. The number of the address follows.
const MESSAGES: &str = "messages";
/// The most addresses for messages. A client has one at a time.
const MOST_ENDPOINTS: usize = 1000;

/// An MCP server that is reached by HTTP.
#[derive(Debug)]
pub struct RemoteMcpServer<'a> {
    /// Its address.
    pub url: &'a str,
    /// Headers for each request to it.
    pub headers: &'a [(String, String)],
    /// The tools that the agent is not offered.
    pub hides: Option<HiddenTools>,
    /// The secrets that must not be in the record.
    pub mask: &'a Mask,
}

/// The way of one trial's agent to an MCP server.
#[derive(Debug)]
pub(crate) struct McpWay {
    pub server: RemoteServer,
    /// The tools that the agent is not offered.
    pub hides: Option<HiddenTools>,
    pub room: Room,
    /// The address that the agent has, up to the token.
    address: String,
    mask: Mask,
    opened: Instant,
    state: Mutex<State>,
    pub closing: Closing,
}

#[derive(Debug, Default)]
struct State {
    talk: RemoteTalk,
    /// The addresses for messages that the server has named, with the number of the session of each.
    endpoints: Vec<(Uri, Option<usize>)>,
}

/// The place that a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum McpPlace {
    /// The address of the server.
    Server,
    /// An address for messages.
    Messages(usize),
}

impl McpPlace {
    /// Divides `/TOKEN/mcp` and `/TOKEN/messages/0`.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let (_, rest) = path.strip_prefix('/')?.split_once('/')?;
        if rest == SERVER {
            return Some(McpPlace::Server);
        }
        let (MESSAGES, number) = rest.split_once('/')? else {
            return None;
        };
        Some(McpPlace::Messages(number.parse().ok()?))
    }
}

impl McpWay {
    pub(crate) fn new(
        server: RemoteMcpServer<'_>,
        connector: &Connector,
        address: String,
    ) -> Result<Self, BadAddress> {
        Ok(McpWay {
            server: RemoteServer::new(server.url, server.headers, connector)?,
            hides: server.hides,
            room: Room::default(),
            address,
            mask: server.mask.clone(),
            opened: Instant::now(),
            state: Mutex::default(),
            closing: Closing::new(),
        })
    }

    /// Returns the address that the agent has in the place of the server's.
    pub(crate) fn address(&self) -> String {
        format!("{}/{SERVER}", self.address)
    }

    /// Changes what is known of the talk.
    pub(crate) fn hear<T>(&self, change: impl FnOnce(&mut RemoteTalk) -> T) -> T {
        let mut state = lock(&self.state);
        state.talk.record.now_ms = milliseconds(self.opened.elapsed());
        change(&mut state.talk)
    }

    /// Hands a message on as a line of the talk, without the secrets in it.
    pub(crate) fn hear_line<T>(
        &self,
        message: &[u8],
        change: impl FnOnce(&mut RemoteTalk, TapLine<'_>) -> T,
    ) -> T {
        let text = self.masked(message);
        // Cut after it is masked: half a key has no mask.
        let line = TapLine {
            text: &text[..char_boundary(&text, LONGEST)],
            bytes: message.len() as u64,
            is_whole: message.len() <= LONGEST,
        };
        self.hear(|talk| change(talk, line))
    }

    /// Returns a text without the secrets in it.
    pub(crate) fn masked(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        self.mask.keys_in(&text).into_owned()
    }

    /// Keeps an address for messages. Returns the one that the agent is given in its place, if there is room for it.
    pub(crate) fn add_endpoint(&self, address: Uri, session: Option<usize>) -> Option<String> {
        let mut state = lock(&self.state);
        let number = state.endpoints.len();
        if number >= MOST_ENDPOINTS {
            return None;
        }
        state.endpoints.push((address, session));
        Some(format!("{}/{MESSAGES}/{number}", self.address))
    }

    pub(crate) fn endpoint(&self, number: usize) -> Option<(Uri, Option<usize>)> {
        lock(&self.state).endpoints.get(number).cloned()
    }

    /// Ends everything that is on its way. Returns the record, and whether there were more sessions than were read.
    pub(crate) fn close(&self) -> (ServerRecord, bool) {
        self.closing.close();
        self.hear(|talk| {
            talk.finish();
            (std::mem::take(&mut talk.record), talk.has_too_many)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_reaches_these_places_and_no_others() {
        for (path, expected) in [
            ("/t/mcp", Some(McpPlace::Server)),
            ("/t/messages/7", Some(McpPlace::Messages(7))),
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
            assert_eq!(McpPlace::of(path), expected, "{path}");
        }
    }

    #[test]
    fn a_key_across_the_place_where_a_body_is_cut_is_masked_whole() {
        let key = "sk-a1b2c3d4e5f6g7h8i9";
        let server = RemoteMcpServer {
            url: "http://127.0.0.1:1/mcp",
            headers: &[],
            hides: None,
            mask: &Mask::new([key]),
        };
        let connector = Connector::new(&|_| None);
        let way = McpWay::new(server, &connector, String::new()).unwrap();
        let body = format!("{}{key}", "x".repeat(LONGEST - 5));
        way.hear_line(body.as_bytes(), |_, line| {
            assert!(!line.is_whole && !line.text.contains("sk-a1"));
        });
    }
}
