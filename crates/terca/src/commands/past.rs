//! Runs of the past, in the light of the suite as it is now.

use std::collections::HashMap;

use camino::Utf8Path;
use serde::Deserialize;
use terca_core::plan::TrialSpec;
use terca_core::plan::fingerprint::CasePrint;
use terca_core::run::event::TrialHead;
use terca_core::run::state::RunState;
use terca_core::text::explain::Code;
use terca_engine::run::past_runs;

use super::plan::Planned;
use super::refusal::Refusal;
use crate::args::RunArgs;

/// What `run.json` keeps of how the run was started.
#[derive(Deserialize)]
pub(super) struct Recorded {
    pub(super) seed: u64,
    pub(super) command: RunArgs,
    pub(super) fingerprints: Vec<CasePrint>,
}

pub(super) fn recorded(dir: &Utf8Path) -> Result<Recorded, Refusal> {
    let plan = past_runs::plan(dir)?;
    serde_json::from_value(plan).map_err(|error| {
        let text = format!("{dir}/run.json does not say how the run was started: {error}");
        Refusal::trouble(Code::DamagedRun, text).help("start a new one with `terca run`")
    })
}

/// Gives the trials of the suite as it is now the ids and folders they have in the run, and leaves out what the run
/// does not have.
pub(super) fn adopt(planned: &mut Planned, state: &RunState) {
    let name = |head: &TrialHead| {
        (
            head.eval.clone(),
            head.environment.clone(),
            head.experiment.clone(),
            head.repetition,
        )
    };
    // Those of rounds that an adaptive run has not begun are known too.
    let heads = state
        .trials()
        .iter()
        .map(|trial| &trial.head)
        .chain(state.spare());
    let known: HashMap<_, &TrialHead> = heads.map(|head| (name(head), head)).collect();
    let mut trials = Vec::new();
    let mut order = Vec::new();
    for index in &planned.order {
        let trial = &planned.trials[*index];
        let Some(known) = known.get(&name(&TrialHead::of(trial))) else {
            continue;
        };
        order.push(known.id);
        trials.push(TrialSpec {
            id: known.id,
            dir: known.dir.clone(),
            ..trial.clone()
        });
    }
    trials.sort_by_key(|trial| trial.id);
    let position = |id: &u32| trials.binary_search_by_key(id, |trial| trial.id).ok();
    planned.order = order.iter().filter_map(position).collect();
    planned.trials = trials;
}
