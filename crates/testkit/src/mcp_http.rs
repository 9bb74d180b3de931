//! An MCP server by HTTP, by both transports, that does what the called tool's name says.

use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::http::{self, Message, Over, Server};

/// The length of the answer of the tool `big`.
const BIG: usize = 8 * 1024 * 1024;

/// An MCP server by HTTP: Streamable HTTP at `/mcp`, the older transport at `/sse`, and `/moved`, which sends on to `/mcp`.
/// The answers of `/packed` are compressed, although nobody asked for it.
/// `/elsewhere` sends on to another host, and `/see-other` to a page of its own; both name the query that they were asked with.
///
/// `search` answers, `stream` answers by server-sent events, `fail` refuses, `big` answers with a text of several
/// megabytes, `boom` is an error of HTTP, `cut` breaks off in the middle of its answer, and `die` ends the server: it hangs up
/// on everybody from then on.
#[derive(Debug)]
pub struct HttpMcpServer {
    server: Server,
    state: Arc<Mutex<State>>,
}

/// A request that the server was sent.
#[derive(Debug, Clone)]
pub struct McpRequest {
    /// The method and the path with its query.
    pub line: String,
    /// A line for each header, in small letters.
    pub headers: String,
    /// The method of the protocol; empty for a request without a message.
    pub method: String,
    /// The tool that is called; empty for a request of another kind.
    pub tool: String,
}

#[derive(Debug, Default)]
struct State {
    token: String,
    requests: Vec<McpRequest>,
    /// The stream of the older transport that is open.
    stream: Option<TcpStream>,
    is_dead: bool,
}

impl HttpMcpServer {
    /// Starts a server that answers nobody without this token in the header `authorization`.
    pub fn start(token: &str) -> Self {
        let state = Arc::new(Mutex::new(State {
            token: token.to_owned(),
            ..State::default()
        }));
        let shared = Arc::clone(&state);
        let server = Server::start(move |stream, over| answer(stream, over, &shared));
        HttpMcpServer { server, state }
    }

    /// Returns its address with this path.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.server.url())
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<McpRequest> {
        lock(&self.state).requests.clone()
    }

    /// Returns how often a method of the protocol was asked for.
    pub fn asked(&self, method: &str) -> usize {
        let requests = self.requests();
        let asked = requests.iter().filter(|request| request.method == method);
        asked.count()
    }

    /// Returns the names of the tools that were called, in their order.
    pub fn called(&self) -> Vec<String> {
        let requests = self.requests().into_iter();
        let calls = requests.filter(|request| request.method == "tools/call");
        calls.map(|request| request.tool).collect()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(stream: TcpStream, over: &Over, state: &Mutex<State>) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let Some(message) = http::read(&mut reader)? else {
        return Ok(());
    };
    let asked: Value = serde_json::from_slice(&message.body).unwrap_or_default();
    let method = asked["method"].as_str().unwrap_or_default();
    let mut headers = String::new();
    for (name, value) in &message.headers {
        headers.push_str(&format!("{name}: {value}\n"));
    }
    let mut known = lock(state);
    known.requests.push(McpRequest {
        line: format!("{} {}", message.method, message.path),
        headers,
        method: method.to_owned(),
        tool: match method {
            "tools/call" => asked["params"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            _ => String::new(),
        },
    });
    if asked["params"]["name"] == "die" {
        known.is_dead = true;
        known.stream = None;
    }
    if known.is_dead {
        return Ok(());
    }
    let is_signed_in = message.headers.get("authorization") == Some(&known.token);
    let older = known.stream.as_ref().map(TcpStream::try_clone);
    drop(known);
    let out = reader.get_mut();
    let path = message.path.split('?').next().unwrap_or_default();
    if path == "/.well-known/oauth-protected-resource/mcp" {
        let document = json!({"resource": "the real one", "authorization_servers": []});
        return say(out, "200 OK", &[], &document.to_string());
    }
    if !is_signed_in {
        let address = format!(
            "http://{}/.well-known/oauth-protected-resource/mcp",
            out.local_addr()?
        );
        let challenge = format!("www-authenticate: Bearer resource_metadata=\"{address}\"");
        return say(out, "401 Unauthorized", &[&challenge], "sign in first");
    }
    match (message.method.as_str(), path) {
        ("POST", "/moved") => say(out, "307 Temporary Redirect", &["location: /mcp?moved"], ""),
        ("POST" | "GET", "/elsewhere") => {
            let location = format!("location: http://elsewhere.example{}", message.path);
            say(out, "307 Temporary Redirect", &[&location], &message.path)
        }
        ("POST", "/see-other") => {
            let address = out.local_addr()?;
            let path = message.path.replace("/see-other", "/page");
            let location = format!("location: http://{address}{path}");
            say(out, "303 See Other", &[&location], &message.path)
        }
        ("GET", "/page") => say(out, "200 OK", &[], "THE-PAGE"),
        ("POST", "/packed") => say(out, "200 OK", &["content-encoding: gzip"], "{}"),
        ("POST", "/mcp") => streamable(out, &message, &asked),
        ("DELETE", "/mcp") => say(out, "200 OK", &[], ""),
        ("GET", "/sse") => {
            lock(state).stream = Some(out.try_clone()?);
            out.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
            )?;
            out.write_all(b": hello\n\nevent: endpoint\ndata: /messages?session=7\n\n")?;
            http::keep_silent(out, over)
        }
        ("POST", "/messages") => {
            say(out, "202 Accepted", &[], "")?;
            match (older, result_of(&asked)) {
                (Some(stream), Some(result)) => event(&mut stream?, &result),
                _ => Ok(()),
            }
        }
        _ => say(out, "405 Method Not Allowed", &[], ""),
    }
}

fn streamable(out: &mut TcpStream, message: &Message, asked: &Value) -> io::Result<()> {
    let tool = asked["params"]["name"].as_str().unwrap_or_default();
    let Some(result) = result_of(asked) else {
        return say(out, "202 Accepted", &[], "");
    };
    let is_first = asked["method"] == "initialize";
    if !is_first && message.headers.get("mcp-session-id").map(String::as_str) != Some("s-1") {
        return say(out, "404 Not Found", &[], "there is no such session");
    }
    match tool {
        "boom" => say(out, "500 Internal Server Error", &[], "it went boom"),
        "cut" => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{";
            out.write_all(head.as_bytes())
        }
        "stream" => {
            out.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
            )?;
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress"});
            event(out, &progress)?;
            event(out, &result)
        }
        _ => {
            let session: &[&str] = if is_first {
                &["mcp-session-id: s-1"]
            } else {
                &[]
            };
            say(out, "200 OK", session, &result.to_string())
        }
    }
}

/// Returns the answer to a message, if it is a question.
fn result_of(asked: &Value) -> Option<Value> {
    let id = asked.get("id")?;
    let tool = asked["params"]["name"].as_str().unwrap_or_default();
    let words = match tool {
        "fail" => "THE-TOOL-REFUSED".to_owned(),
        "big" => "x".repeat(BIG),
        _ => "FOUND-IT".to_owned(),
    };
    let schema = json!({"type": "object", "properties": {"word": {"type": "string"}}});
    let result = match asked["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": asked["params"]["protocolVersion"].as_str().unwrap_or("2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "docs", "version": "1"},
        }),
        "tools/list" => json!({"tools": [
            {"name": "search", "description": "Searches the pages.", "inputSchema": schema},
            {"name": "stream", "description": "Answers by a stream.", "inputSchema": schema},
        ]}),
        "tools/call" => {
            json!({"content": [{"type": "text", "text": words}], "isError": tool == "fail"})
        }
        _ => json!({}),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn event(out: &mut TcpStream, message: &Value) -> io::Result<()> {
    out.write_all(format!("event: message\ndata: {message}\n\n").as_bytes())
}

fn say(out: &mut TcpStream, status: &str, headers: &[&str], body: &str) -> io::Result<()> {
    let kind = if body.starts_with('{') {
        "application/json"
    } else {
        "text/plain"
    };
    let length = body.len();
    let mut head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n"
    );
    for header in headers {
        head.push_str(&format!("{header}\r\n"));
    }
    out.write_all(format!("{head}\r\n{body}").as_bytes())
}
