//! An answer.

use std::fs::File;
use std::io::{self, Write};

use super::request::{Method, Refusal};
use crate::html::Kind;
use crate::html::policy::policy;

/// What to say to a browser.
pub struct Response {
    status: &'static str,
    kind: &'static str,
    policy: String,
    body: Body,
}

enum Body {
    Text(String),
    File(File),
    /// Told one by one, for as long as the browser listens. An empty one only asks whether it still does.
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

/// Files are read, not run.
const NOTHING: &str = "default-src 'none'; sandbox";

impl Response {
    pub fn page(page: String) -> Self {
        let policy = format!("{}; frame-ancestors 'none'", policy(Kind::Served));
        Response {
            status: "200 OK",
            kind: "text/html; charset=utf-8",
            policy,
            body: Body::Text(page),
        }
    }

    /// What an agent left, as text, whatever it is.
    pub fn file(file: File) -> Self {
        let (kind, body) = ("text/plain; charset=utf-8", Body::File(file));
        Response {
            status: "200 OK",
            kind,
            policy: NOTHING.to_owned(),
            body,
        }
    }

    pub fn events(events: Box<dyn Iterator<Item = &'static str> + Send>) -> Self {
        let (kind, body) = ("text/event-stream", Body::Events(events));
        Response {
            status: "200 OK",
            kind,
            policy: NOTHING.to_owned(),
            body,
        }
    }

    pub fn refusal(refusal: Refusal) -> Self {
        let status = refusal.status();
        let (kind, body) = (
            "text/plain; charset=utf-8",
            Body::Text(format!("{status}\n")),
        );
        Response {
            status,
            kind,
            policy: NOTHING.to_owned(),
            body,
        }
    }

    pub fn trouble(message: &str) -> Self {
        let body = Body::Text(format!("{message}\n"));
        let (status, kind) = ("500 Internal Server Error", "text/plain; charset=utf-8");
        Response {
            status,
            kind,
            policy: NOTHING.to_owned(),
            body,
        }
    }

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
