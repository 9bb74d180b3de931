//! `terca health`: what the evals of a suite tell, and what they cost.

use terca_core::analysis::health::health as examine;
use terca_core::analysis::history::Record;
use terca_core::run::event::RunStatus;
use terca_core::text::explain::Code;
use terca_engine::run::{history, past_runs};
use terca_engine::suite::discover;
use terca_report::Palette;

use super::refusal::{Outcome, Refusal};
use super::suite_runs::{open, say_json};
use crate::args::{Common, HealthArgs, TableFormat};
use crate::screen;

pub(super) fn health(args: &HealthArgs, common: &Common) -> Outcome {
    show(&records(args, common)?, args, common)?;
    Ok(0)
}

/// The runs that were named, or all that have ended.
fn records(args: &HealthArgs, common: &Common) -> Result<Vec<Record>, Refusal> {
    if args.runs.is_empty() {
        return Ok(history::read(&discover::canonical(&common.dir)?)?);
    }
    let mut records = Vec::new();
    for name in &args.runs {
        let run = open(Some(name), common)?;
        if run.state.status() == RunStatus::Running {
            let text = format!("the run {} is still going on", run.state.run());
            return Err(
                Refusal::misuse(Code::RunGoingOn, text).help("wait for its end, or leave it out")
            );
        }
        records.push(Record {
            prints: past_runs::fingerprints(&run.dir),
            state: run.state,
        });
    }
    records.sort_by_key(|record| record.state.started_at());
    records.dedup_by(|one, other| {
        one.state.run() == other.state.run() && one.state.started_at() == other.state.started_at()
    });
    Ok(records)
}

fn show(records: &[Record], args: &HealthArgs, common: &Common) -> Result<(), Refusal> {
    let found = examine(records);
    if found.evals.is_empty() {
        let text = "no trials to learn from (those of `oracle`, `nop` and `cheat` do not count)";
        return Err(
            Refusal::misuse(Code::NothingToLearn, text).help("run the suite with an agent first")
        );
    }
    match args.format {
        TableFormat::Json => say_json(&found),
        TableFormat::Table => {
            let palette = Palette {
                colour: screen::colour(common.color, &std::io::stdout()),
            };
            screen::say(&terca_report::health(&found, screen::columns(), palette));
            Ok(())
        }
    }
}
