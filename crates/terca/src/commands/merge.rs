//! `terca merge`: joins the runs of the parts of a plan into one.

use clap::Args;
use terca_core::analysis::compare::mixed_access;
use terca_core::analysis::results::exit_status;
use terca_engine::run::merge_runs::merge_runs;
use terca_engine::run::past_runs;
use terca_engine::suite::discover;

use crate::args::{Common, DemandArgs};
use crate::cli_error::Outcome;
use crate::run::output;
use crate::run::output::Detail;
use crate::screen;

#[derive(Debug, Clone, Args)]
pub struct MergeArgs {
    /// The runs of all shards: names, numbers or directories
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    demand: DemandArgs,
}

pub(super) fn merge(args: &MergeArgs, common: &Common) -> Outcome {
    let suite_dir = discover::canonical(&common.dir)?;
    let dirs = past_runs::find_all(&suite_dir, &args.runs)?;
    let merged = merge_runs(&suite_dir, jiff::Zoned::now().date(), &dirs)?;
    let results = merged.results();
    output::show(&results, &merged.dir, Detail::Whole, common);
    for remark in mixed_access(&merged.state) {
        screen::err(&format!("warning: {remark}"));
    }
    Ok(exit_status(&results, (&args.demand).into()))
}
