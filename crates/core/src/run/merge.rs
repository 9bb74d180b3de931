//! Several runs, each of a part of one plan, as the one run they would have been.

use std::collections::BTreeMap;

use jiff::Timestamp;
use thiserror::Error;

use crate::run::event::{Event, EventKind, RunStatus, TrialHead};

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
    let mut beginning: Option<&Event> = None;
    for (part, events) in parts {
        let start = events
            .iter()
            .find(|event| matches!(event.kind, EventKind::RunStarted { .. }));
        let Some(
            start @ Event {
                kind:
                    EventKind::RunStarted {
                        trials: heads,
                        concurrency,
                        ..
                    },
                ..
            },
        ) = start
        else {
            return Err(MergeError::NoBeginning(part.clone()));
        };
        width += concurrency;
        if beginning.is_none_or(|earliest| start.at < earliest.at) {
            beginning = Some(start);
        }
        for head in heads {
            if let Some((head, first)) = trials.insert(head.id, (head.clone(), part)) {
                let (id, eval) = (head.id, head.eval);
                return Err(MergeError::Twice {
                    id,
                    eval,
                    first: first.to_owned(),
                    second: part.clone(),
                });
            }
        }
    }
    let mut beginning = beginning
        .ok_or_else(|| MergeError::NoBeginning(name.to_owned()))?
        .clone();
    if let EventKind::RunStarted {
        run,
        trials: heads,
        concurrency,
        ..
    } = &mut beginning.kind
    {
        name.clone_into(run);
        *concurrency = width;
        *heads = trials.into_values().map(|(head, _)| head).collect();
    }
    let mut merged: Vec<(Timestamp, &Event)> =
        parts.iter().flat_map(|(_, events)| timed(events)).collect();
    merged.sort_by_key(|(at, _)| *at);
    let merged = merged.into_iter().map(|(_, event)| event.clone());
    let end = parts
        .iter()
        .flat_map(|(_, events)| events.last())
        .map(|event| event.at)
        .max();
    let ending = Event {
        seq: 0,
        at: end.unwrap_or(beginning.at),
        kind: EventKind::RunFinished {
            status: status(parts),
        },
    };
    let whole = std::iter::once(beginning).chain(merged).chain([ending]);
    Ok(whole
        .zip(0..)
        .map(|(event, seq)| Event { seq, ..event })
        .collect())
}

/// With a time that never goes back, though the clock may have: what one part tells stays in its order.
fn timed(events: &[Event]) -> impl Iterator<Item = (Timestamp, &Event)> {
    happenings(events).scan(Timestamp::MIN, |latest, event| {
        *latest = event.at.max(*latest);
        Some((*latest, event))
    })
}

/// The events of trials. The beginning and the end of a part are the part's own affair.
fn happenings(events: &[Event]) -> impl Iterator<Item = &Event> {
    events.iter().filter(|event| match event.kind {
        EventKind::RunStarted { .. }
        | EventKind::RunResumed { .. }
        | EventKind::RunFinished { .. }
        | EventKind::RoundStarted { .. }
        | EventKind::StepsFound { .. }
        | EventKind::Stopping { .. } => false,
        EventKind::TrialStarted { .. }
        | EventKind::PhaseStarted { .. }
        | EventKind::Progress { .. }
        | EventKind::StepMade { .. }
        | EventKind::TrialFinished { .. }
        | EventKind::AttemptFailed { .. }
        | EventKind::VariantStopped { .. }
        | EventKind::Regraded { .. } => true,
    })
}

/// Complete when every part is.
fn status(parts: &[(String, Vec<Event>)]) -> RunStatus {
    let is_complete = |events: &Vec<Event>| {
        let last = events.last().map(|event| &event.kind);
        matches!(
            last,
            Some(EventKind::RunFinished {
                status: RunStatus::Complete
            })
        )
    };
    if parts.iter().all(|(_, events)| is_complete(events)) {
        RunStatus::Complete
    } else {
        RunStatus::Interrupted
    }
}
