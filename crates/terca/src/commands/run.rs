//! `terca run`: the main job.

use std::io;

use terca_engine::host::environment::Host;
use terca_engine::run::past_runs;
use terca_engine::run::store::Store;
use terca_report::{Palette, plan_trials};

use super::execute::{self, Done, Execution};
use super::plan::{self, Planned};
use super::refusal::Outcome;
use crate::args::{Common, RunArgs};
use crate::screen;

pub(super) fn run(args: &RunArgs, common: &Common) -> Outcome {
    let host = Host::of_this_process();
    let planned = plan::make_run(args, common, &host)?;
    if args.dry_run {
        let palette = Palette {
            colour: screen::colour(common.color, &io::stdout()),
        };
        screen::say(&plan_trials(&planned.heads(), &planned.order, palette));
        planned.say_what_may_be_left_out();
        return Ok(0);
    }
    if let Some(name) = past_runs::latest_interrupted(&planned.suite.root) {
        screen::remark(&format!(
            "note: the run {name} was interrupted; `terca resume` finishes it (this is a new one)"
        ));
    }
    start(args, common, &planned, host, execute::conclude)
}

/// Says how a run went when it is over, and gives its exit status.
pub(super) type Conclude = fn(&RunArgs, &Common, &Done) -> u8;

/// Runs a plan in a folder of its own.
pub(super) fn start(
    args: &RunArgs,
    common: &Common,
    planned: &Planned,
    host: Host,
    conclude: Conclude,
) -> Outcome {
    let execution = Execution::prepare(args, common, planned, host)?;
    let store = Store::create(
        &planned.suite.root,
        jiff::Zoned::now().date(),
        &execution.manifest(),
    )?;
    let done = execution.carry_out(store, None);
    let done = done.map_err(|refusal| {
        refusal.help("what is finished is kept; `terca resume` goes on from there")
    })?;
    Ok(conclude(args, common, &done))
}
