//! `terca run`: the main job.

use clap::Args;
use serde_json::json;
use terca_core::plan::shard::Shard;
use terca_core::run::settings::{Demand, FailedSettings, RunSettings, SelectionSettings};
use terca_core::text::prose;
use terca_engine::host::environment::Host;
use terca_engine::run::load::RunPlan;
use terca_engine::run::past_runs;
use terca_engine::run::resume::OpenRun;
use terca_engine::run::scheduler::FinishedRun;
use terca_engine::run::start::{PreparedRun, StartOptions};
use terca_report::plan_trials;

use crate::args::values::points;
use crate::args::{CiArgs, Common, ConductArgs, DemandArgs, DisplayArgs, Format, SelectionArgs};
use crate::cli_error::{CliError, Outcome};
use crate::run::{display, output};
use crate::screen;
use crate::suite::place::from_here;
use crate::suite::{bare_words, load, only_agent, past};

#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    #[command(flatten)]
    selection: SelectionArgs,
    /// Run only the pairs of eval and variant that failed or ended in an error in the latest run
    #[arg(long, help_heading = "Selection", conflicts_with = "aa")]
    failed: bool,
    /// Run only the I-th of N equal shards of the plan; `terca merge` merges their runs
    #[arg(long, help_heading = "Selection", value_name = "I/N")]
    shard: Option<Shard>,
    /// A/A test: compare the baseline with itself
    #[arg(long, help_heading = "Instead of the suite's values")]
    aa: bool,
    #[command(flatten)]
    demand: DemandArgs,
    /// Treat differences smaller than this (in percentage points) as equivalent (default: the suite's, or 10)
    #[arg(long, help_heading = "Verdict and exit status", value_name = "POINTS", value_parser = points)]
    margin: Option<f64>,
    #[command(flatten)]
    conduct: ConductArgs,
    #[command(flatten)]
    display: DisplayArgs,
    /// Print the trials that would run, in order, and stop
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    #[command(flatten)]
    ci: CiArgs,
    /// No command was given: a word may be one that was meant to be.
    #[arg(skip)]
    is_bare: bool,
}

impl RunArgs {
    /// Notes that they were given without `run` before them.
    pub fn without_command(self) -> Self {
        RunArgs {
            is_bare: true,
            ..self
        }
    }
}

impl From<&RunArgs> for RunSettings {
    fn from(args: &RunArgs) -> Self {
        let demand = Demand::from(&args.demand);
        RunSettings {
            selection: SelectionSettings::from(&args.selection),
            shard: args.shard,
            aa: args.aa,
            fail_under: demand.fail_under,
            fail_on: demand.fail_on,
            margin: args.margin,
            ..args.conduct.settings()
        }
    }
}

pub(super) fn run(args: &RunArgs, common: &Common, program: &clap::Command) -> Outcome {
    let host = Host::of_this_process();
    let mut settings = RunSettings::from(args);
    settings.selection = from_here(settings.selection, common);
    if args.is_bare {
        bare_words::check(&args.selection.names.words, program, common, &host)?;
    }
    if args.failed {
        let failed = FailedSettings::of(&past::open(None, common)?.state);
        if failed.cases.is_empty() {
            screen::err(&format!(
                "nothing failed in {}: there is nothing to run again",
                failed.run
            ));
            return Ok(0);
        }
        if !args.display.quiet {
            screen::err(&format!(
                "running the failures of {}: {} of an eval and a variant",
                failed.run,
                prose::count(failed.cases.len(), "pair")
            ));
        }
        settings.failed = Some(failed);
    }
    only_agent::settle(&mut settings.selection, common, &host)?;
    let plan = load::plan(&settings, common, &host)?;
    if args.dry_run && args.display.format == Format::Json {
        let heads = plan.heads();
        let trials: Vec<_> = (plan.order.iter())
            .filter_map(|at| heads.get(*at))
            .collect();
        output::json(&json!({ "seed": plan.seed, "trials": trials }))?;
        return Ok(0);
    }
    if args.dry_run {
        screen::out_view(&plan_trials(&plan.heads(), &plan.order), common);
        load::note_adaptive(&plan);
        return Ok(0);
    }
    let interrupted = past_runs::latest_interrupted(&plan.suite.root);
    if let Some(name) = interrupted.filter(|_| !args.display.quiet) {
        screen::err(&format!(
            "note: the run {name} was interrupted; `terca resume` finishes it (this is a new one)"
        ));
    }
    let run = prepared(&plan, &settings, args.conduct.no_cache, host)?;
    Ok(conduct(&settings, run, None, &args.display, &args.ci, common)?.0)
}

/// Prepares a new run. What takes long is told.
pub(super) fn prepared<'a>(
    plan: &'a RunPlan,
    settings: &'a RunSettings,
    rebuild_layers: bool,
    host: Host,
) -> Result<PreparedRun<'a>, CliError> {
    let options = StartOptions {
        rebuild_layers,
        tell: Some(screen::err),
        ..StartOptions::default()
    };
    Ok(PreparedRun::new(plan, settings, options, host)?)
}

/// Runs what is prepared: in a directory of its own, or in that of a run that goes on. Returns the exit status and the run.
pub(super) fn conduct(
    settings: &RunSettings,
    mut run: PreparedRun<'_>,
    goes_on: Option<OpenRun>,
    display: &DisplayArgs,
    ci: &CiArgs,
    common: &Common,
) -> Result<(u8, FinishedRun), CliError> {
    run.install_agents()?;
    output::connect(&mut run, display.quiet)?;
    output::note_before_start(&run, display.quiet);
    let (store, past) = match goes_on {
        Some(open) => open.into_parts(),
        None => (run.create_dir()?, None),
    };
    let mut observer = display::observer(&run, display, ci, common);
    let finished = run.execute(store, past, observer.as_mut());
    let finished = finished.map_err(|error| {
        CliError::from(error).help("finished trials are kept; `terca resume` runs the rest")
    })?;
    let status = output::conclude(settings, display, ci, common, &finished);
    Ok((status, finished))
}
