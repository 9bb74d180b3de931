//! `cargo run --release -p terca-benches`: what Terca costs, measured side by side with the least programs that do
//! the same work.
//!
//! Everything is made in a temporary directory and measured by turns in one run, so that the ratios hold on a busy
//! machine too. `docs/explanations/performance.md` says what the figures mean.

mod contained;
mod copy;
mod display;
mod gateway;
mod large_run;
mod measure;
mod place;
mod startup;
mod stream;
mod table;
mod tree;
mod trials;
mod workers;
mod workspaces;

use std::io;
use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::{Parser, ValueEnum};

use place::Place;
use table::Table;

/// What Terca costs, beside the least programs that do the same work.
#[derive(Debug, Parser)]
struct Args {
    /// Which to measure (default: all)
    bench: Vec<Bench>,
    /// Smaller sizes and fewer repeats: minutes instead of a quarter of an hour
    #[arg(long)]
    quick: bool,
    /// Exit with status 1 when a target is missed
    #[arg(long)]
    check: bool,
    /// Make everything in this directory: another file system has other costs
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    within: Utf8PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bench {
    Startup,
    Trials,
    Copy,
    Tree,
    Stream,
    Display,
    Contained,
    Gateway,
    Workers,
    LargeRun,
    Workspaces,
}

fn main() -> io::Result<ExitCode> {
    let args = Args::parse();
    let place = Place::new(args.quick, &args.within)?;
    let mut table = Table::new()?;
    let chosen = |bench: &Bench| args.bench.is_empty() || args.bench.contains(bench);
    for bench in Bench::value_variants().iter().filter(|bench| chosen(bench)) {
        match bench {
            Bench::Startup => startup::measure(&place, &mut table)?,
            Bench::Trials => trials::measure(&place, &mut table)?,
            Bench::Copy => copy::measure(&place, &mut table)?,
            Bench::Tree => tree::measure(&place, &mut table)?,
            Bench::Stream => stream::measure(&place, &mut table)?,
            Bench::Display => display::measure(&place, &mut table)?,
            Bench::Contained => contained::measure(&place, &mut table)?,
            Bench::Gateway => gateway::measure(args.quick, &mut table)?,
            Bench::Workers => workers::measure(&place, &mut table)?,
            Bench::LargeRun => large_run::measure(&place, &mut table)?,
            Bench::Workspaces => workspaces::measure(&place, &mut table)?,
        }
    }
    Ok(if args.check && table.is_missed() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
