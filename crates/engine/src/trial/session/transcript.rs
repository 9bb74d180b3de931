//! `transcript.jsonl`, written while an agent runs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::time::Instant;

use camino::Utf8PathBuf;
use terca_core::text::mask::{Mask, Pieces};
use terca_core::transcript::activity::Activity;
use terca_core::transcript::{Record, Step};

use super::headlines::Headlines;
use crate::trial::agent_request::AgentDirs;
use crate::trial::log::RunLog;
use crate::trial::masking::write_edited;

/// A session can be a gigabyte long.
const BUFFER: usize = 256 * 1024;

/// `transcript.jsonl`, and the steps for `run.log` where a person cannot read the output itself.
pub(super) struct Transcript {
    path: Utf8PathBuf,
    file: BufWriter<File>,
    /// The length of the file.
    bytes: u64,
    /// The beginning of the session.
    began: Instant,
    /// Secrets of which each step has only a piece.
    pieces: Pieces,
    /// The line that is being written, kept for its memory.
    line: Vec<u8>,
    mask: Mask,
    headlines: Option<Headlines>,
    /// The length of the log before the first step.
    length_of_log: u64,
    activity: Activity,
    /// The MCP servers whose calls are in it.
    servers: BTreeSet<String>,
    /// Agents name files by their whole paths; on the display the workspace is left out.
    workspace: String,
    failed: Option<io::Error>,
}

impl Transcript {
    pub(super) fn create(
        dirs: &AgentDirs,
        mask: &Mask,
        streams_events: bool,
        began: Instant,
        log: &mut RunLog,
    ) -> io::Result<Self> {
        Ok(Transcript {
            began,
            path: dirs.transcript.clone(),
            file: BufWriter::with_capacity(BUFFER, File::create(&dirs.transcript)?),
            bytes: 0,
            pieces: Pieces::live(mask),
            length_of_log: log.length()?,
            line: Vec::new(),
            mask: mask.clone(),
            headlines: streams_events.then(Headlines::default),
            activity: Activity::default(),
            servers: BTreeSet::new(),
            workspace: dirs.workspace.to_string(),
            failed: None,
        })
    }

    /// Writes records that have just been read, with the time.
    pub(super) fn add_now(&mut self, mut records: Vec<Record>) {
        let now = u64::try_from(self.began.elapsed().as_millis()).ok();
        for record in &mut records {
            record.at_ms = now;
        }
        self.add(records);
    }

    /// Writes records. The first error is reported by `close`.
    pub(super) fn add(&mut self, records: Vec<Record>) {
        for record in records {
            match self.write(record) {
                Ok(record) => self.note(&record),
                Err(error) => {
                    self.failed.get_or_insert(error);
                }
            }
        }
    }

    /// Passes what was written on to the file, and new steps to the log. The first error is reported by `close`.
    pub(super) fn flush(&mut self, log: &mut RunLog) {
        let _ = self.file.flush();
        if let Some(headlines) = &mut self.headlines
            && let Err(error) = headlines.write_new(log)
        {
            self.failed.get_or_insert(error);
        }
    }

    /// Returns the MCP servers whose calls are in it.
    pub(super) fn servers(&self) -> &BTreeSet<String> {
        &self.servers
    }

    /// Returns the agent's activity, for the display.
    pub(super) fn activity(&self) -> String {
        let inside = self
            .activity
            .text()
            .replace(&format!("{}/", self.workspace), "");
        inside.replace(&self.workspace, ".")
    }

    /// Notes a step, which is masked already, for the log and the display. Both show its beginning.
    fn note(&mut self, record: &Record) {
        if let Step::ToolCall {
            server: Some(server),
            ..
        } = &record.step
            && !self.servers.contains(server)
        {
            self.servers.insert(server.clone());
        }
        let headline = record.step.headline();
        self.activity.note(&record.step, &headline);
        if let Some(headlines) = &mut self.headlines {
            headlines.push(headline);
        }
    }

    /// Writes a record with its secrets masked, and returns it as it was written.
    fn write(&mut self, mut record: Record) -> io::Result<Record> {
        self.line.clear();
        self.line.shrink_to(BUFFER);
        serde_json::to_writer(&mut self.line, &record)?;
        if self.mask.hides(&self.line) {
            record = record.masked(&self.mask);
            self.line.clear();
            serde_json::to_writer(&mut self.line, &record)?;
        }
        self.line.push(b'\n');
        self.pieces.line(self.bytes, &self.line);
        if self.cover_pieces()? {
            record = serde_json::from_slice(&self.line)?;
        }
        self.bytes += self.line.len() as u64;
        self.file.write_all(&self.line)?;
        Ok(record)
    }

    /// Covers the pieces of secrets that have just been found, in earlier lines and in the one that is to be written.
    /// Returns whether that one has changed.
    fn cover_pieces(&mut self) -> io::Result<bool> {
        let mut has_changed = false;
        for piece in self.pieces.take_fresh() {
            if piece.start < self.bytes {
                self.file.flush()?;
                let stars = vec![b'*'; (piece.end.min(self.bytes) - piece.start) as usize];
                self.file.get_ref().write_all_at(&stars, piece.start)?;
            } else {
                let start = (piece.start - self.bytes) as usize;
                let end = (piece.end - self.bytes) as usize;
                self.line[start..end].fill(b'*');
                has_changed = true;
            }
        }
        Ok(has_changed)
    }

    /// Masks the secrets that came in pieces, a step each, and reads the headlines again.
    fn mask_pieces(&mut self, log: &mut RunLog) -> io::Result<()> {
        let pieces = std::mem::replace(&mut self.pieces, Pieces::new(&Mask::default())).finish();
        if pieces.is_empty() {
            return Ok(());
        }
        let new = self.path.with_extension("jsonl.new");
        let mut masked = BufWriter::with_capacity(BUFFER, fs_err::File::create(&new)?);
        let old = fs_err::File::open(&self.path)?;
        // Whole secrets are masked already.
        write_edited(old, pieces, &mut masked, &Mask::default())?;
        masked.flush()?;
        fs_err::rename(&new, &self.path)?;
        if let Some(headlines) = &mut self.headlines {
            *headlines = Headlines::default();
            log.take_back(self.length_of_log)?;
            for line in BufReader::new(fs_err::File::open(&self.path)?).lines() {
                let record: Record = serde_json::from_str(&line?)?;
                headlines.push(record.step.headline());
            }
        }
        Ok(())
    }

    /// Finishes the file. A transcript that could not be written whole is an error of the trial, never a silent gap.
    pub(super) fn close(mut self, log: &mut RunLog) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.file.flush()?;
        self.mask_pieces(log)?;
        match self.headlines {
            Some(headlines) => headlines.write_rest(log),
            None => Ok(()),
        }
    }
}
