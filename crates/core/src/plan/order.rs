//! The order in which trials run.
//!
//! The variants of one eval and repetition run next to each other, so that a provider's bad hour hits every arm
//! alike; which comes first, and which eval comes when, is drawn from a recorded seed.

use std::collections::BTreeMap;

use crate::plan::TrialSpec;

/// Returns indices into `trials` in the order to start them.
pub fn order(trials: &[TrialSpec], seed: u64) -> Vec<usize> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut blocks: BTreeMap<(u32, &str), Vec<usize>> = BTreeMap::new();
    for (index, trial) in trials.iter().enumerate() {
        blocks
            .entry((trial.repetition, trial.case.eval.name.as_str()))
            .or_default()
            .push(index);
    }
    // Within one repetition the evals are shuffled; repetitions follow each other, so that a run that is
    // stopped early has every eval about equally often.
    let mut rounds: BTreeMap<u32, Vec<Vec<usize>>> = BTreeMap::new();
    for ((repetition, _), mut block) in blocks {
        random.shuffle(&mut block);
        rounds.entry(repetition).or_default().push(block);
    }
    rounds
        .into_values()
        .flat_map(|mut round| {
            random.shuffle(&mut round);
            round.into_iter().flatten()
        })
        .collect()
}
