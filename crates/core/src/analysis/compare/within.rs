//! The experiments of one run against the baseline, or its environments against one of them.

use super::{COMPARED_VERSION, CompareError, Compared, check, unknown};
use crate::analysis::distinct::distinct;
use crate::analysis::summary::{Arms, By, compare_arms};
use crate::run::event::TrialHead;
use crate::run::state::RunState;
use crate::text::prose;

/// Without a baseline: the suite's for experiments, the first for environments.
pub fn within(
    state: &RunState,
    by: By,
    baseline: Option<&str>,
    margin: f64,
) -> Result<Compared, CompareError> {
    check(state)?;
    let experiments = names(state, |head| &head.experiment);
    let environments = names(state, |head| &head.environment);
    let (arms, places) = match by {
        By::Environment => (environments, experiments),
        By::Experiment | By::Run => (experiments, environments),
    };
    let baseline = choose(state, by, &arms, baseline)?;
    if arms.len() == 1 {
        return Err(alone(state, by, baseline, places.len()));
    }
    let arms = Arms::within(state, by, baseline, margin);
    Ok(Compared {
        version: COMPARED_VERSION,
        suite: state.suite().to_owned(),
        by,
        runs: vec![state.run().to_owned()],
        comparisons: compare_arms(&arms),
        baseline: baseline.to_owned(),
        margin,
        matching: None,
    })
}

fn names(state: &RunState, name: fn(&TrialHead) -> &str) -> Vec<&str> {
    distinct(state.trials().iter().map(|trial| name(&trial.head)))
}

fn choose<'a>(
    state: &'a RunState,
    by: By,
    arms: &[&'a str],
    asked: Option<&str>,
) -> Result<&'a str, CompareError> {
    if let Some(name) = asked {
        let found = arms.iter().find(|arm| **arm == name).copied();
        return found.ok_or_else(|| unknown(state.run(), by.as_str(), name, arms));
    }
    let usual = if by == By::Environment {
        arms[0]
    } else {
        state.baseline()
    };
    match arms {
        [only] => Ok(only),
        arms if arms.contains(&usual) => Ok(usual),
        arms => Err(CompareError::NoBaseline {
            run: state.run().to_owned(),
            name: usual.to_owned(),
            known: prose::quoted_list(arms, "and"),
        }),
    }
}

fn alone(state: &RunState, by: By, name: &str, places: usize) -> CompareError {
    CompareError::Alone {
        run: state.run().to_owned(),
        noun: by.as_str(),
        name: name.to_owned(),
        by,
        has_environments: places > 1,
    }
}
