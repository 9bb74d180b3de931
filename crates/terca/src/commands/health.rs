//! `terca health`: what the evals of a suite tell, and what they cost.

use terca_core::event::RunStatus;
use terca_core::health::health as examine;
use terca_core::history::Record;
use terca_engine::{discover, history, runs};
use terca_report::Palette;

use super::suite_runs::{open, refused, say_json};
use super::{MISUSE, TROUBLE};
use crate::args::{Common, HealthArgs, TableFormat};
use crate::screen;

pub(super) fn health(args: &HealthArgs, common: &Common) -> u8 {
    match records(args, common).and_then(|records| show(&records, args, common)) {
        Ok(()) => 0,
        Err(status) => status,
    }
}

/// The runs that were named, or all that have ended.
fn records(args: &HealthArgs, common: &Common) -> Result<Vec<Record>, u8> {
    if args.runs.is_empty() {
        let dir = discover::canonical(&common.dir).map_err(|error| refused(&error.to_string(), MISUSE))?;
        return history::read(&dir).map_err(|error| refused(&error.to_string(), TROUBLE));
    }
    let mut records = Vec::new();
    for name in &args.runs {
        let run = open(Some(name), common)?;
        if run.state.status == RunStatus::Running {
            return Err(refused(&format!("the run {} is still going on", run.state.run), MISUSE));
        }
        records.push(Record { prints: runs::fingerprints(&run.dir), state: run.state });
    }
    records.sort_by_key(|record| record.state.started_at);
    records.dedup_by(|one, other| {
        one.state.run == other.state.run && one.state.started_at == other.state.started_at
    });
    Ok(records)
}

fn show(records: &[Record], args: &HealthArgs, common: &Common) -> Result<(), u8> {
    let found = examine(records);
    if found.evals.is_empty() {
        let text = "no trials to learn from: run the suite first (trials of `oracle`, `nop` and `cheat` do not count)";
        return Err(refused(text, MISUSE));
    }
    match args.format {
        TableFormat::Json => say_json(&found),
        TableFormat::Table => {
            let palette = Palette { colour: screen::colour(common.color, &std::io::stdout()) };
            screen::say(&terca_report::health(&found, screen::columns(), palette));
            Ok(())
        }
    }
}
