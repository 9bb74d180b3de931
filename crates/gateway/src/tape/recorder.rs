//! Records the exchanges of a passage: a thread of its own masks, compresses and writes them while the agent works.
//!
//! Nothing that passes waits for it. A request is written when it comes, an answer when it has ended, and a recording
//! that cannot be written any further ends there, with a note: the trial goes on.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::HeaderMap;
use terca_core::text::mask::Mask;
use terca_core::wire::ExchangeEnd;
use terca_core::wire::recording::{
    self, Header, Line, Part, PartName, RecordedAnswer, RecordedRequest, Stopped, masked_answer,
    masked_request, parts_of,
};

use crate::http::milliseconds;

/// The largest answer that is kept.
const LARGEST_ANSWER: usize = 16 * 1024 * 1024;
/// The most bytes of answers of one trial that are held until they are written.
const MOST_HELD: usize = 4 * LARGEST_ANSWER;
/// Bytes that come within so many milliseconds are one step of an answer.
const STEP: u64 = 100;
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
    /// `None` once it has ended.
    sender: Mutex<Option<Sender<Item>>>,
    thread: Mutex<Option<JoinHandle<Option<String>>>>,
    began: Instant,
    last: AtomicU64,
    open: Mutex<HashMap<u64, OpenAnswer>>,
    held: Arc<AtomicUsize>,
}

/// The answer to one request, as it comes. It has ended at the latest when this is dropped.
#[derive(Debug)]
pub(crate) struct Taking {
    recorder: Arc<Recorder>,
    number: u64,
}

/// An answer that has not ended.
#[derive(Debug)]
struct OpenAnswer {
    asked: Instant,
    answer: RecordedAnswer,
    body: Vec<u8>,
}

/// One thing to write. The bodies are still to be masked.
#[derive(Debug)]
enum Item {
    Request(RecordedRequest, Bytes),
    Answer(RecordedAnswer, Vec<u8>),
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
        writer.line(&Line::Header(new.header))?;
        writer.out.flush()?;
        let thread = thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || writer.run(&receiver))?;
        Ok(Recorder {
            sender: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
            began: Instant::now(),
            last: AtomicU64::new(0),
            open: Mutex::default(),
            held,
        })
    }

    /// Takes a request, whose answer is to follow.
    pub(crate) fn request(
        self: &Arc<Self>,
        method: &str,
        path: &str,
        query: &str,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Taking {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let asked = Instant::now();
        let answer = RecordedAnswer {
            number,
            status: None,
            headers: BTreeMap::new(),
            body: Vec::new(),
            steps: Vec::new(),
            end: ExchangeEnd::LeftByAgent,
            error: None,
            too_large: false,
        };
        let open = OpenAnswer {
            asked,
            answer,
            body: Vec::new(),
        };
        self.open().insert(number, open);
        let request = RecordedRequest {
            number,
            at_ms: milliseconds(asked - self.began),
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: kept(headers, |name| OF_REQUEST.contains(&name)),
            body: Vec::new(),
        };
        self.send(Item::Request(request, body.clone()));
        Taking {
            recorder: Arc::clone(self),
            number,
        }
    }

    /// Ends the recording, with everything that has come until now. Returns the reason if it is not whole.
    pub(crate) fn finish(&self) -> Option<String> {
        let mut numbers: Vec<u64> = self.open().keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            self.end(number, ExchangeEnd::LeftByAgent, None);
        }
        let sender = lock(&self.sender).take();
        drop(sender);
        let thread = lock(&self.thread).take();
        match thread?.join() {
            Ok(note) => note,
            Err(_) => Some("the recording ended early: its thread failed".to_owned()),
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, OpenAnswer>> {
        lock(&self.open)
    }

    fn send(&self, item: Item) {
        if let Some(sender) = &*lock(&self.sender) {
            // The thread takes everything until the sender is gone.
            let _ = sender.send(item);
        }
    }

    fn change(&self, number: u64, change: impl FnOnce(&mut OpenAnswer)) {
        // What comes after the end of the passage is of no trial.
        if let Some(open) = self.open().get_mut(&number) {
            change(open);
        }
    }

    fn feed(&self, number: u64, bytes: &[u8]) {
        self.change(number, |open| {
            if open.answer.too_large || bytes.is_empty() {
                return;
            }
            let before = self.held.fetch_add(bytes.len(), Ordering::Relaxed);
            if before + bytes.len() > MOST_HELD || open.body.len() + bytes.len() > LARGEST_ANSWER {
                let freed = open.body.len() + bytes.len();
                self.held.fetch_sub(freed, Ordering::Relaxed);
                open.answer.too_large = true;
                open.answer.steps = Vec::new();
                open.body = Vec::new();
                return;
            }
            open.body.extend_from_slice(bytes);
            let length = bytes.len() as u64;
            let step = milliseconds(open.asked.elapsed()) / STEP * STEP;
            match open.answer.steps.last_mut() {
                Some((at, total)) if *at == step => *total += length,
                _ => open.answer.steps.push((step, length)),
            }
        });
    }

    fn end(&self, number: u64, end: ExchangeEnd, error: Option<String>) {
        let Some(mut open) = self.open().remove(&number) else {
            return;
        };
        if open.answer.end != ExchangeEnd::Whole {
            open.answer.end = end;
        }
        open.answer.error = error;
        self.send(Item::Answer(open.answer, open.body));
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Taking {
    /// Takes the head of the answer.
    pub(crate) fn head(&self, status: u16, headers: &HeaderMap) {
        let headers = kept(headers, |name| {
            OF_ANSWER.contains(&name)
                || name.starts_with("x-ratelimit-")
                || name.starts_with("anthropic-ratelimit-")
        });
        self.recorder.change(self.number, |open| {
            open.answer.status = Some(status);
            open.answer.headers = headers;
        });
    }

    /// Takes some bytes of the answer.
    pub(crate) fn feed(&self, bytes: &[u8]) {
        self.recorder.feed(self.number, bytes);
    }

    /// Notes that the answer has come to its own end, however the connection ends.
    pub(crate) fn is_whole(&self) {
        self.recorder.change(self.number, |open| {
            open.answer.end = ExchangeEnd::Whole;
        });
    }

    /// Takes the end of the answer.
    pub(crate) fn end(&self, end: ExchangeEnd, error: Option<String>) {
        self.recorder.end(self.number, end, error);
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        self.end(ExchangeEnd::LeftByAgent, None);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    known: HashSet<PartName>,
    /// The length of all lines so far.
    written: u64,
    held: Arc<AtomicUsize>,
}

impl Writer {
    /// Writes what comes until nothing does any more. Returns the reason if something is missing.
    fn run(mut self, receiver: &Receiver<Item>) -> Option<String> {
        let mut stopped = None;
        for item in receiver {
            let length = match &item {
                Item::Request(..) => 0,
                Item::Answer(_, body) => body.len(),
            };
            if stopped.is_none() {
                stopped = self.item(item).err().map(|error| error.to_string());
                if let Some(reason) = &stopped {
                    let reason = reason.clone();
                    // Neither is there room for it where the disk is full.
                    let _ = self.append(&Line::Stopped(Stopped { reason }));
                }
            }
            self.held.fetch_sub(length, Ordering::Relaxed);
        }
        let finished = self.out.finish().map(|_| ());
        let reason = stopped.or(finished.err().map(|error| error.to_string()))?;
        Some(format!(
            "the recording of the session ended early: {reason}"
        ))
    }

    fn item(&mut self, item: Item) -> io::Result<()> {
        match item {
            Item::Request(mut request, body) => {
                request.path = self.mask.text(&request.path);
                request.query = self.mask.text(&request.query);
                self.hide(&mut request.headers);
                request.body = self.parts(&masked_request(&body, &self.mask))?;
                self.line(&Line::Request(request))?;
            }
            Item::Answer(mut answer, body) => {
                self.hide(&mut answer.headers);
                answer.error = answer.error.map(|error| self.mask.text(&error));
                let masked = masked_answer(&body, &self.mask);
                if masked.len() != body.len() {
                    // The steps are those of another text.
                    let first = answer.steps.first().map_or(0, |(at, _)| *at);
                    answer.steps = vec![(first, masked.len() as u64)];
                }
                answer.body = self.parts(&masked)?;
                self.line(&Line::Answer(answer))?;
            }
        }
        // A process that is killed leaves everything up to here.
        self.out.flush()
    }

    fn hide(&self, headers: &mut BTreeMap<String, String>) {
        for value in headers.values_mut() {
            *value = self.mask.text(value);
        }
    }

    /// Writes the parts of a body that are new, and returns the names of all.
    fn parts(&mut self, body: &[u8]) -> io::Result<Vec<PartName>> {
        let mut names = Vec::new();
        for bytes in parts_of(body) {
            let name = PartName::of(bytes);
            names.push(name);
            if self.known.insert(name) {
                let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
                let hex = bytes.iter().map(|byte| format!("{byte:02x}"));
                let hex = text.is_none().then(|| hex.collect());
                self.line(&Line::Part(Part { name, text, hex }))?;
            }
        }
        Ok(names)
    }

    /// Writes a line, if there is room for it.
    fn line(&mut self, line: &Line) -> io::Result<()> {
        if self.written >= recording::LARGEST {
            let most = recording::LARGEST / (1024 * 1024);
            let reason = format!("it has reached {most} MiB");
            return Err(io::Error::other(reason));
        }
        self.append(line)
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
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
        recorder.request("POST", "/v1/messages", "", &HeaderMap::new(), &body)
    }

    fn lines(path: &std::path::Path) -> Vec<Line> {
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
        let requests = lines
            .iter()
            .filter(|line| matches!(line, Line::Request(request) if !request.body.is_empty()));
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
        let ends: Vec<(u64, ExchangeEnd, u64)> = lines(file.path())
            .into_iter()
            .filter_map(|line| match line {
                Line::Answer(answer) => Some((answer.number, answer.end, answer.steps[0].1)),
                _ => None,
            })
            .collect();
        assert_eq!(
            ends,
            [
                (1, ExchangeEnd::Whole, 9),
                (2, ExchangeEnd::LeftByAgent, 10)
            ]
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
            matches!(lines.last(), Some(Line::Answer(answer)) if answer.too_large && answer.body.is_empty()),
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
