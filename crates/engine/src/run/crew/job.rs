//! A trial on its way through a worker: what it is told, and its files as they come in.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Seek};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use camino::Utf8Path;
use terca_core::plan::TrialSpec;
use terca_core::run::event::EventKind;
use terca_core::run::outcome::{Status, TrialReport};
use terca_core::trial_error::{ErrorKind, TrialError};

use crate::remote::Ending;
use crate::run::trial_thread::Message;
use crate::tree::{Dir, parcel};
use crate::trial::{self, Context};

/// The most phases of a trial that a worker tells: each is a line in the journal.
const MOST_PHASES: u32 = 100;

/// A trial that a slot is to run. Its result is told in any case: that of one that nobody runs is that it is lost.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) trial: TrialSpec,
    pub(super) attempt: u32,
    context: Arc<Context>,
    news: Sender<Message>,
    ending: Ending,
    is_told: bool,
}

impl Job {
    pub(super) fn new(
        trial: TrialSpec,
        attempt: u32,
        context: Arc<Context>,
        news: Sender<Message>,
        ending: Ending,
    ) -> Self {
        Job {
            trial,
            attempt,
            context,
            news,
            ending,
            is_told: false,
        }
    }

    /// Tells the result of the trial.
    pub(super) fn tell(&mut self, mut report: TrialReport) {
        report.attempts = self.attempt;
        self.is_told = true;
        // The loop has left when this fails.
        let _ = (self.news).send(Message::Trial(Box::new(EventKind::TrialFinished {
            trial: self.trial.id,
            report: Box::new(report),
        })));
    }

    /// Tells that the trial is lost, or interrupted where the run is about to end.
    fn tell_lost(&mut self, message: String, node: Option<&str>) {
        let mut report = TrialReport::pending();
        if self.ending.is_stopping() {
            report.status = Status::Interrupted;
        } else {
            report.status = Status::Error;
            report.error = Some(TrialError::new(ErrorKind::Lost, message));
        }
        report.ran_on = node.map(str::to_owned);
        self.tell(report);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if !self.is_told {
            self.tell_lost(
                "the worker was lost before the trial began".to_owned(),
                None,
            );
        }
    }
}

/// The trial that a worker runs.
pub(super) struct Running {
    pub(super) job: Box<Job>,
    /// The files of the trial, as they come in.
    pub(super) files: File,
    /// It was reported as lost; what comes now is too late.
    pub(super) is_given_up: bool,
    /// The phases that it has told.
    phases: u32,
}

impl Running {
    pub(super) fn new(job: Box<Job>, files: File) -> Self {
        Running {
            job,
            files,
            is_given_up: false,
            phases: 0,
        }
    }

    /// Returns whether a worker may tell this: it knows nothing but how far its own trial is.
    pub(super) fn may_tell(&mut self, kind: &EventKind) -> bool {
        let about = match kind {
            EventKind::PhaseStarted { trial, .. } if self.phases < MOST_PHASES => {
                self.phases += 1;
                *trial
            }
            EventKind::Progress { trial, .. } | EventKind::StepMade { trial, .. } => *trial,
            _ => return false,
        };
        about == self.job.trial.id && !self.is_given_up
    }

    /// Reports the trial as lost, unless that was done.
    pub(super) fn give_up(&mut self, node: &str, words: &str) {
        if !self.is_given_up {
            let message = format!("the worker on {node} was lost: {words}");
            self.job.tell_lost(message, Some(node));
        }
    }
}

/// Makes a file without a name, for the files of a trial on their way.
pub(super) fn new_file(dir: &Utf8Path) -> io::Result<File> {
    let path = dir.join(format!("files-{:016x}", fastrand::u64(..)));
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    fs_err::remove_file(path)?;
    Ok(file)
}

/// Returns the report of a trial that Terca itself could not bring home.
pub(super) fn failed(message: String) -> TrialReport {
    TrialReport {
        status: Status::Error,
        error: Some(TrialError::new(ErrorKind::Internal, message)),
        ..TrialReport::pending()
    }
}

/// Puts the files of a trial into its folder, as if it had run here.
pub(super) fn take_files(job: &Job, mut files: File) -> io::Result<()> {
    files.rewind()?;
    let run_dir = Dir::open_no_link(&job.context.run_dir)?;
    trial::clear_folder(&run_dir, &job.trial.dir, job.attempt)?;
    let folder = run_dir.create_dir_all(&job.trial.dir, 0o777)?;
    parcel::unpack(BufReader::new(files), &folder)
}
