//! Asks an MCP server by HTTP for the tools that it offers.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri, header};
use serde_json::Value;
use terca_core::agent::mcp::RemoteTransport;
use terca_core::mcp_tap::{NextInTalk, OfferedTool, ToolsTalk};
use thiserror::Error;
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};

use crate::event_stream::EventStream;
use crate::forward::reason;
use crate::mcp_address::{port, resolve};
use crate::upstream::{Connector, Upstream};

/// The time between two looks at an interrupt.
const LOOK: Duration = Duration::from_millis(200);
/// The most addresses that a request is sent on to.
const MOST_REDIRECTS: usize = 5;
/// The longest answer.
const LONGEST_ANSWER: usize = 64 * 1024 * 1024;

/// A question for the tools of a server.
#[derive(Debug)]
pub struct ToolsQuestion<'a> {
    /// The server's address, by `http` or `https`.
    pub url: &'a str,
    /// Headers for each request to it. One that no request may have is left out.
    pub headers: &'a [(String, String)],
    /// The way to speak to it. A server by `sse` is only asked whether it is there: it answers in a stream of its own.
    pub transport: RemoteTransport,
    /// The time for all answers.
    pub limit: Duration,
}

/// The reason why there is no answer.
#[derive(Debug, Error)]
pub enum NoAnswer {
    /// The address is none of a service.
    #[error("`{0}` is not an `http` or `https` address")]
    BadAddress(String),
    /// There is no connection.
    #[error("{service} cannot be reached: {why}")]
    Unreachable {
        /// The host and the port.
        service: String,
        /// The reason of the system, or of TLS.
        why: String,
    },
    /// The connection was there, and no answer came.
    #[error("it broke off: {0}")]
    BrokeOff(String),
    /// The server answered something else than was asked for.
    #[error("{0}")]
    Refused(String),
    /// The limit is over.
    #[error("there was no answer in time")]
    Silent,
    /// The caller stopped it.
    #[error("stopped")]
    Stopped,
    /// The request could not be sent from this machine.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl ToolsQuestion<'_> {
    /// Asks, and returns the tools, unless it is a server by `sse`. The variables name the proxy, if there is one.
    pub fn ask(
        self,
        variable: &dyn Fn(&str) -> Option<String>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<OfferedTool>>, NoAnswer> {
        let session = Session::of(&self, variable)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let stopped = async {
                while !is_stopped() {
                    sleep(LOOK).await;
                }
            };
            tokio::select! {
                tools = timeout(self.limit, session.tools(self.transport)) => tools.unwrap_or(Err(NoAnswer::Silent)),
                () = stopped => Err(NoAnswer::Stopped),
            }
        })
    }
}

/// A session with a server.
struct Session<'a> {
    upstream: Upstream,
    /// The address, without a name and a password.
    address: Uri,
    headers: &'a [(String, String)],
    id: Option<String>,
    version: Option<String>,
}

impl<'a> Session<'a> {
    fn of(
        question: &ToolsQuestion<'a>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, NoAnswer> {
        let bad_address = || NoAnswer::BadAddress(question.url.to_owned());
        let uri: Uri = question.url.parse().map_err(|_| bad_address())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(bad_address());
        };
        let host = authority.as_str().rsplit('@').next().unwrap_or_default();
        let origin = format!("{scheme}://{host}");
        let upstream = Connector::new(variable).upstream(&origin);
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let address = format!("{origin}{path}").parse();
        Ok(Session {
            upstream: upstream.map_err(|_| bad_address())?,
            address: address.map_err(|_| bad_address())?,
            headers: question.headers,
            id: None,
            version: None,
        })
    }

    async fn tools(
        mut self,
        transport: RemoteTransport,
    ) -> Result<Option<Vec<OfferedTool>>, NoAnswer> {
        if transport == RemoteTransport::Sse {
            self.send(Method::GET, String::new()).await?;
            return Ok(None);
        }
        let (mut talk, first) = ToolsTalk::begin();
        let mut response = self.send(Method::POST, first.to_string()).await?;
        loop {
            let answer = read(response, &talk).await?;
            let version = answer["result"]["protocolVersion"].as_str();
            self.version = version.map(str::to_owned).or(self.version);
            let messages = match talk.answered(&answer).map_err(NoAnswer::Refused)? {
                NextInTalk::Send(messages) => messages,
                NextInTalk::Tools(tools) => return Ok(Some(tools)),
            };
            let Some((question, before)) = messages.split_last() else {
                return Ok(Some(Vec::new()));
            };
            for message in before {
                self.send(Method::POST, message.to_string()).await?;
            }
            response = self.send(Method::POST, question.to_string()).await?;
        }
    }

    /// Sends a request, and waits until its answer begins.
    async fn send(&mut self, method: Method, body: String) -> Result<Response<Incoming>, NoAnswer> {
        let mut address = self.address.clone();
        let mut redirects = 0;
        loop {
            let mut request = Request::new(Full::new(Bytes::from(body.clone())));
            *request.method_mut() = method.clone();
            *request.uri_mut() = address.clone();
            self.add_headers(request.headers_mut(), method == Method::POST);
            let response = self.upstream.send(request).await.map_err(|error| {
                let why = reason(&error);
                if error.is_connect() {
                    let host = address.host().unwrap_or_default();
                    let service = format!("{host}:{}", port(&address).unwrap_or_default());
                    NoAnswer::Unreachable { service, why }
                } else {
                    NoAnswer::BrokeOff(why)
                }
            })?;
            let text = |name| response.headers().get(name)?.to_str().ok();
            let status = response.status();
            if status.is_success() {
                let id = text("mcp-session-id").map(str::to_owned);
                self.id = id.or(self.id.take());
                return Ok(response);
            }
            let next = text("location").and_then(|to| resolve(&address, to));
            match next {
                Some(next) if status.is_redirection() && redirects < MOST_REDIRECTS => {
                    address = next;
                }
                _ => return Err(refusal(status)),
            }
            redirects += 1;
        }
    }

    fn add_headers(&self, headers: &mut header::HeaderMap, is_post: bool) {
        let mut all = vec![("accept", "text/event-stream")];
        if is_post {
            all = vec![
                ("accept", "application/json, text/event-stream"),
                ("content-type", "application/json"),
            ];
        }
        for (name, value) in [
            ("mcp-session-id", &self.id),
            ("mcp-protocol-version", &self.version),
        ] {
            all.extend(value.as_deref().map(|value| (name, value)));
        }
        let of_suite = self.headers.iter();
        all.extend(of_suite.map(|(name, value)| (name.as_str(), value.as_str())));
        for (name, value) in all {
            if let (Ok(name), Ok(value)) =
                (name.parse::<HeaderName>(), HeaderValue::from_str(value))
            {
                headers.insert(name, value);
            }
        }
    }
}

/// Returns the reason that a bad status is.
fn refusal(status: StatusCode) -> NoAnswer {
    let number = status.as_u16();
    NoAnswer::Refused(match number {
        401 | 403 => format!("it refused the request (HTTP {number}): check its `headers`"),
        404 => "nothing was found at its address (HTTP 404)".to_owned(),
        500.. => format!("it failed (HTTP {number})"),
        _ => format!("it refused the request (HTTP {number})"),
    })
}

/// Reads the answer to the question that waits: a document, or a message of a stream that may go on.
async fn read(response: Response<Incoming>, talk: &ToolsTalk) -> Result<Value, NoAnswer> {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let is_stream = content_type.is_some_and(|text| text.starts_with("text/event-stream"));
    let mut body = response.into_body();
    let mut events = EventStream::default();
    let mut document = Vec::new();
    let mut found = None;
    let take = |data: &[u8], found: &mut Option<Value>| {
        let message = serde_json::from_slice::<Value>(data).ok();
        let answer = message.filter(|message| talk.is_answer(message));
        *found = found.take().or(answer);
    };
    while found.is_none()
        && let Some(frame) = body.frame().await
    {
        let frame = frame.map_err(|error| NoAnswer::BrokeOff(error.to_string()))?;
        let bytes: Bytes = frame.into_data().unwrap_or_default();
        if is_stream {
            events.feed(&bytes, &mut |event| take(event.data, &mut found));
        } else if document.len() + bytes.len() > LONGEST_ANSWER {
            return Err(NoAnswer::Refused("its answer is too long".to_owned()));
        } else {
            document.extend_from_slice(&bytes);
        }
    }
    events.finish(&mut |event| take(event.data, &mut found));
    if !is_stream {
        take(&document, &mut found);
    }
    found.ok_or_else(|| NoAnswer::Refused("it answered without the protocol of MCP".to_owned()))
}
