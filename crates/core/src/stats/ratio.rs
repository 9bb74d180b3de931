//! Tokens, cost and time: how many times as much, as the ratio of geometric means, paired by eval.

use super::{CannotTell, Interval, paired, paired::Paired, sample};

/// A bound that keeps a ratio of two enormous figures finite, so that it can be written down.
const WIDEST: f64 = 700.0;

/// The logarithm of the geometric mean of one eval's figures in one arm.
pub fn ln_geometric_mean(figures: &[f64]) -> Result<f64, CannotTell> {
    if figures.iter().any(|figure| *figure <= 0.0) {
        return Err(CannotTell::NotPositive);
    }
    let logarithms: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
    sample::mean(&logarithms).ok_or(CannotTell::NotReported)
}

/// From one pair of [logarithms](ln_geometric_mean) for each eval.
pub fn ratio(pairs: &[(f64, f64)], seed: u64) -> Result<Paired, CannotTell> {
    let logarithms: Vec<f64> = pairs.iter().map(|(first, second)| first - second).collect();
    let found = paired::difference(&logarithms, seed).map_err(|_| CannotTell::NotReported)?;
    let exp = |logarithm: f64| logarithm.clamp(-WIDEST, WIDEST).exp();
    let interval = found.interval.map(|interval: Interval| interval.map(exp));
    Ok(Paired {
        difference: exp(found.difference),
        interval,
        ..found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_as_much_everywhere() {
        let pairs = [(2.0f64, 1.0f64), (20.0, 10.0), (0.04, 0.02)].map(|(a, b)| (a.ln(), b.ln()));
        let twice = ratio(&pairs, 0).unwrap();
        assert!((twice.difference - 2.0).abs() < 1e-12);
        assert_eq!(twice.interval, Err(CannotTell::NoVariation));
    }

    #[test]
    fn zero_and_nothing_have_no_ratio() {
        assert_eq!(ln_geometric_mean(&[1.0, 0.0]), Err(CannotTell::NotPositive));
        assert_eq!(ln_geometric_mean(&[]), Err(CannotTell::NotReported));
        assert_eq!(ratio(&[], 0), Err(CannotTell::NotReported));
        assert!((ln_geometric_mean(&[1.0, 100.0]).unwrap().exp() - 10.0).abs() < 1e-12);
    }

    #[test]
    fn enormous_ratios_stay_finite() {
        let wide = ratio(&[(44.0, 0.0), (0.0, 44.0)], 0).unwrap();
        assert!(wide.interval.unwrap().high.is_finite() && wide.interval.unwrap().low > 0.0);
    }
}
