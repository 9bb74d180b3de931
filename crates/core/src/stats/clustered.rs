//! The standard error of a mean over trials that come in clusters: the repetitions of one eval are alike.

use std::collections::BTreeMap;

use super::{CannotTell, sample};

/// Each trial is its cluster and its score.
pub fn standard_error<C: Ord>(trials: impl IntoIterator<Item = (C, f64)>) -> Result<f64, CannotTell> {
    let (clusters, scores): (Vec<C>, Vec<f64>) = trials.into_iter().unzip();
    let mean = sample::mean(&scores).ok_or(CannotTell::NoTrials)?;
    let mut sums: BTreeMap<C, f64> = BTreeMap::new();
    for (cluster, score) in clusters.into_iter().zip(&scores) {
        *sums.entry(cluster).or_default() += score - mean;
    }
    if sums.len() < 2 {
        return Err(CannotTell::OneEval);
    }
    let count = sums.len() as f64;
    let squares: f64 = sums.values().map(|sum| sum * sum).sum();
    Ok((count / (count - 1.0) * squares).sqrt() / scores.len() as f64)
}
