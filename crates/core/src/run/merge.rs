//! Several runs, each of a part of one plan, as the one run they would have been.

use std::collections::BTreeMap;

use jiff::Timestamp;
use thiserror::Error;

use crate::run::event::{Event, EventKind, RunStart, RunStatus, TrialHead};

/// Journals that cannot be merged.
#[derive(Debug, Error, PartialEq)]
pub enum MergeError {
    /// A part ended before its first event.
    #[error("the journal of {0} has no beginning: the run ended before its first trial")]
    NoBeginning(String),
    /// A trial is in two parts.
    #[error("trial {id} ({eval}) is in {first} and in {second}")]
    Twice {
        /// The trial.
        id: u32,
        /// Its eval.
        eval: String,
        /// One part.
        first: String,
        /// The other part.
        second: String,
    },
}

/// The journal of the one run, from those of its parts (name, events).
pub fn merge(name: &str, parts: &[(String, Vec<Event>)]) -> Result<Vec<Event>, MergeError> {
    let mut trials: BTreeMap<u32, (TrialHead, &str)> = BTreeMap::new();
    let mut width = 0;
    let mut beginning: Option<(Timestamp, &RunStart)> = None;
    for (part, events) in parts {
        let Some(Event {
            at,
            kind: EventKind::RunStarted(start),
            ..
        }) = events.first()
        else {
            return Err(MergeError::NoBeginning(part.clone()));
        };
        width += start.concurrency;
        if beginning.is_none_or(|(earliest, _)| *at < earliest) {
            beginning = Some((*at, start));
        }
        for head in &start.trials {
            if let Some((head, first)) = trials.insert(head.id, (head.clone(), part)) {
                return Err(MergeError::Twice {
                    id: head.id,
                    eval: head.eval,
                    first: first.to_owned(),
                    second: part.clone(),
                });
            }
        }
    }
    let (began, start) = beginning.ok_or_else(|| MergeError::NoBeginning(name.to_owned()))?;
    let start = RunStart {
        run: name.to_owned(),
        concurrency: width,
        trials: trials.into_values().map(|(head, _)| head).collect(),
        ..start.clone()
    };
    let mut merged: Vec<(Timestamp, &Event)> =
        parts.iter().flat_map(|(_, events)| timed(events)).collect();
    merged.sort_by_key(|(at, _)| *at);
    let ends = parts.iter().filter_map(|(_, events)| events.last());
    let ended = ends.clone().map(|event| event.at).max().unwrap_or(began);
    let complete = EventKind::RunFinished {
        status: RunStatus::Complete,
    };
    // Complete when every part is.
    let status = match ends.clone().all(|event| event.kind == complete) {
        true => RunStatus::Complete,
        false => RunStatus::Interrupted,
    };
    let merged = merged
        .into_iter()
        .map(|(_, event)| (event.at, event.kind.clone()));
    let whole = [(began, EventKind::RunStarted(Box::new(start)))]
        .into_iter()
        .chain(merged)
        .chain([(ended, EventKind::RunFinished { status })]);
    Ok(whole
        .zip(0..)
        .map(|((at, kind), seq)| Event { seq, at, kind })
        .collect())
}

/// The events of trials, with a time that never goes back, though the clock may have: what one part tells stays in its
/// order. The beginning and the end of a part are the part's own affair.
fn timed(events: &[Event]) -> impl Iterator<Item = (Timestamp, &Event)> {
    let is_of_trials = |event: &&Event| {
        !matches!(
            event.kind,
            EventKind::RunStarted(_)
                | EventKind::RunResumed { .. }
                | EventKind::RunFinished { .. }
                | EventKind::RoundStarted { .. }
                | EventKind::StepsFound { .. }
                | EventKind::Stopping { .. }
        )
    };
    let mut latest = Timestamp::MIN;
    events.iter().filter(is_of_trials).map(move |event| {
        latest = event.at.max(latest);
        (latest, event)
    })
}
