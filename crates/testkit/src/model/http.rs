//! As much of HTTP/1.1 as agents speak: one request and one answer for each connection.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};

#[derive(Debug, PartialEq)]
pub(super) struct Message {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

/// Reads a request. `None` when the connection was closed without one.
pub(super) fn read(stream: &mut (impl BufRead + Duplex)) -> io::Result<Option<Message>> {
    let first = line(stream)?;
    if first.is_empty() {
        return Ok(None);
    }
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, path) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let mut headers = BTreeMap::new();
    loop {
        let header = line(stream)?;
        let Some((name, value)) = header.split_once(':') else {
            break;
        };
        headers.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
    }
    if headers
        .get("expect")
        .is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
    {
        stream.say(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let chunked = headers
        .get("transfer-encoding")
        .is_some_and(|value| value.to_ascii_lowercase().contains("chunked"));
    let body = if chunked {
        chunks(stream)?
    } else {
        exactly(stream, content_length(&headers))?
    };
    Ok(Some(Message {
        method,
        path,
        headers,
        body,
    }))
}

/// The other direction of the connection that is read from.
pub(super) trait Duplex {
    fn say(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl Duplex for io::BufReader<std::net::TcpStream> {
    fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.get_mut().write_all(bytes)
    }
}

fn content_length(headers: &BTreeMap<String, String>) -> usize {
    headers
        .get("content-length")
        .and_then(|value| value.parse().ok())
        .unwrap_or(0)
}

fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    stream.read_until(b'\n', &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

fn exactly(stream: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn chunks(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(stream)?;
        let digits = size.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16).map_err(io::Error::other)?;
        if length == 0 {
            // Trailers, up to an empty line.
            while !line(stream)?.is_empty() {}
            return Ok(body);
        }
        body.extend(exactly(stream, length)?);
        line(stream)?;
    }
}

/// Answers with a whole body; to `HEAD` only with its length.
pub(super) fn write_json(
    stream: &mut impl Write,
    status: u16,
    body: &str,
    head_only: bool,
) -> io::Result<()> {
    // As services that are throttled or down do; agents that listen then wait no longer than they must.
    let again = if matches!(status, 429 | 500..) {
        "retry-after: 1\r\n"
    } else {
        ""
    };
    let head = head(status, "application/json");
    let mut answer = format!("{head}{again}content-length: {}\r\n\r\n", body.len());
    if !head_only {
        answer.push_str(body);
    }
    stream.write_all(answer.as_bytes())?;
    stream.flush()
}

/// Answers event by event. A stream that is cut ends in the middle of the connection.
pub(super) fn write_events(
    stream: &mut impl Write,
    events: &[String],
    cut: bool,
) -> io::Result<()> {
    let head = format!(
        "{}transfer-encoding: chunked\r\n\r\n",
        head(200, "text/event-stream")
    );
    stream.write_all(head.as_bytes())?;
    let sent = if cut { events.len() / 2 } else { events.len() };
    for event in &events[..sent] {
        write!(stream, "{:x}\r\n{event}\r\n", event.len())?;
        stream.flush()?;
    }
    if !cut {
        stream.write_all(b"0\r\n\r\n")?;
    }
    stream.flush()
}

fn head(status: u16, kind: &str) -> String {
    let reason = match status {
        200 => "OK",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        400..500 => "Bad Request",
        _ => "Internal Server Error",
    };
    format!("HTTP/1.1 {status} {reason}\r\ncontent-type: {kind}\r\nconnection: close\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Duplex for &[u8] {
        fn say(&mut self, _bytes: &[u8]) -> io::Result<()> {
            Ok(())
        }
    }

    fn parse(text: &str) -> Message {
        read(&mut text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn bodies_of_both_kinds_are_read() {
        let plain =
            parse("POST /a?b=c HTTP/1.1\r\nContent-Length: 5\r\nX-Key: v\r\n\r\nhello, and more");
        assert_eq!(
            (plain.method.as_str(), plain.path.as_str()),
            ("POST", "/a?b=c")
        );
        assert_eq!(
            (plain.body.as_slice(), plain.headers["x-key"].as_str()),
            (&b"hello"[..], "v")
        );
        let chunked = parse(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
        );
        assert_eq!(chunked.body, b"hello");
        assert_eq!(parse("HEAD / HTTP/1.1\r\n\r\n").body, b"");
        assert_eq!(read(&mut &b""[..]).unwrap(), None);
    }

    #[test]
    fn a_cut_stream_has_no_end() {
        let events = ["data: 1\n\n".to_owned(), "data: 2\n\n".to_owned()];
        let written = |cut: bool| {
            let mut bytes = Vec::new();
            write_events(&mut bytes, &events, cut).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert!(written(false).ends_with("9\r\ndata: 2\n\n\r\n0\r\n\r\n"));
        assert!(written(true).ends_with("9\r\ndata: 1\n\n\r\n"));
    }
}
