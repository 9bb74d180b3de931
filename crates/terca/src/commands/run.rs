//! `terca run`: the main job.

use std::io;

use terca_engine::environment::Host;
use terca_engine::runs;
use terca_engine::store::Store;
use terca_report::{Palette, plan_trials};

use super::execute::{self, Done, Execution};
use super::plan::{self, Planned};
use super::{MISUSE, TROUBLE};
use crate::args::{Common, RunArgs};
use crate::screen;

pub(super) fn run(args: &RunArgs, common: &Common) -> u8 {
    let host = Host::of_this_process();
    let Some(planned) = plan::make_run(args, common, &host) else { return MISUSE };
    if args.dry_run {
        let palette = Palette { colour: screen::colour(common.color, &io::stdout()) };
        screen::say(&plan_trials(&planned.heads(), &planned.order, palette));
        planned.say_what_may_be_left_out();
        return 0;
    }
    if let Some(name) = runs::latest_interrupted(&planned.suite.root) {
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
) -> u8 {
    let execution = match Execution::prepare(args, common, planned, host) {
        Ok(execution) => execution,
        Err(error) => {
            screen::complain(&error.to_string());
            return MISUSE;
        }
    };
    let manifest = execution.manifest();
    let store = match Store::create(&planned.suite.root, jiff::Zoned::now().date(), &manifest) {
        Ok(store) => store,
        Err(error) => {
            screen::complain(&error.to_string());
            return TROUBLE;
        }
    };
    match execution.carry_out(store, None) {
        Ok(done) => conclude(args, common, &done),
        Err(error) => {
            screen::complain(&format!(
                "{error}\nhelp: what is finished is kept; `terca resume` goes on from there"
            ));
            TROUBLE
        }
    }
}
