//! Does an eval pass where the others pass? The correlation of its result with the mean of the rest, over sittings.

use serde::{Deserialize, Serialize};

use super::gather::Gathered;
use crate::stats::CannotTell;
use crate::stats::sample::{is_constant, mean};
use crate::stats::special::student_two_sided;

/// Fewer sittings agree or disagree by chance.
const FEWEST_SITTINGS: usize = 4;

/// The correlation of an eval with the others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Correlation {
    /// From −1, where the others fail, to 1, where the others pass.
    pub r: f64,
    /// Repetitions of the suite in a variant, with this eval and others in them.
    pub sittings: usize,
    /// The p-value.
    pub p: f64,
    /// By Holm's method, for all evals.
    pub p_adjusted: f64,
}

impl Correlation {
    pub(super) fn of(position: usize, gathered: &Gathered<'_>) -> Result<Self, CannotTell> {
        let number = |passed: bool| f64::from(u8::from(passed));
        let of_sitting = |sitting: &std::collections::BTreeMap<usize, bool>| {
            let own = number(*sitting.get(&position)?);
            let rest = sitting.iter().filter(|(other, _)| **other != position);
            Some((
                own,
                mean(
                    &rest
                        .map(|(_, passed)| number(*passed))
                        .collect::<Vec<f64>>(),
                )?,
            ))
        };
        let (own, rest): (Vec<f64>, Vec<f64>) =
            gathered.sittings.iter().filter_map(of_sitting).unzip();
        if own.len() < FEWEST_SITTINGS {
            return Err(CannotTell::TooFewTrials);
        }
        let r = pearson(&own, &rest).ok_or(CannotTell::NoVariation)?;
        let degrees = (own.len() - 2) as f64;
        let unexplained = 1.0 - r * r;
        let p = if unexplained < 1e-12 {
            0.0
        } else {
            student_two_sided((r * r * degrees / unexplained).sqrt(), degrees)
        };
        Ok(Correlation {
            r,
            sittings: own.len(),
            p,
            p_adjusted: p,
        })
    }
}

/// None where one side does not vary.
fn pearson(one: &[f64], other: &[f64]) -> Option<f64> {
    if is_constant(one) || is_constant(other) {
        return None;
    }
    let (mean_one, mean_other) = (mean(one)?, mean(other)?);
    let sum = |terms: Vec<f64>| terms.into_iter().sum::<f64>();
    let both = sum(one
        .iter()
        .zip(other)
        .map(|(a, b)| (a - mean_one) * (b - mean_other))
        .collect());
    let of_one = sum(one.iter().map(|a| (a - mean_one).powi(2)).collect());
    let of_other = sum(other.iter().map(|b| (b - mean_other).powi(2)).collect());
    Some((both / (of_one * of_other).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let close = |found: Option<f64>, value: f64| (found.unwrap() - value).abs() < 1e-9;
        assert!(close(pearson(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]), 1.0));
        assert!(close(
            pearson(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 1.0, 4.0, 3.0, 5.0]),
            0.8
        ));
        assert!(close(pearson(&[0.0, 1.0], &[1.0, 0.0]), -1.0));
        assert_eq!(pearson(&[1.0, 1.0], &[0.0, 1.0]), None);
    }
}
