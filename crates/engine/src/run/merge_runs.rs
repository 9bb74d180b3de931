//! Merges the runs of the parts of a plan into one run, with the files of their trials.

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::config::verdict::{VerdictSettings, margin_in_points};
use terca_core::plan::fingerprint::differences;
use terca_core::plan::shard::Shard;
use terca_core::run::event::{Event, EventKind};
use terca_core::run::merge::{MergeError, merge};
use terca_core::run::run_file::RunFile;
use terca_core::run::state::RunState;
use terca_core::text::prose;
use thiserror::Error;

use crate::run::files::{DIR_MODE, open_run};
use crate::run::journal::is_going_on;
use crate::run::past_runs::{self, PastRun, RunsError};
use crate::run::record;
use crate::run::remarks;
use crate::run::store::{Store, StoreError, run_name};
use crate::tree::{self, Dir, Options, TreeError};
use crate::workspace::base_layers::{LAYERS, content_hash_in};
use crate::workspace::own_dirs::remove_and_tell;
use crate::workspace::saved::restore::{layers_of, open_layer};

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
    #[error("shards of the plan are missing: {0}")]
    Missing(String),
    /// The files of a part cannot be copied.
    #[error("the files of a shard could not be copied: {0}")]
    Copy(#[from] TreeError),
}

struct MergedRun {
    name: String,
    past: PastRun,
    file: RunFile,
}

/// The journals of the parts, by their names.
type Journals = Vec<(String, Vec<Event>)>;

/// Makes a new run of the suite from the runs in these directories, which stay as they are.
pub fn merge_runs(
    suite_dir: &Utf8Path,
    today: jiff::civil::Date,
    dirs: &[Utf8PathBuf],
) -> Result<PastRun, MergeRunsError> {
    let mut parts = Vec::new();
    let mut journals = Journals::new();
    for dir in dirs {
        let (part, events) = read(dir)?;
        journals.push((part.name.clone(), events));
        parts.push(part);
    }
    let files: Vec<(&str, &RunFile)> = (parts.iter())
        .map(|part| (part.name.as_str(), &part.file))
        .collect();
    let (Some(first), Some(whole_file)) = (
        parts.first(),
        RunFile::merged(&files, jiff::Timestamp::now()),
    ) else {
        return Err(MergeRunsError::NotAPart("nothing".into()));
    };
    if let Some(whole) = parts.iter().find(|part| part.file.settings.shard.is_none()) {
        return Err(MergeRunsError::NotAPart(whole.name.clone()));
    }
    for part in &parts[1..] {
        are_of_one_plan(first, part)?;
    }
    // Refused before anything is made.
    let events = merge("", &journals)?;
    is_whole(&parts)?;
    let store = Store::create(suite_dir, today, &whole_file)?;
    let dir = store.dir.clone();
    let merged = fill(store, &parts, events);
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
    mut events: Vec<Event>,
) -> Result<PastRun, MergeRunsError> {
    let to = &store.dir;
    let target = open_run(to)?;
    for trial in RunState::fold(&events).trials() {
        for part in parts {
            if copy(part, &trial.head.dir, &target)? {
                break;
            }
        }
    }
    for part in parts {
        copy_layers(part, &target)?;
        copy_remarks(part, to)?;
    }
    for event in &mut events {
        if let EventKind::RunStarted(start) = &mut event.kind {
            start.run.clone_from(&store.name);
        }
        store.append(event)?;
    }
    let merged = past_runs::read(&store.dir)?;
    store.write_results(&merged.state)?;
    Ok(merged)
}

fn read(dir: &Utf8Path) -> Result<(MergedRun, Vec<Event>), MergeRunsError> {
    let name = run_name(dir);
    let file = past_runs::run_file(dir)?;
    if is_going_on(dir) {
        return Err(MergeRunsError::GoingOn(name));
    }
    // It must be sound.
    let past = past_runs::read(dir)?;
    let mut events = Vec::new();
    record::events(dir, usize::MAX, |event| events.push(event))?;
    Ok((MergedRun { name, past, file }, events))
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
    for (agent, version) in &a.settings.latest_agents {
        let other = b.settings.latest_agents.get(agent);
        if let Some(other) = other.filter(|other| *other != version) {
            reasons.push(format!(
                "`latest` of `{agent}` is {version} in one, {other} in the other: name a version"
            ));
        }
    }
    // Their whole could be compared in one way only.
    let compared = |verdict: VerdictSettings| {
        let margin = margin_in_points(verdict.margin);
        format!("by `{}` with a margin of {margin}", verdict.measure.word())
    };
    if a.verdict != b.verdict {
        let (a, b) = (compared(a.verdict), compared(b.verdict));
        reasons.push(format!("one is compared {a}, the other {b}"));
    }
    if let (true, Some(a), Some(b)) = (reasons.is_empty(), a.settings.shard, b.settings.shard)
        && a.count() != b.count()
    {
        reasons.push(format!("one is shard {a}, the other {b}"));
    }
    if reasons.is_empty() {
        return Ok(());
    }
    Err(MergeRunsError::Different {
        first: one.name.clone(),
        second: other.name.clone(),
        reasons: format!("  {}", reasons.join("\n  ")),
    })
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
    Err(MergeRunsError::Missing(prose::list(&missing, "and")))
}

/// Copies a directory of a part, if it has it. A link or a pipe in its place is not followed: parts may come from anywhere.
fn copy(part: &MergedRun, path: &Utf8Path, target: &Dir) -> Result<bool, MergeRunsError> {
    let source = match open_run(&part.past.dir).and_then(|run| run.open_dir(path)) {
        Err(error) if error.is_not_found() => return Ok(false),
        source => source?,
    };
    let place = target.create_dir_all(path, DIR_MODE)?;
    // A workspace that was kept was not too large for its suite.
    let options = Options::default();
    tree::copy(&source, &place, &options, &mut |_| Ok(true))?;
    Ok(true)
}

/// Copies the layers that the workspaces of a part started from into the new run, unless it finds them beside it or
/// another part had the same.
fn copy_layers(part: &MergedRun, target: &Dir) -> Result<(), MergeRunsError> {
    let run = open_run(&part.past.dir)?;
    // A record that is damaged names no layer: the trial that it is of says so when it is used.
    for name in layers_of(&run).unwrap_or_default() {
        if content_hash_in(&name).is_none() || open_layer(target, &name).is_ok() {
            continue;
        }
        let layer = match open_layer(&run, &name) {
            Err(error) if error.is_not_found() => continue,
            layer => layer?,
        };
        let place = target.create_dir_all(Utf8Path::new(LAYERS).join(name), DIR_MODE)?;
        tree::copy(&layer, &place, &Options::reading(), &mut |_| Ok(true))?;
    }
    Ok(())
}

/// Carries over the remarks of a part about its own trials, which have the same numbers in the whole.
fn copy_remarks(part: &MergedRun, to: &Utf8Path) -> Result<(), MergeRunsError> {
    for (trial, remark) in remarks::read(&part.past.dir) {
        if part.past.state.trial(trial).is_some() {
            remarks::add(to, trial, &remark)
                .map_err(|error| TreeError::io(to.join(remarks::REMARKS), error))?;
        }
    }
    Ok(())
}
