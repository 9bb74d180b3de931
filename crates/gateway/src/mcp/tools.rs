//! Asks an MCP server by HTTP for the tools that it offers.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Response, StatusCode};
use terca_core::agent::mcp::{McpServer, RemoteTransport};
use terca_core::mcp_tap::{LONGEST_MESSAGE, OfferedTool, ToolsTalk};
use terca_core::wire::messages::MessagePieces;
use thiserror::Error;

use crate::http::{framing, reason, text};
use crate::mcp::remote_server::{RemoteServer, port};
use crate::mcp::way::SESSION;
use crate::upstream::{BadAddress, Connector};

/// The reason why there is no answer.
#[derive(Debug, Error)]
pub enum NoAnswer {
    /// The gateway cannot ask it.
    #[error(transparent)]
    NotAsked(#[from] BadAddress),
    /// There is no connection, or the server answered something else than was asked for.
    #[error("{0}")]
    Failed(String),
    /// The limit is over.
    #[error("there was no answer in time")]
    Silent,
    /// The caller stopped it.
    #[error("stopped")]
    Stopped,
}

/// Asks a server by HTTP for its tools. One by `sse` is only asked whether it is there: it answers in a stream of its own.
pub(crate) async fn ask(
    server: &McpServer<String>,
    connector: &Connector,
) -> Result<Option<Vec<OfferedTool>>, NoAnswer> {
    let McpServer::Remote {
        url,
        headers,
        transport,
    } = server
    else {
        return Err(NoAnswer::Failed("it has no address".to_owned()));
    };
    let mut session = McpSession {
        server: RemoteServer::new(url, headers, connector)?,
        id: None,
    };
    let mut talk = ToolsTalk::begin();
    if *transport == RemoteTransport::Sse {
        session.send(Method::GET, &talk, String::new()).await?;
        return Ok(None);
    }
    loop {
        match talk.outcome.take() {
            Some(outcome) => return outcome.map(Some).map_err(NoAnswer::Failed),
            None => session.say_next(&mut talk).await?,
        }
    }
}

/// A session with a server.
struct McpSession {
    server: RemoteServer,
    id: Option<String>,
}

impl McpSession {
    /// Sends the next message, and reads the answer if it is a question.
    async fn say_next(&mut self, talk: &mut ToolsTalk) -> Result<(), NoAnswer> {
        let Some(message) = talk.to_send.pop_front() else {
            let why = "it answered without the protocol of MCP";
            return Err(NoAnswer::Failed(why.to_owned()));
        };
        let is_question = message.get("id").is_some();
        let response = self.send(Method::POST, talk, message.to_string()).await?;
        if is_question {
            read(response, talk).await?;
        }
        Ok(())
    }

    /// Sends a request, and waits until its answer begins.
    async fn send(
        &mut self,
        method: Method,
        talk: &ToolsTalk,
        body: String,
    ) -> Result<Response<Incoming>, NoAnswer> {
        let accept = match method == Method::POST {
            true => "application/json, text/event-stream",
            false => "text/event-stream",
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        if method == Method::POST {
            let json = HeaderValue::from_static("application/json");
            headers.insert(header::CONTENT_TYPE, json);
        }
        let version = HeaderName::from_static("mcp-protocol-version");
        for (name, value) in [(SESSION, &self.id), (version, &talk.version)] {
            let value = value.as_deref().map(HeaderValue::from_str);
            if let Some(Ok(value)) = value {
                headers.insert(name, value);
            }
        }
        let url = self.server.url.clone();
        let sent = self.server.send(&method, url, headers, Bytes::from(body));
        let response = sent.await.map_err(|error| {
            let why = reason(&error);
            let url = &self.server.url;
            let (host, port) = (url.host().unwrap_or_default(), port(url).unwrap_or(0));
            NoAnswer::Failed(match error.is_connect() {
                true => format!("{host}:{port} cannot be reached: {why}"),
                false => format!("it broke off: {why}"),
            })
        })?;
        let status = response.status();
        if !status.is_success() {
            let redirect = self.server.redirect(&response);
            return Err(NoAnswer::Failed(
                redirect.unwrap_or_else(|| refusal(status)),
            ));
        }
        let id = text(response.headers(), &SESSION);
        self.id = id.map(str::to_owned).or(self.id.take());
        Ok(response)
    }
}

/// Returns the reason that a bad status is.
fn refusal(status: StatusCode) -> String {
    let number = status.as_u16();
    match number {
        401 | 403 => format!("it refused the request (HTTP {number}): check its `headers`"),
        404 => "nothing was found at its address (HTTP 404)".to_owned(),
        500.. => format!("it failed (HTTP {number})"),
        _ => format!("it refused the request (HTTP {number})"),
    }
}

/// Reads an answer until the talk goes on: a document, or messages of a stream that may go on.
async fn read(response: Response<Incoming>, talk: &mut ToolsTalk) -> Result<(), NoAnswer> {
    let mut pieces = MessagePieces::new(framing(response.headers()), LONGEST_MESSAGE);
    let mut body = response.into_body();
    while talk.to_send.is_empty()
        && talk.outcome.is_none()
        && let Some(frame) = body.frame().await
    {
        let frame = frame.map_err(|error| NoAnswer::Failed(format!("it broke off: {error}")))?;
        for piece in pieces.feed(&frame.into_data().unwrap_or_default()) {
            talk.read(piece.message().data.as_bytes());
        }
    }
    if let Some(piece) = pieces.finish() {
        talk.read(piece.message().data.as_bytes());
    }
    Ok(())
}
