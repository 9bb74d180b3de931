//! Answers: pages, files and streams of events, with the headers that all of them have.

use std::convert::Infallible;
use std::fs::File;
use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Response as HttpResponse, StatusCode};
use maud::html;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::spawn_blocking;

use super::request::Refusal;
use crate::html::PageSource;
use crate::html::message_page;
use crate::html::shell::policy;

/// An answer to a browser.
pub struct Response {
    status: StatusCode,
    kind: &'static str,
    policy: String,
    location: Option<String>,
    body: Body,
}

enum Body {
    Text(String),
    File(File),
    /// Sent one by one, for as long as the browser listens.
    Events(Box<dyn Iterator<Item = Event> + Send>),
}

/// A message to a page that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    name: &'static str,
    data: String,
}

impl Event {
    /// Tells the page nothing. The server learns whether the page still listens.
    pub const QUIET: Event = Event {
        name: "",
        data: String::new(),
    };

    /// Returns an event of a kind.
    pub fn of(name: &'static str, data: impl Into<String>) -> Self {
        let data = data.into();
        Event { name, data }
    }

    /// Returns the bytes of it. Each line of its data is a line of its own.
    fn text(&self) -> String {
        if self.name.is_empty() {
            return ":\n\n".to_owned();
        }
        let lines: String = self
            .data
            .split(['\n', '\r'])
            .map(|line| format!("data: {line}\n"))
            .collect();
        format!("event: {}\n{lines}\n", self.name)
    }
}

impl std::fmt::Debug for Response {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// The policy of what is no page: it is read, and nothing in it runs.
const NOTHING_RUNS: &str = "default-src 'none'; sandbox";
const PLAIN_TEXT: &str = "text/plain; charset=utf-8";

impl Response {
    /// Answers with one of Terca's own pages.
    pub fn page(page: String) -> Self {
        Response {
            status: StatusCode::OK,
            kind: "text/html; charset=utf-8",
            policy: format!("{}; frame-ancestors 'none'", policy(PageSource::Served)),
            location: None,
            body: Body::Text(page),
        }
    }

    /// Answers with a file of a trial. The browser takes it as text even if it is something else.
    pub fn file(file: File) -> Self {
        Response::inert(StatusCode::OK, PLAIN_TEXT, Body::File(file))
    }

    /// Answers with a few words for the script of a page.
    pub fn text(text: &str) -> Self {
        Response::inert(StatusCode::OK, PLAIN_TEXT, Body::Text(text.to_owned()))
    }

    /// Answers a page's script with JSON.
    pub fn json(text: String) -> Self {
        Response::inert(StatusCode::OK, "application/json", Body::Text(text))
    }

    /// Answers with events, each sent as it comes.
    pub fn events(events: Box<dyn Iterator<Item = Event> + Send>) -> Self {
        Response::inert(StatusCode::OK, "text/event-stream", Body::Events(events))
    }

    /// Answers with the reason why there is nothing else. It tells nothing about the suite.
    pub fn refusal(refusal: Refusal) -> Self {
        let next = html! {
            p { "Start " code { "terca view" } " again in the suite, and open the address that it prints." }
        };
        let (status, words) = refusal.told();
        Response {
            status,
            ..Response::page(message_page(words, &next))
        }
    }

    /// Answers that something is not there, with a way to all runs.
    pub fn missing(message: &str, all_runs: &str) -> Self {
        let next = html! { p { a href=(all_runs) { "All runs" } } };
        Response {
            status: StatusCode::NOT_FOUND,
            ..Response::page(message_page(message, &next))
        }
    }

    /// Sends the browser to another address.
    pub fn redirect(to: String) -> Self {
        Response {
            status: StatusCode::PERMANENT_REDIRECT,
            location: Some(to),
            ..Response::page(String::new())
        }
    }

    /// Answers that something went wrong on this side.
    pub fn trouble(message: &str) -> Self {
        let body = Body::Text(format!("{message}\n"));
        Response::inert(StatusCode::INTERNAL_SERVER_ERROR, PLAIN_TEXT, body)
    }

    fn inert(status: StatusCode, kind: &'static str, body: Body) -> Self {
        Response {
            status,
            kind,
            policy: NOTHING_RUNS.to_owned(),
            location: None,
            body,
        }
    }

    /// Makes the answer that is sent, without a body if only the head was asked for.
    pub(super) fn into_http(self, is_head: bool) -> HttpResponse<ResponseBody> {
        let body = match self.body {
            Body::Text(text) => ResponseBody::Whole(Bytes::from(text)),
            Body::File(_) | Body::Events(_) if is_head => ResponseBody::Whole(Bytes::new()),
            Body::File(file) => ResponseBody::written_by(|sender| send_file(file, &sender)),
            Body::Events(events) => ResponseBody::written_by(|sender| send_events(events, &sender)),
        };
        let mut response = HttpResponse::new(body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        for (name, value) in SAME_FOR_ALL {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.kind));
        // It is made of ASCII; without it nothing would be shown at all.
        let policy = HeaderValue::from_str(&self.policy);
        let policy = policy.unwrap_or(HeaderValue::from_static(NOTHING_RUNS));
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        if let Some(to) = self.location.and_then(|to| HeaderValue::try_from(to).ok()) {
            headers.insert(LOCATION, to);
        }
        response
    }
}

const SAME_FOR_ALL: [(HeaderName, &str); 6] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (CACHE_CONTROL, "no-store"),
];

/// The body of an answer as it is sent.
#[derive(Debug)]
pub(super) enum ResponseBody {
    /// All of it is there.
    Whole(Bytes),
    /// It comes in pieces from a thread.
    Pieces(Receiver<Bytes>),
}

/// The pieces of a body that may wait for a slow reader.
const WAITING_PIECES: usize = 2;
const PIECE: usize = 64 * 1024;

impl ResponseBody {
    /// Starts a thread that writes the body.
    fn written_by(write: impl FnOnce(Sender<Bytes>) + Send + 'static) -> Self {
        let (sender, receiver) = channel(WAITING_PIECES);
        spawn_blocking(move || write(sender));
        ResponseBody::Pieces(receiver)
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            ResponseBody::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            ResponseBody::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            ResponseBody::Pieces(receiver) => receiver
                .poll_recv(context)
                .map(|piece| piece.map(|piece| Ok(Frame::data(piece)))),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ResponseBody::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            ResponseBody::Pieces(_) => SizeHint::default(),
        }
    }
}

/// Sends a file to its end, or until the browser has gone.
fn send_file(mut file: File, to: &Sender<Bytes>) {
    loop {
        let mut piece = vec![0; PIECE];
        match file.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(count) => piece.truncate(count),
        }
        if to.blocking_send(piece.into()).is_err() {
            return;
        }
    }
}

/// Sends events as they come, until the browser has gone.
fn send_events(events: impl Iterator<Item = Event>, to: &Sender<Bytes>) {
    for event in events {
        if to.blocking_send(event.text().into()).is_err() {
            return;
        }
    }
}
