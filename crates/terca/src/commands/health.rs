//! `terca health`: what the evals of a suite tell, and what they cost.

use clap::Args;
use terca_core::analysis::health::health as examine;
use terca_core::analysis::history::Record;
use terca_core::run::event::RunStatus;
use terca_core::text::explain::Code;
use terca_engine::run::history;
use terca_engine::suite::discover;

use crate::args::{Common, TableFormat};
use crate::cli_error::{CliError, Outcome};
use crate::{past, run_output};

#[derive(Debug, Clone, Args)]
pub struct HealthArgs {
    /// Runs: names, numbers or directories (default: all of the suite)
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    format: TableFormat,
}

pub(super) fn health(args: &HealthArgs, common: &Common) -> Outcome {
    let found = examine(&records(args, common)?);
    if found.evals.is_empty() {
        let text = "no trials to learn from (those of `oracle`, `nop` and `cheat` do not count)";
        return Err(
            CliError::misuse(Code::NothingToLearn, text).help("run the suite with an agent first")
        );
    }
    run_output::table_or_json(args.format, common, &found, |columns, palette| {
        terca_report::health(&found, columns, palette)
    })?;
    Ok(0)
}

/// Returns the runs that were named, or all that have ended.
fn records(args: &HealthArgs, common: &Common) -> Result<Vec<Record>, CliError> {
    if args.runs.is_empty() {
        return Ok(history::read(&discover::canonical(&common.dir)?)?);
    }
    let mut records = Vec::new();
    for name in &args.runs {
        let run = past::open(Some(name), common)?;
        if run.state.status() == RunStatus::Running {
            let text = format!("the run {} is still going on", run.state.run());
            return Err(CliError::misuse(Code::RunGoingOn, text)
                .help("wait until it ends, or leave it out"));
        }
        records.push(history::record(run));
    }
    records.sort_by_key(|record| record.state.started_at());
    records.dedup_by(|one, other| {
        one.state.run() == other.state.run() && one.state.started_at() == other.state.started_at()
    });
    Ok(records)
}
