//! Records the exchanges of a passage: a thread of its own masks, compresses and writes them while the agent works.
//!
//! Nothing that passes waits for it. A request is written when it comes, an answer when it has ended, and a recording
//! that cannot be written any further ends there, with a note: the trial goes on.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::HeaderMap;
use hyper::http::request::Parts;
use terca_core::text::hexadecimal;
use terca_core::text::mask::Mask;
use terca_core::wire::ExchangeEnd;
use terca_core::wire::recording::{
    self, BodyPart, Header, RecordedAnswer, RecordedRequest, RecordingLine, masked_body, part_name,
    parts_of,
};

use crate::http::{lock, milliseconds};

/// The largest answer that is kept.
const LARGEST_ANSWER: usize = 16 * 1024 * 1024;
/// The most bytes of answers of one trial that are held until they are written.
const MOST_HELD: usize = 4 * LARGEST_ANSWER;
/// The headers of a request that matter to a service. None has a key.
const OF_REQUEST: [&str; 6] = [
    "accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta", "user-agent",
];
/// The headers of an answer that matter to an agent.
const OF_ANSWER: [&str; 8] = [
    "cache-control", "content-encoding", "content-type", "request-id", "retry-after",
    "retry-after-ms", "x-request-id", "x-should-retry",
];

/// A recording that is to be made.
#[derive(Debug)]
pub struct NewRecording {
    /// The file, which is empty.
    pub file: File,
    /// Its first line.
    pub header: Header,
    /// The secrets that must not be in it. Tokens of the passage are added.
    pub mask: Mask,
}

/// Takes exchanges while they pass.
#[derive(Debug)]
pub(crate) struct Recorder {
    began: Instant,
    state: Mutex<RecorderState>,
    /// The bytes of answers that are not written yet.
    held: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct RecorderState {
    /// `None` once it has ended.
    sender: Option<Sender<(RecordingLine, Bytes)>>,
    thread: Option<JoinHandle<Option<String>>>,
    /// The number of the last request.
    last: u64,
    /// The answers that have not ended, with their bodies.
    open: BTreeMap<u64, (RecordedAnswer, Vec<u8>)>,
}

/// The answer to one request, as it comes. It has ended at the latest when this is dropped.
#[derive(Debug)]
pub(crate) struct Taking {
    recorder: Arc<Recorder>,
    number: u64,
}

impl RecorderState {
    /// Has a line written, with the parts of this body, which is still to be masked.
    fn send(&self, line: RecordingLine, body: Bytes) {
        if let Some(sender) = &self.sender {
            // The thread takes everything until the sender is gone.
            let _ = sender.send((line, body));
        }
    }

    fn end(&mut self, number: u64, end: ExchangeEnd, error: Option<String>) {
        if let Some((mut answer, body)) = self.open.remove(&number) {
            if answer.end != ExchangeEnd::Whole {
                answer.end = end;
            }
            answer.error = error;
            self.send(RecordingLine::Answer(answer), body.into());
        }
    }
}

impl Recorder {
    /// Begins to record. These tokens are hidden, too.
    pub(crate) fn begin(new: NewRecording, tokens: &[String]) -> io::Result<Self> {
        let (sender, receiver) = channel();
        let held = Arc::new(AtomicUsize::new(0));
        let mut writer = Writer {
            out: GzEncoder::new(new.file, Compression::fast()),
            mask: new.mask.with(tokens),
            known: HashSet::new(),
            written: 0,
            held: Arc::clone(&held),
        };
        writer.line(&RecordingLine::Header(new.header))?;
        writer.out.flush()?;
        let thread = thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || writer.run(&receiver))?;
        let state = RecorderState {
            sender: Some(sender),
            thread: Some(thread),
            last: 0,
            open: BTreeMap::new(),
        };
        Ok(Recorder {
            began: Instant::now(),
            state: Mutex::new(state),
            held,
        })
    }

    /// Takes a request for this path of a service, whose answer is to follow.
    pub(crate) fn request(self: &Arc<Self>, path: &str, parts: &Parts, body: &Bytes) -> Taking {
        let mut state = lock(&self.state);
        state.last += 1;
        let number = state.last;
        let answer = RecordedAnswer {
            number,
            ..RecordedAnswer::default()
        };
        state.open.insert(number, (answer, Vec::new()));
        let request = RecordedRequest {
            number,
            at_ms: milliseconds(self.began.elapsed()),
            method: parts.method.to_string(),
            path: path.to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            headers: kept(&parts.headers, |name| OF_REQUEST.contains(&name)),
            body: Vec::new(),
        };
        state.send(RecordingLine::Request(request), body.clone());
        let recorder = Arc::clone(self);
        Taking { recorder, number }
    }

    /// Ends the recording, with everything that has come until now. Returns the reason if it is not whole.
    pub(crate) fn finish(&self) -> Option<String> {
        let mut state = lock(&self.state);
        while let Some(number) = state.open.keys().next().copied() {
            state.end(number, ExchangeEnd::LeftByAgent, None);
        }
        state.sender = None;
        let thread = state.thread.take();
        drop(state);
        match thread?.join() {
            Ok(note) => note,
            Err(_) => Some("the recording ended early: its thread failed".to_owned()),
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Taking {
    fn change(&self, change: impl FnOnce(&mut RecordedAnswer, &mut Vec<u8>)) {
        // What comes after the end of the passage is of no trial.
        if let Some((answer, body)) = lock(&self.recorder.state).open.get_mut(&self.number) {
            change(answer, body);
        }
    }

    /// Takes the head of the answer.
    pub(crate) fn head(&self, status: u16, headers: &HeaderMap) {
        self.change(|answer, _| {
            answer.status = Some(status);
            answer.headers = kept(headers, |name| {
                OF_ANSWER.contains(&name)
                    || name.starts_with("x-ratelimit-")
                    || name.starts_with("anthropic-ratelimit-")
            });
        });
    }

    /// Takes some bytes of the answer.
    pub(crate) fn feed(&self, bytes: &[u8]) {
        let held = &self.recorder.held;
        self.change(|answer, body| {
            if answer.too_large {
                return;
            }
            let before = held.fetch_add(bytes.len(), Ordering::Relaxed);
            let length = body.len() + bytes.len();
            if before + bytes.len() > MOST_HELD || length > LARGEST_ANSWER {
                held.fetch_sub(length, Ordering::Relaxed);
                answer.too_large = true;
                *body = Vec::new();
            } else {
                body.extend_from_slice(bytes);
            }
        });
    }

    /// Notes that the answer has come to its own end, however the connection ends.
    pub(crate) fn is_whole(&self) {
        self.change(|answer, _| answer.end = ExchangeEnd::Whole);
    }

    /// Takes the end of the answer.
    pub(crate) fn end(&self, end: ExchangeEnd, error: Option<String>) {
        lock(&self.recorder.state).end(self.number, end, error);
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        self.end(ExchangeEnd::LeftByAgent, None);
    }
}

fn kept(headers: &HeaderMap, is_kept: impl Fn(&str) -> bool) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for (name, value) in headers {
        if let Ok(value) = value.to_str()
            && is_kept(name.as_str())
        {
            texts.insert(name.as_str().to_owned(), value.to_owned());
        }
    }
    texts
}

/// Writes the lines of a recording.
struct Writer {
    out: GzEncoder<File>,
    mask: Mask,
    /// The parts that are in the file.
    known: HashSet<String>,
    /// The length of all lines so far.
    written: u64,
    held: Arc<AtomicUsize>,
}

impl Writer {
    /// Writes what comes until nothing does any more. Returns the reason if something is missing.
    fn run(mut self, receiver: &Receiver<(RecordingLine, Bytes)>) -> Option<String> {
        let mut stopped = None;
        for (line, body) in receiver {
            let is_held = matches!(line, RecordingLine::Answer(_));
            if stopped.is_none() {
                stopped = self
                    .exchange(line, &body)
                    .err()
                    .map(|error| error.to_string());
                if let Some(reason) = stopped.clone() {
                    // Neither is there room for it where the disk is full.
                    let _ = self.append(&RecordingLine::Stopped { reason });
                }
            }
            if is_held {
                self.held.fetch_sub(body.len(), Ordering::Relaxed);
            }
        }
        let finished = self.out.finish().map(|_| ());
        let reason = stopped.or(finished.err().map(|error| error.to_string()))?;
        Some(format!(
            "the recording of the session ended early: {reason}"
        ))
    }

    /// Writes a request or an answer.
    fn exchange(&mut self, mut line: RecordingLine, body: &[u8]) -> io::Result<()> {
        let parts = self.parts(&masked_body(body, &self.mask))?;
        let hide = |text: &mut String| *text = self.mask.text(text);
        match &mut line {
            RecordingLine::Request(request) => {
                hide(&mut request.path);
                hide(&mut request.query);
                request.headers.values_mut().for_each(hide);
                request.body = parts;
            }
            RecordingLine::Answer(answer) => {
                answer.headers.values_mut().for_each(hide);
                answer.error.iter_mut().for_each(hide);
                answer.body = parts;
            }
            _ => {}
        }
        self.line(&line)?;
        // A process that is killed leaves everything up to here.
        self.out.flush()
    }

    /// Writes the parts of a body that are new, and returns the names of all.
    fn parts(&mut self, body: &[u8]) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for bytes in parts_of(body) {
            let name = part_name(bytes);
            names.push(name.clone());
            if self.known.insert(name.clone()) {
                let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
                let hex = text.is_none().then(|| hexadecimal(bytes));
                self.line(&RecordingLine::Part(BodyPart { name, text, hex }))?;
            }
        }
        Ok(names)
    }

    /// Writes a line, if there is room for it.
    fn line(&mut self, line: &RecordingLine) -> io::Result<()> {
        if self.written >= recording::LARGEST {
            let most = recording::LARGEST / (1024 * 1024);
            let reason = format!("it has reached {most} MiB");
            return Err(io::Error::other(reason));
        }
        self.append(line)
    }

    fn append(&mut self, line: &RecordingLine) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.written += text.len() as u64;
        self.out.write_all(&text)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::OwnedFd;

    use flate2::read::GzDecoder;

    use super::*;

    fn new(file: File) -> NewRecording {
        NewRecording {
            file,
            header: Header {
                format: recording::FORMAT.to_owned(),
                version: recording::VERSION,
                directory: "/d".to_owned(),
                agent_version: None,
                addresses: BTreeMap::new(),
            },
            mask: Mask::default(),
        }
    }

    fn ask(recorder: &Arc<Recorder>, body: &str) -> Taking {
        let body = Bytes::copy_from_slice(body.as_bytes());
        let (parts, ()) = hyper::Request::post("/").body(()).unwrap().into_parts();
        recorder.request("/v1/messages", &parts, &body)
    }

    fn lines(path: &std::path::Path) -> Vec<RecordingLine> {
        let mut text = String::new();
        // One that is not whole yet is read as far as it goes.
        let _ = GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text);
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[test]
    fn a_conversation_that_grows_is_kept_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let recorder = Arc::new(Recorder::begin(new(file.reopen().unwrap()), &[]).unwrap());
        let mut body = String::new();
        let mut sent = 0;
        for turn in 0..40 {
            for word in 0..400_u64 {
                let word = (turn * 400 + word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                body += &format!("{word:x} ");
            }
            sent += body.len() as u64;
            let taking = ask(&recorder, &body);
            taking.head(200, &HeaderMap::new());
            taking.feed(b"yes");
            taking.end(ExchangeEnd::Whole, None);
        }
        assert_eq!(recorder.finish(), None);
        let kept = file.as_file().metadata().unwrap().len();
        assert!(kept * 10 < sent, "{kept} of {sent}");
        let lines = lines(file.path());
        let requests = lines.iter().filter(
            |line| matches!(line, RecordingLine::Request(request) if !request.body.is_empty()),
        );
        assert_eq!(requests.count(), 40);
    }

    #[test]
    fn what_is_on_its_way_at_the_end_is_kept_as_far_as_it_came() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let recorder = Arc::new(Recorder::begin(new(file.reopen().unwrap()), &[]).unwrap());
        let whole = ask(&recorder, "one");
        whole.feed(b"all of it");
        whole.is_whole();
        let part = ask(&recorder, "two");
        part.head(200, &HeaderMap::new());
        part.feed(b"some of it");
        assert_eq!(recorder.finish(), None);
        part.feed(b"too late");
        let ends: Vec<(u64, ExchangeEnd)> = lines(file.path())
            .into_iter()
            .filter_map(|line| match line {
                RecordingLine::Answer(answer) => Some((answer.number, answer.end)),
                _ => None,
            })
            .collect();
        assert_eq!(
            ends,
            [(1, ExchangeEnd::Whole), (2, ExchangeEnd::LeftByAgent)]
        );
    }

    #[test]
    fn an_answer_that_is_too_large_is_named_and_takes_no_room() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let recorder = Arc::new(Recorder::begin(new(file.reopen().unwrap()), &[]).unwrap());
        let taking = ask(&recorder, "one");
        let chunk = vec![b'x'; 1024 * 1024];
        for _ in 0..100 {
            taking.feed(&chunk);
            assert!(recorder.held.load(Ordering::Relaxed) <= LARGEST_ANSWER);
        }
        taking.end(ExchangeEnd::Whole, None);
        assert_eq!(recorder.finish(), None);
        let lines = lines(file.path());
        assert!(
            matches!(lines.last(), Some(RecordingLine::Answer(answer)) if answer.too_large && answer.body.is_empty()),
            "{lines:?}"
        );
        assert_eq!(recorder.held.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_disk_that_is_full_ends_the_recording_and_nothing_else() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        assert!(Recorder::begin(new(full), &[]).is_err());
        // A pipe that nobody reads any more refuses what is written later.
        let (reader, writer) = std::io::pipe().unwrap();
        let file = File::from(OwnedFd::from(writer));
        let recorder = Arc::new(Recorder::begin(new(file), &[]).unwrap());
        drop(reader);
        ask(&recorder, "one").end(ExchangeEnd::Whole, None);
        ask(&recorder, "two").end(ExchangeEnd::Whole, None);
        let note = recorder.finish().unwrap();
        assert!(note.contains("ended early"), "{note}");
    }
}
