//! Answers: pages, files and streams of events, with the headers that all of them have.

use std::fs::File;
use std::io::Read;
use std::iter;

use bytes::Bytes;
use http_body_util::channel::Channel;
use http_body_util::{Either, Full};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Response as HttpResponse, StatusCode};
use maud::html;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::request::Refusal;
use crate::html::PageSource;
use crate::html::message_page;
use crate::html::shell::policy;

/// An answer to a browser.
#[derive(Debug)]
pub struct Response(pub(super) HttpResponse<Body>);

/// All of an answer, or pieces of it that come from a thread.
pub(super) type Body = Either<Full<Bytes>, Channel<Bytes>>;

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

/// The policy of what is no page: it is read, and nothing in it runs.
const NOTHING_RUNS: &str = "default-src 'none'; sandbox";
const PLAIN_TEXT: &str = "text/plain; charset=utf-8";

impl Response {
    /// Answers with one of Terca's own pages.
    pub fn page(page: String) -> Self {
        let policy = format!("{}; frame-ancestors 'none'", policy(PageSource::Served));
        Response::new("text/html; charset=utf-8", &policy, whole(page))
    }

    /// Answers with a file of a trial. The browser takes it as text even if it is something else.
    pub fn file(mut file: File) -> Self {
        let pieces = iter::from_fn(move || {
            let mut piece = vec![0; PIECE];
            let count = file.read(&mut piece).ok()?;
            piece.truncate(count);
            (count > 0).then(|| piece.into())
        });
        Response::new(PLAIN_TEXT, NOTHING_RUNS, in_pieces(pieces))
    }

    /// Answers with a few words for the script of a page.
    pub fn text(text: &str) -> Self {
        Response::new(PLAIN_TEXT, NOTHING_RUNS, whole(text.to_owned()))
    }

    /// Answers a page's script with JSON.
    pub fn json(text: String) -> Self {
        Response::new("application/json", NOTHING_RUNS, whole(text))
    }

    /// Answers with events, each sent as it comes, for as long as the browser listens.
    pub fn events(events: impl Iterator<Item = Event> + Send + 'static) -> Self {
        let pieces = in_pieces(events.map(|event| event.text().into()));
        Response::new("text/event-stream", NOTHING_RUNS, pieces)
    }

    /// Answers with the reason why there is nothing else. It tells nothing about the suite.
    pub fn refusal(refusal: Refusal) -> Self {
        let next = html! {
            p { "Start " code { "terca view" } " again in the suite, and open the address that it prints." }
        };
        let (status, words) = refusal.told();
        Response::page(message_page(words, &next)).with(status)
    }

    /// Answers that something is not there, with a way to all runs.
    pub fn missing(message: &str, all_runs: &str) -> Self {
        let next = html! { p { a href=(all_runs) { "All runs" } } };
        Response::page(message_page(message, &next)).with(StatusCode::NOT_FOUND)
    }

    /// Sends the browser to another address.
    pub fn redirect(to: String) -> Self {
        let mut response = Response::page(String::new()).with(StatusCode::PERMANENT_REDIRECT);
        let to = HeaderValue::try_from(to).ok();
        let headers = response.0.headers_mut();
        headers.extend(to.map(|to| (LOCATION, to)));
        response
    }

    /// Answers that something went wrong on this side.
    pub fn trouble(message: &str) -> Self {
        Response::text(&format!("{message}\n")).with(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn new(kind: &'static str, policy: &str, body: Body) -> Self {
        let mut response = HttpResponse::new(body);
        let headers = response.headers_mut();
        for (name, value) in SAME_FOR_ALL {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        // It is made of ASCII; without it nothing would be shown at all.
        let policy = HeaderValue::from_str(policy);
        let policy = policy.unwrap_or(HeaderValue::from_static(NOTHING_RUNS));
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        Response(response)
    }

    fn with(mut self, status: StatusCode) -> Self {
        *self.0.status_mut() = status;
        self
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

/// The pieces of a body that may wait for a slow reader.
const WAITING_PIECES: usize = 2;
const PIECE: usize = 64 * 1024;

fn whole(text: String) -> Body {
    Either::Left(text.into())
}

/// Starts a thread that sends all pieces, or those until the browser has gone.
fn in_pieces(mut pieces: impl Iterator<Item = Bytes> + Send + 'static) -> Body {
    let (mut sender, body) = Channel::new(WAITING_PIECES);
    let runtime = Handle::current();
    spawn_blocking(move || pieces.try_for_each(|piece| runtime.block_on(sender.send_data(piece))));
    Either::Right(body)
}
