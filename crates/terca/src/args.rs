//! Arguments that several commands share. Those of one command alone are in its file.

pub mod values;

use camino::Utf8PathBuf;
use clap::{ArgAction, Args, ValueEnum};
use terca_core::config::gateway::GatewayMode;
use terca_core::config::sandbox::Sandbox;
use terca_core::run::settings::{self, Demand, FailOn, Keep, RunSettings, SelectionSettings};
use terca_core::wire::network::Network;

use self::values::{keep, network, one_of, sandbox, seconds, share, usd, within};

/// The suite's directory, and how to write to the terminal.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// The suite's directory, or one below it; for `init`, the library's
    #[arg(
        short = 'C',
        long = "dir",
        value_name = "DIR",
        default_value = ".",
        global = true
    )]
    pub dir: Utf8PathBuf,
    /// The directory that was typed, where the suite was found around it.
    #[arg(skip)]
    pub typed_dir: Option<Utf8PathBuf>,
    /// When to use colour (also: NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE)
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN", global = true)]
    pub color: Colour,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

/// A part of the suite, by names.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct NameArgs {
    /// Only these evals, as with `-t`
    #[arg(value_name = "EVAL", help_heading = "Arguments")]
    pub words: Vec<String>,
    /// Only these evals: names or parts of names, directories, globs, tag:NAME; !NAME excludes (repeatable,
    /// comma-separated)
    #[arg(short = 't', long = "eval", alias = "test", value_name = "NAME", action = ArgAction::Append)]
    pub evals: Vec<String>,
    /// Only these experiments; !NAME excludes
    #[arg(short = 'x', long = "experiment", value_name = "NAME", action = ArgAction::Append)]
    pub experiments: Vec<String>,
    /// Only these environments; !NAME excludes
    #[arg(short = 'e', long = "environment", value_name = "NAME", action = ArgAction::Append)]
    pub environments: Vec<String>,
}

impl From<&NameArgs> for SelectionSettings {
    fn from(args: &NameArgs) -> Self {
        SelectionSettings {
            evals: [args.words.as_slice(), &args.evals].concat(),
            experiments: args.experiments.clone(),
            environments: args.environments.clone(),
            ..SelectionSettings::default()
        }
    }
}

/// A part of the suite, and what replaces its own values.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    #[command(flatten)]
    pub names: NameArgs,
    /// Repetitions of each eval in each variant, instead of the suite's
    #[arg(short = 'n', long, value_name = "N", value_parser = within(settings::REPETITIONS))]
    pub repetitions: Option<u32>,
    #[command(flatten)]
    pub instead: InsteadArgs,
}

/// What replaces the suite's own values.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Instead of the suite's values")]
pub struct InsteadArgs {
    /// Use this agent for every variant
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Use this model for every variant
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The agent's time limit, instead of the suite's
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// The sandbox of every variant, instead of the suite's
    #[arg(long, value_name = "KIND", value_parser = sandbox)]
    pub sandbox: Option<Sandbox>,
    /// The network of every sandboxed agent, instead of the suite's: off, model, open, or hosts
    #[arg(long, value_name = "HOSTS", value_parser = network)]
    pub network: Option<Network>,
    /// The gateway (Terca's own server between agents and models, which counts tokens), instead of the suite's
    #[arg(long, value_name = "MODE", value_parser = one_of::<GatewayMode>(&["off", "meter", "record"]))]
    pub gateway: Option<GatewayMode>,
    /// The seed for the order of trials (default: random; it is recorded)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl From<&SelectionArgs> for SelectionSettings {
    fn from(args: &SelectionArgs) -> Self {
        SelectionSettings {
            repetitions: args.repetitions,
            ..args.instead.over(SelectionSettings::from(&args.names))
        }
    }
}

impl InsteadArgs {
    /// Puts them over a selection.
    pub fn over(&self, selection: SelectionSettings) -> SelectionSettings {
        SelectionSettings {
            agent: self.agent.clone(),
            named_by_agent: self.agent.is_some(),
            model: self.model.clone(),
            timeout: self.timeout,
            sandbox: self.sandbox.clone(),
            network: self.network.clone(),
            seed: self.seed,
            gateway: self.gateway,
            ..selection
        }
    }
}

/// A run, and perhaps one of its trials.
#[derive(Debug, Clone, Args)]
pub struct TrialArgs {
    /// A run's name or number (default: the latest)
    pub run: Option<String>,
    /// A trial: its eval, name, directory or id, or a unique part of a name
    pub trial: Vec<String>,
}

/// The way in which trials are run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub struct ConductArgs {
    /// Stop starting trials once the known spending reaches this amount
    #[arg(long, value_name = "USD", value_parser = usd)]
    pub budget_usd: Option<f64>,
    /// Trials to run at once
    #[arg(short = 'c', long, value_name = "N", value_parser = within(settings::CONCURRENCY))]
    pub concurrency: Option<u32>,
    /// Stop starting trials after the first one that does not pass
    #[arg(long)]
    pub fail_fast: bool,
    /// Try a trial again, up to N times, when it ended in an error (never when it failed its tests)
    #[arg(long, value_name = "N", value_parser = within(settings::RETRIES))]
    pub retries: Option<u32>,
    /// The workspaces to keep on disk
    #[arg(long, help_heading = "Output", default_value = "changed", value_parser = keep())]
    pub keep: Keep,
    /// Run the `prepare` steps again instead of using the cached ones
    #[arg(long)]
    pub no_cache: bool,
    #[command(flatten)]
    pub workers: WorkerArgs,
}

impl ConductArgs {
    /// Returns the settings of a run with this conduct.
    pub fn settings(&self) -> RunSettings {
        RunSettings {
            budget_usd: self.budget_usd,
            concurrency: self.concurrency,
            fail_fast: self.fail_fast,
            retries: self.retries,
            keep: self.keep,
            on: self.workers.on.clone(),
            ..RunSettings::default()
        }
    }
}

/// The workers that trials run on.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Limits")]
pub struct WorkerArgs {
    /// Run trials on these workers; `local` is this machine (repeatable, comma-separated)
    #[arg(long, value_name = "NAME", action = ArgAction::Append, value_delimiter = ',')]
    pub on: Vec<String>,
}

/// What exit status 0 demands.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Verdict and exit status")]
pub struct DemandArgs {
    /// Exit with 0 if at least this share of the judged trials passed (default: 1.0, or 0 with --fail-on)
    #[arg(long, value_name = "RATE", value_parser = share)]
    pub fail_under: Option<f64>,
    /// Exit with 1 by the verdict instead of the pass rate: never, if worse than the baseline, or unless it is better
    #[arg(long, value_name = "WHAT", value_parser = one_of::<FailOn>(&["errors", "worse", "not-better"]))]
    pub fail_on: Option<FailOn>,
}

impl From<&DemandArgs> for Demand {
    fn from(args: &DemandArgs) -> Self {
        let unsaid = if args.fail_on.is_some() { 0.0 } else { 1.0 };
        Demand {
            fail_under: args.fail_under.unwrap_or(unsaid),
            fail_on: args.fail_on,
        }
    }
}

/// The outputs of a run for a CI system, beside its exit status.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct CiArgs {
    /// Also write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<Utf8PathBuf>,
    /// On GitHub Actions, write no job summary and no annotations
    #[arg(long)]
    pub no_github: bool,
}

/// How a run is shown while it goes on, and how much is said about it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct DisplayArgs {
    /// How to show progress: a live display, lines of text, or one JSON event per line
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub format: Format,
    /// Show the verdict, failures and errors only
    #[arg(short = 'q', long)]
    pub quiet: bool,
}

/// The display of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    #[default]
    Auto,
    Tty,
    Plain,
    Json,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    Table,
    Json,
}
