//! Listens to a running agent: output to decoder to transcript, and now and then a word to the display.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use globset::GlobBuilder;
use terca_core::agent::{Decoder, Flood, Line, Reading, SideFile};
use terca_core::text::mask::Mask;
use terca_core::transcript::activity::Activity;
use terca_core::transcript::{Record, Usage};

use super::Stop;
use super::headlines::Headlines;
use super::session::Seat;
use crate::process::output_file::Output;
use crate::process::supervise::Ended;
use crate::process::tail::{Ear, Seen, Tail};
use crate::trial::log::RunLog;
use crate::workspace::tree;

/// How often the display hears of what an agent does.
const NEWS: Duration = Duration::from_millis(250);
/// A session can be a gigabyte long.
const BUFFER: usize = 256 * 1024;
/// How often files that an agent writes beside its output are looked at.
const SIDE_LOOK: Duration = Duration::from_secs(1);

/// Hears what an agent does, and what it has used so far.
pub(super) type Tell<'a> = &'a dyn Fn(String, Usage);

pub(super) struct Listener<'a> {
    flood: Flood,
    stdout: Tail,
    stderr: Tail,
    sides: &'a [SideFile],
    /// Side files that have been found so far.
    side_tails: Vec<(&'static str, Utf8PathBuf, Tail)>,
    looked: Instant,
    transcript: Transcript,
    told: (Instant, String, Usage),
}

impl<'a> Listener<'a> {
    pub(super) fn new(
        seat: &Seat,
        mask: &Mask,
        sides: &'a [SideFile],
        decoder: Box<dyn Decoder>,
        streams: bool,
        [stdout, stderr]: [&Output; 2],
    ) -> Result<Self, Stop> {
        let now = Instant::now();
        Ok(Listener {
            flood: Flood::new(decoder),
            stdout: Tail::open(&stdout.path, mask)?,
            stderr: Tail::open(&stderr.path, mask)?,
            sides,
            side_tails: Vec::new(),
            looked: now,
            transcript: Transcript::create(seat, mask, streams)?,
            told: (now, String::new(), Usage::default()),
        })
    }

    /// Called again and again while the agent runs. Says whether there is more to read already. A read that fails
    /// now is tried again at the end, where failing counts.
    pub(super) fn turn(&mut self, tell: Tell<'_>) -> bool {
        let more = [
            self.stdout.read(&mut Stdout {
                flood: &mut self.flood,
                transcript: &mut self.transcript,
            }),
            self.stderr
                .read(&mut |line: Line<'_>| self.flood.decoder.stderr(line)),
        ];
        let _ = self.transcript.file.flush();
        if self.looked.elapsed() >= SIDE_LOOK {
            self.looked = Instant::now();
            self.read_side_files(|side| !side.is_document());
        }
        self.tell(tell);
        more.into_iter().any(|more| more.unwrap_or(false))
    }

    fn tell(&mut self, tell: Tell<'_>) {
        if self.told.0.elapsed() < NEWS {
            return;
        }
        let (doing, usage) = (self.transcript.latest(), self.flood.decoder.usage());
        if doing != self.told.1 || usage != self.told.2 {
            self.told = (Instant::now(), doing.clone(), usage);
            tell(doing, usage);
        }
    }

    fn read_side_files(&mut self, wanted: fn(&SideFile) -> bool) {
        for side in self.sides.iter().filter(|side| wanted(side)) {
            for path in side_paths(side) {
                let known = self.side_tails.iter().any(|(_, known, _)| *known == path);
                if !known && let Ok(tail) = Tail::open(&path, &Mask::default()) {
                    self.side_tails.push((side.label, path, tail));
                }
            }
        }
        let decoder = &mut self.flood.decoder;
        for (label, _, tail) in &mut self.side_tails {
            let _ = tail.read(&mut |line: Line<'_>| side_line(decoder.as_mut(), label, line));
        }
    }

    /// The rest of everything, and what it all comes to.
    pub(super) fn finish(mut self, ended: &Ended, log: &mut RunLog) -> Result<Heard, Stop> {
        self.read_side_files(|_| true);
        let Listener {
            mut flood,
            stdout,
            stderr,
            side_tails,
            mut transcript,
            ..
        } = self;
        let stdout = stdout.finish(&mut Stdout {
            flood: &mut flood,
            transcript: &mut transcript,
        })?;
        let decoder = &mut flood.decoder;
        let stderr = stderr.finish(&mut |line: Line<'_>| decoder.stderr(line))?;
        for (label, _, tail) in side_tails {
            tail.finish(&mut |line: Line<'_>| side_line(decoder.as_mut(), label, line))?;
        }
        let mut reading = flood.finish(ended.exit);
        transcript.add(std::mem::take(&mut reading.records));
        transcript.close(log)?;
        Ok(Heard {
            reading,
            stdout,
            stderr,
        })
    }
}

/// Standard output, on its way into the transcript.
struct Stdout<'a> {
    flood: &'a mut Flood,
    transcript: &'a mut Transcript,
}

impl Ear for Stdout<'_> {
    fn hear(&mut self, line: Line<'_>) {
        self.transcript.add(self.flood.line(line));
    }

    fn wants(&mut self, first_words: &[u8]) -> bool {
        self.flood.wants(first_words)
    }

    fn pass_over(&mut self, bytes: u64) {
        self.flood.pass_over(bytes);
    }
}

/// All that an agent has said.
pub(super) struct Heard {
    pub(super) reading: Reading,
    pub(super) stdout: Seen,
    pub(super) stderr: Seen,
}

fn side_line(decoder: &mut dyn Decoder, label: &str, line: Line<'_>) {
    if let Line::Text(text) = line {
        decoder.side_line(label, text);
    }
}

/// The files that a side file's pattern names just now.
pub(super) fn side_paths(side: &SideFile) -> Vec<Utf8PathBuf> {
    let Ok(glob) = GlobBuilder::new(side.glob).literal_separator(true).build() else {
        return Vec::new();
    };
    let matcher = glob.compile_matcher();
    tree::walk(&side.dir)
        .unwrap_or_default()
        .into_iter()
        .filter(|(path, meta)| meta.is_file() && matcher.is_match(path))
        .filter_map(|(path, _)| Utf8PathBuf::from_path_buf(path).ok())
        .map(|path| side.dir.join(path))
        .collect()
}

/// `transcript.jsonl`, and the steps for `run.log` where the output itself is no reading.
struct Transcript {
    file: BufWriter<File>,
    /// The line that is being written.
    line: Vec<u8>,
    mask: Mask,
    headlines: Option<Headlines>,
    activity: Activity,
    /// Agents name files by their whole paths; who looks on knows where they are.
    workspace: String,
    failed: Option<std::io::Error>,
}

impl Transcript {
    fn create(seat: &Seat, mask: &Mask, streams: bool) -> Result<Self, Stop> {
        Ok(Transcript {
            file: BufWriter::with_capacity(BUFFER, File::create(&seat.transcript)?),
            line: Vec::new(),
            mask: mask.clone(),
            headlines: streams.then(Headlines::default),
            activity: Activity::default(),
            workspace: seat.workspace.to_string(),
            failed: None,
        })
    }

    fn add(&mut self, records: Vec<Record>) {
        for record in records {
            let headline = record.step.headline();
            self.activity.note(&record.step, &headline);
            if let Some(headlines) = &mut self.headlines {
                headlines.push(headline);
            }
            if let Err(error) = self.write(&record) {
                self.failed.get_or_insert(error);
            }
        }
    }

    /// What the agent is doing, for the display.
    fn latest(&self) -> String {
        let inside = self
            .activity
            .text()
            .replace(&format!("{}/", self.workspace), "");
        self.mask.text(&inside.replace(&self.workspace, "."))
    }

    fn write(&mut self, record: &Record) -> std::io::Result<()> {
        self.line.clear();
        self.line.shrink_to(BUFFER);
        serde_json::to_writer(&mut self.line, record)?;
        self.line.push(b'\n');
        if self.mask.hides(&self.line) {
            return self.file.write_all(&self.mask.bytes(&self.line));
        }
        self.file.write_all(&self.line)
    }

    /// A transcript that could not be written whole is an error of the trial, never a gap that nobody sees.
    fn close(mut self, log: &mut RunLog) -> Result<(), Stop> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        self.file.flush()?;
        match self.headlines {
            Some(headlines) => Ok(headlines.write(log)?),
            None => Ok(()),
        }
    }
}
