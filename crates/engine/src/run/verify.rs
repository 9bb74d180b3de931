//! Checks whether a run is as Terca wrote it.

use std::collections::HashMap;
use std::io::{BufReader, Read};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::analysis::summary::{SUMMARY_VERSION, Summary};
use terca_core::run::event::RunStatus;
use terca_core::run::seal::JournalEnd;
use terca_core::run::state::RunState;

use crate::run::files::{EVENTS, LARGEST_RESULTS, PIECE, RESULTS, RUN, has_document, open_run};
use crate::run::journal::{SPOILT, is_going_on};
use crate::run::record::{self, Record, ResultsFile, RunsError};
use crate::run::store::run_name;

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
    /// The part of the journal that is sealed.
    pub sealed: Sealed,
    /// The last link of the chain.
    pub chain: Option<String>,
    /// Everything that is wrong.
    pub problems: Vec<Problem>,
    /// Remarks about what is not wrong.
    pub notes: Vec<String>,
}

/// The part of a journal that is sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Sealed {
    /// Every line.
    All,
    /// The lines since an older run was continued. The chain covers the lines before, too.
    Later,
    /// No line: an older version wrote it, or there is none yet.
    None,
}

/// Something that is wrong with a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file.
    pub file: &'static str,
    /// The line, where the file has lines.
    pub line: Option<usize>,
    /// The reason.
    pub text: String,
}

/// Checks the run in a directory.
pub fn verify(dir: &Utf8Path) -> Result<Verified, RunsError> {
    let going_on = is_going_on(dir);
    let (record, _) = record::read(dir)?;
    let journal = &record.journal;
    let mut problems: Vec<Problem> = record.fault().map(problem).into_iter().collect();
    let mut notes = Vec::new();
    if journal.is_torn && journal.damage.is_none() && !going_on {
        notes.push(
            "the last line of events.jsonl is incomplete, because Terca was killed while writing it; `terca resume` \
             removes it"
                .to_owned(),
        );
    }
    let sealed = match (journal.link_after(1), journal.seal.chain()) {
        (Some(_), _) => Sealed::All,
        (None, Some(_)) => Sealed::Later,
        (None, None) => Sealed::None,
    };
    match sealed {
        Sealed::All => {}
        Sealed::Later => notes.push(
            "an older version of Terca started the run: it is sealed only from where it was resumed".to_owned(),
        ),
        Sealed::None if journal.events == 0 => {
            notes.push("the run has no event yet".to_owned());
        }
        Sealed::None => notes.push(
            "the run is not sealed, because an older version of Terca made it: changes cannot be noticed"
                .to_owned(),
        ),
    }
    let opened = open_run(dir).ok();
    if opened.is_some_and(|dir| dir.meta_at(SPOILT).is_ok_and(|found| found.is_some())) {
        notes.push(format!(
            "another program changed events.jsonl during the run; Terca restored it, and {SPOILT} is the changed file"
        ));
    }
    if problems.is_empty() {
        check_results(&record, going_on, &mut problems, &mut notes);
    }
    Ok(Verified {
        run: run_name(dir),
        dir: dir.to_owned(),
        sound: problems.is_empty(),
        events: journal.events,
        sealed,
        chain: journal.seal.chain(),
        problems,
        notes,
    })
}

fn problem(fault: RunsError) -> Problem {
    match fault {
        RunsError::Journal { damage, .. } => Problem {
            file: EVENTS,
            line: Some(damage.line),
            text: damage.kind.to_string(),
        },
        RunsError::RunFileChanged(_) => Problem {
            file: RUN,
            line: None,
            text: "it was changed or is missing: it does not match the seal of the journal".into(),
        },
        RunsError::Shorter {
            events, made_from, ..
        } => Problem {
            file: EVENTS,
            line: Some(events + 1),
            text: format!(
                "the journal has lost lines: it has {events} events, and results.json was made from {made_from}"
            ),
        },
        RunsError::OtherResults(_) => Problem {
            file: RESULTS,
            line: None,
            text: "it was not made from this journal: one of them was changed".into(),
        },
        other => Problem {
            file: EVENTS,
            line: None,
            text: other.to_string(),
        },
    }
}

/// Compares `results.json` with the results of the events that it was made from.
fn check_results(
    record: &Record,
    going_on: bool,
    problems: &mut Vec<Problem>,
    notes: &mut Vec<String>,
) {
    let results = |text: String| Problem {
        file: RESULTS,
        line: None,
        text,
    };
    let made_from = match &record.results {
        ResultsFile::Missing => {
            if record.journal.events > 0 && !going_on {
                notes.push("results.json is missing; `terca show` writes it".to_owned());
            }
            return;
        }
        ResultsFile::Unreadable => {
            problems.push(results(
                "it is incomplete, or not a results file; `terca show` writes it again".to_owned(),
            ));
            return;
        }
        ResultsFile::Present { made_from, .. } => made_from.clone(),
    };
    if record.has_stale_results(going_on) && !going_on {
        notes.push(
            "results.json is older than the journal; `terca show` writes it again".to_owned(),
        );
    }
    // Those of an older version do not say what they were made from.
    let Some(end) = made_from.filter(|_| !going_on) else {
        return;
    };
    if let Some(text) = contradiction(record, &end) {
        problems.push(results(text));
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
    if state.status() == RunStatus::Running {
        // Written again when nobody was at work on it any more.
        if has_document(found()?, &expected) {
            return None;
        }
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
    let other = expected.trials.iter().find_map(|trial| {
        let id = trial.head.id;
        match by_id.get(&id) {
            None => Some((id, None)),
            Some(read) if *read != trial => Some((id, Some(read.report.status))),
            Some(_) => None,
        }
    });
    if let Some((id, status)) = other {
        return Some(match status {
            Some(status) => format!(
                "it contradicts the journal about trial {id}, which is `{}` in the journal",
                status.as_str()
            ),
            None => format!("it does not have trial {id} of the journal"),
        });
    }
    // Another version may count in another way.
    let by_this_version =
        read.terca_version == env!("CARGO_PKG_VERSION") && read.summary.version == SUMMARY_VERSION;
    let is_other = by_this_version || counts(&read.summary) != counts(&expected.summary);
    is_other.then(|| "it does not match the journal: it was changed".to_owned())
}

/// The counts that every version counts alike.
fn counts(summary: &Summary) -> [usize; 7] {
    [
        summary.trials, summary.passed, summary.partial, summary.failed, summary.errors,
        summary.interrupted, summary.pending,
    ]
}

fn results(state: &RunState, end: &JournalEnd) -> Results {
    Results {
        journal: Some(end.clone()),
        ..Results::of(state)
    }
}

#[cfg(test)]
mod tests;
