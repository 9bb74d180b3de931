//! Asks a server by HTTP, without a library: one request, of whose answer only the status matters.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::{initialize, silence};
use crate::host::environment::Variables;
use crate::trial::context::Context;
use crate::trial::mcp_answers::Answer;
use crate::trial::stage_error::StageError;

const CONNECT: Duration = Duration::from_secs(10);
/// The time between two looks at an interrupt.
const LOOK: Duration = Duration::from_millis(200);
/// The longest first line of an answer.
const LONGEST_LINE: usize = 1024;
const PROXIES: [&str; 6] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// The request that a server is asked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// The handshake of Streamable HTTP.
    Post,
    /// The stream of server-sent events.
    Get,
}

/// Asks the server once.
pub(super) fn ask(
    context: &Context,
    url: &str,
    headers: &[(String, String)],
    method: Method,
    env: &Variables,
    limit: Duration,
) -> Result<Answer, StageError> {
    let Some(address) = Address::parse(url) else {
        return Ok(Answer::NotAsked(
            "Terca asks servers by plain http only; the agent will find out",
        ));
    };
    let is_proxied = PROXIES.iter().any(|name| env.contains_key(*name));
    if is_proxied && !address.is_loopback() {
        return Ok(Answer::NotAsked(
            "it may be behind a proxy; the agent will find out",
        ));
    }
    let is_stopped = || context.interrupt.is_stop();
    let status = address.status(headers, method, limit, &is_stopped);
    if is_stopped() {
        return Err(StageError::Interrupted);
    }
    Ok(match status {
        Ok(status @ (401 | 403)) => Answer::Failed(format!(
            "it refused the request (HTTP {status}): check its `headers`"
        )),
        Ok(404) => Answer::Failed("there is nothing at its address (HTTP 404)".to_owned()),
        Ok(status @ 500..) => Answer::Failed(format!("it failed (HTTP {status})")),
        Ok(status) => Answer::Ready(format!("answered (HTTP {status})")),
        Err(why) => Answer::Failed(why),
    })
}

/// The parts of an address.
#[derive(Debug, PartialEq)]
struct Address<'a> {
    host: &'a str,
    port: u16,
    path: &'a str,
}

impl<'a> Address<'a> {
    /// Parses an address by plain HTTP.
    fn parse(url: &'a str) -> Option<Self> {
        let rest = url.strip_prefix("http://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or_default();
        let authority = authority.rsplit('@').next()?;
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
            _ => (authority, 80),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_graphic());
        (!host.is_empty() && is_plain(host) && is_plain(path)).then_some(Address {
            host,
            port,
            path,
        })
    }

    fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host == "::1" || self.host.starts_with("127.")
    }

    /// Returns the status of the server's answer, or the reason why there is none.
    fn status(
        &self,
        headers: &[(String, String)],
        method: Method,
        limit: Duration,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<u16, String> {
        let Address { host, port, .. } = self;
        let unreachable =
            |error: std::io::Error| format!("{host}:{port} cannot be reached: {error}");
        let mut last = None;
        let mut connection = None;
        for address in (*host, *port).to_socket_addrs().map_err(unreachable)? {
            match TcpStream::connect_timeout(&address, CONNECT.min(limit)) {
                Ok(stream) => {
                    connection = Some(stream);
                    break;
                }
                Err(error) => last = Some(error),
            }
        }
        let Some(mut stream) = connection else {
            let error = last.map_or("there is no such host".to_owned(), |error| {
                error.to_string()
            });
            return Err(format!("{host}:{port} cannot be reached: {error}"));
        };
        stream.set_read_timeout(Some(LOOK)).map_err(unreachable)?;
        stream
            .set_write_timeout(Some(CONNECT))
            .map_err(unreachable)?;
        stream
            .write_all(self.request(headers, method).as_bytes())
            .map_err(unreachable)?;
        let line = first_line(&mut stream, limit, is_stopped)?;
        let mut words = line.split(' ');
        let is_http = words.next().is_some_and(|word| word.starts_with("HTTP/"));
        let status = words.next().and_then(|word| word.trim().parse().ok());
        status
            .filter(|_| is_http)
            .ok_or_else(|| "its answer is no HTTP".to_owned())
    }

    fn request(&self, headers: &[(String, String)], method: Method) -> String {
        let Address { host, port, path } = self;
        let (verb, body, accept) = match method {
            Method::Post => (
                "POST",
                initialize().to_string(),
                "application/json, text/event-stream",
            ),
            Method::Get => ("GET", String::new(), "text/event-stream"),
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        let host = if host.contains(':') {
            format!("[{host}]")
        } else {
            (*host).to_owned()
        };
        let mut request = format!(
            "{verb} {slash}{path} HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: {accept}\r\nConnection: close\r\n"
        );
        for (name, value) in headers {
            // A line of its own would be another header.
            if !name.contains(['\r', '\n', ':']) && !value.contains(['\r', '\n']) {
                request.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        if method == Method::Post {
            request.push_str(&format!(
                "Content-Type: application/json\r\nContent-Length: {}\r\n",
                body.len()
            ));
        }
        format!("{request}\r\n{body}")
    }
}

fn first_line(
    stream: &mut TcpStream,
    limit: Duration,
    is_stopped: &dyn Fn() -> bool,
) -> Result<String, String> {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    let started = Instant::now();
    let mut line = Vec::new();
    let mut buffer = [0; 256];
    while !line.contains(&b'\n') && line.len() < LONGEST_LINE {
        if started.elapsed() >= limit || is_stopped() {
            return Err(silence(limit));
        }
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => line.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), WouldBlock | TimedOut | Interrupted) => {}
            Err(error) => return Err(format!("it broke off: {error}")),
        }
    }
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (url, expected) in [
            (
                "http://127.0.0.1:8080/mcp?x=1",
                Some(("127.0.0.1", 8080, "/mcp?x=1")),
            ),
            ("http://me:key@host/mcp#part", Some(("host", 80, "/mcp"))),
            ("http://[::1]:9/", Some(("::1", 9, "/"))),
            ("http://host", Some(("host", 80, ""))),
            ("https://host/mcp", None),
            ("http://host:port/", None),
            ("http:///mcp", None),
            ("http://host/a b", None),
        ] {
            let address = Address::parse(url);
            let parts = address.map(|address| (address.host, address.port, address.path));
            assert_eq!(parts, expected, "{url}");
        }
    }

    #[test]
    fn no_header_brings_another() {
        let address = Address::parse("http://host/mcp").unwrap();
        let headers = [
            ("Authorization".to_owned(), "Bearer x".to_owned()),
            ("Bad".to_owned(), "a\r\nInjected: b".to_owned()),
        ];
        let request = address.request(&headers, Method::Post);
        assert!(request.contains("Authorization: Bearer x\r\n"), "{request}");
        assert!(!request.contains("Injected"), "{request}");
    }
}
