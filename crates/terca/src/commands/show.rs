//! `terca show`: the results of a run, as they stood at its end.

use clap::Args;
use terca_core::analysis::results::Results;
use terca_core::run::state::RunState;
use terca_engine::run::past_runs;
use terca_engine::run::past_runs::PastRun;
use terca_engine::run::store::mend_results;

use crate::args::Common;
use crate::args::margin::Margin;
use crate::cli_error::{CliError, Outcome};
use crate::run_output::Detail;
use crate::{past, run_output, screen};

#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// A run's name or number (default: the latest)
    run: Option<String>,
    #[command(flatten)]
    margin: Margin,
}

pub(super) fn show(args: &ShowArgs, common: &Common) -> Outcome {
    let (_, dir) = past::find(args.run.as_deref(), common)?;
    let (run, fault) = past_runs::read_sound_part(&dir)?;
    let Some(fault) = fault else {
        mend(&run);
        run_output::show(&results(run.state, args), &run.dir, Detail::Whole, common);
        return Ok(0);
    };
    // Nothing is shown of a journal whose first line is damaged.
    if !run.state.trials().is_empty() {
        run_output::show(&results(run.state, args), &run.dir, Detail::Whole, common);
        screen::err("warning: this run is damaged; only what comes before the damage is shown");
    }
    Err(CliError::from(fault))
}

fn results(state: RunState, args: &ShowArgs) -> Results {
    Results::of(&args.margin.applied_to(state))
}

/// Writes `results.json` anew where it is stale or torn. Looking at a run that cannot be written is no error.
fn mend(run: &PastRun) {
    if let Ok(true) = mend_results(run) {
        screen::err("note: results.json was older than the journal, or torn: it was written anew");
    }
}
