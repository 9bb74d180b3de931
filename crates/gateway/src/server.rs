//! The passages that are open, and the connections that come for them.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::UPGRADE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use terca_core::text::hexadecimal;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, oneshot};

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
    ways: Mutex<HashMap<String, Open>>,
    /// The connections that have shown no token yet, by their numbers. A message ends one.
    nameless: Mutex<BTreeMap<u64, oneshot::Sender<()>>>,
    accepted: AtomicU64,
}

/// The most connections of one passage at a time.
const MOST_CONNECTIONS: usize = 128;
/// The most connections that have shown no token. One more ends the oldest, so that nobody can take the room of others by
/// saying nothing.
const MOST_NAMELESS: usize = 256;

/// A passage that is open.
#[derive(Debug)]
struct Open {
    way: OpenWay,
    /// The room for its connections.
    room: Arc<Semaphore>,
}

/// A connection, and the places that it takes in passages until it ends.
#[derive(Debug)]
struct Connection {
    number: u64,
    places: Mutex<HashMap<String, OwnedSemaphorePermit>>,
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
            nameless: Mutex::default(),
            accepted: AtomicU64::new(0),
        }
    }

    /// Opens a way to those who know the token.
    pub(crate) fn open(&self, token: &str, way: OpenWay) {
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        lock(&self.ways).insert(token.to_owned(), Open { way, room });
    }

    pub(crate) fn close(&self, token: &str) {
        lock(&self.ways).remove(token);
    }

    /// Serves the requests of one connection.
    pub(crate) async fn serve(self: Arc<Self>, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let (connection, ended) = self.begin();
        let service = service_fn(|request| {
            let (passages, connection) = (Arc::clone(&self), Arc::clone(&connection));
            async move { Ok::<_, Infallible>(passages.answer(request, &connection).await) }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service);
        tokio::select! {
            // Agents hang up as they like, and services break off: both are in the log of the passage.
            _ = served => {}
            Ok(()) = ended => {}
        }
        lock(&self.nameless).remove(&connection.number);
    }

    /// Makes room for a connection, which has no name yet.
    fn begin(&self) -> (Arc<Connection>, oneshot::Receiver<()>) {
        let number = self.accepted.fetch_add(1, Ordering::Relaxed);
        let (end, ended) = oneshot::channel();
        let mut nameless = lock(&self.nameless);
        nameless.insert(number, end);
        if nameless.len() > MOST_NAMELESS
            && let Some((_, oldest)) = nameless.pop_first()
        {
            // It may have ended by itself.
            let _ = oldest.send(());
        }
        let places = Mutex::default();
        (Arc::new(Connection { number, places }), ended)
    }

    /// Returns the way of a token, if the connection has a place there or gets one.
    fn enter(
        &self,
        token: &str,
        connection: &Connection,
    ) -> Option<Result<OpenWay, TryAcquireError>> {
        let ways = lock(&self.ways);
        let open = ways.get(token)?;
        let mut places = lock(&connection.places);
        if !places.contains_key(token) {
            match Arc::clone(&open.room).try_acquire_owned() {
                Ok(place) => places.insert(token.to_owned(), place),
                Err(full) => return Some(Err(full)),
            };
            lock(&self.nameless).remove(&connection.number);
        }
        Some(Ok(open.way.clone()))
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
        connection: &Connection,
    ) -> Response<AnswerBody> {
        if !METHODS.contains(request.method()) {
            return refuse(StatusCode::METHOD_NOT_ALLOWED, "there is no such method");
        }
        if request.headers().contains_key(UPGRADE) {
            return refuse(StatusCode::NOT_IMPLEMENTED, "only HTTP is passed on");
        }
        let path = request.uri().path().to_owned();
        let token = path.trim_start_matches('/').split('/').next();
        let token = token.unwrap_or_default();
        match self.enter(token, connection) {
            Some(Ok(OpenWay::Models(way))) => forward(way, request).await,
            Some(Ok(OpenWay::McpServer(way))) => match McpPlace::of(&path) {
                Some(place) => mcp_forward::forward(way, place, request).await,
                None => refuse(StatusCode::NOT_FOUND, NO_SERVICE),
            },
            Some(Err(_)) => {
                let words = format!(
                    "an agent may have {MOST_CONNECTIONS} connections to the gateway, and has them"
                );
                refuse(StatusCode::SERVICE_UNAVAILABLE, &words)
            }
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
