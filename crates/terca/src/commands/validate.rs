//! `terca validate`: do the evals measure anything?

use clap::{ArgAction, Args};
use terca_core::run::settings::{self, Keep, RunSettings, SelectionSettings};
use terca_engine::host::environment::Host;
use terca_report::tricks_tried;

use super::run;
use crate::args::values::{keep, within};
use crate::args::{CiArgs, Common, DisplayArgs, Format};
use crate::cli_error::Outcome;
use crate::screen;
use crate::suite::load;
use crate::suite::place::from_here;

#[derive(Debug, Clone, Args)]
pub struct ValidateArgs {
    /// Only these evals, as with `-t`
    #[arg(value_name = "EVAL")]
    words: Vec<String>,
    /// Only these evals: names or parts of names, directories, globs, tag:NAME; !NAME excludes (repeatable,
    /// comma-separated)
    #[arg(short = 't', long = "eval", alias = "test", value_name = "NAME", action = ArgAction::Append)]
    evals: Vec<String>,
    /// The experiment to build on (default: the baseline)
    #[arg(short = 'x', long = "experiment", value_name = "NAME", action = ArgAction::Append)]
    experiments: Vec<String>,
    /// The environment to build on (default: the first)
    #[arg(short = 'e', long = "environment", value_name = "NAME", action = ArgAction::Append)]
    environments: Vec<String>,
    /// Trials to run at once
    #[arg(short = 'c', long, value_name = "N", value_parser = within(settings::CONCURRENCY))]
    concurrency: Option<u32>,
    /// Also list the tricks that the agent `cheat` tries
    #[arg(short = 'v', long)]
    verbose: bool,
    #[command(flatten)]
    display: DisplayArgs,
    /// The workspaces to keep on disk
    #[arg(long, default_value = "changed", value_parser = keep())]
    keep: Keep,
}

/// A run like any other, each trial once.
impl From<&ValidateArgs> for RunSettings {
    fn from(args: &ValidateArgs) -> Self {
        RunSettings {
            selection: SelectionSettings {
                evals: [args.words.as_slice(), &args.evals].concat(),
                experiments: args.experiments.clone(),
                environments: args.environments.clone(),
                repetitions: Some(1),
                ..SelectionSettings::default()
            },
            validate: true,
            concurrency: args.concurrency,
            keep: args.keep,
            ..RunSettings::default()
        }
    }
}

pub(super) fn validate(args: &ValidateArgs, common: &Common) -> Outcome {
    let mut settings = RunSettings::from(args);
    settings.selection = from_here(settings.selection, common);
    if args.verbose && args.display.format != Format::Json {
        screen::out_view(&tricks_tried(), common);
    }
    check(&settings, &args.display, common)
}

/// Looks whether evals measure anything.
pub(super) fn check(settings: &RunSettings, display: &DisplayArgs, common: &Common) -> Outcome {
    let host = Host::of_this_process();
    let plan = load::plan(settings, common, &host)?;
    let run = run::prepared(&plan, settings, false, host)?;
    let ci = CiArgs::default();
    Ok(run::conduct(settings, run, None, display, &ci, common)?.0)
}
