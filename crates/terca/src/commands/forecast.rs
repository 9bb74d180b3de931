//! `terca plan`: what a run would cost and what it could show, before anything is spent.

use terca_core::analysis::forecast::{Question, forecast};
use terca_core::analysis::history::History;
use terca_engine::host::environment::Host;
use terca_engine::run::history;
use terca_report::Palette;

use super::refusal::Outcome;
use super::suite_runs::say_json;
use super::{execute, plan};
use crate::args::{Common, PlanArgs, TableFormat};
use crate::screen;

pub(super) fn plan(args: &PlanArgs, common: &Common) -> Outcome {
    let host = Host::of_this_process();
    let planned = plan::make(&args.selection, None, common, &host)?;
    let records = history::read(&planned.suite.root)?;
    planned.say_what_may_be_left_out();
    let heads = planned.heads();
    let history = History::of(&records, &heads, &execute::fingerprints(&planned, &host));
    let question = Question {
        suite: &planned.suite.name,
        baseline: &planned.suite.baseline,
        plan: &heads,
        concurrency: execute::at_once(args.concurrency, &planned),
        detect: args.detect,
    };
    let found = forecast(&question, &history);
    match args.format {
        TableFormat::Json => say_json(&found)?,
        TableFormat::Table => {
            let palette = Palette {
                colour: screen::colour(common.color, &std::io::stdout()),
            };
            screen::say(&terca_report::forecast(
                &found,
                &heads,
                screen::columns(),
                palette,
            ));
        }
    }
    Ok(0)
}
