//! The messages from a tap to Terca: JSON, one message a line.

use std::io::{self, BufRead, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use memchr::memchr;
use serde::{Deserialize, Serialize};
use terca_core::mcp_tap::Side;
use terca_core::process::Exit;

use crate::process::socket;

/// The longest part of a line that is sent.
pub(super) const LONGEST: usize = 8 * 1024 * 1024;
/// The longest message: every byte of a line may be escaped by six others.
const LONGEST_MESSAGE: u64 = 7 * LONGEST as u64;
/// The answer to the first message, if the tap is to send more.
pub(super) const WELCOME: u8 = b'+';
/// The longest wait for Terca. A server does not wait longer for its record.
const PATIENCE: Duration = Duration::from_secs(10);

/// A message.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Message {
    /// The first message.
    Hello(Hello),
    /// A line of one side.
    Line {
        from: Side,
        /// The time since the tap was started, in milliseconds.
        at_ms: u64,
        /// The line, or its beginning if it is longer than [`LONGEST`].
        beginning: String,
        /// The length of the line.
        bytes: u64,
    },
    /// The last message: the server has ended.
    Goodbye {
        at_ms: u64,
        exit: Exit,
        /// True if nobody had asked it to end.
        by_itself: bool,
    },
}

/// The server that a tap is about to start.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) server: String,
    pub(super) command: Vec<String>,
    /// The names of the tools that it hides.
    pub(super) hidden: Vec<String>,
}

impl Message {
    fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        to.write_all(&line)
    }

    /// Reads a message.
    pub(super) fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let mut line = Vec::new();
        from.take(LONGEST_MESSAGE).read_until(b'\n', &mut line)?;
        Ok(serde_json::from_slice(&line)?)
    }
}

/// Sends copies of what passes through a tap. Without Terca at the other end it does nothing.
#[derive(Clone)]
pub(super) struct Recorder {
    /// `None` once Terca does not listen.
    stream: Arc<Mutex<Option<UnixStream>>>,
    began: Instant,
}

impl Recorder {
    /// Connects to Terca, which must want to hear of this server.
    pub(super) fn connect(path: &Utf8Path, hello: Hello) -> Self {
        Recorder {
            began: Instant::now(),
            stream: Arc::new(Mutex::new(introduce(path, hello).ok())),
        }
    }

    /// Returns the copier of one side.
    pub(super) fn side(&self, from: Side) -> SideRecorder {
        SideRecorder {
            recorder: self.clone(),
            from,
            beginning: Vec::new(),
            bytes: 0,
        }
    }

    /// Sends the end of the server, after which nothing follows.
    pub(super) fn end(&self, exit: Exit, by_itself: bool) {
        let at_ms = self.now();
        self.send(&Message::Goodbye {
            at_ms,
            exit,
            by_itself,
        });
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    fn send(&self, message: &Message) {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        // Terca may be gone, and the server goes on all the same.
        if (stream.as_mut()).is_some_and(|stream| message.write(stream).is_err()) {
            *stream = None;
        }
    }
}

fn introduce(path: &Utf8Path, hello: Hello) -> io::Result<UnixStream> {
    let mut stream = socket::connect(path)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Message::Hello(hello).write(&mut stream)?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    if answer != [WELCOME] {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    Ok(stream)
}

/// Sends the lines of one side. No more than the beginning of a line is held.
pub(super) struct SideRecorder {
    recorder: Recorder,
    from: Side,
    beginning: Vec<u8>,
    bytes: u64,
}

impl SideRecorder {
    /// Copies bytes. Called before they are passed on, so that a request comes before its answer.
    pub(super) fn copy(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr(b'\n', bytes) {
            self.add(&bytes[..end]);
            bytes = &bytes[end + 1..];
            self.end_line();
        }
        self.add(bytes);
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let room = LONGEST - self.beginning.len();
        self.beginning
            .extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    /// Sends the line so far. The last one of a side may have no end.
    pub(super) fn end_line(&mut self) {
        let beginning = std::mem::take(&mut self.beginning);
        let bytes = std::mem::take(&mut self.bytes);
        if bytes > 0 {
            self.recorder.send(&Message::Line {
                from: self.from,
                at_ms: self.recorder.now(),
                beginning: String::from_utf8_lossy(&beginning).into_owned(),
                bytes,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn recorder() -> (SideRecorder, BufReader<UnixStream>) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let recorder = Recorder {
            stream: Arc::new(Mutex::new(Some(ours))),
            began: Instant::now(),
        };
        (recorder.side(Side::Agent), BufReader::new(theirs))
    }

    fn line(reader: &mut BufReader<UnixStream>) -> (String, u64) {
        match Message::read(reader).unwrap() {
            Message::Line {
                beginning, bytes, ..
            } => (beginning, bytes),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_are_whole_in_pieces_of_any_length() {
        let (mut side, mut reader) = recorder();
        for byte in b"one\n\ntwo\0\xff\nthr" {
            side.copy(&[*byte]);
        }
        side.copy(b"ee\nfour");
        side.end_line();
        for text in ["one", "two\0\u{fffd}", "three", "four"] {
            assert_eq!(line(&mut reader).0, text);
        }
        drop(side);
        assert!(Message::read(&mut reader).is_err());
        assert!(Message::read(&mut &b"{\"Goodbye\":{\"at_ms\":1"[..]).is_err());
    }

    #[test]
    fn a_line_without_an_end_takes_no_more_memory_than_its_beginning() {
        let (mut side, mut reader) = recorder();
        let sent = std::thread::spawn(move || {
            let chunk = vec![b'x'; 1024 * 1024];
            for _ in 0..100 {
                side.copy(&chunk);
            }
            side.copy(b"\n");
        });
        let (beginning, bytes) = line(&mut reader);
        assert_eq!((bytes, beginning.len()), (100 << 20, LONGEST));
        sent.join().unwrap();
    }
}
