//! `terca check`: finds what is wrong or doubtful about the suite, and prints the plan.

mod answer;

use clap::Args;
use terca_core::agent::servers_in_project;
use terca_core::plan::descriptions::Descriptions;
use terca_core::plan::remarks::{Remark, remarks};
use terca_core::plan::{Layer, Plan, TrialSpec};
use terca_core::run::run_file::{self, RunCase};
use terca_core::run::settings::{RunSettings, SelectionSettings};
use terca_core::text::explain::Code;
use terca_core::text::prose;
use terca_engine::host::environment::Host;
use terca_engine::run::load::{LoadedPlan, RunPlan, load as load_plan};
use terca_engine::run::machine_lints;
use terca_engine::suite::discover;
use terca_report::{PlanOverview, agent_inputs, plan_overview};

use self::answer::CheckAnswer;
use crate::args::{Common, SelectionArgs, TableFormat};
use crate::cli_error::{CliError, MISUSE, Outcome};
use crate::run::output;
use crate::screen;
use crate::suite::load;
use crate::suite::place::from_here;

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
    let settings = RunSettings {
        selection: from_here(SelectionSettings::from(&args.selection), common),
        ..RunSettings::default()
    };
    let host = Host::of_this_process();
    let mut loaded = load_plan(&common.dir, &settings, &host)?;
    if let Some(plan) = &loaded.plan {
        machine_lints::report(plan, &host, &mut loaded.problems);
    }
    let found = match &loaded.plan {
        Some(plan) => Findings::of(plan, &host)?,
        None => Findings::default(),
    };
    match args.format {
        TableFormat::Table => show(&loaded, &found, &host, args, common),
        TableFormat::Json => {
            let dir = discover::canonical(&common.dir)?;
            let plan = loaded.plan.as_ref();
            let problems = (&loaded.problems, &loaded.sources);
            let found = (&*found.remarks, &*found.cases);
            output::json(&CheckAnswer::new(&dir, plan, problems, found))?;
        }
    }
    let is_denied = args.deny_warnings && loaded.problems.warning_count() > 0;
    Ok(if loaded.plan.is_none() || is_denied {
        MISUSE
    } else {
        0
    })
}

/// What is to be said about a plan.
#[derive(Default)]
struct Findings {
    remarks: Vec<Remark>,
    cases: Vec<RunCase>,
}

impl Findings {
    fn of(plan: &RunPlan, host: &Host) -> Result<Self, CliError> {
        let mut remarks = remarks(&plan.trials);
        remarks.extend(long_rules(&plan.trials));
        remarks.extend(servers_in_files(&plan.plan));
        let cases = run_file::described(&plan.plan, &plan.mask(host));
        let cases = cases.map_err(|error| CliError::trouble(Code::Internal, error))?;
        Ok(Findings { remarks, cases })
    }
}

/// Shows the problems, then the plan.
fn show(loaded: &LoadedPlan, found: &Findings, host: &Host, args: &CheckArgs, common: &Common) {
    load::show(&loaded.problems, &loaded.sources, common);
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
    let overview = PlanOverview {
        heads: &plan.heads(),
        remarks: &found.remarks,
        descriptions: &Descriptions::of(&plan.suite, &plan.trials).unwrap_or_default(),
    };
    screen::out_view(&plan_overview(overview), common);
    if args.verbose {
        screen::out("");
        screen::out_view(&agent_inputs(&found.cases, &plan.suite.root), common);
    }
    load::note_adaptive(plan);
    note_registries(plan, host);
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
                "the rules have {bytes} bytes, but `{}` is known to read only {readable}: it may not see the rest",
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
