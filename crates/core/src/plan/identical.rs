//! Finds experiments that change nothing: their comparison with the baseline can show nothing but chance.

use crate::config::suite::{Setup, Suite};
use crate::plan::{Case, TrialSpec, VariantName, by_case};
use crate::text::{Code, Diagnostic, Diagnostics, prose};

/// Warns of each experiment whose trials are the same as those of the baseline, in one environment or in all. Returns
/// the variants that are.
pub(super) fn check(
    suite: &Suite,
    trials: &[TrialSpec],
    problems: &mut Diagnostics,
) -> Vec<VariantName> {
    let mut identical = Vec::new();
    // Without what is wrong, it may be another.
    if problems.has_errors() {
        return identical;
    }
    let cases: Vec<&Case> = by_case(trials).map(|trials| &*trials[0].case).collect();
    for experiment in &suite.experiments {
        // An experiment that is run twice on purpose is the same, of course.
        if experiment.name == suite.baseline || experiment.real_name.is_some() {
            continue;
        }
        let mut same: Vec<&str> = Vec::new();
        let mut all = 0;
        for environment in &suite.environments {
            let of = |experiment: &str| -> Vec<&Case> {
                let mut cases = cases.clone();
                cases.retain(|case| {
                    let variant = &case.variant;
                    variant.environment == environment.name && variant.experiment == experiment
                });
                cases
            };
            let (own, baseline) = (of(&experiment.name), of(&suite.baseline));
            if own.is_empty() || baseline.is_empty() {
                continue;
            }
            all += 1;
            let mut pairs = own.iter().zip(baseline);
            if pairs.all(|(one, other)| is_same(one, other)) {
                same.push(&environment.name);
                let name = (environment.name.clone(), experiment.name.clone());
                identical.push(name.into());
            }
        }
        if !same.is_empty() {
            problems.push(is_baseline(experiment, suite, &same, same.len() == all));
        }
    }
    identical
}

/// Compares all that a variant decides about a trial.
fn is_same(one: &Case, other: &Case) -> bool {
    let (variant, baseline) = (&one.variant, &other.variant);
    one.prompt == other.prompt
        && one.actions == other.actions
        && one.services == other.services
        && one.env == other.env
        && one.timeout == other.timeout
        && one.limits == other.limits
        && variant.agent == baseline.agent
        && variant.mcp_servers == baseline.mcp_servers
        && variant.setup == baseline.setup
        && !reads_its_name(one)
}

/// Returns whether a command of the set-up asks for the experiment's name, and so may make the difference itself.
fn reads_its_name(case: &Case) -> bool {
    let mut commands = case.commands().filter(|command| !command.is_of_test);
    commands.any(|command| command.line.contains("TERCA_EXPERIMENT"))
}

fn is_baseline(experiment: &Setup, suite: &Suite, same: &[&str], in_all: bool) -> Diagnostic {
    let place = if in_all {
        String::new()
    } else {
        format!(" in {}", prose::quoted_list(same, "and"))
    };
    let problem = Diagnostic::warning(
        Code::SameAsBaseline,
        format!(
            "the experiment `{}` changes nothing{place}: it is the same as the baseline `{}`",
            experiment.name, suite.baseline
        ),
    );
    let problem = problem.maybe_at(experiment.place, "any difference would be chance");
    problem.help(format!(
        "give it a setting, or exclude it with `-x '!{}'`; `--aa` compares the baseline with itself",
        experiment.name
    ))
}
