//! The text of a journal, checked line by line. What comes before the first damage is sound.

use std::collections::HashSet;
use std::io::{self, BufRead};

use thiserror::Error;

use crate::run::event::{Event, EventKind, TrialHead};
use crate::run::seal::{JournalEnd, Seal};

/// The facts about a journal that was read. Its events were given away one by one, so that a long run needs no room for
/// all of them.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    /// The number of events before the first damage.
    pub events: usize,
    /// The number of bytes that these events take.
    pub sound_bytes: u64,
    /// The last line has no end, and there is no damage before it: Terca died while it wrote it. It is not among the events.
    pub is_torn: bool,
    /// The first line that is not as Terca wrote it.
    pub damage: Option<Damage>,
    /// The seal of the events.
    pub seal: Seal,
    /// The last link of the chain after each event.
    links: Vec<String>,
}

/// A line that is not as Terca wrote it, or not where Terca wrote it.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("line {line}: {reason}")]
pub struct Damage {
    /// The number of the line, from 1.
    pub line: usize,
    /// The damage, in words.
    pub reason: String,
}

impl Journal {
    /// Reads a journal line by line, up to the first damage, and gives away each event. `run_file` is the hash of the
    /// `run.json` beside it, for lines that are added.
    pub fn read(
        mut text: impl BufRead,
        run_file: &str,
        mut each: impl FnMut(Event),
    ) -> io::Result<Self> {
        let mut journal = Journal {
            seal: Seal::new(run_file),
            ..Journal::default()
        };
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = text.read_until(b'\n', &mut line)?;
            let Some(content) = line.strip_suffix(b"\n") else {
                journal.is_torn = length > 0;
                return Ok(journal);
            };
            match journal.add(content) {
                Ok(event) => each(event),
                Err(reason) => {
                    let line = journal.events + 1;
                    journal.damage = Some(Damage { line, reason });
                    return Ok(journal);
                }
            }
            journal.sound_bytes += length as u64;
        }
    }

    fn add(&mut self, line: &[u8]) -> Result<Event, String> {
        let event: Event =
            serde_json::from_slice(line).map_err(|error| format!("it is not an event: {error}"))?;
        let expected = self.events as u64;
        let found = event.seq;
        // Before the seal, which cannot tell what happened to a line.
        if found != expected {
            return Err(format!(
                "event {found} is here, and event {expected} should be: lines are missing, or were moved, doubled or added"
            ));
        }
        let mut seal = self.seal.clone();
        let link = (seal.follow(line))
            .map_err(|broken| format!("{broken}: the line was changed, or comes from elsewhere"))?;
        match &event.kind {
            EventKind::RunStarted(_) if expected > 0 => {
                return Err("a run begins once, and this is a second `runStarted`".to_owned());
            }
            EventKind::RunStarted(start) => check_folders(&start.trials)?,
            _ if expected == 0 => {
                return Err("a journal begins with `runStarted`, but this one does not".to_owned());
            }
            _ => {}
        }
        self.seal = seal;
        self.links.push(link);
        self.events += 1;
        Ok(event)
    }

    /// Returns the end of the sound part.
    pub fn end(&self) -> JournalEnd {
        JournalEnd {
            events: self.events,
            chain: self.seal.chain(),
        }
    }

    /// Returns the last link of the chain after so many events. None means that there are fewer, or none.
    pub fn link_after(&self, events: usize) -> Option<String> {
        self.links.get(events.checked_sub(1)?).cloned()
    }
}

/// A run may come from somebody else: a folder that its names do not make could be anywhere.
fn check_folders(trials: &[TrialHead]) -> Result<(), String> {
    let mut ids = HashSet::new();
    let mut folders = HashSet::new();
    for head in trials {
        let (trial, found, expected) = (head.id, &head.dir, head.folder());
        if found.as_str() != expected.as_str() {
            return Err(format!(
                "trial {trial} has the directory `{found}`, but its names give `{expected}`"
            ));
        }
        if !ids.insert(trial) || !folders.insert(expected) {
            return Err(format!(
                "trial {trial} is there twice, or another trial has its directory"
            ));
        }
    }
    Ok(())
}
