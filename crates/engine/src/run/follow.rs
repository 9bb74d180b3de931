//! Follows a file of a trial while the trial runs.

use std::fs::File;
use std::io::{self, Read};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::run::outcome::Status;

use crate::run::files::EVENTS;
use crate::run::journal::is_going_on;
use crate::run::{past_runs, trial_files};

const LOOK_EVERY: Duration = Duration::from_millis(150);
/// More than this is not read at once.
const MOST_AT_ONCE: u64 = 1024 * 1024;

/// A file of a trial that grows.
#[derive(Debug)]
pub struct Follow {
    run: Utf8PathBuf,
    trial_dir: Utf8PathBuf,
    id: u32,
    name: &'static str,
    file: Option<File>,
    journal: u64,
    is_over: bool,
}

impl Follow {
    /// Follows a file of a trial, which need not be there yet.
    pub fn new(run: &Utf8Path, trial_dir: &Utf8Path, id: u32, name: &'static str) -> Self {
        Follow {
            run: run.to_owned(),
            trial_dir: trial_dir.to_owned(),
            id,
            name,
            file: None,
            journal: 0,
            is_over: false,
        }
    }

    /// Returns what has been added to the file; empty where nothing was. Nothing is waited for.
    pub fn added(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if self.file.is_none() {
            self.file = trial_files::open(&self.run, &self.trial_dir, self.name).ok();
        }
        if let Some(file) = &mut self.file {
            file.take(MOST_AT_ONCE).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Waits a moment. Returns false when the trial is over, and was over before the file was last read.
    pub fn wait(&mut self) -> bool {
        if self.is_over {
            return false;
        }
        self.is_over = !is_going_on(&self.run) || self.has_ended();
        if !self.is_over {
            std::thread::sleep(LOOK_EVERY);
        }
        true
    }

    /// Reads the journal again if it has grown.
    fn has_ended(&mut self) -> bool {
        let size = std::fs::metadata(self.run.join(EVENTS)).map_or(0, |meta| meta.len());
        if size == self.journal {
            return false;
        }
        self.journal = size;
        let Ok((run, _)) = past_runs::read_sound_part(&self.run) else {
            return false;
        };
        let trial = run.state.trial(self.id);
        trial.is_some_and(|trial| trial.live.is_none() && trial.report.status != Status::Pending)
    }
}
