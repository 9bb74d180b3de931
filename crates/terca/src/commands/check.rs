//! `terca check`: validates the configuration and prints the plan.

use clap::Args;
use terca_core::plan::descriptions::Descriptions;
use terca_core::plan::remarks::remarks;
use terca_core::run::settings::{RunSettings, SelectionSettings};
use terca_core::text::prose;
use terca_engine::host::environment::Host;
use terca_engine::run::load::RunPlan;
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

/// Names the registries of packages that this machine is set up for, and says who gets them.
fn note_registries(plan: &RunPlan, host: &Host) {
    let names = plan.registries(host);
    if names.is_empty() {
        return;
    }
    let names = prose::list(&names, "and");
    screen::err(&if plan.suite.pass_registries {
        format!("note: `prepare`, `before` and tests get {names}; the agent does not")
    } else {
        format!(
            "note: `prepare`, `before` and tests do not get {names}; \
             `passRegistries: true` in terca.yaml passes them"
        )
    });
}

pub(super) fn check(args: &CheckArgs, common: &Common) -> Outcome {
    let settings = RunSettings {
        selection: SelectionSettings::from(&args.selection),
        ..RunSettings::default()
    };
    let host = Host::of_this_process();
    let plan = load::plan(&settings, common, &host)?;
    let palette = screen::out_palette(common.color);
    let overview = PlanOverview {
        heads: &plan.heads(),
        remarks: &remarks(&plan.trials),
        descriptions: &Descriptions::of(&plan.suite, &plan.trials).unwrap_or_default(),
    };
    screen::out_painted(&Painted::by_view(plan_overview(overview, palette)));
    load::note_adaptive(&plan);
    note_registries(&plan, &host);
    Ok(0)
}
