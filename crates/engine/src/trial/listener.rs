//! Listens to a running agent: output to decoder to transcript, and now and then a word to the display.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use globset::GlobBuilder;
use terca_core::agent::{Decoder, Line, Reading, SideFile};
use terca_core::mask::Mask;
use terca_core::transcript::{Record, Usage};

use super::Stop;
use super::session::Seat;
use crate::log::RunLog;
use crate::output::Output;
use crate::supervise::Ended;
use crate::tail::Tail;
use crate::tree;

/// How often the display hears of what an agent does.
const NEWS: Duration = Duration::from_millis(250);
/// How often files that an agent writes beside its output are looked at.
const SIDE_LOOK: Duration = Duration::from_secs(1);

/// Hears what an agent does, and what it has used so far.
pub(super) type Tell<'a> = &'a dyn Fn(String, Usage);

pub(super) struct Listener<'a> {
    decoder: Box<dyn Decoder>,
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
            decoder,
            stdout: Tail::open(&stdout.path)?,
            stderr: Tail::open(&stderr.path)?,
            sides,
            side_tails: Vec::new(),
            looked: now,
            transcript: Transcript::create(seat, mask, streams)?,
            told: (now, String::new(), Usage::default()),
        })
    }

    /// Called again and again while the agent runs. A read that fails now is tried again at the end, where
    /// failing counts.
    pub(super) fn turn(&mut self, tell: Tell<'_>) {
        let (decoder, transcript) = (&mut self.decoder, &mut self.transcript);
        let _ = self.stdout.read(&mut |line| transcript.add(decoder.stdout(line)));
        let _ = self.stderr.read(&mut |line| decoder.stderr(line));
        let _ = self.transcript.file.flush();
        if self.looked.elapsed() >= SIDE_LOOK {
            self.looked = Instant::now();
            self.read_side_files(|side| !side.is_document());
        }
        let (doing, usage) = (&self.transcript.latest, self.decoder.usage());
        let news = *doing != self.told.1 || usage != self.told.2;
        if news && self.told.0.elapsed() >= NEWS {
            self.told = (Instant::now(), doing.clone(), usage);
            tell(doing.clone(), usage);
        }
    }

    fn read_side_files(&mut self, wanted: fn(&SideFile) -> bool) {
        for side in self.sides.iter().filter(|side| wanted(side)) {
            for path in side_paths(side) {
                let known = self.side_tails.iter().any(|(_, known, _)| *known == path);
                if !known && let Ok(tail) = Tail::open(&path) {
                    self.side_tails.push((side.label, path, tail));
                }
            }
        }
        let decoder = &mut self.decoder;
        for (label, _, tail) in &mut self.side_tails {
            let _ = tail.read(&mut |line| side_line(decoder.as_mut(), label, line));
        }
    }

    /// The rest of everything, and what it all comes to.
    pub(super) fn finish(mut self, ended: &Ended, log: &mut RunLog) -> Result<Reading, Stop> {
        self.read_side_files(|_| true);
        let Listener { mut decoder, stdout, stderr, side_tails, mut transcript, .. } = self;
        stdout.finish(&mut |line| transcript.add(decoder.stdout(line)))?;
        stderr.finish(&mut |line| decoder.stderr(line))?;
        for (label, _, tail) in side_tails {
            tail.finish(&mut |line| side_line(decoder.as_mut(), label, line))?;
        }
        let mut reading = decoder.finish(ended.exit);
        transcript.add(std::mem::take(&mut reading.records));
        transcript.close(log)?;
        Ok(reading)
    }
}

fn side_line(decoder: &mut dyn Decoder, label: &str, line: Line<'_>) {
    if let Line::Text(text) = line {
        decoder.side_line(label, text);
    }
}

/// The files that a side file's pattern names just now.
pub(super) fn side_paths(side: &SideFile) -> Vec<Utf8PathBuf> {
    let Ok(glob) = GlobBuilder::new(side.glob).literal_separator(true).build() else { return Vec::new() };
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
    mask: Mask,
    headlines: Option<Vec<String>>,
    /// What the agent did last.
    latest: String,
    failed: Option<std::io::Error>,
}

impl Transcript {
    fn create(seat: &Seat, mask: &Mask, streams: bool) -> Result<Self, Stop> {
        Ok(Transcript {
            file: BufWriter::new(File::create(&seat.transcript)?),
            mask: mask.clone(),
            headlines: streams.then(Vec::new),
            latest: String::new(),
            failed: None,
        })
    }

    fn add(&mut self, records: Vec<Record>) {
        for record in records {
            let headline = record.step.headline();
            if let Some(headlines) = &mut self.headlines {
                headlines.push(headline.clone());
            }
            self.latest = self.mask.text(&headline);
            if let Err(error) = self.write(&record) {
                self.failed.get_or_insert(error);
            }
        }
    }

    fn write(&mut self, record: &Record) -> std::io::Result<()> {
        let line = serde_json::to_string(record)?;
        writeln!(self.file, "{}", self.mask.text(&line))
    }

    /// A transcript that could not be written whole is an error of the trial, never a gap that nobody sees.
    fn close(mut self, log: &mut RunLog) -> Result<(), Stop> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        self.file.flush()?;
        for headline in self.headlines.into_iter().flatten() {
            log.line(&headline)?;
        }
        Ok(())
    }
}
