//! What runs trials, and what it is asked for.

use camino::Utf8PathBuf;
use clap::{ArgAction, Args, ValueEnum};
use serde::{Deserialize, Serialize};
use terca_core::plan::shard::Shard;

use super::values::{seconds, share, usd};

/// A part of the suite, by names.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NameArgs {
    /// Only these evals (repeatable, comma-separated, globs, tag:NAME)
    #[arg(short = 't', long = "test", value_name = "NAME", action = ArgAction::Append)]
    pub evals: Vec<String>,
    /// Only these experiments
    #[arg(short = 'x', long = "experiment", value_name = "NAME", action = ArgAction::Append)]
    pub experiments: Vec<String>,
    /// Only these environments
    #[arg(short = 'e', long = "environment", value_name = "NAME", action = ArgAction::Append)]
    pub environments: Vec<String>,
}

#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SelectionArgs {
    #[command(flatten)]
    #[serde(flatten)]
    pub names: NameArgs,
    /// How often each eval is run in each variant, whatever the suite says
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub repetitions: Option<u32>,
    /// Run every variant with this agent instead (`terca validate` checks the evals themselves)
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The agent's time limit, whatever the suite says
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// The seed of the order in which trials run (default: random, recorded)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// Also kept in `run.json`: a run is resumed as it was started.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Run only the I-th of N equal parts of the plan; `terca merge` joins their runs
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Run the baseline against itself, under two names: what is found is chance, or a fault of the set-up
    #[arg(long)]
    #[serde(default)]
    pub aa: bool,
    /// Start no further trial when those that ended have cost so much, as far as agents report it
    #[arg(long, value_name = "USD", value_parser = usd)]
    #[serde(default)]
    pub budget_usd: Option<f64>,
    /// Trials in flight at once
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: Option<u32>,
    /// Start no further trial after the first that does not pass
    #[arg(long)]
    pub fail_fast: bool,
    /// Try a trial again, up to N times, when it ended in an error (never when it failed its tests)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub retries: Option<u32>,
    /// Exit with 0 when at least this share of the judged trials passed
    #[arg(long, value_name = "RATE", default_value = "1.0", value_parser = share)]
    pub fail_under: f64,
    /// Progress as a live display, as lines, or as one JSON event per line
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    #[serde(skip)]
    pub format: Format,
    /// Which workspaces stay on disk
    #[arg(long, value_enum, default_value_t = KeepChoice::All)]
    pub keep: KeepChoice,
    /// Make the layers of `prepare` anew, whatever was made before
    #[arg(long)]
    #[serde(skip)]
    pub no_cache: bool,
    /// Print the trials that would run, in order, and stop
    #[arg(long)]
    #[serde(skip)]
    pub dry_run: bool,
    #[command(flatten)]
    #[serde(skip)]
    pub ci: CiArgs,
}

/// What a CI system gets of a run beside its exit status.
#[derive(Debug, Clone, Default, Args)]
pub struct CiArgs {
    /// Also write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<Utf8PathBuf>,
    /// On GitHub Actions, add nothing to the job's summary and annotations
    #[arg(long)]
    pub no_github: bool,
}

#[derive(Debug, Clone, Args)]
pub struct ResumeArgs {
    /// A run's name or number (default: the latest)
    pub run: Option<String>,
    /// Go on even though the suite has changed since: the rest runs as the suite is now
    #[arg(long)]
    pub accept_changes: bool,
    /// Run the trials that ended in an error again, too
    #[arg(long)]
    pub errors: bool,
    /// What the whole run may cost, whatever it was started with
    #[arg(long, value_name = "USD", value_parser = usd)]
    pub budget_usd: Option<f64>,
    /// Trials in flight at once, whatever the run was started with
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: Option<u32>,
    /// Progress as a live display, as lines, or as one JSON event per line
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub format: Format,
    #[command(flatten)]
    pub ci: CiArgs,
}

#[derive(Debug, Clone, Args)]
pub struct MergeArgs {
    /// The runs of all parts: names or numbers of runs of this suite, or paths of their folders
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Exit with 0 when at least this share of the judged trials passed
    #[arg(long, value_name = "RATE", default_value = "1.0", value_parser = share)]
    pub fail_under: f64,
}

#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
}

#[derive(Debug, Clone, Args)]
pub struct ValidateArgs {
    /// Only these evals (repeatable, comma-separated, globs, tag:NAME)
    #[arg(short = 't', long = "test", value_name = "NAME", action = ArgAction::Append)]
    pub evals: Vec<String>,
    /// The experiment to build on (default: the baseline)
    #[arg(short = 'x', long = "experiment", value_name = "NAME", action = ArgAction::Append)]
    pub experiments: Vec<String>,
    /// The environment to build on (default: the first)
    #[arg(short = 'e', long = "environment", value_name = "NAME", action = ArgAction::Append)]
    pub environments: Vec<String>,
    /// Trials in flight at once
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: Option<u32>,
    /// Progress as a live display, as lines, or as one JSON event per line
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub format: Format,
    /// Which workspaces stay on disk
    #[arg(long, value_enum, default_value_t = KeepChoice::All)]
    pub keep: KeepChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    #[default]
    Auto,
    Tty,
    Plain,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeepChoice {
    All,
    Failed,
    None,
}
