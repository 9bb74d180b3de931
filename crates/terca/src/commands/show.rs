//! `terca show`: the results of a run, or of one of its trials, as they stood at its end.

use clap::Args;
use serde_json::json;
use terca_core::analysis::results::{Results, TrialResult};
use terca_core::run::state::Trial;
use terca_core::transcript::trial_files::TrialFiles;
use terca_engine::run::past_runs::PastRun;
use terca_engine::run::store::mend_results;
use terca_engine::run::{past_runs, remarks, trial_files};
use terca_report::{Context, Names, TrialView, trial_view};

use crate::args::values::points;
use crate::args::{Common, TableFormat, TrialArgs};
use crate::cli_error::{CliError, Outcome};
use crate::run::output;
use crate::run::output::Detail;
use crate::suite::past;
use crate::suite::trial_choice::choose;
use crate::{screen, shell};

/// The bytes of each file of a trial that are read.
const ROOM: usize = 1_000_000;

#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    #[command(flatten)]
    of: TrialArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    format: TableFormat,
    /// Treat differences smaller than this (in percentage points) as equivalent (default: the run's)
    #[arg(long, value_name = "POINTS", value_parser = points)]
    margin: Option<f64>,
}

pub(super) fn show(args: &ShowArgs, common: &Common) -> Outcome {
    let choice = choose(&args.of, common)?;
    let (run, fault) = past_runs::read_sound_part(&choice.dir)?;
    if fault.is_none() {
        mend(&run);
    }
    // Nothing is shown of a journal whose first line is damaged.
    if fault.is_none() || !run.state.trials().is_empty() {
        match choice.trial(&run.state)? {
            Some(trial) => show_trial(args, &run, trial, common)?,
            None => show_run(args, &run, common)?,
        }
    }
    let Some(fault) = fault else {
        return Ok(0);
    };
    if !run.state.trials().is_empty() {
        screen::err("warning: this run is damaged; only the part before the damage is shown");
    }
    Err(CliError::from(fault))
}

fn show_run(args: &ShowArgs, run: &PastRun, common: &Common) -> Result<(), CliError> {
    let state = run.state.clone().with_margin(args.margin);
    let results = Results::of(&state).with_remarks(&remarks::read(&run.dir));
    match args.format {
        TableFormat::Table => output::show(&results, &run.dir, Detail::Whole, common),
        TableFormat::Json => output::json(&results)?,
    }
    Ok(())
}

fn show_trial(
    args: &ShowArgs,
    run: &PastRun,
    trial: &Trial,
    common: &Common,
) -> Result<(), CliError> {
    let files = trial_files::read(&run.dir, &trial.head.dir, ROOM);
    if args.format == TableFormat::Json {
        return output::json(&document(run, trial, &files));
    }
    let view = TrialView {
        trial,
        name: &Names::of_run(&run.state).trial(&trial.head),
        files: &files,
        run: run.state.run(),
        remark: remarks::read(&run.dir).remove(&trial.head.id),
    };
    let here = Context {
        run_dir: screen::short(&run.dir),
        terca: &shell::terca(common),
        max_width: screen::max_width(),
    };
    screen::out_view(&trial_view(&view, here), common);
    Ok(())
}

/// Returns a trial as it is in `results.json`, with the texts beside it.
fn document(run: &PastRun, trial: &Trial, files: &TrialFiles) -> serde_json::Value {
    let result = TrialResult {
        head: trial.head.clone(),
        report: trial.report.clone(),
        earlier: trial.earlier.clone(),
        spent: trial.spent,
        remark: remarks::read(&run.dir).remove(&trial.head.id),
    };
    let changes = [files.changes.head.as_str(), &files.changes.tail].concat();
    let records = files.transcript.records();
    let steps: Vec<_> = records.map(|numbered| &numbered.record).collect();
    json!({
        "run": run.state.run(),
        "trial": result,
        "prompt": past::prompts(run).get(&trial.head),
        "changes": changes,
        "transcript": steps,
    })
}

/// Writes `results.json` anew where it is stale or torn. Looking at a run that cannot be written is no error.
fn mend(run: &PastRun) {
    if let Ok(true) = mend_results(run) {
        screen::err("note: results.json was out of date or incomplete: it was written again");
    }
}
