//! The session of a trial's agent, as text for people: the steps that it reports, or what it printed.

use terca_core::agent;
use terca_core::run::event::TrialHead;
use terca_core::transcript::{Record, Step};
use terca_engine::run::trial_files;
use terca_report::{Palette, session_step};

/// Reads the file of a session, piece by piece.
#[derive(Debug)]
pub struct SessionText {
    reads_steps: bool,
    /// The beginning of a line whose end has not come yet.
    rest: Vec<u8>,
    palette: Palette,
}

/// A part of a session.
#[derive(Debug)]
pub enum Said {
    /// A line as the agent printed it.
    Printed(String),
    /// A step, of one line or more.
    Step(String),
}

impl SessionText {
    /// Reads the session of a trial's agent.
    pub fn of(head: &TrialHead, palette: Palette) -> Self {
        let reads_steps =
            agent::find(&head.agent).is_some_and(|agent| agent.profile().streams_events);
        SessionText {
            reads_steps,
            rest: Vec::new(),
            palette,
        }
    }

    /// Returns the name of the file with the session.
    pub fn file(&self) -> &'static str {
        if self.reads_steps {
            trial_files::TRANSCRIPT
        } else {
            trial_files::STDOUT
        }
    }

    /// Takes more of the file. Returns the parts that are whole.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Said> {
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        let mut lines: Vec<u8> = self.rest.drain(..=end).collect();
        // The end of the last line begins no other one.
        lines.pop();
        let lines = lines.split(|byte| *byte == b'\n');
        lines.filter_map(|line| self.read(line)).collect()
    }

    /// Returns what is left at the end of the file.
    pub fn finish(&mut self) -> Vec<Said> {
        let last = std::mem::take(&mut self.rest);
        let last = Some(last).filter(|last| !last.is_empty());
        last.and_then(|last| self.read(&last)).into_iter().collect()
    }

    fn read(&self, line: &[u8]) -> Option<Said> {
        let text = String::from_utf8_lossy(line);
        if !self.reads_steps {
            return Some(Said::Printed(text.into_owned()));
        }
        if line.is_empty() {
            return None;
        }
        let record = serde_json::from_str(&text).unwrap_or_else(|_| {
            Record::without_line(Step::Notice {
                text: "a line of the transcript could not be read".into(),
            })
        });
        let step = session_step(&record, self.palette);
        (!step.is_empty()).then_some(Said::Step(step))
    }
}
