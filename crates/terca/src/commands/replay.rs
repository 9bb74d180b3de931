//! `terca replay`: the suite once more, with the answers that a run has recorded.

use clap::Args;
use terca_core::run::settings::{self, Demand, Keep};
use terca_core::text::Code;
use terca_core::wire::recording::OnMiss;
use terca_engine::host::environment::Host;
use terca_engine::run::replay;
use terca_engine::run::start::{PreparedRun, StartOptions};

use super::run;
use crate::args::values::{keep, one_of, within};
use crate::args::{CiArgs, Common, DemandArgs, DisplayArgs, NameArgs};
use crate::cli_error::{CliError, Outcome};
use crate::screen;
use crate::suite::{load, past};

#[derive(Debug, Clone, Args)]
pub struct ReplayArgs {
    /// A run with recordings: its name or number (default: the latest)
    run: Option<String>,
    #[command(flatten)]
    names: NameArgs,
    /// For a request that was not recorded: end the trial with an error, or ask the service (needs the key)
    #[arg(long, default_value = "error", value_name = "WHAT", value_parser = one_of::<OnMiss>(&["error", "live"]))]
    on_miss: OnMiss,
    /// Trials to run at once
    #[arg(short = 'c', long, value_name = "N", value_parser = within(settings::CONCURRENCY))]
    concurrency: Option<u32>,
    #[command(flatten)]
    demand: DemandArgs,
    #[command(flatten)]
    display: DisplayArgs,
    /// The workspaces to keep on disk
    #[arg(long, default_value = "changed", value_parser = keep())]
    keep: Keep,
    #[command(flatten)]
    ci: CiArgs,
}

pub(super) fn replay(args: &ReplayArgs, common: &Common) -> Outcome {
    let (suite_dir, dir, names) = past::run_and_evals(args.run.as_deref(), &args.names, common)?;
    let name = dir.file_name().unwrap_or_default();
    let mut settings = replay::settings(&suite_dir, name, &names, args.on_miss)?;
    settings.concurrency = args.concurrency.or(settings.concurrency);
    let demand = Demand::from(&args.demand);
    settings.fail_under = demand.fail_under;
    settings.fail_on = demand.fail_on;
    settings.keep = args.keep;
    let host = replay::host(&suite_dir, &settings, Host::of_this_process())?;
    let plan = load::plan(&settings, common, &host)?;
    let prepared = PreparedRun::new(&plan, &settings, StartOptions::default(), host)?;
    let recorded = prepared.recorded_trials().unwrap_or(0);
    let source = settings.replay.as_ref();
    let source = source.map_or(name, |replay| replay.run.as_str());
    if recorded == 0 {
        let text =
            format!("there is nothing to replay: no selected trial was recorded in {source}");
        let help = "`terca --gateway record` records a run";
        return Err(CliError::misuse(Code::NothingToReplay, text).help(help));
    }
    if !args.display.quiet {
        screen::err(&format!(
            "replaying {source}: {recorded} of {} trials were recorded; their answers cost nothing",
            plan.trials.len()
        ));
    }
    Ok(run::conduct(&settings, prepared, None, &args.display, &args.ci, common)?.0)
}
