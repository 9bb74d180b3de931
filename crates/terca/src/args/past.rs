//! What is done with runs of the past.

use std::time::Duration;

use clap::Args;

use super::run::NameArgs;
use super::values::{age, share};

#[derive(Debug, Clone, Args)]
pub struct RegradeArgs {
    /// A run's name or number (default: the latest)
    pub run: Option<String>,
    #[command(flatten)]
    pub names: NameArgs,
    /// Trials graded at once
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: Option<u32>,
    /// Exit with 0 when at least this share of the judged trials passed
    #[arg(long, value_name = "RATE", default_value = "1.0", value_parser = share)]
    pub fail_under: f64,
}

#[derive(Debug, Clone, Args)]
pub struct CleanArgs {
    /// Remove the runs whose last trial ended longer ago than this: 12h, 30d, 8w; 0d removes all
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = age)]
    pub older_than: Duration,
    /// Do not ask
    #[arg(short = 'y', long)]
    pub yes: bool,
}

#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// A run's name or number (default: the latest)
    pub run: Option<String>,
}
