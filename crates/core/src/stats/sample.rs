//! Means, medians, variances and standard errors. An empty list has none of them.

/// Returns the mean, if there is any value.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The middle value, or the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(lower + (upper - lower) / 2.0)
}

/// The unbiased variance; one value has none.
pub fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let degrees = values.len() - 1;
    (degrees > 0).then(|| {
        values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
            / degrees as f64
    })
}

/// Returns whether all values are the same, but for the last digits of their arithmetic.
pub fn is_constant(values: &[f64]) -> bool {
    let largest = values
        .iter()
        .fold(0.0f64, |largest, value| largest.max(value.abs()));
    values
        .windows(2)
        .all(|pair| (pair[0] - pair[1]).abs() <= 1e-12 * largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing_there_is_nothing() {
        assert_eq!((mean(&[]), median(&[]), variance(&[])), (None, None, None));
        assert_eq!(
            (mean(&[3.0]), median(&[3.0]), variance(&[3.0])),
            (Some(3.0), Some(3.0), None)
        );
    }

    #[test]
    fn medians_do_not_care_about_order() {
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[9.0, 1.0, 5.0, 6.0]), Some(5.5));
        assert_eq!(variance(&[1.0, 2.0, 3.0, 4.0]), Some(5.0 / 3.0));
    }
}
