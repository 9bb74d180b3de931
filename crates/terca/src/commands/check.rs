//! `terca check`: validates the configuration and prints the plan.

use clap::Args;
use terca_core::plan::descriptions::Descriptions;
use terca_core::plan::remarks::remarks;
use terca_core::run::settings::{RunSettings, SelectionSettings};
use terca_engine::host::environment::Host;
use terca_report::Painted;
use terca_report::{PlanOverview, plan_overview};

use crate::args::{Common, SelectionArgs};
use crate::cli_error::Outcome;
use crate::{load, screen};

#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    selection: SelectionArgs,
}

pub(super) fn check(args: &CheckArgs, common: &Common) -> Outcome {
    let settings = RunSettings {
        selection: SelectionSettings::from(&args.selection),
        ..RunSettings::default()
    };
    let plan = load::plan(&settings, common, &Host::of_this_process())?;
    let palette = screen::out_palette(common.color);
    let overview = PlanOverview {
        heads: &plan.heads(),
        remarks: &remarks(&plan.trials),
        descriptions: &Descriptions::of(&plan.suite, &plan.trials).unwrap_or_default(),
    };
    screen::out_painted(&Painted::by_view(plan_overview(overview, palette)));
    load::note_adaptive(&plan);
    Ok(0)
}
