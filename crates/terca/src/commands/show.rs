//! `terca show`: the results of a run, as they stood at its end.

use clap::Args;
use terca_engine::run::past_runs;

use crate::args::Common;
use crate::cli_error::Outcome;
use crate::{past, run_output};

#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// A run's name or number (default: the latest)
    run: Option<String>,
}

pub(super) fn show(args: &ShowArgs, common: &Common) -> Outcome {
    let (_, dir) = past::find(args.run.as_deref(), common)?;
    let run = past_runs::read(&dir)?;
    run_output::show(&run.results(), &run.dir, common);
    Ok(0)
}
