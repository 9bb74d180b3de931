//! `terca check`: validates the configuration and prints the plan.

use terca_engine::host::environment::Host;
use terca_report::{Palette, plan_overview};

use super::plan;
use super::refusal::Outcome;
use crate::args::{CheckArgs, Common};
use crate::screen;

pub(super) fn check(args: &CheckArgs, common: &Common) -> Outcome {
    let planned = plan::make(&args.selection, None, common, &Host::of_this_process())?;
    let palette = Palette {
        colour: screen::colour(common.color, &std::io::stdout()),
    };
    screen::say(&plan_overview(&planned.heads(), palette));
    planned.say_what_may_be_left_out();
    Ok(0)
}
