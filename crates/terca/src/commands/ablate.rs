//! `terca ablate`: which part of an experiment earns its effect.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgAction, Args};
use terca_core::ablation::{Ablation, Kind, Split};
use terca_core::analysis::forecast::{AblationForecast, Question};
use terca_core::analysis::history::History;
use terca_core::analysis::results::Results;
use terca_core::config::Suite;
use terca_core::run::event::{RunStatus, TrialHead};
use terca_core::run::settings::{self, RunSettings, SelectionSettings};
use terca_core::run::state::RunState;
use terca_core::text::Code;
use terca_engine::host::environment::Host;
use terca_engine::run::load::RunPlan;
use terca_engine::run::{ablate as engine, past_runs};
use terca_report::ablation_plan;
use terca_report::github::Printed;

use super::run;
use crate::args::values::{one_of, points, within};
use crate::args::{CiArgs, Common, ConductArgs, DisplayArgs, Format, InsteadArgs};
use crate::cli_error::{CliError, Outcome};
use crate::run::output;
use crate::run::output::Detail;
use crate::suite::place::from_here;
use crate::suite::{load, only_agent, past};
use crate::{export, screen, shell};

#[derive(Debug, Clone, Args)]
pub struct AblateArgs {
    /// The experiment whose parts are compared
    #[arg(value_name = "EXPERIMENT", required_unless_present = "of")]
    experiment: Option<String>,
    /// The kind of its parts: rules, servers (MCP), tools (of its MCP servers) or skills
    #[arg(long, value_name = "KIND", required_unless_present = "of", value_parser = one_of::<Kind>(&["rules", "servers", "tools", "skills"]))]
    parts: Option<Kind>,
    /// Split rules at headings, at marks (`<!-- part: NAME -->`), or at the items of lists (default: at marks if
    /// there are some, else at headings)
    #[arg(long, value_name = "WHERE", value_parser = one_of::<Split>(&["headings", "marks", "items"]))]
    split: Option<Split>,
    /// Show what an ablation found that has been run: a run's name or number
    #[arg(long, value_name = "RUN", conflicts_with_all = ["experiment", "parts", "split", "dry_run"])]
    of: Option<String>,
    /// Write the rules without the parts that showed no effect or hurt
    #[arg(long, value_name = "FILE")]
    write: Option<Utf8PathBuf>,
    /// Only these evals: names or parts of names, directories, globs, tag:NAME; !NAME excludes (repeatable,
    /// comma-separated)
    #[arg(short = 't', long = "eval", alias = "test", value_name = "NAME", action = ArgAction::Append)]
    evals: Vec<String>,
    /// Only these environments; !NAME excludes
    #[arg(short = 'e', long = "environment", value_name = "NAME", action = ArgAction::Append)]
    environments: Vec<String>,
    /// Trials of each eval in each environment (default: one for each row of the design)
    #[arg(short = 'n', long, value_name = "N", value_parser = within(settings::REPETITIONS))]
    trials: Option<u32>,
    #[command(flatten)]
    instead: InsteadArgs,
    #[command(flatten)]
    conduct: ConductArgs,
    /// Treat effects smaller than this (in percentage points) as none (default: the suite's, or 10)
    #[arg(long, value_name = "POINTS", value_parser = points)]
    margin: Option<f64>,
    #[command(flatten)]
    display: DisplayArgs,
    /// Print the parts, the number of trials, their cost and what they can detect, and stop
    #[arg(long)]
    dry_run: bool,
}

/// A run like any other.
impl From<&AblateArgs> for RunSettings {
    fn from(args: &AblateArgs) -> Self {
        let selection = SelectionSettings {
            evals: args.evals.clone(),
            environments: args.environments.clone(),
            ..SelectionSettings::default()
        };
        RunSettings {
            selection: args.instead.over(selection),
            margin: args.margin,
            ..args.conduct.settings()
        }
    }
}

pub(super) fn ablate(args: &AblateArgs, common: &Common) -> Outcome {
    match (&args.of, &args.experiment, args.parts) {
        (None, Some(experiment), Some(kind)) => {
            if args.split.is_some() && kind != Kind::Rules {
                let text = "--split: only rules are split";
                return Err(
                    CliError::misuse(Code::Usage, text).help("omit it, or give `--parts rules`")
                );
            }
            start(args, experiment, kind, common)
        }
        (run, ..) => show_again(args, run.as_deref(), common),
    }
}

/// Makes the design, shows what it takes, and runs it.
fn start(args: &AblateArgs, experiment: &str, kind: Kind, common: &Common) -> Outcome {
    let host = Host::of_this_process();
    let mut settings = RunSettings::from(args);
    settings.selection = from_here(settings.selection, common);
    only_agent::settle(&mut settings.selection, common, &host)?;
    let whole = whole(&settings, experiment, common, &host)?;
    let trials = args.trials.map(|trials| trials as usize);
    let design = engine::design(&whole, experiment, kind, args.split, trials, &host)?;
    check_target(args.write.as_deref(), &whole.suite, &design)?;
    settings.selection.seed = Some(whole.seed);
    settings.selection.repetitions = Some(design.most_repetitions());
    settings.ablation = Some(design.clone());
    let plan = load::plan(&settings, common, &host)?;
    let forecast = forecast(&design, &whole, &plan, args, &host)?;
    if args.dry_run {
        return show_plan(&forecast, args.display.format, common);
    }
    if !args.display.quiet && args.display.format != Format::Json {
        let plan = ablation_plan(&forecast, screen::columns());
        screen::err_painted(&plan.render(screen::err_palette(common.color)));
        screen::err("");
    }
    let run = run::prepared(&plan, &settings, args.conduct.no_cache, host)?;
    let (status, finished) = run::conduct(
        &settings,
        run,
        None,
        &args.display,
        &CiArgs::default(),
        common,
    )?;
    if !args.display.quiet && args.display.format != Format::Json {
        say_how_to_hide(&finished.state, common);
    }
    if let Some(file) = &args.write {
        if finished.interrupted {
            screen::err(&format!(
                "note: {file} was not written, because the run was interrupted"
            ));
        } else {
            write_slim(file, &whole.suite, &finished.state, common)?;
        }
    }
    Ok(status)
}

/// Returns the plan of the experiment as it is. Warnings are left for the plan of the rows.
fn whole(
    settings: &RunSettings,
    experiment: &str,
    common: &Common,
    host: &Host,
) -> Result<RunPlan, CliError> {
    let mut settings = settings.clone();
    settings.selection.experiments = vec![experiment.to_owned()];
    settings.selection.repetitions = Some(1);
    let loaded = terca_engine::run::load::load(&common.dir, &settings, host)?;
    if loaded.plan.is_none() {
        load::show(&loaded.problems, &loaded.sources, common);
    }
    loaded.plan.ok_or(CliError::shown(crate::cli_error::MISUSE))
}

/// Reckons what the trials take from earlier trials of the whole experiment.
fn forecast(
    design: &Ablation,
    whole: &RunPlan,
    plan: &RunPlan,
    args: &AblateArgs,
    host: &Host,
) -> Result<AblationForecast, CliError> {
    let records = past_runs::history(&whole.suite.root)?;
    let renamed = |head: TrialHead| TrialHead {
        experiment: design.experiment.clone(),
        ..head
    };
    let heads: Vec<TrialHead> = plan.heads().into_iter().map(renamed).collect();
    let prints = whole.current_fingerprints(&whole.mask(host));
    let history = History::of(&records, &heads, &prints);
    let question = Question {
        suite: &whole.suite.name,
        baseline: &whole.suite.baseline,
        plan: &heads,
        concurrency: plan.at_once(args.conduct.concurrency),
        detect: None,
    };
    Ok(AblationForecast::of(design, &question, &history))
}

fn show_plan(forecast: &AblationForecast, format: Format, common: &Common) -> Outcome {
    if format == Format::Json {
        output::json(forecast)?;
    } else {
        screen::out_view(&ablation_plan(forecast, screen::columns()), common);
    }
    Ok(0)
}

/// Shows the parts of an ablation that has been run, or was interrupted.
fn show_again(args: &AblateArgs, run: Option<&str>, common: &Common) -> Outcome {
    let past = past::open(run, common)?;
    let state = past.state.clone().with_margin(args.margin);
    if state.ablation().is_none() {
        let text = format!("the run {} is no ablation", state.run());
        let help =
            "`terca list` lists the runs; `terca ablate EXPERIMENT --parts rules` starts one";
        return Err(CliError::misuse(Code::NothingToCompare, text).help(help));
    }
    if state.status() == RunStatus::Running {
        let text = format!("the run {} has not ended", state.run());
        let help = "wait for its end, or finish it with `terca resume`; parts are compared when a run has ended";
        return Err(CliError::misuse(Code::RunGoingOn, text).help(help));
    }
    let results = Results::of(&state);
    match (args.display.format, output::ablated(&results)) {
        (Format::Json, Some(answer)) => output::json(&answer)?,
        _ => output::show(&results, &past.dir, Detail::Brief, common),
    }
    if let Some(file) = &args.write {
        let host = Host::of_this_process();
        let settings = RunSettings::default();
        let plan = load::plan(&settings, common, &host)?;
        write_slim(file, &plan.suite, &state, common)?;
    }
    Ok(0)
}

/// Says how to confirm what was found of tools: they are hidden by the experiment, and not in a file.
fn say_how_to_hide(state: &RunState, common: &Common) {
    let results = Results::of(state);
    let (Some(design), Some(summary)) = (state.ablation(), &results.summary.ablation) else {
        return;
    };
    let earned = summary.earned();
    let mut hidden: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let others = design
        .parts
        .iter()
        .enumerate()
        .filter(|(part, _)| !earned.contains(part));
    for tool_of in others.filter_map(|(_, part)| part.tool_of.as_ref()) {
        hidden
            .entry(&tool_of.server)
            .or_default()
            .push(&tool_of.tool);
    }
    if earned.is_empty() || hidden.is_empty() {
        return;
    }
    let servers = hidden.iter();
    let servers = servers.map(|(server, tools)| format!("{server}: [{}]", tools.join(", ")));
    let servers = servers.collect::<Vec<_>>().join(", ");
    let terca = shell::terca(common);
    let experiment = &design.experiment;
    screen::err(&format!(
        "to confirm it, since effects that were selected shrink: copy the experiment `{experiment}` as `slim` in \
         terca.yaml, add `hideTools: {{{servers}}}` to it, run `{terca} run -x {experiment} -x slim` and read \
         `{terca} compare --baseline {experiment}`"
    ));
}

/// Refuses a file that cannot or must not be written.
fn check_target(file: Option<&Utf8Path>, suite: &Suite, design: &Ablation) -> Result<(), CliError> {
    let Some(file) = file else {
        return Ok(());
    };
    let (text, help) = match design.kind {
        Kind::Rules if engine::is_rules_file(suite, design, file) => (
            format!("it is a rules file of `{}`", design.experiment),
            "name another file: confirming the result needs both",
        ),
        Kind::Rules => return Ok(()),
        _ => (
            "only rules can be written without some parts".to_owned(),
            "omit it, and edit the experiment in terca.yaml by hand; `hideTools` hides tools",
        ),
    };
    Err(CliError::misuse(Code::Usage, format!("--write {file}: {text}")).help(help))
}

/// Writes the rules without what earned nothing, and says how to confirm them.
fn write_slim(
    file: &Utf8Path,
    suite: &Suite,
    state: &RunState,
    common: &Common,
) -> Result<(), CliError> {
    let results = Results::of(state);
    let (Some(design), Some(summary)) = (state.ablation(), &results.summary.ablation) else {
        screen::err(&format!(
            "note: {file} was not written, because no part was compared"
        ));
        return Ok(());
    };
    check_target(Some(file), suite, design)?;
    let earned = summary.earned();
    if earned.is_empty() {
        screen::err(&format!(
            "note: {file} was not written, because no part earned its place"
        ));
        return Ok(());
    }
    let slim = engine::slim(suite, design, &earned)?;
    export::write(file, &slim, Printed::Text).map_err(export::unwritten)?;
    let terca = shell::terca(common);
    let experiment = &design.experiment;
    screen::err(&format!(
        "wrote {file}, with {} of {} parts. To confirm it, since effects that were selected shrink: add the \
         experiment `{{name: slim, rules: {file}}}` to terca.yaml, run `{terca} run -x {experiment} -x slim` and read \
         `{terca} compare --baseline {experiment}`",
        earned.len(),
        design.parts.len(),
    ));
    Ok(())
}
