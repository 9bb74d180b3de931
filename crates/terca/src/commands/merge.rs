//! `terca merge`: joins the runs of the parts of a plan into one.

use terca_core::analysis::results::exit_status;
use terca_engine::run::{merge_runs, past_runs};
use terca_engine::suite::discover;

use super::execute;
use super::refusal::Outcome;
use crate::args::{Common, MergeArgs};

pub(super) fn merge(args: &MergeArgs, common: &Common) -> Outcome {
    let suite_dir = discover::canonical(&common.dir)?;
    // A path of a run's folder, from another machine say, or a run of this suite.
    let dirs = args
        .runs
        .iter()
        .map(|run| past_runs::find_anywhere(&suite_dir, run));
    let dirs = dirs.collect::<Result<Vec<_>, _>>()?;
    let joined = merge_runs::join(&suite_dir, jiff::Zoned::now().date(), &dirs)?;
    let results = joined.results();
    execute::show(&results, &joined.dir, common);
    Ok(exit_status(&results, args.fail_under))
}
