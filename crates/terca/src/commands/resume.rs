//! `terca resume`: finishes a run that was interrupted.

use clap::Args;
use terca_core::run::settings::{self, RunSettings};
use terca_core::text::Code;
use terca_engine::host::environment::Host;
use terca_engine::run::past_runs::PastRun;
use terca_engine::run::replay;
use terca_engine::run::resume::{OpenRun, Remaining};
use terca_engine::workspace::trial_dirs::WorkDir;

use super::run::conduct;
use crate::args::values::{usd, within};
use crate::args::{CiArgs, Common, DisplayArgs, WorkerArgs};
use crate::cli_error::{CliError, Outcome};
use crate::run::output;
use crate::suite::{load, past};
use crate::{export, screen};

#[derive(Debug, Clone, Args)]
pub struct ResumeArgs {
    /// A run's name or number (default: the latest)
    run: Option<String>,
    /// Continue although the suite has changed: the remaining trials use the suite as it is now
    #[arg(long)]
    accept_changes: bool,
    /// Also run the trials that ended in an error again
    #[arg(long)]
    errors: bool,
    /// The budget of the whole run, instead of the one it was started with
    #[arg(long, value_name = "USD", value_parser = usd)]
    budget_usd: Option<f64>,
    /// Trials to run at once, instead of the run's own number
    #[arg(short = 'c', long, value_name = "N", value_parser = within(settings::CONCURRENCY))]
    concurrency: Option<u32>,
    #[command(flatten)]
    workers: WorkerArgs,
    #[command(flatten)]
    display: DisplayArgs,
    #[command(flatten)]
    ci: CiArgs,
}

pub(super) fn resume(args: &ResumeArgs, common: &Common) -> Outcome {
    let (suite_dir, dir) = past::find(args.run.as_deref(), common)?;
    let mut open = OpenRun::open(&dir)?;
    let mut settings = open.settings();
    settings.concurrency = args.concurrency.or(settings.concurrency);
    settings.budget_usd = args.budget_usd.or(settings.budget_usd);
    settings.on.clone_from(&args.workers.on);
    let host = replay::host(&suite_dir, &settings, Host::of_this_process())?;
    let mut plan = load::plan(&settings, common, &host)?;
    let remaining = open.keep_remaining(&mut plan, args.errors);
    if remaining.is_over {
        open.write_results()?;
        // It may have died between its last event and its end.
        let left = WorkDir::remove_stale(host.get("TERCA_WORK_DIR"));
        output::warn_of_leftovers(&left.unwrap_or_default());
        return Ok(nothing_left(&open.past, &settings, args, common));
    }
    let run = open.prepare(&plan, &settings, host)?;
    check_changes(&open.changes(&run), args)?;
    if !args.display.quiet {
        note_remaining(open.past.state.run(), remaining);
    }
    Ok(conduct(&settings, run, Some(open), &args.display, &args.ci, common)?.0)
}

fn nothing_left(past: &PastRun, settings: &RunSettings, args: &ResumeArgs, common: &Common) -> u8 {
    let results = past.results();
    let errors = results.summary.errors;
    let hint = if errors > 0 && !args.errors {
        format!("; `terca resume --errors` runs those that ended in an error ({errors}) again")
    } else {
        String::new()
    };
    screen::err(&format!(
        "nothing is left to run in {}{hint}",
        past.state.run()
    ));
    let status = output::status(settings, &results);
    export::for_ci(&results, &args.ci, args.display.format, common).unwrap_or(status)
}

/// Nothing is mixed with a suite that has changed, unless the user says so.
fn check_changes(changes: &[String], args: &ResumeArgs) -> Result<(), CliError> {
    if changes.is_empty() {
        return Ok(());
    }
    let list = screen::listed(changes, 20);
    if args.accept_changes {
        screen::err(&format!(
            "note: the suite has changed since the run was started:{list}"
        ));
        return Ok(());
    }
    let text = format!(
        "the suite has changed since the run was started, so the remaining trials would differ from the finished \
         ones:{list}"
    );
    let error = CliError::misuse(Code::SuiteChanged, text);
    Err(error.help(
        "undo the changes, start a new run with `terca run`, or continue with `--accept-changes`",
    ))
}

fn note_remaining(run: &str, remaining: Remaining) {
    let Remaining { done, to_run, .. } = remaining;
    let more = if remaining.more_as_needed {
        ", then more as needed"
    } else {
        ""
    };
    screen::err(&format!(
        "resuming {run}: {done} done, {to_run} to run{more}"
    ));
}
