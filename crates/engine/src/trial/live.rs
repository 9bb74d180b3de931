//! Writes the output of a running command with its secrets masked, while it comes in.
//!
//! A text is passed on as soon as nothing at its end may be the beginning of a secret, and a line of events when it is
//! whole, because a secret may be in pieces of several events. Where a piece turns out to be one after it was written, it
//! is covered in the file; `run.log`, which others write to as well, is written again at the end in this rare case.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use memchr::memchr;
use terca_core::agent::Line;
use terca_core::text::mask::{MASK, Mask, Pieces};
use terca_core::text::prose;

use super::log::{RunLog, Stream};
use super::masking::{LONGEST_LINE, write_masked};
use crate::process::output_file::Output;
use crate::process::supervise::Turn;
use crate::process::tail::{LineSink, Tail};

/// The length of each end of a long output that the log shows.
const SHOWN: usize = 1024 * 1024;
/// The time that the rest of a line may take before the log shows its beginning.
const PATIENCE: Duration = Duration::from_millis(500);

/// The output of a running command on its way to a file and to `run.log`.
pub(super) struct LiveOutput {
    masking: LiveMask,
    file: Option<LiveFile>,
    log: Option<LogPart>,
}

impl LiveOutput {
    /// Writes to a new file, to the log, or to both.
    pub(super) fn new(mask: &Mask, file: Option<File>, log: Option<LogPart>) -> Self {
        LiveOutput {
            masking: LiveMask::new(mask),
            file: file.map(LiveFile::new),
            log,
        }
    }

    /// Takes the next bytes of the output.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let mut targets = Targets {
            file: self.file.as_mut(),
            log: self.log.as_mut(),
        };
        self.masking.feed(bytes, &mut targets);
    }

    /// Writes the new lines to the log.
    pub(super) fn write_log(&mut self, log: &mut RunLog) -> io::Result<()> {
        let mut targets = Targets {
            file: self.file.as_mut(),
            log: self.log.as_mut(),
        };
        self.masking.wait_no_longer(&mut targets);
        match &mut self.log {
            Some(part) => part.write(log, false),
            None => Ok(()),
        }
    }

    /// Writes everything that is held. Returns whether a secret was in pieces, which the log may have shown.
    pub(super) fn finish(mut self, log: &mut RunLog) -> io::Result<bool> {
        let mut targets = Targets {
            file: self.file.as_mut(),
            log: self.log.as_mut(),
        };
        self.masking.finish(&mut targets);
        if let Some(part) = self.log {
            part.finish(log)?;
        }
        Ok(self.masking.has_pieces)
    }
}

/// The part of an output that the log shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logged {
    /// All of it, because it is kept nowhere else.
    Whole,
    /// The beginning and the end of a long one.
    Ends,
}

impl Logged {
    pub(super) fn part(self, stream: Stream, mask: &Mask) -> LogPart {
        match self {
            Logged::Whole => LogPart::whole(stream),
            Logged::Ends => LogPart::ends(stream, mask),
        }
    }
}

/// The outputs of a running command on their way to the log.
pub(super) struct Logging<'a> {
    outputs: Vec<LoggedOutput<'a>>,
    logged: Logged,
    mask: Mask,
    /// The length of the log before the command.
    length_before: u64,
    failed: Option<io::Error>,
}

struct LoggedOutput<'a> {
    stream: Stream,
    output: &'a Output,
    tail: Tail,
    live: LiveOutput,
}

impl<'a> Logging<'a> {
    /// Begins before the command starts, so that the files are those which were made for it.
    pub(super) fn begin(
        outputs: &[(Stream, &'a Output)],
        logged: Logged,
        mask: &Mask,
        log: &mut RunLog,
    ) -> io::Result<Self> {
        let mut tails = Vec::new();
        for (stream, output) in outputs {
            tails.push(LoggedOutput {
                stream: *stream,
                output,
                // The tail itself need not look for secrets.
                tail: Tail::open(&output.path, &Mask::default())?,
                live: LiveOutput::new(mask, None, Some(logged.part(*stream, mask))),
            });
        }
        Ok(Logging {
            outputs: tails,
            logged,
            mask: mask.clone(),
            length_before: log.length()?,
            failed: None,
        })
    }

    /// Writes what is new to the log.
    pub(super) fn on_turn(&mut self, log: &mut RunLog) -> Turn {
        let mut is_more = false;
        for output in &mut self.outputs {
            // A read that fails now is tried again at the end, where failing counts.
            is_more |= output
                .tail
                .read(&mut BytesOnly(&mut output.live))
                .unwrap_or(false);
            if let Err(error) = output.live.write_log(log) {
                self.failed.get_or_insert(error);
            }
        }
        if is_more { Turn::Again } else { Turn::Wait }
    }

    /// Writes the rest to the log.
    pub(super) fn finish(self, log: &mut RunLog) -> io::Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut has_pieces = false;
        let mut files = Vec::new();
        for mut output in self.outputs {
            while output.tail.read(&mut BytesOnly(&mut output.live))? {
                output.live.write_log(log)?;
            }
            has_pieces |= output.live.finish(log)?;
            files.push((output.stream, output.output));
        }
        if !has_pieces {
            return Ok(());
        }
        log.take_back(self.length_before)?;
        for (stream, output) in files {
            let mut writer = LogPartWriter::new(self.logged.part(stream, &self.mask), log);
            write_masked(output.rewound()?, &mut writer, &self.mask)?;
            writer.finish()?;
        }
        Ok(())
    }
}

/// Receives what is read, and no lines of it.
struct BytesOnly<'a>(&'a mut LiveOutput);

impl LineSink for BytesOnly<'_> {
    fn line(&mut self, _: Line<'_>) {}

    fn wants(&mut self, _: &[u8]) -> bool {
        false
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.take(bytes);
    }
}

/// Receives a text in which secrets are told apart.
trait MaskedSink {
    fn text(&mut self, bytes: &[u8]);
    /// Receives the length of a secret.
    fn secret(&mut self, length: usize);
    /// Covers a piece of a secret that was received as a text, by its place in the output.
    fn cover(&mut self, place: Range<u64>);
}

struct Targets<'a> {
    file: Option<&'a mut LiveFile>,
    log: Option<&'a mut LogPart>,
}

impl MaskedSink for Targets<'_> {
    fn text(&mut self, bytes: &[u8]) {
        if let Some(file) = &mut self.file {
            file.write(bytes);
        }
        if let Some(log) = &mut self.log {
            log.add(bytes);
        }
    }

    fn secret(&mut self, length: usize) {
        if let Some(file) = &mut self.file {
            file.write(&vec![b'*'; length]);
        }
        if let Some(log) = &mut self.log {
            log.add(MASK.as_bytes());
        }
    }

    fn cover(&mut self, place: Range<u64>) {
        if let Some(file) = &mut self.file {
            file.cover(place);
        }
    }
}

/// Tells secrets from the rest of a stream.
struct LiveMask {
    mask: Mask,
    pieces: Pieces,
    has_pieces: bool,
    /// The bytes that are not passed on yet.
    held: Vec<u8>,
    /// The place of the first of them in the stream.
    place: u64,
    /// The number of them whose lines were searched for pieces.
    looked_at: usize,
    /// They end within a line that needs no further search.
    is_in_line: bool,
    /// The number of held bytes that were passed on, and are held because a secret may begin in them.
    shown: usize,
    fed_at: Instant,
}

impl LiveMask {
    fn new(mask: &Mask) -> Self {
        LiveMask {
            mask: mask.clone(),
            pieces: Pieces::live(mask),
            has_pieces: false,
            held: Vec::new(),
            place: 0,
            looked_at: 0,
            is_in_line: false,
            shown: 0,
            fed_at: Instant::now(),
        }
    }

    fn feed(&mut self, bytes: &[u8], sink: &mut dyn MaskedSink) {
        if self.mask.is_empty() {
            sink.text(bytes);
            return;
        }
        self.fed_at = Instant::now();
        self.held.extend_from_slice(bytes);
        self.look_at_lines(false);
        let settled = self.looked_at.min(self.first_open());
        self.pass_on(settled, settled, sink);
    }

    /// Passes on a text that may be the beginning of a secret, when nothing has followed it for a while. It is covered if
    /// it turns out to be one.
    fn wait_no_longer(&mut self, sink: &mut dyn MaskedSink) {
        if self.shown < self.looked_at && self.fed_at.elapsed() >= PATIENCE {
            let settled = self.looked_at.min(self.first_open());
            self.pass_on(self.looked_at, settled, sink);
        }
    }

    fn finish(&mut self, sink: &mut dyn MaskedSink) {
        self.look_at_lines(true);
        let end = self.held.len();
        self.pass_on(end, end, sink);
    }

    /// Returns the place from which on the held bytes may be the beginning of a secret.
    fn first_open(&self) -> usize {
        self.held.len() - self.mask.open_end(&self.held)
    }

    /// Looks for pieces of secrets in every line that is whole.
    fn look_at_lines(&mut self, is_end: bool) {
        while self.looked_at < self.held.len() {
            let rest = &self.held[self.looked_at..];
            let end = memchr(b'\n', rest).map(|end| end + 1);
            let may_be_event = !self.is_in_line && may_be_event(rest);
            if end.is_none() && may_be_event && !is_end && rest.len() < LONGEST_LINE {
                return;
            }
            let length = end.unwrap_or(rest.len());
            if may_be_event {
                let place = self.place + self.looked_at as u64;
                self.pieces.line(place, &rest[..length.min(LONGEST_LINE)]);
            }
            self.is_in_line = end.is_none();
            self.looked_at += length;
        }
    }

    /// Passes on the bytes before a limit, and secrets that cross it. Those that are settled are held no longer.
    fn pass_on(&mut self, limit: usize, settled: usize, sink: &mut dyn MaskedSink) {
        for piece in self.pieces.take_fresh() {
            self.has_pieces = true;
            let shown = self.place + self.shown as u64;
            if piece.start < shown {
                sink.cover(piece.start..piece.end.min(shown));
            }
            let start = piece.start.saturating_sub(self.place) as usize;
            let end = piece.end.saturating_sub(self.place) as usize;
            if let Some(held) = self.held.get_mut(start..end) {
                held.fill(b'*');
            }
        }
        if limit <= self.shown && settled == 0 {
            // Of a long event not all is there: it is searched once, when it is whole.
            return;
        }
        let mut at = self.shown;
        let mut done = settled;
        for secret in self.mask.secrets_in(&self.held) {
            if secret.start >= limit {
                break;
            }
            if secret.start < at {
                // What was passed on while nothing followed it was the beginning of this.
                self.has_pieces = true;
                let start = self.place + secret.start as u64;
                sink.cover(start..self.place + secret.end.min(at) as u64);
            } else {
                sink.text(&self.held[at..secret.start]);
                at = secret.start;
            }
            if secret.end > at {
                sink.secret(secret.end - at);
                at = secret.end;
            }
            if secret.start < settled {
                done = done.max(secret.end);
            }
        }
        if at < limit {
            sink.text(&self.held[at..limit]);
            at = limit;
        }
        // A secret that crosses the limit may end within a line that has not been searched: its rest is no event.
        self.is_in_line |= at > self.looked_at;
        self.shown = at - done;
        self.looked_at = self.looked_at.max(at) - done;
        self.held.drain(..done);
        self.held.shrink_to(256 * 1024);
        self.place += done as u64;
    }
}

/// Returns whether a line that begins so may be an event.
fn may_be_event(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), None | Some(b'{' | b'['))
}

/// A file that has the output so far. Secrets in it are covered, so that it is as long as the output.
///
/// It is there for people who watch, and for a run that is killed. So an error is no reason to stop the trial: the file is
/// given up, and what is kept is written at the end in any case.
struct LiveFile {
    file: Option<File>,
}

impl LiveFile {
    fn new(file: File) -> Self {
        LiveFile { file: Some(file) }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.attempt(|mut file| file.write_all(bytes));
    }

    fn cover(&mut self, place: Range<u64>) {
        let stars = vec![b'*'; (place.end - place.start) as usize];
        self.attempt(|file| file.write_all_at(&stars, place.start));
    }

    fn attempt(&mut self, write: impl FnOnce(&File) -> io::Result<()>) {
        if let Some(file) = &self.file
            && write(file).is_err()
        {
            // A disk that is full needs the room for what is kept.
            let _ = file.set_len(0);
            self.file = None;
        }
    }
}

/// An output in `run.log`: all of it, or its beginning as it comes in and its end when it is known.
#[derive(Debug)]
pub(super) struct LogPart {
    stream: Stream,
    /// The bytes that are to be written, up to the limit.
    pending: Vec<u8>,
    /// The number of bytes that the log may still show of the beginning.
    room: usize,
    /// The end of a long output.
    last: VecDeque<u8>,
    /// The most bytes of the end that are held. The output may be a bit longer than what is shown of a long one.
    most_held: usize,
    /// The length of the whole output.
    length: u64,
    added_at: Instant,
}

impl LogPart {
    /// An output of which the log shows everything.
    pub(super) fn whole(stream: Stream) -> Self {
        LogPart::with_room(stream, usize::MAX, 0)
    }

    /// An output of which the log shows the beginning and the end.
    pub(super) fn ends(stream: Stream, mask: &Mask) -> Self {
        LogPart::with_room(stream, SHOWN, SHOWN + 2 * mask.overlap())
    }

    fn with_room(stream: Stream, room: usize, most_held: usize) -> Self {
        LogPart {
            stream,
            pending: Vec::new(),
            room,
            last: VecDeque::new(),
            most_held,
            length: 0,
            added_at: Instant::now(),
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.added_at = Instant::now();
        self.length += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.room));
        self.pending.extend_from_slice(first);
        self.room -= first.len();
        let rest = &rest[rest.len().saturating_sub(self.most_held)..];
        self.last.extend(rest);
        let too_many = self.last.len().saturating_sub(self.most_held);
        self.last.drain(..too_many);
    }

    /// Writes the new lines, and the beginning of one whose rest takes its time.
    fn write(&mut self, log: &mut RunLog, is_end: bool) -> io::Result<()> {
        let is_late = self.room == 0 || self.added_at.elapsed() >= PATIENCE;
        let length = if is_end || is_late {
            self.pending.len()
        } else {
            memchr::memrchr(b'\n', &self.pending).map_or(0, |end| end + 1)
        };
        if length > 0 {
            log.raw(self.stream, &self.pending[..length])?;
            self.pending.drain(..length);
        }
        Ok(())
    }

    fn finish(mut self, log: &mut RunLog) -> io::Result<()> {
        self.write(log, true)?;
        if self.length > (SHOWN + self.most_held) as u64 && !self.last.is_empty() {
            let left_out = prose::compact(self.length - 2 * SHOWN as u64);
            log.line(&format!("… {left_out} bytes left out …"))?;
            let too_many = self.last.len() - SHOWN.min(self.last.len());
            self.last.drain(..too_many);
        }
        log.raw(self.stream, self.last.make_contiguous())?;
        log.end_line()
    }
}

/// Writes masked bytes to the part of a log.
pub(super) struct LogPartWriter<'a> {
    part: LogPart,
    log: &'a mut RunLog,
}

impl<'a> LogPartWriter<'a> {
    pub(super) fn new(part: LogPart, log: &'a mut RunLog) -> Self {
        LogPartWriter { part, log }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.part.finish(self.log)
    }
}

impl Write for LogPartWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.add(bytes);
        self.part.write(self.log, true)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-api03-AbCdEfGh_0123456789-ZyXwVuTsRq";

    /// A stream as somebody sees it who watches, byte by byte.
    #[derive(Default)]
    struct Watched {
        text: Vec<u8>,
        /// Every state in which it could be seen.
        seen: Vec<String>,
    }

    impl Watched {
        fn look(&mut self) {
            let text = String::from_utf8_lossy(&self.text).into_owned();
            self.seen.push(text);
        }
    }

    impl MaskedSink for Watched {
        fn text(&mut self, bytes: &[u8]) {
            self.text.extend_from_slice(bytes);
            self.look();
        }

        fn secret(&mut self, length: usize) {
            self.text.extend(std::iter::repeat_n(b'*', length));
            self.look();
        }

        fn cover(&mut self, place: Range<u64>) {
            self.text[place.start as usize..place.end as usize].fill(b'*');
            self.look();
        }
    }

    fn watched(stream: &str, mask: &Mask, piece: usize) -> Watched {
        let mut masking = LiveMask::new(mask);
        let mut watched = Watched::default();
        for piece in stream.as_bytes().chunks(piece) {
            masking.feed(piece, &mut watched);
        }
        masking.finish(&mut watched);
        watched
    }

    #[test]
    fn a_secret_is_never_seen_however_it_is_cut() {
        let mask = Mask::new([KEY, "correct horse battery"]);
        let stream = format!(
            "first\n{KEY}\n{{\"k\":\"{KEY}\"}}\nsay correct horse battery now\n{}\nlast",
            &KEY[5..30]
        );
        for piece in 1..KEY.len() + 5 {
            let watched = watched(&stream, &mask, piece);
            for seen in &watched.seen {
                assert!(!mask.hides(seen.as_bytes()), "{piece}: {seen}");
                for start in 0..KEY.len() - 11 {
                    assert!(!seen.contains(&KEY[start..start + 12]), "{piece}: {seen}");
                }
                assert!(!seen.contains("correct"), "{piece}: {seen}");
            }
            let text = String::from_utf8(watched.text).unwrap();
            assert_eq!(text.len(), stream.len());
            assert!(text.starts_with("first\n***") && text.ends_with("*\nlast"));
            assert!(text.contains(" now\n"));
        }
    }

    #[test]
    fn a_full_disk_ends_the_live_file_and_nothing_else() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let file = tempfile::tempfile().unwrap();
        let mut log = RunLog::new(file.try_clone().unwrap(), &Mask::default());
        let part = Logged::Ends.part(Stream::Out, &Mask::default());
        let mut output = LiveOutput::new(&Mask::default(), Some(full), Some(part));
        output.take(b"one\n");
        output.take(b"two");
        assert!(output.file.as_ref().unwrap().file.is_none());
        assert!(!output.finish(&mut log).unwrap());
        let mut text = [0; 8];
        file.read_exact_at(&mut text, 0).unwrap();
        assert_eq!(&text, b"one\ntwo\n");
    }

    #[test]
    fn a_line_is_seen_when_it_is_written() {
        let mask = Mask::new([KEY]);
        let mut masking = LiveMask::new(&mask);
        let mut watched = Watched::default();
        masking.feed(b"working\n", &mut watched);
        assert_eq!(watched.text, b"working\n");
        masking.feed(b"{\"a\":", &mut watched);
        assert_eq!(watched.text, b"working\n", "an event is seen as a whole");
        masking.feed(b"1}\n1, 2, ", &mut watched);
        assert_eq!(watched.text, b"working\n{\"a\":1}\n1, 2, ");
    }

    #[test]
    fn a_text_that_nothing_follows_is_seen_and_covered_if_it_was_a_secret() {
        let mask = Mask::new([KEY, "correct horse battery"]);
        for secret in [KEY, "correct horse battery"] {
            for cut in 1..secret.len() {
                let mut masking = LiveMask::new(&mask);
                let mut watched = Watched::default();
                masking.feed(format!("say {}", &secret[..cut]).as_bytes(), &mut watched);
                masking.fed_at = Instant::now().checked_sub(PATIENCE).unwrap();
                masking.wait_no_longer(&mut watched);
                assert_eq!(watched.text.len(), 4 + cut);
                masking.feed(
                    format!("{}, and on", &secret[cut..]).as_bytes(),
                    &mut watched,
                );
                masking.finish(&mut watched);
                let text = String::from_utf8(watched.text).unwrap();
                assert_eq!(
                    text,
                    format!("say {}, and on", "*".repeat(secret.len())),
                    "{cut}"
                );
                assert!(masking.has_pieces || cut >= 12, "{cut}");
            }
        }
    }

    #[test]
    fn pieces_are_covered_when_they_turn_out_to_be_a_secret() {
        let mask = Mask::new([KEY, "correct horse battery"]);
        for secret in [KEY, "correct horse battery"] {
            let mut stream = String::new();
            for piece in secret.as_bytes().chunks(5) {
                stream += &format!("{{\"d\":\"{}\"}}\n", String::from_utf8_lossy(piece));
            }
            let watched = watched(&stream, &mask, 7);
            let text = String::from_utf8(watched.text).unwrap();
            let joined: String = text
                .lines()
                .map(|line| line.trim_start_matches("{\"d\":\"").trim_end_matches("\"}"))
                .collect();
            assert_eq!(joined, "*".repeat(secret.len()), "{text}");
        }
    }
}
