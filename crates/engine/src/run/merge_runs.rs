//! Joins the runs of the parts of a plan into one run, trials and all.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::{Value, json};
use terca_core::plan::fingerprint::{CasePrint, differences};
use terca_core::plan::shard::Shard;
use terca_core::run::event::Event;
use terca_core::run::merge::{MergeError, merge};
use terca_core::run::state::RunState;
use terca_core::text::prose;
use thiserror::Error;

use crate::run::past_runs;
use crate::run::past_runs::{PastRun, RunsError};
use crate::run::store::{Store, StoreError, is_going_on};
use crate::workspace::tree;

#[derive(Debug, Error)]
pub enum JoinError {
    #[error(transparent)]
    Runs(#[from] RunsError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error(
        "{path}/run.json is not the plan of a run: {reason}\nhelp: is the run's folder whole? `terca list` lists \
         the runs"
    )]
    Plan { path: Utf8PathBuf, reason: String },
    #[error(
        "{0} is not a part of a plan: it was not run with --shard\nhelp: whole runs need no merging; \
         `terca compare A B` compares two"
    )]
    NotAPart(String),
    #[error("the run {0} is still going on; it can be merged when it has ended")]
    GoingOn(String),
    #[error(
        "{first} and {second} are not parts of the same plan:\n{reasons}\nhelp: run the parts from the same \
         commit, with the same selection and repetitions"
    )]
    Different {
        first: String,
        second: String,
        reasons: String,
    },
    #[error(
        "{missing} of the plan {verb} missing: the whole is not there\nhelp: name the runs of all parts"
    )]
    Missing { missing: String, verb: &'static str },
    #[error("what {from} left could not be copied: {source}")]
    Copy {
        from: Utf8PathBuf,
        source: io::Error,
    },
}

struct Part {
    name: String,
    dir: Utf8PathBuf,
    plan: Value,
    recorded: Recorded,
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Recorded {
    suite: String,
    shard: Option<Shard>,
    trials: Value,
    order: Vec<u32>,
    fingerprints: Vec<CasePrint>,
}

/// Makes a new run of the suite from the runs in these folders, which stay as they are.
pub fn join(
    suite_dir: &Utf8Path,
    today: jiff::civil::Date,
    dirs: &[Utf8PathBuf],
) -> Result<PastRun, JoinError> {
    let parts = dirs
        .iter()
        .map(|dir| read(dir))
        .collect::<Result<Vec<Part>, _>>()?;
    let Some(first) = parts.first() else {
        return Err(JoinError::NotAPart("nothing".into()));
    };
    if let Some(whole) = parts.iter().find(|part| part.recorded.shard.is_none()) {
        return Err(JoinError::NotAPart(whole.name.clone()));
    }
    for part in &parts[1..] {
        are_of_one_plan(first, part)?;
    }
    let journals: Vec<(String, Vec<Event>)> = parts
        .iter()
        .map(|part| (part.name.clone(), part.events.clone()))
        .collect();
    // Refused before anything is made.
    let events = merge("", &journals)?;
    is_whole(&parts)?;
    let mut store = Store::create(suite_dir, today, &whole_plan(&parts))?;
    copy_trials(&parts, &store.dir, &RunState::fold(&events))?;
    for event in merge(&store.name, &journals)? {
        store.append(&event)?;
    }
    let dir = store.dir.clone();
    let joined = past_runs::read(&dir)?;
    store.write_results(&joined.state)?;
    Ok(joined)
}

fn read(dir: &Utf8Path) -> Result<Part, JoinError> {
    let name = dir.file_name().unwrap_or(dir.as_str()).to_owned();
    let plan = past_runs::plan(dir)?;
    let recorded = Recorded::deserialize(&plan).map_err(|error| JoinError::Plan {
        path: dir.to_owned(),
        reason: error.to_string(),
    })?;
    if is_going_on(dir) {
        return Err(JoinError::GoingOn(name));
    }
    Ok(Part {
        events: past_runs::events(dir)?,
        name,
        dir: dir.to_owned(),
        plan,
        recorded,
    })
}

fn are_of_one_plan(one: &Part, other: &Part) -> Result<(), JoinError> {
    let (a, b) = (&one.recorded, &other.recorded);
    let mut reasons = Vec::new();
    if a.suite != b.suite {
        reasons.push(format!("the suites are `{}` and `{}`", a.suite, b.suite));
    } else {
        reasons.extend(differences(&a.fingerprints, &b.fingerprints));
    }
    if reasons.is_empty() && a.trials != b.trials {
        reasons.push("the selections or repetitions differ".into());
    }
    if let (true, Some(a), Some(b)) = (reasons.is_empty(), a.shard, b.shard)
        && a.of() != b.of()
    {
        reasons.push(format!("one is part {a}, the other {b}"));
    }
    if reasons.is_empty() {
        return Ok(());
    }
    let reasons = reasons
        .iter()
        .map(|reason| format!("  {reason}"))
        .collect::<Vec<_>>()
        .join("\n");
    Err(JoinError::Different {
        first: one.name.clone(),
        second: other.name.clone(),
        reasons,
    })
}

fn is_whole(parts: &[Part]) -> Result<(), JoinError> {
    let present: Vec<Shard> = parts
        .iter()
        .filter_map(|part| part.recorded.shard)
        .collect();
    let of = present.first().map_or(0, |shard| shard.of());
    let missing: Vec<String> = Shard::all(of)
        .filter(|shard| !present.contains(shard))
        .map(|shard| shard.to_string())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(String::as_str).collect();
    let (noun, verb) = if names.len() == 1 {
        ("part", "is")
    } else {
        ("parts", "are")
    };
    Err(JoinError::Missing {
        missing: format!("{noun} {}", prose::list(&names, "and")),
        verb,
    })
}

/// The plan of the whole is in every part.
fn whole_plan(parts: &[Part]) -> Value {
    let mut plan = parts[0].plan.clone();
    plan["shard"] = Value::Null;
    plan["command"]["shard"] = Value::Null;
    plan["order"] = parts
        .iter()
        .flat_map(|part| part.recorded.order.clone())
        .collect();
    plan["mergedFrom"] = json!(
        parts
            .iter()
            .map(|part| part.name.as_str())
            .collect::<Vec<_>>()
    );
    plan
}

fn copy_trials(parts: &[Part], to: &Utf8Path, whole: &RunState) -> Result<(), JoinError> {
    for trial in whole.trials() {
        let found = parts
            .iter()
            .map(|part| part.dir.join(&trial.head.dir))
            .find(|dir| dir.is_dir());
        let Some(from) = found else { continue };
        let place = to.join(&trial.head.dir);
        let copied = fs_err::create_dir_all(&place).and_then(|()| tree::lay_over(&from, &place));
        copied.map_err(|source| JoinError::Copy { from, source })?;
    }
    Ok(())
}
