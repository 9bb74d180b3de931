//! `transcript.jsonl`, written while an agent runs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::Instant;

use terca_core::text::mask::Mask;
use terca_core::transcript::activity::Activity;
use terca_core::transcript::{Record, Step};

use crate::trial::agent_request::AgentDirs;
use crate::trial::log::{RunLog, Stream};
use crate::trial::output::{LogPart, Logged};

/// A session can be a gigabyte long.
const BUFFER: usize = 256 * 1024;

/// `transcript.jsonl`, and the steps for `run.log` where a person cannot read the output itself.
pub(super) struct Transcript {
    file: BufWriter<File>,
    /// The beginning of the session.
    began: Instant,
    /// The line that is being written, kept for its memory.
    line: Vec<u8>,
    mask: Mask,
    log: Option<LogPart>,
    /// Steps that the log does not have yet, a line each.
    headlines: String,
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
    ) -> io::Result<Self> {
        Ok(Transcript {
            began,
            file: BufWriter::with_capacity(BUFFER, File::create(&dirs.transcript)?),
            line: Vec::new(),
            mask: mask.clone(),
            log: streams_events.then(|| LogPart::new(Stream::Out, Logged::Ends)),
            headlines: String::new(),
            activity: Activity::default(),
            servers: BTreeSet::new(),
            workspace: dirs.shown(dirs.workspace.as_str()),
            failed: None,
        })
    }

    /// Writes records that have just been read, with the time.
    pub(super) fn add_now(&mut self, mut records: Vec<Record>) {
        // Most lines of a flood make no record, and the clock is asked a million times a second.
        if records.is_empty() {
            return;
        }
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
        if let Some(part) = &mut self.log
            && let Err(error) = part.add(self.headlines.as_bytes(), log)
        {
            self.failed.get_or_insert(error);
        }
        self.headlines.clear();
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
        if self.log.is_some() {
            self.headlines += &headline;
            self.headlines.push('\n');
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
        self.file.write_all(&self.line)?;
        Ok(record)
    }

    /// Finishes the file. A transcript that could not be written whole is an error of the trial, never a silent gap.
    pub(super) fn close(mut self, log: &mut RunLog) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.file.flush()?;
        let Some(mut part) = self.log.take() else {
            return Ok(());
        };
        part.add(self.headlines.as_bytes(), log)?;
        part.finish(log)
    }
}
