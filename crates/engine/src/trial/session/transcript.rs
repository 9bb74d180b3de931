//! `transcript.jsonl`, written while an agent runs.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use terca_core::text::mask::Mask;
use terca_core::transcript::Record;
use terca_core::transcript::activity::Activity;

use super::agent_dirs::AgentDirs;
use super::headlines::Headlines;
use crate::trial::log::RunLog;

/// A session can be a gigabyte long.
const BUFFER: usize = 256 * 1024;

/// `transcript.jsonl`, and the steps for `run.log` where a person cannot read the output itself.
pub(super) struct Transcript {
    file: BufWriter<File>,
    /// The line that is being written, kept for its memory.
    line: Vec<u8>,
    mask: Mask,
    headlines: Option<Headlines>,
    activity: Activity,
    /// Agents name files by their whole paths; on the display the workspace is left out.
    workspace: String,
    failed: Option<io::Error>,
}

impl Transcript {
    pub(super) fn create(dirs: &AgentDirs, mask: &Mask, streams_events: bool) -> io::Result<Self> {
        Ok(Transcript {
            file: BufWriter::with_capacity(BUFFER, File::create(&dirs.transcript)?),
            line: Vec::new(),
            mask: mask.clone(),
            headlines: streams_events.then(Headlines::default),
            activity: Activity::default(),
            workspace: dirs.workspace.to_string(),
            failed: None,
        })
    }

    /// Writes records. The first error is reported by `close`.
    pub(super) fn add(&mut self, records: Vec<Record>) {
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

    /// Passes what was written on to the file. An error is met again in `close`.
    pub(super) fn flush(&mut self) {
        let _ = self.file.flush();
    }

    /// Returns the agent's activity, for the display.
    pub(super) fn activity(&self) -> String {
        let inside = self
            .activity
            .text()
            .replace(&format!("{}/", self.workspace), "");
        self.mask.text(&inside.replace(&self.workspace, "."))
    }

    fn write(&mut self, record: &Record) -> io::Result<()> {
        self.line.clear();
        self.line.shrink_to(BUFFER);
        serde_json::to_writer(&mut self.line, record)?;
        self.line.push(b'\n');
        if self.mask.hides(&self.line) {
            return self.file.write_all(&self.mask.bytes(&self.line));
        }
        self.file.write_all(&self.line)
    }

    /// Finishes the file. A transcript that could not be written whole is an error of the trial, never a silent gap.
    pub(super) fn close(mut self, log: &mut RunLog) -> io::Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.file.flush()?;
        match self.headlines {
            Some(headlines) => headlines.write(log),
            None => Ok(()),
        }
    }
}
