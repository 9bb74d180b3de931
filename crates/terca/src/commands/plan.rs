//! What `run`, `check` and `validate` have in common: from a directory and a selection to a plan, or to complaints.

use std::time::Duration;

use terca_core::agent;
use terca_core::agent::AgentChoice;
use terca_core::analysis::validation;
use terca_core::config::Suite;
use terca_core::config::adaptive::Adaptive;
use terca_core::plan::aa_check;
use terca_core::plan::expand::{Overrides, expand};
use terca_core::plan::order;
use terca_core::plan::selection::Selection;
use terca_core::plan::shard::Shard;
use terca_core::plan::{Plan, TrialSpec};
use terca_core::run::event::TrialHead;
use terca_core::text::diagnostic::{Diagnostic, Diagnostics, Style};
use terca_core::text::explain::Code;
use terca_core::text::prose;
use terca_core::text::source::Sources;
use terca_engine::host::environment::Host;
use terca_engine::suite::discover;

use super::MISUSE;
use super::refusal::Refusal;
use crate::args::{Common, NameArgs, RunArgs, SelectionArgs};
use crate::screen;

pub(super) struct Planned {
    pub(super) suite: Suite,
    /// All of it, also where a part is to be run.
    pub(super) plan: Plan,
    /// What is to be run of it.
    pub(super) trials: Vec<TrialSpec>,
    pub(super) seed: u64,
    /// Positions in the trials, in the order to start them.
    pub(super) order: Vec<usize>,
}

impl Planned {
    pub(super) fn heads(&self) -> Vec<TrialHead> {
        self.trials.iter().map(TrialHead::of).collect()
    }

    /// To standard error: a plan shows the most there can be.
    pub(super) fn say_what_may_be_left_out(&self) {
        if let Some(Adaptive { min, max }) = self.plan.adaptive {
            screen::remark(&format!(
                "note: repetitions are adaptive: {min} at first, then one at a time until every comparison is \
                 decided, at most {max}"
            ));
        }
    }
}

/// The plan. Every reason why there is none has been said, or is what comes back.
pub(super) fn make(
    selection: &SelectionArgs,
    shard: Option<Shard>,
    common: &Common,
    host: &Host,
) -> Result<Planned, Refusal> {
    make_by(
        selection,
        shard,
        common,
        host,
        |suite, chosen, overrides, variables, problems| {
            expand(suite, chosen, overrides, variables, problems)
        },
    )
}

/// The plan of `terca run`, also of one that is resumed.
pub(super) fn make_run(args: &RunArgs, common: &Common, host: &Host) -> Result<Planned, Refusal> {
    if !args.aa {
        return make(&args.selection, args.shard, common, host);
    }
    make_by(
        &args.selection,
        args.shard,
        common,
        host,
        |suite, chosen, overrides, variables, problems| {
            let rest = aa_check::prepare(suite, chosen, problems);
            expand(suite, &rest, overrides, variables, problems)
        },
    )
}

/// The plan that proves the evals: three agents in the place of those that the suite names.
pub(super) fn make_proof(
    selection: &SelectionArgs,
    common: &Common,
    host: &Host,
) -> Result<Planned, Refusal> {
    make_by(
        selection,
        None,
        common,
        host,
        |suite, chosen, overrides, variables, problems| {
            let evals = validation::prepare(suite, chosen, problems);
            validation::without_missing_solutions(expand(
                suite, &evals, overrides, variables, problems,
            ))
        },
    )
}

/// How a suite becomes a plan; what stands in the suite may be changed for it.
type Expand = fn(
    &mut Suite,
    &Selection,
    &Overrides,
    &dyn Fn(&str) -> Option<String>,
    &mut Diagnostics,
) -> Plan;

fn make_by(
    selection: &SelectionArgs,
    shard: Option<Shard>,
    common: &Common,
    host: &Host,
    expand: Expand,
) -> Result<Planned, Refusal> {
    let loaded = discover::load(&common.dir)?;
    let mut problems = loaded.problems;
    let overrides = overrides(selection, &mut problems);
    let planned = loaded.suite.map(|mut suite| {
        let NameArgs {
            evals,
            experiments,
            environments,
        } = selection.names.clone();
        let chosen = Selection {
            evals,
            experiments,
            environments,
        };
        let variables = |name: &str| host.get(name).map(str::to_owned);
        let plan = expand(&mut suite, &chosen, &overrides, &variables, &mut problems);
        if let Some(shard) = shard.filter(|_| plan.adaptive.is_some()) {
            problems.push(no_parts(shard));
        }
        let seed = selection.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
        let trials = shard.map_or_else(|| plan.trials.clone(), |shard| shard.part(&plan.trials));
        let order = order::order(&trials, seed);
        Planned {
            suite,
            plan,
            trials,
            seed,
            order,
        }
    });
    problems.sort();
    report(&problems, &loaded.sources, common);
    planned
        .filter(|_| !problems.has_errors())
        .ok_or(Refusal::told(MISUSE))
}

/// Nobody knows beforehand how many trials there will be, and each look needs all of them.
fn no_parts(shard: Shard) -> Diagnostic {
    Diagnostic::error(
        Code::NotInParts,
        format!("--shard {shard}: adaptive repetitions cannot be run in parts"),
    )
    .help("give a number of repetitions with `-n`, or run the whole on one machine")
}

fn overrides(selection: &SelectionArgs, problems: &mut Diagnostics) -> Overrides {
    Overrides {
        agent: selection
            .agent
            .as_deref()
            .and_then(|name| chosen_agent(name, problems)),
        repetitions: selection.repetitions,
        timeout: selection.timeout.map(Duration::from_secs_f64),
    }
}

fn chosen_agent(name: &str, problems: &mut Diagnostics) -> Option<AgentChoice> {
    let names: Vec<&str> = agent::names()
        .into_iter()
        .filter(|name| !takes_command(name))
        .collect();
    if let Some(agent) = agent::find(name).filter(|_| !takes_command(name)) {
        return Some(AgentChoice {
            agent,
            command: None,
        });
    }
    let diagnostic = if takes_command(name) {
        let message = format!("--agent {name}: it needs a command, which cannot be given here");
        let help =
            format!("write it into terca.yaml: `agent: {{name: {name}, command: ./my-agent}}`");
        Diagnostic::error(Code::Usage, message).help(help)
    } else {
        Diagnostic::error(Code::UnknownAgent, format!("--agent {name}: no such agent"))
    };
    let diagnostic = diagnostic.help(format!(
        "the agents are {}",
        prose::quoted_list(&names, "and")
    ));
    problems.push(
        match agent::probably(name).filter(|meant| !takes_command(meant)) {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
            None => diagnostic,
        },
    );
    None
}

fn takes_command(name: &str) -> bool {
    agent::find(name).is_some_and(|agent| agent.profile().takes_command)
}

/// All problems of all files in one go, and one line that says where there is more to read.
fn report(problems: &Diagnostics, sources: &Sources, common: &Common) {
    let codes = problems.codes();
    if codes.is_empty() {
        return;
    }
    let colour = screen::colour(common.color, &std::io::stderr());
    screen::remark(&problems.render(
        sources,
        Style {
            colour,
            ..Style::PLAIN
        },
    ));
    screen::remark("");
    if problems.has_errors() {
        screen::remark(&format!(
            "{}: nothing was run",
            prose::count(problems.error_count(), "error")
        ));
    }
    screen::say_more_about(&codes, common.color);
}
