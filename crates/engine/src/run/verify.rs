//! Checks whether a run is as Terca wrote it.

use std::collections::HashMap;
use std::io::{BufReader, Read};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::run::event::RunStatus;
use terca_core::run::seal::JournalEnd;
use terca_core::run::state::{RunState, Trial};

use crate::VERSION;
use crate::run::files::{EVENTS, LARGEST_RESULTS, PIECE, RESULTS, RUN, has_document, open_run};
use crate::run::journal::is_going_on;
use crate::run::record::{self, Record, ResultsFile, RunsError};
use crate::run::store::run_name;
use crate::tree::{Dir, Options};
use crate::trial::evidence::{difference, evidence};
use crate::workspace::saved::CHANGES;
use crate::workspace::saved::restore::{CheckedLayers, RestoreError, Saved};

/// The answer about a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// The run's name.
    pub run: String,
    /// The run's directory.
    pub dir: Utf8PathBuf,
    /// Tells whether nothing is wrong.
    pub sound: bool,
    /// The number of events before the first damage.
    pub events: usize,
    /// The last link of the chain.
    pub chain: Option<String>,
    /// Everything that is wrong.
    pub problems: Vec<Problem>,
    /// Remarks about what is not wrong.
    pub notes: Vec<&'static str>,
}

/// Something that is wrong with a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file or directory, in the run's directory.
    pub file: String,
    /// The line, where the file has lines.
    pub line: Option<usize>,
    /// The reason.
    pub text: String,
}

/// Checks the run in a directory.
pub fn verify(dir: &Utf8Path) -> Result<Verified, RunsError> {
    let going_on = is_going_on(dir);
    let (record, state) = record::read(dir)?;
    let opened = record::open(dir)?;
    let layers = CheckedLayers::default();
    let journal = &record.journal;
    let mut problems: Vec<Problem> = record.fault().map(Problem::of).into_iter().collect();
    let mut notes = Vec::new();
    if journal.is_torn && !going_on {
        notes.push(
            "the last line of events.jsonl is incomplete, because Terca was killed while writing it; `terca resume` \
             removes it",
        );
    }
    if journal.events == 0 {
        notes.push("the run has no event yet");
    }
    if problems.is_empty() {
        if !going_on {
            check_results(&record, &mut problems, &mut notes);
        }
        problems.extend(
            state
                .trials()
                .iter()
                .filter_map(|trial| changed_file(&opened, trial, &layers)),
        );
    }
    Ok(Verified {
        run: run_name(dir),
        dir: dir.to_owned(),
        sound: problems.is_empty(),
        events: journal.events,
        chain: journal.seal.chain(),
        problems,
        notes,
    })
}

impl Problem {
    fn new(file: impl Into<String>, line: Option<usize>, text: impl Into<String>) -> Self {
        Problem {
            file: file.into(),
            line,
            text: text.into(),
        }
    }

    fn of(fault: RunsError) -> Self {
        match fault {
            RunsError::Journal { damage, .. } => {
                Problem::new(EVENTS, Some(damage.line), damage.reason)
            }
            RunsError::RunFileChanged(_) => Problem::new(
                RUN,
                None,
                "it was changed or is missing: it does not match the seal of the journal",
            ),
            RunsError::Shorter {
                events, made_from, ..
            } => {
                let text = format!(
                    "the journal has lost lines: it has {events} events, and results.json was made from {made_from}"
                );
                Problem::new(EVENTS, Some(events + 1), text)
            }
            RunsError::OtherResults(_) => Problem::new(
                RESULTS,
                None,
                "it was not made from this journal: one of them was changed",
            ),
            other => Problem::new(EVENTS, None, other.to_string()),
        }
    }
}

/// Compares the files of a trial with the hashes that the journal has of them. One that is in flight, or was interrupted,
/// has none.
fn changed_file(run: &Dir, trial: &Trial, layers: &CheckedLayers) -> Option<Problem> {
    let Trial { head, report, .. } = trial;
    if report.evidence.is_empty() {
        return None;
    }
    let options = Options::default();
    let problem = |file: &str, text: String| Problem::new(head.dir.join(file), None, text);
    let found = run
        .open_dir(&head.dir)
        .and_then(|folder| evidence(&folder, &options));
    let found = match found {
        Ok(found) => found,
        Err(error) => return Some(problem("", format!("it cannot be read: {error}"))),
    };
    if let Some((name, reason)) = difference(&report.evidence, &found) {
        let text = format!(
            "it {reason} after the trial, which is `{}` in the journal",
            report.status.as_str()
        );
        return Some(problem(&name, text));
    }
    match Saved::open(run, &head.dir, layers, &options) {
        Ok(_) | Err(RestoreError::NotSaved) => None,
        Err(error) => Some(problem(CHANGES, error.to_string())),
    }
}

/// Compares `results.json` with the results of the events that it was made from, where nobody is at work on it.
fn check_results(record: &Record, problems: &mut Vec<Problem>, notes: &mut Vec<&'static str>) {
    let header = match &record.results {
        ResultsFile::Missing => {
            if record.journal.events > 0 {
                notes.push("results.json is missing; `terca show` writes it");
            }
            return;
        }
        ResultsFile::Unreadable => {
            let text = "it is incomplete, or not a results file; `terca show` writes it again";
            problems.push(Problem::new(RESULTS, None, text));
            return;
        }
        ResultsFile::Present(header) => header,
    };
    if record.has_stale_results() {
        notes.push("results.json is older than the journal; `terca show` writes it again");
    }
    if let Some(text) = contradiction(record, &header.journal) {
        problems.push(Problem::new(RESULTS, None, text));
    }
}

/// Tells how `results.json` is not what so many events make. None where it is, or cannot be read.
fn contradiction(record: &Record, end: &JournalEnd) -> Option<String> {
    let dir = open_run(&record.dir).ok()?;
    let found = || {
        let file = dir.open_file_up_to(RESULTS, LARGEST_RESULTS).ok()?;
        Some(BufReader::with_capacity(PIECE, file.take(LARGEST_RESULTS)))
    };
    let mut state = RunState::default();
    record::events(&record.dir, end.events, |event| state.apply(&event)).ok()?;
    let mut expected = results(&state, end);
    if state.status() == RunStatus::Running && !has_document(found()?, &expected) {
        // Written again when nobody was at work on it any more.
        state.abandon();
        expected = results(&state, end);
    }
    if has_document(found()?, &expected) {
        return None;
    }
    let Ok(read) = serde_json::from_reader::<_, Results>(found()?) else {
        return Some("it is not a results file".to_owned());
    };
    let by_id: HashMap<u32, &TrialResult> = (read.trials.iter().rev())
        .map(|trial| (trial.head.id, trial))
        .collect();
    let other = expected.trials.iter().find(|trial| {
        let read = by_id.get(&trial.head.id);
        read.is_none_or(|read| *read != *trial)
    });
    if let Some(TrialResult { head, report, .. }) = other {
        let status = report.status.as_str();
        return Some(format!(
            "it contradicts the journal about trial {}, which is `{status}` in the journal",
            head.id
        ));
    }
    // Another version may count in another way.
    let by_this_version = read.terca_version == VERSION;
    by_this_version.then(|| "it does not match the journal: it was changed".to_owned())
}

fn results(state: &RunState, end: &JournalEnd) -> Results {
    Results {
        journal: Some(end.clone()),
        ..Results::of(state)
    }
}

#[cfg(test)]
mod tests;
