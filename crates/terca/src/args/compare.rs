//! What answers whether it helps.

use clap::{Args, ValueEnum};

use super::run::SelectionArgs;
use super::values::points;

#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Exit status: 0 nothing is worse, 1 something is, 2 wrong usage, 3 something is inconclusive\n\
                        (with --require-conclusive) or a run cannot be read."
)]
pub struct CompareArgs {
    /// A run: its name, its number, or the path of its folder (default: the latest)
    #[arg(value_name = "A")]
    pub run: Option<String>,
    /// A second run, compared with the first: the same evals, in the same variants
    #[arg(value_name = "B")]
    pub other: Option<String>,
    /// What to compare within one run
    #[arg(long, value_enum, default_value_t = ByChoice::Experiment, value_name = "WHAT")]
    pub by: ByChoice,
    /// What the others are compared with (default: the suite's baseline, the first environment, or the run A)
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Differences in pass rate that are smaller make no difference, in points
    #[arg(long, value_name = "POINTS", default_value = "5", value_parser = points)]
    pub margin: f64,
    /// Leave out the evals that changed between two runs
    #[arg(long)]
    pub only_unchanged: bool,
    /// Exit with 3 when something is inconclusive (and nothing is worse)
    #[arg(long)]
    pub require_conclusive: bool,
    /// How to write it
    #[arg(long, value_enum, default_value_t = CompareFormat::Table)]
    pub format: CompareFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ByChoice {
    Experiment,
    Environment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    Table,
    Json,
    Markdown,
}

#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Trials in flight at once
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: Option<u32>,
    /// Say what it takes to see a difference of so many points in four of five cases
    #[arg(long, value_name = "POINTS", value_parser = points)]
    pub detect: Option<f64>,
    /// How to write it
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    pub format: TableFormat,
}

#[derive(Debug, Clone, Args)]
pub struct HealthArgs {
    /// Runs: names, numbers, or paths of their folders (default: all of the suite)
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// How to write it
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    pub format: TableFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    Table,
    Json,
}
