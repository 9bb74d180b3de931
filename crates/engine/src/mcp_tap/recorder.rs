//! Sends copies of what passes through a tap to Terca, beside the way that the bytes themselves take.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use memchr::memchr;
use terca_core::mcp_tap::Side;

use super::frame::{Frame, Goodbye, Hello, Kind, LONGEST, WELCOME};
use crate::process::socket;

/// The longest wait for Terca. A server does not wait longer for its record.
const PATIENCE: Duration = Duration::from_secs(10);
/// The number of pieces that may be on their way.
const QUEUE: usize = 64;

/// The sender of copies. Without Terca at the other end it does nothing.
#[derive(Clone)]
pub(super) struct Recorder {
    queue: Option<SyncSender<Message>>,
}

enum Message {
    Bytes(Side, Instant, Vec<u8>),
    End(Instant, Goodbye),
}

impl Recorder {
    /// Connects to Terca, which must want to hear of this server.
    pub(super) fn connect(path: &Utf8Path, hello: &Hello) -> (Self, Option<JoinHandle<()>>) {
        let began = Instant::now();
        let Ok(stream) = introduce(path, hello) else {
            return (Recorder { queue: None }, None);
        };
        let (queue, messages) = sync_channel(QUEUE);
        let thread = std::thread::spawn(move || {
            // Terca may be gone, and the server goes on all the same.
            let _ = Sender::new(stream, began).send_all(&messages);
        });
        (Recorder { queue: Some(queue) }, Some(thread))
    }

    /// Copies bytes. Called before they are passed on, so that a request comes before its answer.
    pub(super) fn copy(&self, side: Side, bytes: &[u8]) {
        if let Some(queue) = &self.queue {
            let _ = queue.send(Message::Bytes(side, Instant::now(), bytes.to_vec()));
        }
    }

    /// Sends the end of the server, after which nothing follows.
    pub(super) fn end(&self, goodbye: Goodbye) {
        if let Some(queue) = &self.queue {
            let _ = queue.send(Message::End(Instant::now(), goodbye));
        }
    }
}

fn introduce(path: &Utf8Path, hello: &Hello) -> io::Result<UnixStream> {
    let mut stream = socket::connect(path)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let text = serde_json::to_vec(hello)?;
    let frame = Frame {
        kind: Kind::Hello,
        at_ms: 0,
        bytes: text.len() as u64,
        text,
    };
    frame.write(&mut stream)?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    if answer != [WELCOME] {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    Ok(stream)
}

struct Sender {
    stream: UnixStream,
    began: Instant,
    agent: Lines,
    server: Lines,
}

impl Sender {
    fn new(stream: UnixStream, began: Instant) -> Self {
        Sender {
            stream,
            began,
            agent: Lines::default(),
            server: Lines::default(),
        }
    }

    fn send_all(mut self, messages: &Receiver<Message>) -> io::Result<()> {
        for message in messages {
            match message {
                Message::Bytes(side, at, bytes) => {
                    let lines = match side {
                        Side::Agent => &mut self.agent,
                        Side::Server => &mut self.server,
                    };
                    for line in lines.take(&bytes) {
                        self.send_line(side, at, line)?;
                    }
                }
                Message::End(at, goodbye) => {
                    for (side, mut lines) in [
                        (Side::Agent, std::mem::take(&mut self.agent)),
                        (Side::Server, std::mem::take(&mut self.server)),
                    ] {
                        // A last line without an end.
                        for line in lines.take(b"\n") {
                            self.send_line(side, at, line)?;
                        }
                    }
                    let text = serde_json::to_vec(&goodbye)?;
                    return self.send(Kind::Goodbye, at, text.len() as u64, text);
                }
            }
        }
        Ok(())
    }

    fn send_line(&mut self, side: Side, at: Instant, line: Line) -> io::Result<()> {
        let kind = match side {
            Side::Agent => Kind::FromAgent,
            Side::Server => Kind::FromServer,
        };
        self.send(kind, at, line.bytes, line.beginning)
    }

    fn send(&mut self, kind: Kind, at: Instant, bytes: u64, text: Vec<u8>) -> io::Result<()> {
        let at_ms = at.saturating_duration_since(self.began).as_millis() as u64;
        Frame {
            kind,
            at_ms,
            bytes,
            text,
        }
        .write(&mut self.stream)
    }
}

/// Lines of one side, of which no more than the beginning is held.
#[derive(Default)]
struct Lines(Line);

#[derive(Debug, Default, PartialEq, Eq)]
struct Line {
    beginning: Vec<u8>,
    bytes: u64,
}

impl Lines {
    /// Takes bytes, and returns the lines that end in them.
    fn take(&mut self, mut bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(end) = memchr(b'\n', bytes) {
            self.add(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.0);
            if line.bytes > 0 {
                lines.push(line);
            }
        }
        self.add(bytes);
        lines
    }

    fn add(&mut self, bytes: &[u8]) {
        self.0.bytes += bytes.len() as u64;
        let room = LONGEST - self.0.beginning.len();
        self.0
            .beginning
            .extend_from_slice(&bytes[..room.min(bytes.len())]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_in_pieces_of_any_length() {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for byte in b"one\n\ntwo\nthr" {
            found.extend(lines.take(&[*byte]));
        }
        found.extend(lines.take(b"ee\nfour\n"));
        let texts: Vec<String> = found
            .into_iter()
            .map(|line| String::from_utf8(line.beginning).unwrap())
            .collect();
        assert_eq!(texts, ["one", "two", "three", "four"]);
    }

    #[test]
    fn a_line_without_an_end_takes_no_more_memory_than_its_beginning() {
        let mut lines = Lines::default();
        let chunk = vec![b'x'; 1024 * 1024];
        for _ in 0..100 {
            assert_eq!(lines.take(&chunk), []);
        }
        let line = &lines.take(b"\n")[0];
        assert_eq!((line.bytes, line.beginning.len()), (100 << 20, LONGEST));
    }
}
