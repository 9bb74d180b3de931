//! `terca merge`: joins the runs of the parts of a plan into one.

use terca_core::results::exit_status;
use terca_engine::{discover, join, runs};

use super::execute;
use super::refusal::Outcome;
use crate::args::{Common, MergeArgs};

pub(super) fn merge(args: &MergeArgs, common: &Common) -> Outcome {
    let suite_dir = discover::canonical(&common.dir)?;
    // A path of a run's folder, from another machine say, or a run of this suite.
    let dirs = args
        .runs
        .iter()
        .map(|run| runs::find_anywhere(&suite_dir, run));
    let dirs = dirs.collect::<Result<Vec<_>, _>>()?;
    let joined = join::join(&suite_dir, jiff::Zoned::now().date(), &dirs)?;
    let results = joined.results();
    execute::show(&results, &joined.dir, common);
    Ok(exit_status(&results, args.fail_under))
}
