//! `terca check`: validates the configuration and prints the plan.

use terca_engine::environment::Host;
use terca_report::{Palette, plan_overview};

use super::{MISUSE, plan};
use crate::args::{CheckArgs, Common};
use crate::screen;

pub(super) fn check(args: &CheckArgs, common: &Common) -> u8 {
    let Some(planned) = plan::make(&args.selection, None, common, &Host::of_this_process()) else {
        return MISUSE;
    };
    let palette = Palette { colour: screen::colour(common.color, &std::io::stdout()) };
    screen::say(&plan_overview(&planned.heads(), palette));
    planned.say_what_may_be_left_out();
    0
}
