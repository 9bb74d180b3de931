//! Runs of the past, as commands name them.

use camino::{Utf8Path, Utf8PathBuf};
use terca_core::text::explain::Code;
use terca_core::text::prose;
use terca_engine::run::past_runs::PastRun;
use terca_engine::run::{clean, files, past_runs};
use terca_engine::suite::discover;
use terca_report::RunRow;
use terca_report::html::Prompts;

use crate::args::Common;
use crate::cli_error::CliError;
use crate::screen;

/// Returns the suite's directory, and the directory of a run in it: by name, by number, or the latest.
pub fn find(run: Option<&str>, common: &Common) -> Result<(Utf8PathBuf, Utf8PathBuf), CliError> {
    let suite_dir = discover::canonical(&common.dir)?;
    let run = past_runs::find(&suite_dir, run)?;
    Ok((suite_dir, run))
}

/// Reads a run by its name, its number or the path of its directory, or the latest.
pub fn open(run: Option<&str>, common: &Common) -> Result<PastRun, CliError> {
    let suite_dir = discover::canonical(&common.dir)?;
    let found = match run {
        Some(name) => past_runs::find_anywhere(&suite_dir, name)?,
        None => past_runs::find(&suite_dir, None)?,
    };
    Ok(past_runs::read(&found)?)
}

/// Reports that somebody changed the files of a run while it went on. Returns the exit status for that.
pub fn complain_of_changes(changed: &[&str], dir: &Utf8Path, common: &Common) -> Option<u8> {
    let names = prose::list(&distinct(changed), "and");
    if changed.is_empty() {
        return None;
    }
    let text = format!(
        "{names} of {} changed while the run went on, by something other than Terca; the results are those that \
         Terca knows, and the files are restored from its copy",
        screen::short(dir)
    );
    let error = CliError::trouble(Code::DamagedRun, text)
        .help("look for an agent, a test or a program beside it that writes to the run's folder");
    Some(error.show(common))
}

fn distinct<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut found: Vec<&str> = names.to_vec();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the prompts of a run. A run without a readable `run.json` still has results.
pub fn prompts(run: &PastRun) -> Prompts {
    match past_runs::run_file(&run.dir) {
        Ok(file) => Prompts::from(&file),
        Err(_) => Prompts::default(),
    }
}

/// Returns a run's row in a list. A run that cannot be read has the reason in it.
pub fn row(suite_dir: &Utf8Path, name: String) -> RunRow {
    let dir = files::runs_dir(suite_dir).join(&name);
    let bytes = clean::bytes_below(&dir);
    match past_runs::read(&dir) {
        Ok(run) => {
            let state = run.state;
            RunRow {
                run: name,
                suite: state.suite().to_owned(),
                status: Some(state.status()),
                started_at: state.started_at(),
                trials: state.counts().total,
                passed: state.counts().passed,
                failed: state.counts().partial + state.counts().failed,
                errors: state.counts().errors,
                bytes,
                note: None,
            }
        }
        Err(error) => RunRow {
            run: name,
            suite: String::new(),
            status: None,
            started_at: None,
            trials: 0,
            passed: 0,
            failed: 0,
            errors: 0,
            bytes,
            note: Some(error.to_string()),
        },
    }
}
