//! Values as they are typed.

use std::time::Duration;

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e9 => Ok(value),
        _ => Err("expected a number of seconds above 0".into()),
    }
}

pub(super) fn age(text: &str) -> Result<Duration, String> {
    let expected = || "expected a number and a unit, such as 12h, 30d or 8w".to_owned();
    let unit = text.chars().next_back().ok_or_else(expected)?;
    let number: u64 = text[..text.len() - unit.len_utf8()]
        .parse()
        .map_err(|_| expected())?;
    let hours = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 24 * 7,
        _ => return Err(expected()),
    };
    Ok(Duration::from_secs(number.saturating_mul(hours * 3600)))
}

/// A difference in pass rate, as a share.
pub(super) fn points(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.1..=100.0).contains(&value) => Ok(value / 100.0),
        _ => Err("expected points from 0.1 to 100, such as 5".into()),
    }
}

pub(super) fn usd(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e9 => Ok(value),
        _ => Err("expected a sum above 0, such as 5 or 0.50".into()),
    }
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("expected a share from 0 to 1, such as 0.9".into()),
    }
}
