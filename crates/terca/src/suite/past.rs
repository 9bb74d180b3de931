//! Earlier runs, as commands name them.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::analysis::compare::{Arm, Compared, between};
use terca_core::run::run_file::RunKind;
use terca_core::run::settings::SelectionSettings;
use terca_core::run::state::RunState;
use terca_core::text::Code;
use terca_engine::run::past_runs::{PastRun, RunsError};
use terca_engine::run::{clean, files, past_runs, remarks};
use terca_engine::suite::discover;
use terca_report::html::{ListedRun, Prompts};
use terca_report::{ListedStatus, RunRow};

use crate::args::{Common, NameArgs};
use crate::cli_error::CliError;
use crate::screen;
use crate::suite::place::from_here;

/// Returns the suite's directory, and the directory of a run in it: by name, by number, or the latest.
pub fn find(run: Option<&str>, common: &Common) -> Result<(Utf8PathBuf, Utf8PathBuf), CliError> {
    let suite_dir = discover::canonical(&common.dir)?;
    let dir = past_runs::find(&suite_dir, run)?;
    if run.is_none() {
        note_newer(&suite_dir, &dir);
    }
    Ok((suite_dir, dir))
}

/// Finds the run of a command that takes a run and then evals, and the evals: `terca regrade slug` names no run. Returns the
/// suite's directory, that of the run, and the selection.
pub fn run_and_evals(
    word: Option<&str>,
    names: &NameArgs,
    common: &Common,
) -> Result<(Utf8PathBuf, Utf8PathBuf, SelectionSettings), CliError> {
    let suite_dir = discover::canonical(&common.dir)?;
    let is_run = |word: &&str| {
        word.parse::<u32>().is_ok()
            || past_runs::find(&suite_dir, Some(word)).is_ok()
            // A word that looks like a run's name is one that is not there.
            || past_runs::is_run_name(word)
            || past_runs::latest(&suite_dir).is_none()
    };
    let run = word.filter(is_run);
    let mut selection = SelectionSettings::from(names);
    if let (None, Some(eval)) = (run, word) {
        selection.evals.insert(0, eval.to_owned());
    }
    let (suite_dir, dir) = find(run, common)?;
    Ok((suite_dir, dir, from_here(selection, common)))
}

/// Reads a run by its name, its number or the path of its directory, or the latest.
pub fn open(run: Option<&str>, common: &Common) -> Result<PastRun, CliError> {
    let suite_dir = discover::canonical(&common.dir)?;
    let found = match run {
        Some(name) => past_runs::find_anywhere(&suite_dir, name)?,
        None => find(None, common)?.1,
    };
    Ok(past_runs::read(&found)?)
}

/// Notes that the latest run of agents is not the latest run, where that one is of `oracle`, `nop` or `cheat`.
fn note_newer(suite_dir: &Utf8Path, dir: &Utf8Path) {
    let names = past_runs::names(suite_dir).unwrap_or_default();
    let Some(last) = names
        .last()
        .filter(|last| Some(last.as_str()) != dir.file_name())
    else {
        return;
    };
    if past_runs::kind(&files::runs_dir(suite_dir).join(last)) == Some(RunKind::Controls) {
        screen::err(&format!(
            "note: this is the latest run of agents; {last} is newer, but only `oracle`, `nop` or `cheat` ran in it"
        ));
    }
}

/// Reports that somebody changed the files of a run while it went on. Returns the exit status for that.
pub fn complain_of_damage(damage: Option<&RunsError>, common: &Common) -> Option<u8> {
    let text = format!(
        "another program changed the run's files during the run: {}",
        damage?
    );
    let error = CliError::trouble(Code::DamagedRun, text)
        .help("look for an agent, a test or another program that writes to the run's directory; run it again");
    Some(error.show(common))
}

/// Returns the prompts and tags of a run. A run without a readable `run.json` still has results.
pub fn prompts(run: &PastRun) -> Prompts {
    let mut prompts = match past_runs::run_file(&run.dir) {
        Ok(file) => Prompts::from(&file),
        Err(_) => Prompts::default(),
    };
    prompts.remarks = remarks::read(&run.dir);
    prompts
}

/// Returns a run's row in a list. A run that cannot be read has the reason in it.
pub fn row(suite_dir: &Utf8Path, name: String) -> RunRow {
    read_row(suite_dir, name).0
}

/// Returns a run as the page of all runs shows it.
pub fn listed(suite_dir: &Utf8Path, name: String) -> ListedRun {
    match read_row(suite_dir, name) {
        (row, Some(run)) => ListedRun::of(row, &run.state, past_runs::run_file(&run.dir).ok()),
        (row, None) => ListedRun {
            row,
            ..ListedRun::default()
        },
    }
}

fn read_row(suite_dir: &Utf8Path, name: String) -> (RunRow, Option<PastRun>) {
    let dir = files::runs_dir(suite_dir).join(&name);
    let bytes = clean::bytes_below(&dir);
    let read = past_runs::read(&dir);
    let row = match &read {
        Ok(run) => {
            let state = &run.state;
            let counts = *state.counts();
            let not_run = counts.total - counts.finished() + counts.interrupted;
            RunRow {
                run: name,
                suite: state.start().suite.clone(),
                kind: past_runs::kind(&dir),
                agents: agents(state),
                status: Some(ListedStatus::of(state.status(), not_run)),
                started_at: state.started_at(),
                trials: counts.total,
                passed: counts.passed,
                partial: counts.partial,
                failed: counts.failed,
                errors: counts.errors,
                not_run,
                bytes,
                note: None,
            }
        }
        Err(error) => RunRow {
            run: name,
            bytes,
            note: Some(error.to_string()),
            ..RunRow::default()
        },
    };
    (row, read.ok())
}

fn agents(state: &RunState) -> Vec<String> {
    let names = state.trials().iter().map(|trial| trial.head.agent.as_str());
    let distinct: BTreeSet<&str> = names.collect();
    distinct.into_iter().map(str::to_owned).collect()
}

/// Compares a run with the baseline. Smaller differences than the margin make no difference; `None` is the margin of the
/// baseline.
pub fn compare(
    baseline: &PastRun,
    other: &PastRun,
    margin: Option<f64>,
    only_unchanged: bool,
) -> Result<Compared, CliError> {
    if baseline.dir.canonicalize_utf8().ok() == other.dir.canonicalize_utf8().ok() {
        let text = format!("{} cannot be compared with itself", baseline.state.run());
        return Err(
            CliError::misuse(Code::NothingToCompare, text).help("`terca list` lists the runs")
        );
    }
    let names = distinct_names(baseline, other);
    let runs = [baseline, other];
    let prints = runs.map(|run| past_runs::fingerprints(&run.dir));
    let [first, second] = [0, 1].map(|side| Arm {
        name: &names[side],
        state: &runs[side].state,
        prints: prints[side].as_deref(),
    });
    let margin = margin.unwrap_or(baseline.state.margin());
    Ok(between(first, second, margin, only_unchanged)?)
}

/// Returns the names of two runs: by their folders where two suites have runs of the same name.
pub fn distinct_names(one: &PastRun, other: &PastRun) -> [String; 2] {
    let runs = [one, other];
    if one.state.run() == other.state.run() {
        runs.map(|run| screen::short(&run.dir).to_string())
    } else {
        runs.map(|run| run.state.run().to_owned())
    }
}
