//! `terca compare`: the experiments or environments of a run, or two runs.

use clap::{Args, ValueEnum};
use terca_core::analysis::compare::{Compared, within};
use terca_core::analysis::summary::By;
use terca_core::text::Code;
use terca_engine::run::past_runs::PastRun;
use terca_report::{compared, compared_markdown};

use crate::args::Common;
use crate::args::values::{one_of, points};
use crate::cli_error::{CliError, Outcome};
use crate::run::output;
use crate::screen;
use crate::suite::past::{self, open};

#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Exit status: 0 nothing is worse, 1 something is, 2 usage error, 3 something is inconclusive\n\
                        (with --require-conclusive) or a run cannot be read"
)]
pub struct CompareArgs {
    /// A run: its name, number or directory (default: the latest)
    #[arg(value_name = "A")]
    run: Option<String>,
    /// A second run, to compare with the first by the evals and variants of both
    #[arg(value_name = "B")]
    other: Option<String>,
    /// Compare the experiments or the environments of a run
    #[arg(long, default_value = "experiment", value_name = "WHAT", value_parser = one_of::<By>(&["experiment", "environment"]))]
    by: By,
    /// Compare the others with this one (default: the suite's baseline, the first environment, or the run A)
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// Treat differences smaller than this (in percentage points) as equivalent (default: the run's; of two runs,
    /// the baseline's)
    #[arg(long, value_name = "POINTS", value_parser = points)]
    margin: Option<f64>,
    /// Exclude evals that changed between the two runs
    #[arg(long)]
    only_unchanged: bool,
    /// Exit with 3 if a comparison is inconclusive (and none is worse)
    #[arg(long)]
    require_conclusive: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = CompareFormat::Table)]
    format: CompareFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    Table,
    Json,
    Markdown,
}

pub(super) fn compare(args: &CompareArgs, common: &Common) -> Outcome {
    let found = find(args, common)?;
    show(&found, args, common)?;
    Ok(found.exit_status(args.require_conclusive))
}

fn find(args: &CompareArgs, common: &Common) -> Result<Compared, CliError> {
    let first = open(args.run.as_deref(), common)?;
    match args.other.as_deref() {
        None => in_one(&first, args),
        Some(other) => {
            let other = open(Some(other), common)?;
            note_replay(&first, &other);
            of_two(&first, &other, args)
        }
    }
}

/// Notes that the models of a run were recorded answers.
fn note_replay(one: &PastRun, other: &PastRun) {
    for run in [one, other] {
        if let Some(recorded) = &run.state.start().replay_of {
            screen::err(&format!(
                "note: {} is a replay of {recorded}, with the same answers of the models: a difference comes from \
                 the tests, the suite or the machine; its tokens are as recorded, and it cost nothing",
                run.state.run()
            ));
        }
    }
}

fn in_one(run: &PastRun, args: &CompareArgs) -> Result<Compared, CliError> {
    if args.only_unchanged {
        let text = "`--only-unchanged` is for two runs: name a second one";
        return Err(
            CliError::misuse(Code::Usage, text).help("`terca compare A B --only-unchanged`")
        );
    }
    Ok(within(
        &run.state,
        args.by,
        args.baseline.as_deref(),
        args.margin.unwrap_or(run.state.margin()),
    )?)
}

fn of_two(one: &PastRun, other: &PastRun, args: &CompareArgs) -> Result<Compared, CliError> {
    if args.by == By::Environment {
        let text = "`--by environment` is for one run: two runs are compared in each variant";
        return Err(CliError::misuse(Code::Usage, text).help("omit `--by`, or name one run"));
    }
    let names = past::distinct_names(one, other);
    let is_called = |number: usize, given: Option<&str>, name: &str| {
        name == names[number] || Some(name) == given
    };
    let (baseline, other) = match args.baseline.as_deref() {
        None => (one, other),
        Some(name) if is_called(0, args.run.as_deref(), name) => (one, other),
        Some(name) if is_called(1, args.other.as_deref(), name) => (other, one),
        Some(name) => {
            let text = format!(
                "--baseline {name}: the runs are {} and {}",
                names[0], names[1]
            );
            let error = CliError::misuse(Code::UnknownBaseline, text);
            return Err(
                error.help("between two runs, the baseline is one of them (default: the first)")
            );
        }
    };
    past::compare(baseline, other, args.margin, args.only_unchanged)
}

fn show(found: &Compared, args: &CompareArgs, common: &Common) -> Result<(), CliError> {
    match args.format {
        CompareFormat::Markdown => screen::out(&compared_markdown(found)),
        CompareFormat::Table => screen::out_view(&compared(found, screen::columns()), common),
        CompareFormat::Json => output::json(found)?,
    }
    Ok(())
}
