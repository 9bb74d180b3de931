//! Asks an MCP server by HTTP for the tools that it offers.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Method, Response, Uri, header};
use serde_json::{Value, json};
use terca_core::mcp_tap::OfferedTool;

use crate::ask::{NoAnswer, Service, answered, request, wait};
use crate::event_stream::EventStream;
use crate::mcp_address::resolve;

/// The most pages of a list.
const MOST_PAGES: u64 = 100;
/// The most addresses that a request is sent on to.
const MOST_REDIRECTS: usize = 5;
/// The longest answer.
const LONGEST_ANSWER: usize = 64 * 1024 * 1024;

/// A question for the tools of a server by Streamable HTTP.
#[derive(Debug)]
pub struct ToolsQuestion<'a> {
    /// The server's address.
    pub url: &'a str,
    /// Headers for each request to it.
    pub headers: &'a [(String, String)],
    /// The first message to it.
    pub initialize: Value,
    /// The time for all answers.
    pub limit: Duration,
}

/// A session with a server.
struct Session<'a> {
    service: Service,
    headers: &'a [(String, String)],
    id: Option<String>,
    version: Option<String>,
}

impl ToolsQuestion<'_> {
    /// Asks. The variables name the proxy, if there is one.
    pub fn ask(
        self,
        variable: &dyn Fn(&str) -> Option<String>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<OfferedTool>, NoAnswer> {
        let service = Service::of(self.url, variable)?;
        wait(self.limit, is_stopped, self.tools(service))
    }

    async fn tools(&self, service: Service) -> Result<Vec<OfferedTool>, NoAnswer> {
        let mut session = Session {
            service,
            headers: self.headers,
            id: None,
            version: None,
        };
        let begun = session.ask(&self.initialize).await?;
        session.version = begun["protocolVersion"].as_str().map(str::to_owned);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        session.post(&initialized).await?;
        let mut tools = Vec::new();
        let mut cursor = Value::Null;
        for page in 0..MOST_PAGES {
            let mut list = json!({ "jsonrpc": "2.0", "id": page + 2, "method": "tools/list" });
            if !cursor.is_null() {
                list["params"] = json!({ "cursor": cursor });
            }
            let result = session.ask(&list).await?;
            tools.extend(OfferedTool::list(&result));
            cursor = result["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        Ok(tools)
    }
}

impl Session<'_> {
    /// Sends a question. Returns the result in its answer.
    async fn ask(&mut self, question: &Value) -> Result<Value, NoAnswer> {
        let response = self.post(question).await?;
        let answer = read(response, &question["id"]).await?;
        match &answer["error"] {
            Value::Null => Ok(answer["result"].clone()),
            error => {
                let words = error["message"].as_str();
                let words = words.map_or_else(|| error.to_string(), str::to_owned);
                Err(NoAnswer::Refused(format!("it refused: {words}")))
            }
        }
    }

    async fn post(&mut self, message: &Value) -> Result<Response<Incoming>, NoAnswer> {
        let mut headers = vec![
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
        ];
        let own = [
            ("mcp-session-id", &self.id),
            ("mcp-protocol-version", &self.version),
        ];
        for (name, value) in own {
            headers.extend(value.as_deref().map(|value| (name, value)));
        }
        let of_suite = self.headers.iter();
        headers.extend(of_suite.map(|(name, value)| (name.as_str(), value.as_str())));
        let mut address = self.service.address.clone();
        for _ in 0..=MOST_REDIRECTS {
            let request = request(Method::POST, &address, &headers, message.to_string())?;
            let response = answered(&self.service, request).await?;
            let text = |name| response.headers().get(name)?.to_str().ok();
            if matches!(response.status().as_u16(), 307 | 308) {
                let from: Option<Uri> = address.parse().ok();
                let next = from
                    .zip(text("location"))
                    .and_then(|(from, to)| resolve(&from, to));
                if let Some(next) = next {
                    address = next.to_string();
                    continue;
                }
            }
            if !response.status().is_success() {
                break;
            }
            let id = text("mcp-session-id").map(str::to_owned);
            self.id = id.or(self.id.take());
            return Ok(response);
        }
        Err(NoAnswer::Refused(format!(
            "{} refused a request",
            self.service.address
        )))
    }
}

/// Reads the answer to the question of this id: a document, or a message of a stream that may go on.
async fn read(response: Response<Incoming>, id: &Value) -> Result<Value, NoAnswer> {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let is_stream = content_type.is_some_and(|text| text.starts_with("text/event-stream"));
    let mut body = response.into_body();
    let mut events = EventStream::default();
    let mut document = Vec::new();
    let mut found = None;
    let take = |data: &[u8], found: &mut Option<Value>| {
        let message = serde_json::from_slice::<Value>(data).ok();
        *found = found
            .take()
            .or(message.filter(|message| message["id"] == *id && message.get("method").is_none()));
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
    found.ok_or_else(|| NoAnswer::Refused("it did not answer a question".to_owned()))
}
