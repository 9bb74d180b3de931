//! The experiments of one run against the baseline, or its environments against one of them.

use super::{COMPARED_VERSION, CompareError, Compared, check, distinct, unknown};
use crate::analysis::summary::{By, compare_by};
use crate::run::event::TrialHead;
use crate::run::state::{RunState, Trial};
use crate::text::prose;

/// Without a baseline: the suite's for experiments, the first for environments.
pub fn within(
    state: &RunState,
    by: By,
    baseline: Option<&str>,
    margin: f64,
) -> Result<Compared, CompareError> {
    check(state)?;
    let state = if by == By::Environment {
        turned(state)
    } else {
        state.clone()
    };
    let arms = distinct(
        state
            .trials
            .iter()
            .map(|trial| trial.head.experiment.as_str()),
    );
    let baseline = choose(&state, by, &arms, baseline)?.to_owned();
    if arms.len() == 1 {
        return Err(alone(&state, by, &baseline));
    }
    Ok(Compared {
        version: COMPARED_VERSION,
        suite: state.suite.clone(),
        by,
        runs: vec![state.run.clone()],
        comparisons: compare_by(by, &state, &baseline, margin),
        baseline,
        margin,
        matching: None,
    })
}

fn choose<'a>(
    state: &'a RunState,
    by: By,
    arms: &[&'a str],
    asked: Option<&str>,
) -> Result<&'a str, CompareError> {
    if let Some(name) = asked {
        let found = arms.iter().find(|arm| **arm == name).copied();
        return found.ok_or_else(|| unknown(&state.run, by.word(), name, arms));
    }
    let usual = if by == By::Environment {
        arms[0]
    } else {
        state.baseline.as_str()
    };
    match arms {
        [only] => Ok(only),
        arms if arms.contains(&usual) => Ok(usual),
        arms => Err(CompareError::NoBaseline {
            run: state.run.clone(),
            name: usual.to_owned(),
            known: prose::quoted_list(arms, "and"),
        }),
    }
}

fn alone(state: &RunState, by: By, name: &str) -> CompareError {
    let places = distinct(
        state
            .trials
            .iter()
            .map(|trial| trial.head.environment.as_str()),
    )
    .len();
    CompareError::Alone {
        run: state.run.clone(),
        noun: by.word(),
        name: name.to_owned(),
        by,
        has_environments: places > 1,
    }
}

/// Environments in the place of experiments, and the other way round.
fn turned(state: &RunState) -> RunState {
    let turn = |trial: &Trial| {
        let head = TrialHead {
            environment: trial.head.experiment.clone(),
            experiment: trial.head.environment.clone(),
            ..trial.head.clone()
        };
        Trial {
            head,
            ..trial.clone()
        }
    };
    RunState {
        trials: state.trials.iter().map(turn).collect(),
        ..state.clone()
    }
}
