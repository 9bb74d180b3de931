//! Merges the runs of the parts of a plan into one run, with the files of their trials.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::verdict::{VerdictSettings, margin_in_points};
use terca_core::plan::fingerprint::differences;
use terca_core::plan::shard::Shard;
use terca_core::run::event::Event;
use terca_core::run::merge::{MergeError, merge};
use terca_core::run::run_file::RunFile;
use terca_core::run::state::RunState;
use terca_core::text::prose;
use thiserror::Error;

use crate::run::files::{DIR_MODE, open_run};
use crate::run::journal::is_going_on;
use crate::run::past_runs;
use crate::run::past_runs::{PastRun, RunsError};
use crate::run::record;
use crate::run::remarks;
use crate::run::store::{Store, StoreError, run_name};
use crate::tree::{self, Limits, Options, TreeError};
use crate::workspace::base_layers::{LAYERS, content_hash_in};
use crate::workspace::own_dirs::remove_and_tell;

/// Runs that cannot be merged.
#[derive(Debug, Error)]
pub enum MergeRunsError {
    /// A run cannot be read.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// The new run cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journals do not fit together.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A run is not a part of a plan.
    #[error("{0} is not a shard: it was not run with --shard")]
    NotAPart(String),
    /// A run has not ended.
    #[error("the run {0} is still going on; it can be merged when it has ended")]
    GoingOn(String),
    /// Two runs are of different plans.
    #[error("{first} and {second} are not shards of the same plan:\n{reasons}")]
    Different {
        /// One run.
        first: String,
        /// The other run.
        second: String,
        /// The differences, one a line.
        reasons: String,
    },
    /// Parts are missing.
    #[error("{missing} of the plan {verb} missing")]
    Missing {
        /// The parts.
        missing: String,
        /// "is" or "are".
        verb: &'static str,
    },
    /// The files of a trial cannot be copied.
    #[error("the files of {from} could not be copied: {source}")]
    Copy {
        /// The trial's directory.
        from: Utf8PathBuf,
        /// The machine's reason.
        source: io::Error,
    },
}

/// A run has a few layers for each eval. An eval of the name `layers` has its trials beside them.
const MOST_LAYERS: u64 = 1_000_000;

struct MergedRun {
    name: String,
    dir: Utf8PathBuf,
    file: RunFile,
    events: Vec<Event>,
}

/// Makes a new run of the suite from the runs in these directories, which stay as they are.
pub fn merge_runs(
    suite_dir: &Utf8Path,
    today: jiff::civil::Date,
    dirs: &[Utf8PathBuf],
) -> Result<PastRun, MergeRunsError> {
    let parts = dirs
        .iter()
        .map(|dir| read(dir))
        .collect::<Result<Vec<MergedRun>, _>>()?;
    let names_and_files: Vec<(&str, &RunFile)> = parts
        .iter()
        .map(|part| (part.name.as_str(), &part.file))
        .collect();
    let (Some(first), Some(whole_file)) = (
        parts.first(),
        RunFile::merged(&names_and_files, jiff::Timestamp::now()),
    ) else {
        return Err(MergeRunsError::NotAPart("nothing".into()));
    };
    if let Some(whole) = parts.iter().find(|part| part.file.settings.shard.is_none()) {
        return Err(MergeRunsError::NotAPart(whole.name.clone()));
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
    let store = Store::create(suite_dir, today, &whole_file)?;
    let dir = store.dir.clone();
    let merged = fill(store, &parts, &events, &journals);
    if merged.is_err() {
        // Half of a run would be the latest one from now on.
        remove_and_tell(&dir);
    }
    merged
}

/// Fills the new run with the trials' files and the events of the parts.
fn fill(
    mut store: Store,
    parts: &[MergedRun],
    events: &[Event],
    journals: &[(String, Vec<Event>)],
) -> Result<PastRun, MergeRunsError> {
    copy_trials(parts, &store.dir, &RunState::fold(events))?;
    copy_layers(parts, &store.dir)?;
    copy_remarks(parts, &store.dir)?;
    for event in merge(&store.name, journals)? {
        store.append(&event)?;
    }
    let merged = past_runs::read(&store.dir)?;
    store.write_results(&merged.state)?;
    Ok(merged)
}

fn read(dir: &Utf8Path) -> Result<MergedRun, MergeRunsError> {
    let name = run_name(dir);
    let file = past_runs::run_file(dir)?;
    if is_going_on(dir) {
        return Err(MergeRunsError::GoingOn(name));
    }
    // It must be sound.
    past_runs::read(dir)?;
    let mut events = Vec::new();
    record::events(dir, usize::MAX, |event| events.push(event))?;
    Ok(MergedRun {
        events,
        name,
        dir: dir.to_owned(),
        file,
    })
}

fn are_of_one_plan(one: &MergedRun, other: &MergedRun) -> Result<(), MergeRunsError> {
    let (a, b) = (&one.file, &other.file);
    let mut reasons = Vec::new();
    if a.suite != b.suite {
        reasons.push(format!("the suites are `{}` and `{}`", a.suite, b.suite));
    } else {
        reasons.extend(differences(&a.fingerprints, &b.fingerprints));
    }
    if reasons.is_empty() && a.trials != b.trials {
        reasons.push("the selections or repetitions differ".into());
    }
    reasons.extend(differences_of_verdicts(a.verdict, b.verdict));
    if let (true, Some(a), Some(b)) = (reasons.is_empty(), a.settings.shard, b.settings.shard)
        && a.count() != b.count()
    {
        reasons.push(format!("one is shard {a}, the other {b}"));
    }
    if reasons.is_empty() {
        return Ok(());
    }
    let reasons = reasons
        .iter()
        .map(|reason| format!("  {reason}"))
        .collect::<Vec<_>>()
        .join("\n");
    Err(MergeRunsError::Different {
        first: one.name.clone(),
        second: other.name.clone(),
        reasons,
    })
}

/// Tells how the parts would be compared differently: their whole could be compared in one way only.
fn differences_of_verdicts(a: VerdictSettings, b: VerdictSettings) -> Vec<String> {
    let mut reasons = Vec::new();
    if a.margin != b.margin {
        reasons.push(format!(
            "the margins are {} and {}",
            margin_in_points(a.margin),
            margin_in_points(b.margin)
        ));
    }
    if a.measure != b.measure {
        reasons.push(format!(
            "the verdicts are about `{}` and `{}`",
            a.measure.word(),
            b.measure.word()
        ));
    }
    reasons
}

fn is_whole(parts: &[MergedRun]) -> Result<(), MergeRunsError> {
    let present: Vec<Shard> = parts
        .iter()
        .filter_map(|part| part.file.settings.shard)
        .collect();
    let of = present.first().map_or(0, |shard| shard.count());
    let missing: Vec<String> = Shard::all(of)
        .filter(|shard| !present.contains(shard))
        .map(|shard| shard.to_string())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(String::as_str).collect();
    let (noun, verb) = if names.len() == 1 {
        ("shard", "is")
    } else {
        ("shards", "are")
    };
    Err(MergeRunsError::Missing {
        missing: format!("{noun} {}", prose::list(&names, "and")),
        verb,
    })
}

/// A workspace that was kept was not too large for its suite.
fn unlimited() -> Options<'static> {
    Options {
        limits: Limits::NONE,
        ..Options::default()
    }
}

fn refused(from: &Utf8Path) -> impl FnOnce(TreeError) -> MergeRunsError {
    let from = from.to_owned();
    move |error| MergeRunsError::Copy {
        from,
        source: error.into(),
    }
}

/// Copies the layers that the workspaces of the parts started from, each once.
fn copy_layers(parts: &[MergedRun], to: &Utf8Path) -> Result<(), MergeRunsError> {
    let target = open_run(to).map_err(refused(to))?;
    for part in parts {
        let from = part.dir.join(LAYERS);
        let layers = match open_run(&part.dir).and_then(|run| run.open_dir(LAYERS)) {
            Ok(layers) => layers,
            Err(error) if error.is_not_found() => continue,
            Err(error) => return Err(refused(&from)(error)),
        };
        let target = target
            .create_dir_all(LAYERS, DIR_MODE)
            .map_err(refused(&from))?;
        for name in layers.names(MOST_LAYERS).map_err(refused(&from))? {
            let is_layer = name
                .to_str()
                .is_some_and(|name| content_hash_in(name).is_some());
            let is_known = target.meta_at(&name).map_err(refused(&from))?.is_some();
            if !is_layer || is_known {
                continue;
            }
            let source = layers.open_dir(&name).map_err(refused(&from))?;
            let place = target.create_dir(&name, DIR_MODE).map_err(refused(&from))?;
            tree::copy(&source, &place, &unlimited(), &mut |_| Ok(true)).map_err(refused(&from))?;
        }
    }
    Ok(())
}

fn copy_trials(parts: &[MergedRun], to: &Utf8Path, whole: &RunState) -> Result<(), MergeRunsError> {
    let target = open_run(to).map_err(refused(to))?;
    let options = unlimited();
    for trial in whole.trials() {
        let dir = &trial.head.dir;
        for part in parts {
            // A link or a pipe in its place is not followed: the parts may come from anywhere.
            let from = part.dir.join(dir);
            let found = open_run(&part.dir).and_then(|run| run.open_dir(dir));
            let source = match found {
                Ok(source) => source,
                Err(error) if error.is_not_found() => continue,
                Err(error) => return Err(refused(&from)(error)),
            };
            let place = target
                .create_dir_all(dir, DIR_MODE)
                .map_err(refused(&from))?;
            tree::copy(&source, &place, &options, &mut |_| Ok(true)).map_err(refused(&from))?;
            break;
        }
    }
    Ok(())
}

/// Carries over the remarks of each part about its own trials, which have the same numbers in the whole.
fn copy_remarks(parts: &[MergedRun], to: &Utf8Path) -> Result<(), MergeRunsError> {
    for part in parts {
        let state = RunState::fold(&part.events);
        for (trial, remark) in remarks::read(&part.dir) {
            if state.trials().iter().any(|own| own.head.id == trial) {
                let written = remarks::add(to, trial, &remark);
                written.map_err(|source| MergeRunsError::Copy {
                    from: part.dir.join(remarks::REMARKS),
                    source,
                })?;
            }
        }
    }
    Ok(())
}
