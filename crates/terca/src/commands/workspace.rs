//! `terca workspace`: the workspace that a trial has saved, as its agent left it.

use camino::Utf8PathBuf;
use clap::Args;
use terca_core::text::Code;
use terca_engine::run::past_runs;
use terca_engine::run::saved_workspace::restore_workspace;

use crate::args::{Common, TrialArgs};
use crate::cli_error::{CliError, Outcome};
use crate::screen;
use crate::suite::trial_choice::choose;

#[derive(Debug, Clone, Args)]
pub struct WorkspaceArgs {
    #[command(flatten)]
    of: TrialArgs,
    /// The directory to make, or an empty one (default: a new temporary directory)
    #[arg(long, value_name = "DIR")]
    to: Option<Utf8PathBuf>,
    /// An earlier attempt, where an error was tried again
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    attempt: Option<u32>,
}

pub(super) fn workspace(args: &WorkspaceArgs, common: &Common) -> Outcome {
    let choice = choose(&args.of, common)?;
    let (run, _) = past_runs::read_sound_part(&choice.dir)?;
    let trials = run.state.trials();
    let trial = match choice.trial(&run.state)? {
        Some(trial) => trial,
        None if trials.len() == 1 => &trials[0],
        None => {
            let text = format!("the run {} has {} trials", run.state.run(), trials.len());
            return Err(CliError::misuse(Code::NoMatch, text).help(
                "name one: `terca workspace EVAL`; `terca show` lists the trials that did not pass",
            ));
        }
    };
    let mut dir = trial.head.dir.clone();
    if let Some(attempt) = args
        .attempt
        .filter(|attempt| *attempt != trial.report.attempts)
    {
        dir = dir.join(format!("attempts/{attempt:02}"));
    }
    let made = restore_workspace(&run.dir, &dir, args.to.as_deref())?;
    screen::out(made.as_str());
    Ok(0)
}
