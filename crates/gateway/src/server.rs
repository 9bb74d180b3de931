//! The passages that are open, and the connections that come for them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::UPGRADE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use terca_core::text::hexadecimal;
use tokio::net::TcpStream;

use crate::http::{AnswerBody, lock, refuse};
use crate::mcp::forward as mcp_forward;
use crate::mcp::way::{McpPlace, McpWay};
use crate::models::forward::{NO_SERVICE, forward};
use crate::models::way::Way;
use crate::upstream::Connector;

/// The time to wait before the next attempt to accept a connection, if there is no room for it.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

/// The passages that are open at the moment.
#[derive(Debug)]
pub(crate) struct OpenPassages {
    pub connector: Connector,
    /// The open ways by their tokens.
    ways: Mutex<HashMap<String, OpenWay>>,
}

/// The place that a passage leads to.
#[derive(Debug, Clone)]
pub(crate) enum OpenWay {
    Models(Arc<Way>),
    McpServer(Arc<McpWay>),
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
        }
    }

    pub(crate) fn ways(&self) -> MutexGuard<'_, HashMap<String, OpenWay>> {
        lock(&self.ways)
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
        let token = path.trim_start_matches('/').split('/').next();
        let token = token.unwrap_or_default();
        let way = self.ways().get(token).cloned();
        match way {
            Some(OpenWay::Models(way)) => forward(way, request).await,
            Some(OpenWay::McpServer(way)) => match McpPlace::of(&path) {
                Some(place) => mcp_forward::forward(way, place, request).await,
                None => refuse(StatusCode::NOT_FOUND, NO_SERVICE),
            },
            // Nobody can guess a token, so one that is not open was.
            None if is_token(token) => refuse(
                StatusCode::UNAUTHORIZED,
                "the trial of this address is over",
            ),
            None => refuse(StatusCode::NOT_FOUND, NO_SERVICE),
        }
    }
}

/// The beginning of every token.
const PREFIX: &str = "terca-";
/// The random bytes in a token.
const BYTES: usize = 16;

/// Makes a token that nobody can guess.
pub(crate) fn random_token() -> String {
    let mut bytes = [0_u8; BYTES];
    // The kernel gives as few as these at once, as soon as it runs.
    while getrandom::getrandom(&mut bytes).is_err() {}
    format!("{PREFIX}{}", hexadecimal(&bytes))
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
