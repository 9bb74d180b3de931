//! Listens to a running agent: output goes to the decoder, records to the transcript, activity to the display.

use std::io;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use terca_core::agent::{Decoder, Line, RawLine, Reading, SideFile, TimeLimit};
use terca_core::text::mask::Mask;
use terca_core::transcript::Usage;

use super::transcript::Transcript;
use crate::process::supervise::{Ended, Turn};
use crate::process::tail::{Lines, Tail};
use crate::trial::attachments::side_files::{open_side_file, side_paths};
use crate::trial::log::RunLog;
use crate::trial::output::LiveOutput;

/// The shortest time between two reports to the display.
const REPORT_EVERY: Duration = Duration::from_millis(250);
/// The time between two looks at files that an agent writes beside its output.
const LOOK_AT_SIDE_FILES_EVERY: Duration = Duration::from_secs(1);

/// Receives an agent's activity and what it has used so far.
pub(in crate::trial) type OnProgress<'a> = &'a dyn Fn(String, Usage);

/// Reads an agent's output while the agent runs.
pub(super) struct Listener<'a> {
    decoder: Decoder,
    transcript: Transcript,
    stdout: Heard<'a>,
    stderr: Heard<'a>,
    side_files: &'a [SideFile],
    /// The side files that have been found so far.
    side_tails: Vec<SideTail>,
    looked_at_side_files: Instant,
    reported_at: Instant,
    reported: (String, Usage),
    began: Instant,
    progress: u64,
    /// The talk with the model, as it was seen within the time limit. An agent that is asked to end may print more, and
    /// its last words are no progress.
    time_limit: TimeLimit,
    mask: Mask,
}

/// One of the agent's two outputs: passed on to where it is kept and shown, and cut into lines for the decoder.
struct Heard<'a> {
    live: LiveOutput<'a>,
    lines: Lines,
}

impl<'a> Heard<'a> {
    fn new(live: LiveOutput<'a>) -> Self {
        Heard {
            live,
            lines: Lines::default(),
        }
    }

    fn read(
        &mut self,
        log: &mut RunLog,
        on_line: &mut dyn FnMut(RawLine<'_>),
        is_last: bool,
    ) -> io::Result<bool> {
        let lines = &mut self.lines;
        let is_more = self
            .live
            .read(log, &mut |block| lines.feed(block, on_line))?;
        if is_last {
            std::mem::take(lines).finish(on_line);
        }
        Ok(is_more)
    }
}

struct SideTail {
    label: &'static str,
    path: Utf8PathBuf,
    tail: Tail,
    lines: Lines,
}

impl<'a> Listener<'a> {
    pub(super) fn new(
        decoder: Decoder,
        transcript: Transcript,
        side_files: &'a [SideFile],
        stdout: LiveOutput<'a>,
        stderr: LiveOutput<'a>,
        limit: Duration,
        mask: &Mask,
    ) -> Self {
        let now = Instant::now();
        Listener {
            decoder,
            transcript,
            stdout: Heard::new(stdout),
            stderr: Heard::new(stderr),
            side_files,
            side_tails: Vec::new(),
            looked_at_side_files: now,
            reported_at: now,
            reported: (String::new(), Usage::default()),
            began: now,
            progress: 0,
            time_limit: TimeLimit {
                limit,
                silence: limit,
                tool_was_running: false,
            },
            mask: mask.clone(),
        }
    }

    /// Reads what is new. Called again and again while the agent runs.
    /// A read that fails now is tried again by `finish`, where failing counts.
    pub(super) fn on_turn(&mut self, log: &mut RunLog, on_progress: OnProgress<'_>) -> Turn {
        let is_more = self.read(log, false);
        if self.looked_at_side_files.elapsed() >= LOOK_AT_SIDE_FILES_EVERY {
            self.looked_at_side_files = Instant::now();
            self.read_side_files(|side| !side.is_document(), false);
        }
        self.report(on_progress);
        self.note_progress();
        if is_more.unwrap_or(false) {
            Turn::Again
        } else {
            Turn::Wait
        }
    }

    fn note_progress(&mut self) {
        let now = self.began.elapsed();
        let progress = self.decoder.progress();
        if progress != self.progress && now < self.time_limit.limit {
            self.progress = progress;
            self.time_limit.silence = self.time_limit.limit - now;
            self.time_limit.tool_was_running = self.decoder.is_tool_running();
        }
    }

    /// Reads what is new of both outputs, and the last lines without an end. Returns whether there is more.
    fn read(&mut self, log: &mut RunLog, is_last: bool) -> io::Result<bool> {
        let Listener {
            decoder,
            transcript,
            stdout,
            stderr,
            mask,
            ..
        } = self;
        let on_line = &mut |line: RawLine<'_>| transcript.add_now(decoder.line(line, mask));
        let more_output = stdout.read(log, on_line, is_last);
        let on_line = &mut |line: RawLine<'_>| line.read(mask, |line| decoder.stderr(line));
        let more_errors = stderr.read(log, on_line, is_last);
        transcript.flush(log);
        Ok(more_output? | more_errors?)
    }

    fn report(&mut self, on_progress: OnProgress<'_>) {
        if self.reported_at.elapsed() < REPORT_EVERY {
            return;
        }
        let news = (self.transcript.activity(), self.decoder.usage());
        if news != self.reported {
            self.reported_at = Instant::now();
            self.reported = news.clone();
            on_progress(news.0, news.1);
        }
    }

    fn read_side_files(&mut self, is_wanted: fn(&SideFile) -> bool, is_last: bool) {
        for side in self.side_files.iter().filter(|side| is_wanted(side)) {
            for path in side_paths(side) {
                let is_known = self.side_tails.iter().any(|known| known.path == path);
                if !is_known && let Ok(file) = open_side_file(side, &path) {
                    self.side_tails.push(SideTail {
                        label: side.label,
                        path,
                        tail: Tail::new(file),
                        lines: Lines::default(),
                    });
                }
            }
        }
        let decoder = &mut self.decoder;
        for side in &mut self.side_tails {
            let label = side.label;
            let on_line = &mut |line: RawLine<'_>| side_line(decoder, label, line, &self.mask);
            while side
                .tail
                .read(&mut |block| side.lines.feed(block, on_line))
                .unwrap_or(false)
            {}
            if is_last {
                std::mem::take(&mut side.lines).finish(on_line);
            }
        }
    }

    /// Reads the rest of everything.
    /// Returns the transcript too, which is still open.
    pub(super) fn finish(
        mut self,
        ended: &Ended,
        log: &mut RunLog,
    ) -> io::Result<(Reading, Transcript, TimeLimit)> {
        // Piece by piece, so that the log is not held in memory.
        while self.read(log, false)? {}
        self.read(log, true)?;
        self.read_side_files(|_| true, true);
        let Listener {
            decoder,
            mut transcript,
            stdout,
            stderr,
            time_limit,
            ..
        } = self;
        let mut reading = decoder.finish(ended.exit);
        transcript.add(std::mem::take(&mut reading.records));
        stdout.live.finish(log, &mut |_| {})?;
        stderr.live.finish(log, &mut |_| {})?;
        Ok((reading, transcript, time_limit))
    }
}

/// Reads a line of a side file. One that is too long is passed over.
fn side_line(decoder: &mut Decoder, label: &str, line: RawLine<'_>, mask: &Mask) {
    line.read(mask, |line| {
        if let Line::Text(text) = line {
            decoder.side_line(label, text);
        }
    });
}
