//! The head of a request, read strictly.

use std::io::{BufRead, Read};

/// The request line and all headers.
const LONGEST_HEAD: u64 = 16 * 1024;
const MOST_HEADERS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    /// As it was sent, without the query.
    pub path: String,
    pub host: Option<String>,
    pub origin: Option<String>,
    /// What the browser says about who asks.
    pub site: Option<String>,
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing was asked.
    Silence,
    Malformed,
    TooLong,
    /// Not GET and not HEAD.
    Method,
    /// Not asked by this server's own pages, or under another name.
    Stranger,
    NotFound,
}

impl Refusal {
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
    pub fn read(from: &mut impl BufRead) -> Result<Self, Refusal> {
        let mut from = from.take(LONGEST_HEAD);
        let first = line(&mut from)?;
        if first.is_empty() {
            return Err(Refusal::Silence);
        }
        let mut words = first.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(Refusal::Malformed);
        };
        if !matches!(version, "HTTP/1.1" | "HTTP/1.0") || !target.starts_with('/') {
            return Err(Refusal::Malformed);
        }
        let method = match method {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            _ => return Err(Refusal::Method),
        };
        let path = target.split('?').next().unwrap_or_default().to_owned();
        let mut request = Request {
            method,
            path,
            host: None,
            origin: None,
            site: None,
        };
        for _ in 0..MOST_HEADERS {
            let header = line(&mut from)?;
            if header.is_empty() {
                return Ok(request);
            }
            request.header(&header)?;
        }
        Err(Refusal::TooLong)
    }

    fn header(&mut self, header: &str) -> Result<(), Refusal> {
        let (name, value) = header.split_once(':').ok_or(Refusal::Malformed)?;
        let place = match name.to_ascii_lowercase().as_str() {
            "host" => &mut self.host,
            "origin" => &mut self.origin,
            "sec-fetch-site" => &mut self.site,
            // Nothing that is answered here has a body.
            "content-length" if value.trim() != "0" => return Err(Refusal::Malformed),
            "transfer-encoding" => return Err(Refusal::Malformed),
            _ => return Ok(()),
        };
        // Two of them are a trick.
        match place.replace(value.trim().to_owned()) {
            None => Ok(()),
            Some(_) => Err(Refusal::Malformed),
        }
    }
}

/// A line without its end.
fn line(from: &mut (impl BufRead + Limited)) -> Result<String, Refusal> {
    let mut bytes = Vec::new();
    from.read_until(b'\n', &mut bytes)
        .map_err(|_| Refusal::Silence)?;
    if bytes.is_empty() && !from.is_spent() {
        return Err(Refusal::Silence);
    }
    if !bytes.ends_with(b"\n") {
        return Err(if from.is_spent() {
            Refusal::TooLong
        } else {
            Refusal::Malformed
        });
    }
    let text = String::from_utf8(bytes).map_err(|_| Refusal::Malformed)?;
    let text = text.trim_end_matches(['\r', '\n']).to_owned();
    if text.chars().any(char::is_control) {
        Err(Refusal::Malformed)
    } else {
        Ok(text)
    }
}

/// A reader that ends before its source does.
trait Limited {
    fn is_spent(&self) -> bool;
}

impl<R: Read> Limited for std::io::Take<R> {
    fn is_spent(&self) -> bool {
        self.limit() == 0
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
            (&many, Refusal::TooLong),
            (&long, Refusal::TooLong),
        ] {
            assert_eq!(read(text), Err(refusal), "{text:.60}");
        }
    }
}
