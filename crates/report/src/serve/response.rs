//! Answers: pages, files and streams of events, with the headers that all of them have.

use std::fs::File;
use std::io::{self, Write};

use super::request::{Method, Refusal};
use crate::html::Kind;
use crate::html::policy::policy;

/// An answer to a browser.
pub struct Response {
    status: &'static str,
    kind: &'static str,
    policy: String,
    body: Body,
}

enum Body {
    Text(String),
    File(File),
    /// Sent one by one, for as long as the browser listens. An empty one only tests whether it still does.
    Events(Box<dyn Iterator<Item = &'static str> + Send>),
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
            status: "200 OK",
            kind: "text/html; charset=utf-8",
            policy: format!("{}; frame-ancestors 'none'", policy(Kind::Served)),
            body: Body::Text(page),
        }
    }

    /// Answers with a file of a trial. The browser takes it as text even if it is something else.
    pub fn file(file: File) -> Self {
        Response::inert("200 OK", PLAIN_TEXT, Body::File(file))
    }

    /// Answers with the names of events, each sent as it comes.
    pub fn events(events: Box<dyn Iterator<Item = &'static str> + Send>) -> Self {
        Response::inert("200 OK", "text/event-stream", Body::Events(events))
    }

    /// Answers with the reason why there is nothing else.
    pub fn refusal(refusal: Refusal) -> Self {
        let status = refusal.status();
        Response::inert(status, PLAIN_TEXT, Body::Text(format!("{status}\n")))
    }

    /// Answers that something went wrong on this side.
    pub fn trouble(message: &str) -> Self {
        let body = Body::Text(format!("{message}\n"));
        Response::inert("500 Internal Server Error", PLAIN_TEXT, body)
    }

    fn inert(status: &'static str, kind: &'static str, body: Body) -> Self {
        Response {
            status,
            kind,
            policy: NOTHING_RUNS.to_owned(),
            body,
        }
    }

    /// Writes the answer, and no body if only the head was asked for.
    pub fn write(self, method: Method, to: &mut impl Write) -> io::Result<()> {
        let Response {
            status,
            kind,
            policy,
            body,
        } = self;
        let length = match &body {
            Body::Text(text) => format!("Content-Length: {}\r\n", text.len()),
            // The end of the connection is the end of these.
            Body::File(_) | Body::Events(_) => String::new(),
        };
        write!(
            to,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{length}Content-Security-Policy: {policy}\r\n\
             X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n"
        )?;
        if method == Method::Get {
            match body {
                Body::Text(text) => to.write_all(text.as_bytes())?,
                Body::File(mut file) => {
                    io::copy(&mut file, to)?;
                }
                Body::Events(events) => {
                    to.flush()?;
                    for event in events {
                        match event {
                            "" => to.write_all(b":\n\n")?,
                            event => write!(to, "event: {event}\ndata: -\n\n")?,
                        }
                        to.flush()?;
                    }
                }
            }
        }
        to.flush()
    }
}
