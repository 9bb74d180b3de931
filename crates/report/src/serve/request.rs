//! The head of a request: `httparse` takes it apart, and this file sets the limits and picks what the gate needs.

use std::io::{BufRead, Read};

/// The bytes of the request line and all headers.
const LONGEST_HEAD: u64 = 16 * 1024;
const MOST_HEADERS: usize = 64;

/// The methods that are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Sends the whole answer.
    Get,
    /// Sends its head only.
    Head,
}

/// The parts of a request that decide about its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// GET or HEAD.
    pub method: Method,
    /// The path as it was sent, without the query.
    pub path: String,
    /// The `Host` header: the name by which the browser found this server.
    pub host: Option<String>,
    /// The `Origin` header: the site whose page asks.
    pub origin: Option<String>,
    /// The `Sec-Fetch-Site` header: how that site relates to this server.
    pub site: Option<String>,
}

/// The reason why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The connection ended or timed out before a request came.
    Silence,
    /// The request is no HTTP, or has a body.
    Malformed,
    /// The head is over its limits.
    TooLong,
    /// The method is neither GET nor HEAD.
    Method,
    /// Another site's page asks, or this server is called by another name.
    Stranger,
    /// There is nothing at this address.
    NotFound,
}

impl Refusal {
    /// Returns the status code with its phrase.
    pub fn status(self) -> &'static str {
        match self {
            Refusal::Silence | Refusal::Malformed => "400 Bad Request",
            Refusal::TooLong => "431 Request Header Fields Too Large",
            Refusal::Method => "405 Method Not Allowed",
            Refusal::Stranger => "403 Forbidden",
            Refusal::NotFound => "404 Not Found",
        }
    }
}

impl Request {
    /// Reads the head of a request. Nothing that is answered here has a body, so a request with one is refused.
    pub fn read(from: &mut impl BufRead) -> Result<Self, Refusal> {
        let head = read_head(from)?;
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let status = parsed.parse(&head).map_err(|error| match error {
            httparse::Error::TooManyHeaders => Refusal::TooLong,
            _ => Refusal::Malformed,
        })?;
        let target = parsed.path.unwrap_or_default();
        if status.is_partial() || !target.starts_with('/') {
            return Err(Refusal::Malformed);
        }
        let method = match parsed.method {
            Some("GET") => Method::Get,
            Some("HEAD") => Method::Head,
            _ => return Err(Refusal::Method),
        };
        let length = only(parsed.headers, "Content-Length")?;
        let encoding = only(parsed.headers, "Transfer-Encoding")?;
        if encoding.is_some() || length.is_some_and(|length| length != "0") {
            return Err(Refusal::Malformed);
        }
        Ok(Request {
            method,
            path: target.split('?').next().unwrap_or_default().to_owned(),
            host: only(parsed.headers, "Host")?,
            origin: only(parsed.headers, "Origin")?,
            site: only(parsed.headers, "Sec-Fetch-Site")?,
        })
    }
}

/// Reads the request line and the headers, up to the empty line that ends them.
fn read_head(from: &mut impl BufRead) -> Result<Vec<u8>, Refusal> {
    let mut from = from.take(LONGEST_HEAD);
    let mut head = Vec::new();
    loop {
        let start = head.len();
        from.read_until(b'\n', &mut head)
            .map_err(|_| Refusal::Silence)?;
        match &head[start..] {
            b"\r\n" | b"\n" if start == 0 => return Err(Refusal::Silence),
            b"\r\n" | b"\n" => return Ok(head),
            line if line.ends_with(b"\n") => {}
            _ if from.limit() == 0 => return Err(Refusal::TooLong),
            _ if head.is_empty() => return Err(Refusal::Silence),
            _ => return Err(Refusal::Malformed),
        }
    }
}

/// Returns the value of a header. A request that has it twice is refused: two readers could choose differently.
fn only(headers: &[httparse::Header<'_>], name: &str) -> Result<Option<String>, Refusal> {
    let mut found = headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case(name));
    let Some(header) = found.next() else {
        return Ok(None);
    };
    let value = std::str::from_utf8(header.value).map_err(|_| Refusal::Malformed)?;
    match found.next() {
        None => Ok(Some(value.trim().to_owned())),
        Some(_) => Err(Refusal::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Request, Refusal> {
        Request::read(&mut text.as_bytes())
    }

    #[test]
    fn a_request_of_a_browser() {
        let request = read(
            "GET /t/runs/?x=1 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nOrigin: http://127.0.0.1:80\r\nAccept: */*\r\n\r\n",
        );
        let request = request.unwrap();
        assert_eq!(
            (request.method, request.path.as_str()),
            (Method::Get, "/t/runs/")
        );
        assert_eq!(request.host.as_deref(), Some("127.0.0.1:80"));
        assert_eq!(request.origin.as_deref(), Some("http://127.0.0.1:80"));
    }

    #[test]
    fn everything_else() {
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(65));
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(20_000));
        for (text, refusal) in [
            ("", Refusal::Silence),
            ("GET / HTTP/1.1\r\nHost: a", Refusal::Malformed),
            ("GET /\r\n\r\n", Refusal::Malformed),
            ("GET / HTTP/2\r\n\r\n", Refusal::Malformed),
            ("GET http://evil/ HTTP/1.1\r\n\r\n", Refusal::Malformed),
            ("POST / HTTP/1.1\r\n\r\n", Refusal::Method),
            ("DELETE / HTTP/1.1\r\n\r\n", Refusal::Method),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                Refusal::Malformed,
            ),
            (
                "GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
                Refusal::Malformed,
            ),
            (
                "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
                Refusal::Malformed,
            ),
            ("GET / HTTP/1.1\r\nno colon\r\n\r\n", Refusal::Malformed),
            ("GET /\u{0} HTTP/1.1\r\n\r\n", Refusal::Malformed),
            ("\r\n", Refusal::Silence),
            ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", Refusal::Malformed),
            (
                "GET / HTTP/1.1\r\nA: b\r\n Host: c\r\n\r\n",
                Refusal::Malformed,
            ),
            (&many, Refusal::TooLong),
            (&long, Refusal::TooLong),
        ] {
            assert_eq!(read(text), Err(refusal), "{text:.60}");
        }
    }
}
