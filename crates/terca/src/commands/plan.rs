//! `terca plan`: what a run would cost and what it could show, before anything is spent.

use clap::Args;
use terca_core::analysis::forecast::{Question, forecast};
use terca_core::analysis::history::History;
use terca_core::run::settings::{self, RunSettings, SelectionSettings};
use terca_engine::host::environment::Host;
use terca_engine::run::past_runs;

use crate::args::values::{points, within};
use crate::args::{Common, SelectionArgs, TableFormat};
use crate::cli_error::Outcome;
use crate::run::output;
use crate::suite::place::from_here;
use crate::suite::{load, only_agent};

#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    selection: SelectionArgs,
    /// Trials to run at once
    #[arg(short = 'c', long, value_name = "N", value_parser = within(settings::CONCURRENCY))]
    concurrency: Option<u32>,
    /// Estimate the evals and repetitions needed to detect a difference of this many points (80 % power)
    #[arg(long, value_name = "POINTS", value_parser = points)]
    detect: Option<f64>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    format: TableFormat,
}

pub(super) fn plan(args: &PlanArgs, common: &Common) -> Outcome {
    let host = Host::of_this_process();
    let mut settings = RunSettings {
        selection: from_here(SelectionSettings::from(&args.selection), common),
        ..RunSettings::default()
    };
    only_agent::settle(&mut settings.selection, common, &host)?;
    let plan = load::plan(&settings, common, &host)?;
    let records = past_runs::history(&plan.suite.root)?;
    load::note_adaptive(&plan);
    let heads = plan.heads();
    let history = History::of(
        &records,
        &heads,
        &plan.current_fingerprints(&plan.mask(&host)),
    );
    let question = Question {
        suite: &plan.suite.name,
        baseline: &plan.suite.baseline,
        plan: &heads,
        concurrency: plan.at_once(args.concurrency),
        detect: args.detect,
    };
    let found = forecast(&question, &history);
    output::table_or_json(args.format, common, &found, |columns| {
        terca_report::forecast(&found, &heads, columns)
    })?;
    Ok(0)
}
