//! The parts that all requests and answers have in common, of models as of MCP servers.

pub(crate) mod request_body;
pub(crate) mod watched_body;

use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::json;
use terca_core::wire::messages::Framing;
use tokio::sync::watch;

/// The reason why a body could not be passed on to its end.
pub(crate) type BodyError = Box<dyn Error + Send + Sync>;
/// The body of an answer on its way to the agent.
pub(crate) type AnswerBody = UnsyncBoxBody<Bytes, BodyError>;

/// The longest event, and the longest JSON document, that is read.
pub(crate) const LONGEST: usize = 4 * 1024 * 1024;
/// The longest name or message that is kept, in characters.
pub(crate) const LONGEST_TEXT: usize = 300;

/// The headers that are always of one connection.
const OF_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Locks a value, whatever became of those who had it before.
pub(crate) fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a time in whole milliseconds.
pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the text of a header.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Returns whether a body is compressed.
pub(crate) fn is_encoded(headers: &HeaderMap) -> bool {
    text(headers, &header::CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity")
}

/// Returns the way in which messages follow each other in a body.
pub(crate) fn framing(headers: &HeaderMap) -> Framing {
    match text(headers, &header::CONTENT_TYPE) {
        Some(text) if text.starts_with("text/event-stream") => Framing::Events,
        _ => Framing::Document,
    }
}

/// Removes the headers of one connection, and those that `Connection` names as such.
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let mut named = Vec::new();
    for value in headers.get_all(header::CONNECTION) {
        let names = value.to_str().unwrap_or_default().split(',');
        named.extend(names.filter_map(|name| name.trim().parse::<HeaderName>().ok()));
    }
    for name in OF_CONNECTION.iter().chain(&named) {
        headers.remove(name);
    }
}

/// Removes the headers of the connection from those of a request, and asks for an answer that can be read.
pub(crate) fn make_readable(headers: &mut HeaderMap) {
    remove_hop_by_hop(headers);
    for name in [header::HOST, header::CONTENT_LENGTH, header::EXPECT] {
        headers.remove(name);
    }
    let identity = HeaderValue::from_static("identity");
    headers.insert(header::ACCEPT_ENCODING, identity);
}

/// Returns the innermost reason, which says more than the outer ones.
pub(crate) fn reason(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// Answers in the place of the service, in a form that clients of every protocol show.
pub(crate) fn refuse(status: StatusCode, message: &str) -> Response<AnswerBody> {
    let message = format!("terca's gateway: {message}");
    let body = json!({"type": "error", "error": {"type": "api_error", "message": message}});
    answer(status, "application/json", body.to_string())
}

/// Makes an answer of the gateway's own.
pub(crate) fn answer(
    status: StatusCode,
    content_type: &'static str,
    text: String,
) -> Response<AnswerBody> {
    let body = Full::new(Bytes::from(text)).map_err(|never| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static(content_type);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type);
    response
}

/// The answer to a request whose trial has come to its end.
pub(crate) const TRIAL_IS_OVER: &str = "the trial is over";

/// Says when a passage is closed.
#[derive(Debug)]
pub(crate) struct Closing(watch::Sender<bool>);

impl Closing {
    pub(crate) fn new() -> Self {
        Closing(watch::Sender::new(false))
    }

    pub(crate) fn close(&self) {
        self.0.send_replace(true);
    }

    /// Waits until the passage is closed.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut receiver = self.0.subscribe();
        async move {
            // Nobody is there to close it when the sender is gone.
            let _ = receiver.wait_for(|is_closed| *is_closed).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn headers_that_connection_names_go_no_further() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Hop"),
            ("connection", "x-other, not a name"),
            ("x-hop", "1"),
            ("x-other", "2"),
            ("te", "trailers"),
            ("x-stays", "3"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        remove_hop_by_hop(&mut headers);
        let left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(left, ["x-stays"]);
    }
}
