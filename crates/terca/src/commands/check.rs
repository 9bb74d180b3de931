//! `terca check`: finds what is wrong or doubtful about the suite, and prints the plan.

mod answer;

use clap::Args;
use terca_core::agent::servers_in_project;
use terca_core::plan::descriptions::Descriptions;
use terca_core::plan::remarks::{Remark, remarks};
use terca_core::plan::{Case, Layer};
use terca_core::run::run_file::{self, RunCase};
use terca_core::run::settings::{RunSettings, SelectionSettings};
use terca_core::text::{Code, prose};
use terca_engine::host::environment::Host;
use terca_engine::run::load::{LoadedPlan, RunPlan, load as load_plan};
use terca_engine::run::machine_lints;
use terca_engine::suite::discover;
use terca_report::{agent_inputs, plan_overview};

use self::answer::answer;
use crate::args::{Common, SelectionArgs, TableFormat};
use crate::cli_error::{CliError, MISUSE, Outcome};
use crate::run::output;
use crate::screen;
use crate::suite::place::from_here;
use crate::suite::{load, only_agent};

#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    selection: SelectionArgs,
    /// Exit with 2 if there are warnings
    #[arg(long)]
    deny_warnings: bool,
    /// Also show the prompt, rules, servers, settings, actions and limits of each variant
    #[arg(short = 'v', long)]
    verbose: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = TableFormat::Table)]
    format: TableFormat,
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
    let mut settings = RunSettings {
        selection: from_here(SelectionSettings::from(&args.selection), common),
        ..RunSettings::default()
    };
    let host = Host::of_this_process();
    only_agent::settle(&mut settings.selection, common, &host)?;
    let mut loaded = load_plan(&common.dir, &settings, &host)?;
    if let Some(plan) = &loaded.plan {
        machine_lints::report(plan, &host, &mut loaded.problems);
    }
    let (remarks, cases) = match &loaded.plan {
        Some(plan) => (all_remarks(plan), described(plan, &host)?),
        None => (Vec::new(), Vec::new()),
    };
    match args.format {
        TableFormat::Table => {
            load::show(&loaded.problems, &loaded.sources, common);
            show(&loaded, &remarks, &cases, &host, args, common);
        }
        TableFormat::Json => {
            let dir = discover::canonical(&common.dir)?;
            output::json(&answer(&dir, &loaded, &remarks, &cases))?;
        }
    }
    let is_denied = args.deny_warnings && loaded.problems.warning_count() > 0;
    Ok(if loaded.plan.is_none() || is_denied {
        MISUSE
    } else {
        0
    })
}

fn described(plan: &RunPlan, host: &Host) -> Result<Vec<RunCase>, CliError> {
    let cases = run_file::described(&plan.plan, &plan.mask(host));
    cases.map_err(|error| CliError::trouble(Code::Internal, error))
}

/// Shows the plan, after the problems.
fn show(
    loaded: &LoadedPlan,
    remarks: &[Remark],
    cases: &[RunCase],
    host: &Host,
    args: &CheckArgs,
    common: &Common,
) {
    let warnings = loaded.problems.warning_count();
    if args.deny_warnings && warnings > 0 {
        let warnings = prose::count(warnings, "warning");
        screen::err(&format!(
            "{warnings}, which `--deny-warnings` treats as errors"
        ));
    }
    let Some(plan) = &loaded.plan else {
        return;
    };
    let descriptions = Descriptions::of(&plan.suite, &plan.trials);
    screen::out_view(
        &plan_overview(&plan.heads(), remarks, &descriptions),
        common,
    );
    if args.verbose {
        screen::out("");
        screen::out_view(&agent_inputs(cases, &plan.suite.root), common);
    }
    load::note_adaptive(plan);
    note_registries(plan, host);
}

/// Returns what is to be said about the variants of a plan, each once.
fn all_remarks(plan: &RunPlan) -> Vec<Remark> {
    let mut remarks = remarks(&plan.trials);
    for case in plan.plan.cases() {
        for sentence in servers_in_files(case) {
            let remark = Remark::new(&case.variant, sentence);
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    remarks
}

/// Returns a sentence about each MCP server that the agent finds in the files that a workspace starts from.
fn servers_in_files(case: &Case) -> Vec<String> {
    let directories = Layer::directories(&case.layers);
    let read = |file: &str| {
        // The last layer wins.
        let mut layers = directories.iter().rev();
        layers.find_map(|directory| std::fs::read_to_string(directory.join(file)).ok())
    };
    servers_in_project(case.variant.agent.agent.profile().name, &read)
}
