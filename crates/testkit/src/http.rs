//! As much of HTTP/1.1 as agents speak: one request and one answer for each connection.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A port of this machine on which every connection is answered in a thread of its own. It closes when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    over: Over,
    listener: Option<JoinHandle<()>>,
}

/// True as soon as the server's owner has dropped it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Over(Arc<AtomicBool>);

impl Over {
    pub(crate) fn is_over(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Waits for so long, or until the end of the server.
    pub(crate) fn wait(&self, delay: Duration) {
        let until = std::time::Instant::now() + delay;
        while std::time::Instant::now() < until && !self.is_over() {
            std::thread::sleep(Duration::from_millis(20).min(delay));
        }
    }
}

impl Server {
    pub(crate) fn start(
        answer: impl Fn(TcpStream, &Over) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port on this machine");
        let address = listener.local_addr().expect("an address");
        let over = Over::default();
        let ours = over.clone();
        let answer = Arc::new(answer);
        let listener = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ours.is_over() {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (answer, over) = (Arc::clone(&answer), ours.clone());
                // Agents hang up as they like; that is nothing to complain of.
                std::thread::spawn(move || drop(answer(stream, &over)));
            }
        });
        Server {
            address,
            over,
            listener: Some(listener),
        }
    }

    /// Where it listens, without a path.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.0.store(true, Ordering::SeqCst);
        // Wakes the listener, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// Reads a request. `None` when the connection was closed without one.
pub(crate) fn read(stream: &mut (impl BufRead + Duplex)) -> io::Result<Option<Message>> {
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
pub(crate) trait Duplex {
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

/// The part of an answer that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    /// The connection is closed in the middle of the answer.
    Cut,
    /// The answer ends properly, as if its second half had never been meant to be there.
    FirstHalf,
}

/// Answers with a body; to `HEAD` only with its length.
pub(crate) fn write_json(
    stream: &mut impl Write,
    status: u16,
    retry_after: Option<u32>,
    body: &str,
    part: Part,
) -> io::Result<()> {
    let again = retry_after.map(|seconds| format!("retry-after: {seconds}\r\n"));
    let challenge = (status == 401).then_some("www-authenticate: Bearer\r\n");
    let length = match part {
        Part::FirstHalf => body.len() / 2,
        Part::Whole | Part::Cut => body.len(),
    };
    let answer = format!(
        "{}{}{}content-length: {length}\r\n\r\n",
        head(status, "application/json"),
        again.unwrap_or_default(),
        challenge.unwrap_or_default(),
    );
    stream.write_all(answer.as_bytes())?;
    stream.write_all(&body.as_bytes()[..sent(body.len(), part)])?;
    stream.flush()
}

/// Answers `HEAD`.
pub(crate) fn write_head(stream: &mut impl Write, status: u16) -> io::Result<()> {
    let answer = format!(
        "{}content-length: 0\r\n\r\n",
        head(status, "application/json")
    );
    stream.write_all(answer.as_bytes())?;
    stream.flush()
}

/// Answers event by event.
pub(crate) fn write_events(
    stream: &mut impl Write,
    events: &[String],
    part: Part,
) -> io::Result<()> {
    let head = format!(
        "{}transfer-encoding: chunked\r\n\r\n",
        head(200, "text/event-stream")
    );
    stream.write_all(head.as_bytes())?;
    for event in &events[..sent(events.len(), part)] {
        write!(stream, "{:x}\r\n{event}\r\n", event.len())?;
        stream.flush()?;
    }
    if part != Part::Cut {
        stream.write_all(b"0\r\n\r\n")?;
    }
    stream.flush()
}

fn sent(all: usize, part: Part) -> usize {
    match part {
        Part::Whole => all,
        Part::Cut | Part::FirstHalf => all / 2,
    }
}

/// Says nothing until the other side has hung up, or the server is over.
pub(crate) fn keep_silent(stream: &mut TcpStream, over: &Over) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(100)))?;
    let mut rest = [0; 1024];
    while !over.is_over() {
        match stream.read(&mut rest) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
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
    fn a_cut_stream_has_no_end_and_half_of_one_has() {
        let events = ["data: 1\n\n".to_owned(), "data: 2\n\n".to_owned()];
        let written = |part: Part| {
            let mut bytes = Vec::new();
            write_events(&mut bytes, &events, part).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert!(written(Part::Whole).ends_with("9\r\ndata: 2\n\n\r\n0\r\n\r\n"));
        assert!(written(Part::Cut).ends_with("9\r\ndata: 1\n\n\r\n"));
        assert!(written(Part::FirstHalf).ends_with("9\r\ndata: 1\n\n\r\n0\r\n\r\n"));
    }

    #[test]
    fn a_body_is_cut_too() {
        let written = |part: Part| {
            let mut bytes = Vec::new();
            write_json(&mut bytes, 429, Some(7), "12345678", part).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert!(
            written(Part::Whole).contains("retry-after: 7\r\ncontent-length: 8\r\n\r\n12345678")
        );
        assert!(written(Part::Cut).ends_with("content-length: 8\r\n\r\n1234"));
        assert!(written(Part::FirstHalf).ends_with("content-length: 4\r\n\r\n1234"));
    }
}
