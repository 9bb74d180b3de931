//! Runs a suite again with the answers that an earlier run has recorded.
//!
//! A replay needs no key, so its trials are given one that is none where the recorded run had one.

use camino::Utf8Path;
use terca_core::run::run_file::RunFile;
use terca_core::run::settings::{ReplaySettings, RunSettings, SelectionSettings};
use terca_core::wire::recording::OnMiss;

use crate::host::environment::Host;
use crate::run::past_runs::{self, RunsError};

/// The key in the place of one that is missing. No service is asked with it.
const NO_KEY: &str = "terca-replays-without-a-key";
/// The ends of variables that have a key.
const KEY_ENDS: [&str; 4] = ["_API_KEY", "_AUTH_TOKEN", "_TOKEN", "_KEY"];

/// Returns the settings of a replay of a run: its own, for the chosen part of it. A replay is replayed from the run that
/// was recorded.
pub fn settings(
    suite_dir: &Utf8Path,
    name: &str,
    names: &SelectionSettings,
    on_miss: OnMiss,
) -> Result<RunSettings, RunsError> {
    let file = past_runs::run_file(&past_runs::find(suite_dir, Some(name))?)?;
    let run = match &file.settings.replay {
        Some(replay) => replay.run.clone(),
        None => name.to_owned(),
    };
    let mut settings = RunSettings {
        budget_usd: None,
        fail_fast: false,
        replay: Some(ReplaySettings { run, on_miss }),
        ..file.settings
    };
    settings.selection.seed = Some(file.seed);
    settings.selection.choose(names);
    Ok(settings)
}

/// Returns the environment of a replay: keys that the recorded run had and that are missing now are there, and are none.
/// Any other run has the environment as it is.
pub fn host(suite_dir: &Utf8Path, settings: &RunSettings, host: Host) -> Result<Host, RunsError> {
    let Some(replay) = without_keys(settings) else {
        return Ok(host);
    };
    let dir = past_runs::find(suite_dir, Some(&replay.run))?;
    let file = past_runs::run_file(&dir)?;
    let missing: Vec<String> = credentials(&file)
        .filter(|name| host.get(name).is_none_or(str::is_empty))
        .collect();
    let placed = missing.into_iter().map(|name| (name, NO_KEY.to_owned()));
    Ok(host.with(placed))
}

/// Returns a variable of the environment for the suite to use. In a replay a key may be missing.
pub(super) fn variable(settings: &RunSettings, host: &Host, name: &str) -> Option<String> {
    let is_key = KEY_ENDS.iter().any(|end| name.ends_with(end));
    let no_key = (is_key && without_keys(settings).is_some()).then_some(NO_KEY);
    host.get(name).or(no_key).map(str::to_owned)
}

/// Returns the settings of a replay that asks no service.
fn without_keys(settings: &RunSettings) -> Option<&ReplaySettings> {
    let replay = settings.replay.as_ref();
    replay.filter(|replay| replay.on_miss == OnMiss::Error)
}

/// Returns the variables that agents of a run could sign in with.
fn credentials(file: &RunFile) -> impl Iterator<Item = String> {
    let accesses = file
        .cases
        .iter()
        .filter_map(|case| case.variant.access.as_ref());
    let names = accesses.flat_map(|access| &access.credentials);
    names.filter_map(|name| name.strip_prefix('$').map(str::to_owned))
}
