//! Rates, differences, ratios and p-values as people write them.

use crate::config::verdict::Measure;
use crate::run::outcome::Status;
use crate::stats::Interval;

/// `82 %`; the ends of the scale are kept for what is exactly there.
pub fn percent(rate: f64) -> String {
    let rounded = whole(rate * 100.0);
    let shown = if rate > 0.0 && rate < 1.0 {
        rounded.clamp(1.0, 99.0)
    } else {
        rounded
    };
    format!("{shown:.0} %")
}

/// A score in two digits, but never `1.00` for less than all, nor `0.00` for more than nothing.
pub fn score(score: f64) -> String {
    let shown = match Status::of_score(score) {
        Status::Partial => score.clamp(0.01, 0.99),
        _ => score,
    };
    format!("{shown:.2}")
}

/// `+21 points`, `−1 point`.
pub fn points(difference: f64) -> String {
    let number = signed(difference);
    let noun = if matches!(number.as_str(), "+1" | "−1") {
        "point"
    } else {
        "points"
    };
    format!("{number} {noun}")
}

/// In points, with its sign; what is less than one has a decimal, so that it does not pass for nothing.
pub fn signed(difference: f64) -> String {
    let number = number(difference);
    match number.as_str() {
        "0" => number,
        _ if difference < 0.0 => format!("−{number}"),
        _ => format!("+{number}"),
    }
}

/// `5 points`, without a sign.
pub fn size(difference: f64) -> String {
    let number = number(difference);
    format!(
        "{number} {}",
        if number == "1" { "point" } else { "points" }
    )
}

fn number(difference: f64) -> String {
    let points = difference.abs() * 100.0;
    if points < 0.05 {
        "0".to_owned()
    } else if points < 0.95 {
        format!("{points:.1}")
    } else {
        format!("{:.0}", whole(points))
    }
}

/// The nearest whole number; a half goes away from 0. Sums of binary fractions may be a hair below the half that they
/// mean, and the same figure must not be 62 in one place and 63 in another.
fn whole(number: f64) -> f64 {
    const HAIR: f64 = 1e-9;
    (number + HAIR.copysign(number)).round()
}

/// Returns a difference with its unit.
pub fn difference(measure: Measure, value: f64) -> String {
    match measure {
        Measure::PassRate => points(value),
        Measure::Score => signed_score(value),
    }
}

/// Returns how differences are written without their unit.
pub fn number_of(measure: Measure) -> fn(f64) -> String {
    match measure {
        Measure::PassRate => signed,
        Measure::Score => signed_score,
    }
}

/// Returns the ends of an interval of differences.
pub fn ends(measure: Measure, interval: Interval) -> String {
    let end = number_of(measure);
    format!("{} … {}", end(interval.low), end(interval.high))
}

/// `1.61–2.23 ×`.
pub fn ratio_interval(interval: Interval) -> String {
    format!("{}–{} ×", times(interval.low), times(interval.high))
}

/// `+0.21`, `−0.04`: a difference in score.
pub fn signed_score(difference: f64) -> String {
    match difference {
        _ if difference.abs() < 0.005 => "0.00".to_owned(),
        ..0.0 => format!("−{:.2}", difference.abs()),
        _ => format!("+{difference:.2}"),
    }
}

/// How often luck alone gives as much as was found: `once in 3,800 runs`, `in 4 of 5 runs`.
pub fn luck(p: f64) -> String {
    /// Shares that people know.
    const SHARES: [(u32, u32); 11] = [
        (1, 10),
        (1, 5),
        (1, 4),
        (3, 10),
        (1, 3),
        (2, 5),
        (1, 2),
        (3, 5),
        (2, 3),
        (4, 5),
        (9, 10),
    ];
    match p {
        ..1e-6 => "less than once in a million runs".to_owned(),
        ..0.095 => format!("once in {} runs", rounded(1.0 / p)),
        0.95..1.0 => "in nearly every run".to_owned(),
        1.0.. => "in every run".to_owned(),
        _ => {
            let distance = |(of, all): &(u32, u32)| (f64::from(*of) / f64::from(*all) - p).abs();
            let nearest = SHARES
                .iter()
                .min_by(|one, other| distance(one).total_cmp(&distance(other)));
            let (of, all) = nearest.copied().unwrap_or((1, 2));
            format!("in {of} of {all} runs")
        }
    }
}

/// In two significant digits: `3,800`.
fn rounded(number: f64) -> String {
    let step = 10f64.powi((number.log10().floor() as i32 - 1).max(0));
    thousands(((number / step).round() * step) as u64)
}

/// `1,240`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `One`, `Two`, `Three`, `Four`, then digits.
pub(super) fn number_word(number: usize) -> String {
    let words = ["No", "One", "Two", "Three", "Four"];
    words
        .get(number)
        .map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// `1.14×`.
pub fn ratio(ratio: f64) -> String {
    format!("{}×", times(ratio))
}

/// `1.14`, `12.3`, `0.083`.
pub fn times(ratio: f64) -> String {
    match ratio {
        ..0.095 => format!("{ratio:.3}"),
        0.095..9.95 => format!("{ratio:.2}"),
        9.95..99.5 => format!("{ratio:.1}"),
        _ => format!("{ratio:.0}"),
    }
}

/// `0.004`, `< 0.001`, `0.48`.
pub fn probability(p: f64) -> String {
    match p {
        ..0.001 => "< 0.001".to_owned(),
        0.001..0.0995 => format!("{p:.3}"),
        _ => format!("{p:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luck_in_words() {
        let told = [
            1e-9, 0.000_260_3, 0.0004, 0.021, 0.06, 0.12, 0.35, 0.58, 0.8, 0.97, 1.0,
        ]
        .map(luck);
        assert_eq!(
            told,
            [
                "less than once in a million runs", "once in 3,800 runs", "once in 2,500 runs",
                "once in 48 runs", "once in 17 runs", "in 1 of 10 runs", "in 1 of 3 runs",
                "in 3 of 5 runs", "in 4 of 5 runs", "in nearly every run", "in every run"
            ]
        );
        assert_eq!(luck(1.1e-6), "once in 910,000 runs");
        assert_eq!(
            [0.21, -0.04, 0.001].map(signed_score),
            ["+0.21", "−0.04", "0.00"]
        );
    }

    /// 62.5 points are 63 everywhere, also as a sum of fractions that is a hair less.
    #[test]
    fn a_half_is_rounded_the_same_way_everywhere() {
        assert_eq!(percent(0.625), "63 %");
        assert_eq!([0.625, -0.625].map(signed), ["+63", "−63"]);
        assert_eq!([0.875, 0.875 - 1e-15].map(signed), ["+88", "+88"]);
        assert_eq!(percent(0.145), "15 %", "a hair less in binary");
        assert_eq!(size(0.145), "15 points");
    }

    #[test]
    fn nothing_is_rounded_to_nothing() {
        assert_eq!(
            [0.0, 0.001, 0.54, 0.999, 1.0].map(percent),
            ["0 %", "1 %", "54 %", "99 %", "100 %"]
        );
        assert_eq!(
            [0.0, 0.001, 0.5, 0.999, 1.0].map(score),
            ["0.00", "0.01", "0.50", "0.99", "1.00"]
        );
        assert_eq!(
            [0.21, -0.01, 0.004, 0.0].map(points),
            ["+21 points", "−1 point", "+0.4 points", "0 points"]
        );
        assert_eq!([0.05, 0.01].map(size), ["5 points", "1 point"]);
        assert_eq!(
            [0.0123, 0.5, 1.138, 12.3].map(times),
            ["0.012", "0.50", "1.14", "12.3"]
        );
    }
}
