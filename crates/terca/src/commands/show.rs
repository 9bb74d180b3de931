//! `terca show`: the results of a run, as they stood at its end.

use terca_engine::run::past_runs;

use super::refusal::Outcome;
use super::{execute, find_run};
use crate::args::{Common, ShowArgs};

pub(super) fn show(args: &ShowArgs, common: &Common) -> Outcome {
    let (_, dir) = find_run(args.run.as_deref(), common)?;
    let run = past_runs::read(&dir)?;
    execute::show(&run.results(), &run.dir, common);
    Ok(0)
}
