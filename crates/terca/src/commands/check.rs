//! `terca check`: validates the configuration and prints the plan.

use clap::Args;
use terca_core::agent::servers_in_project;
use terca_core::plan::descriptions::Descriptions;
use terca_core::plan::remarks::{Remark, remarks};
use terca_core::plan::{Layer, Plan, TrialSpec};
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
    let mut said = remarks(&plan.trials);
    said.extend(long_rules(&plan.trials));
    said.extend(servers_in_files(&plan.plan));
    let overview = PlanOverview {
        heads: &plan.heads(),
        remarks: &said,
        descriptions: &Descriptions::of(&plan.suite, &plan.trials).unwrap_or_default(),
    };
    screen::out_painted(&Painted::by_view(plan_overview(overview, palette)));
    load::note_adaptive(&plan);
    note_registries(&plan, &host);
    Ok(0)
}

/// Returns a remark on each variant whose rules are longer than its agent is known to read.
fn long_rules(trials: &[TrialSpec]) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    for variant in trials.iter().map(|trial| &trial.case.variant) {
        let profile = variant.agent.agent.profile();
        let Some(readable) = profile.rules_bytes else {
            continue;
        };
        let sizes = variant.rules.iter().filter_map(|path| {
            let file = std::fs::metadata(path).ok()?;
            Some(file.len())
        });
        let bytes: u64 = sizes.sum();
        let remark = Remark {
            environment: variant.environment.clone(),
            experiment: variant.experiment.clone(),
            sentence: format!(
                "the rules have {bytes} bytes, and `{}` is known to read {readable}: it may not see the rest",
                profile.name
            ),
        };
        if bytes > readable && !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    remarks
}

/// Returns a remark on each variant whose agent finds MCP servers in the files that a workspace starts from.
fn servers_in_files(plan: &Plan) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    for case in plan.cases() {
        let variant = &case.variant;
        let directories = Layer::directories(&case.layers);
        let read = |file: &str| {
            let paths = directories.iter().map(|directory| directory.join(file));
            // The last layer wins.
            paths
                .rev()
                .find_map(|path| std::fs::read_to_string(path).ok())
        };
        for sentence in servers_in_project(variant.agent.agent.profile().name, &read) {
            let remark = Remark {
                environment: variant.environment.clone(),
                experiment: variant.experiment.clone(),
                sentence,
            };
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    remarks
}
