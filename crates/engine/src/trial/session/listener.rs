//! Listens to a running agent: output goes to the decoder, records to the transcript, activity to the display.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use globset::GlobBuilder;
use terca_core::agent::{Decoder, Line, Reading, SideFile, StreamFilter};
use terca_core::mcp_tap::steps;
use terca_core::text::mask::Mask;
use terca_core::transcript::Usage;

use super::transcript::Transcript;
use crate::mcp_tap::Tapped;
use crate::process::supervise::{Ended, Turn};
use crate::process::tail::{LineSink, Seen, Tail};
use crate::tree::{Dir, Limits, Options, TreeError, Visit, walk};
use crate::trial::live::LiveOutput;
use crate::trial::log::RunLog;

/// The shortest time between two reports to the display.
const REPORT_EVERY: Duration = Duration::from_millis(250);
/// The time between two looks at files that an agent writes beside its output.
const LOOK_AT_SIDE_FILES_EVERY: Duration = Duration::from_secs(1);

/// The most entries that are looked at for files beside an agent's output.
const MOST_SIDE_ENTRIES: u64 = 100_000;

/// Receives an agent's activity and what it has used so far.
pub(in crate::trial) type OnProgress<'a> = &'a dyn Fn(String, Usage);

/// Reads an agent's output while the agent runs.
pub(super) struct Listener<'a> {
    filter: StreamFilter,
    transcript: Transcript,
    stdout: LiveTail,
    stderr: LiveTail,
    side_files: &'a [SideFile],
    /// The side files that have been found so far.
    side_tails: Vec<SideTail>,
    looked_at_side_files: Instant,
    reported: Reported,
    began: Instant,
    limit: Duration,
    progress: u64,
    until_limit: UntilLimit,
    mask: Mask,
    /// The log could not be written.
    failed: Option<io::Error>,
}

/// The talk with the model, as it was seen within the time limit. An agent that is asked to end may print more, and its
/// last words are no progress.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UntilLimit {
    /// The time of the last progress, since the beginning.
    pub(super) progress_at: Duration,
    pub(super) is_tool_running: bool,
}

/// One of the agent's two outputs: read for the decoder, and written where it is kept and shown.
pub(super) struct LiveTail {
    pub(super) tail: Tail,
    pub(super) live: LiveOutput,
}

struct SideTail {
    label: &'static str,
    path: Utf8PathBuf,
    tail: Tail,
}

/// The last report to the display.
struct Reported {
    at: Instant,
    activity: String,
    usage: Usage,
}

impl<'a> Listener<'a> {
    pub(super) fn new(
        decoder: Box<dyn Decoder>,
        transcript: Transcript,
        side_files: &'a [SideFile],
        stdout: LiveTail,
        stderr: LiveTail,
        limit: Duration,
        mask: &Mask,
    ) -> Self {
        let now = Instant::now();
        Listener {
            filter: StreamFilter::new(decoder),
            transcript,
            stdout,
            stderr,
            side_files,
            side_tails: Vec::new(),
            looked_at_side_files: now,
            reported: Reported {
                at: now,
                activity: String::new(),
                usage: Usage::default(),
            },
            began: now,
            limit,
            progress: 0,
            until_limit: UntilLimit::default(),
            mask: mask.clone(),
            failed: None,
        }
    }

    /// Reads what is new. Called again and again while the agent runs.
    /// A read that fails now is tried again by `finish`, where failing counts.
    pub(super) fn on_turn(&mut self, log: &mut RunLog, on_progress: OnProgress<'_>) -> Turn {
        let is_more = self.read(log);
        if self.looked_at_side_files.elapsed() >= LOOK_AT_SIDE_FILES_EVERY {
            self.looked_at_side_files = Instant::now();
            self.read_side_files(|side| !side.is_document());
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
        let progress = self.filter.progress();
        if progress != self.progress && now < self.limit {
            self.progress = progress;
            self.until_limit = UntilLimit {
                progress_at: now,
                is_tool_running: self.filter.is_tool_running(),
            };
        }
    }

    /// Reads what is new of both outputs. Returns whether there is more.
    fn read(&mut self, log: &mut RunLog) -> io::Result<bool> {
        let more_output = self.stdout.tail.read(&mut StdoutSink {
            filter: &mut self.filter,
            transcript: &mut self.transcript,
            mask: &self.mask,
            live: &mut self.stdout.live,
        });
        let more_errors = self.stderr.tail.read(&mut StderrSink {
            decoder: self.filter.decoder.as_mut(),
            mask: &self.mask,
            live: &mut self.stderr.live,
        });
        self.transcript.flush(log);
        for output in [&mut self.stdout, &mut self.stderr] {
            if let Err(error) = output.live.write_log(log) {
                self.failed.get_or_insert(error);
            }
        }
        Ok(more_output? | more_errors?)
    }

    fn report(&mut self, on_progress: OnProgress<'_>) {
        if self.reported.at.elapsed() < REPORT_EVERY {
            return;
        }
        let activity = self.transcript.activity();
        let usage = self.filter.decoder.usage();
        if activity != self.reported.activity || usage != self.reported.usage {
            self.reported = Reported {
                at: Instant::now(),
                activity: activity.clone(),
                usage,
            };
            on_progress(activity, usage);
        }
    }

    fn read_side_files(&mut self, is_wanted: fn(&SideFile) -> bool) {
        for side in self.side_files.iter().filter(|side| is_wanted(side)) {
            for path in side_paths(side) {
                let is_known = self.side_tails.iter().any(|known| known.path == path);
                if !is_known && let Ok(file) = open_side_file(side, &path) {
                    self.side_tails.push(SideTail {
                        label: side.label,
                        path,
                        tail: Tail::new(file, &Mask::default()),
                    });
                }
            }
        }
        let decoder = &mut self.filter.decoder;
        for SideTail { label, tail, .. } in &mut self.side_tails {
            let _ = tail.read(&mut |line: Line<'_>| {
                side_line(decoder.as_mut(), label, line, &self.mask);
            });
        }
    }

    /// Reads the rest of everything, and closes the transcript. Calls of MCP servers that the agent does not show are added
    /// to it.
    pub(super) fn finish(
        mut self,
        ended: &Ended,
        tapped: &Tapped,
        log: &mut RunLog,
    ) -> io::Result<AgentOutput> {
        self.read_side_files(|_| true);
        // Piece by piece, so that the log is not held in memory.
        while self.read(log)? {}
        if let Some(error) = self.failed {
            return Err(error);
        }
        let Listener {
            mut filter,
            mut transcript,
            mut stdout,
            mut stderr,
            side_tails,
            mask,
            until_limit,
            ..
        } = self;
        let seen_of_stdout = stdout.tail.finish(&mut StdoutSink {
            filter: &mut filter,
            transcript: &mut transcript,
            mask: &mask,
            live: &mut stdout.live,
        })?;
        let seen_of_stderr = stderr.tail.finish(&mut StderrSink {
            decoder: filter.decoder.as_mut(),
            mask: &mask,
            live: &mut stderr.live,
        })?;
        let decoder = &mut filter.decoder;
        for SideTail { label, tail, .. } in side_tails {
            tail.finish(&mut |line: Line<'_>| side_line(decoder.as_mut(), label, line, &mask))?;
        }
        let mut reading = filter.finish(ended.exit);
        transcript.add(std::mem::take(&mut reading.records));
        for (name, server) in &tapped.servers {
            if !transcript.shows_calls_of(name) {
                transcript.add(steps(name, &server.events));
            }
        }
        transcript.close(log)?;
        Ok(AgentOutput {
            reading,
            until_limit,
            stdout: PrintedOutput {
                seen: seen_of_stdout,
                has_pieces: stdout.live.finish(log)?,
            },
            stderr: PrintedOutput {
                seen: seen_of_stderr,
                has_pieces: stderr.live.finish(log)?,
            },
        })
    }
}

/// Passes standard output through the decoder into the transcript.
struct StdoutSink<'a> {
    filter: &'a mut StreamFilter,
    transcript: &'a mut Transcript,
    mask: &'a Mask,
    live: &'a mut LiveOutput,
}

impl LineSink for StdoutSink<'_> {
    fn line(&mut self, line: Line<'_>) {
        with_keys_masked(line, self.mask, |line| {
            self.transcript.add_now(self.filter.line(line));
        });
    }

    fn wants(&mut self, beginning: &[u8]) -> bool {
        self.filter.should_decode(beginning)
    }

    fn skip(&mut self, bytes: u64) {
        self.filter.skip(bytes);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.live.take(bytes);
    }
}

/// Passes standard error through the decoder.
struct StderrSink<'a> {
    decoder: &'a mut dyn Decoder,
    mask: &'a Mask,
    live: &'a mut LiveOutput,
}

impl LineSink for StderrSink<'_> {
    fn line(&mut self, line: Line<'_>) {
        with_keys_masked(line, self.mask, |line| self.decoder.stderr(line));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.live.take(bytes);
    }
}

/// Everything that an agent has printed.
pub(super) struct AgentOutput {
    pub(super) reading: Reading,
    pub(super) until_limit: UntilLimit,
    pub(super) stdout: PrintedOutput,
    pub(super) stderr: PrintedOutput,
}

/// One of the two outputs of an agent that has come to its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrintedOutput {
    pub(super) seen: Seen,
    /// A secret was in pieces of several events.
    pub(super) has_pieces: bool,
}

/// Hands a line on without the keys in it: a decoder cuts what it reads.
fn with_keys_masked(line: Line<'_>, mask: &Mask, read: impl FnOnce(Line<'_>)) {
    match line {
        Line::Text(text) => read(Line::Text(&mask.keys_in(text))),
        Line::Oversized { beginning, bytes } => read(Line::Oversized {
            beginning: &mask.keys_in(beginning),
            bytes,
        }),
    }
}

fn side_line(decoder: &mut dyn Decoder, label: &str, line: Line<'_>, mask: &Mask) {
    if let Line::Text(text) = line {
        decoder.side_line(label, &mask.keys_in(text));
    }
}

/// Opens one of the files that match a side file's pattern. By now the agent may have put a link or a pipe in its place,
/// and neither is followed or waited for.
pub(super) fn open_side_file(side: &SideFile, path: &Utf8Path) -> Result<File, TreeError> {
    let inside = path.strip_prefix(&side.dir).unwrap_or(path);
    Dir::open_no_link(&side.dir)?.open_file(inside)
}

/// Returns the files that match a side file's pattern at the moment.
pub(super) fn side_paths(side: &SideFile) -> Vec<Utf8PathBuf> {
    let Ok(glob) = GlobBuilder::new(side.glob).literal_separator(true).build() else {
        return Vec::new();
    };
    let matcher = glob.compile_matcher();
    let Ok(dir) = Dir::open_no_link(&side.dir) else {
        return Vec::new();
    };
    let options = Options {
        limits: Limits {
            entries: MOST_SIDE_ENTRIES,
            bytes: u64::MAX,
            ..Limits::default()
        },
        // The agent is at work there.
        unlock: false,
        ..Options::default()
    };
    let mut found = Vec::new();
    // A walk that ends early has found something all the same.
    let _ = walk(&dir, &options, &mut |entry, meta| {
        if meta.is_file()
            && matcher.is_match(entry.path)
            && let Some(path) = Utf8Path::from_path(entry.path)
        {
            found.push(side.dir.join(path));
        }
        Ok(Visit::Continue)
    });
    found
}
