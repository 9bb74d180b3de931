//! The passages that are open, and the connections that come for them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::UPGRADE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use crate::http::{AnswerBody, refuse};
use crate::mcp::forward as mcp_forward;
use crate::mcp::way::{McpPlace, McpWay, WELL_KNOWN};
use crate::models::forward::{NO_SERVICE, Target, forward};
use crate::models::way::Way;
use crate::upstream::Connector;

/// The time to wait before the next attempt to accept a connection, if there is no room for it.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

/// The passages that are open at the moment.
#[derive(Debug)]
pub(crate) struct OpenPassages {
    pub(crate) connector: Connector,
    /// The open ways by their tokens.
    ways: Mutex<HashMap<String, Arc<Way>>>,
    /// The open ways to MCP servers by their tokens.
    servers: Mutex<HashMap<String, Arc<McpWay>>>,
}

/// The methods that are passed on. TRACE is not among them: its answer has the key.
const METHODS: [Method; 6] = [
    Method::DELETE,
    Method::GET,
    Method::HEAD,
    Method::OPTIONS,
    Method::POST,
    Method::PUT,
];

impl OpenPassages {
    pub(crate) fn new(connector: Connector) -> Self {
        OpenPassages {
            connector,
            ways: Mutex::default(),
            servers: Mutex::default(),
        }
    }

    pub(crate) fn ways(&self) -> MutexGuard<'_, HashMap<String, Arc<Way>>> {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn servers(&self) -> MutexGuard<'_, HashMap<String, Arc<McpWay>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves the requests of one connection.
    pub(crate) async fn serve(self: Arc<Self>, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let service = service_fn(|request| {
            let passages = Arc::clone(&self);
            async move { Ok::<_, Infallible>(passages.answer(request).await) }
        });
        // Agents hang up as they like, and services break off: both are in the log of the passage.
        let _ = http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<AnswerBody> {
        if !METHODS.contains(request.method()) {
            return refuse(StatusCode::METHOD_NOT_ALLOWED, "there is no such method");
        }
        if request.headers().contains_key(UPGRADE) {
            return refuse(StatusCode::NOT_IMPLEMENTED, "only HTTP is passed on");
        }
        let path = request.uri().path().to_owned();
        if let Some((token, place)) = McpPlace::of(&path) {
            let way = self.servers().get(token).cloned();
            if let Some(way) = way {
                return mcp_forward::forward(way, place, request).await;
            }
        }
        if path.starts_with(WELL_KNOWN) {
            // Clients of MCP servers look for a way to sign in, and must not take a refusal for one.
            return refuse(StatusCode::NOT_FOUND, "there is no such document");
        }
        let target = Target::of(&path);
        let way = target.and_then(|target| self.ways().get(target.token).cloned());
        match way {
            Some(way) => forward(way, request).await,
            None if self.is_over(&path) => refuse(
                StatusCode::UNAUTHORIZED,
                "the trial of this address is over",
            ),
            None => refuse(StatusCode::NOT_FOUND, NO_SERVICE),
        }
    }

    /// Returns whether a path begins with the token of a passage that is closed. Nobody can guess a token, so one that
    /// is not open was.
    fn is_over(&self, path: &str) -> bool {
        let token = path.trim_start_matches('/').split('/').next();
        token.is_some_and(|token| {
            let is_open = self.ways().contains_key(token) || self.servers().contains_key(token);
            is_token(token) && !is_open
        })
    }
}

/// The beginning of every token.
const PREFIX: &str = "terca-";
/// The random bytes in a token.
const BYTES: usize = 16;

/// Makes a token that nobody can guess.
pub(crate) fn random_token() -> String {
    let mut bytes = [0_u8; BYTES];
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            // The kernel has them as soon as it runs; a signal may come in between.
            Err(_) => continue,
        }
    }
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{PREFIX}{hex}")
}

/// Returns whether a text looks like a token.
pub(crate) fn is_token(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(|hex| {
        hex.len() == 2 * BYTES && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_looks_like_one() {
        let token = random_token();
        assert!(is_token(&token), "{token}");
        assert_ne!(token, random_token());
        for other in ["", "v1", "terca-", "terca-0123", &token[1..], &token[..20]] {
            assert!(!is_token(other), "{other}");
        }
    }
}
