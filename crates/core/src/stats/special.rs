//! The special functions that the other formulas use. A dependency for these four would be larger than they are.

#![allow(
    clippy::excessive_precision,
    reason = "coefficients stand as they were published"
)]

use std::f64::consts::PI;

/// The logarithm of the gamma function, for positive arguments (Lanczos, g = 7).
pub fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 8] = [
        676.520_368_121_885_1, -1_259.139_216_722_402_8, 771.323_428_777_653_13,
        -176.615_029_162_140_59, 12.507_343_278_686_905, -0.138_571_095_265_720_12,
        9.984_369_578_019_571_6e-6, 1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let series = COEFFICIENTS
        .iter()
        .zip(1u8..)
        .fold(0.999_999_999_999_809_93, |sum, (coefficient, n)| {
            sum + coefficient / (x + f64::from(n))
        });
    let t = x + 7.5;
    0.5 * (2.0 * PI).ln() + (x + 0.5) * t.ln() - t + series.ln()
}

/// The logarithm of the beta function.
pub fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// The logarithm of the number of ways to choose `k` of `n`.
pub fn ln_choose(n: usize, k: usize) -> f64 {
    let ln_factorial = |n: usize| ln_gamma(n as f64 + 1.0);
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// The regularised incomplete beta function, by its continued fraction (Lentz's method).
pub fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (a * x.ln() + b * (-x).ln_1p() - ln_beta(a, b)).exp();
    // The fraction converges fast on one side of the mean, and the function is symmetric.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for numerator in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + numerator * d);
            c = away_from_zero(1.0 + numerator / c);
            change = d * c;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}

/// The quantile of the standard normal distribution (Wichura 1988, AS 241), for 0 < p < 1.
pub fn normal_quantile(p: f64) -> f64 {
    const CENTRE: Rational = Rational {
        above: [
            3.387_132_872_796_366_608, 133.141_667_891_784_377_45, 1_971.590_950_306_551_442_7,
            13_731.693_765_509_461_125, 45_921.953_931_549_871_457, 67_265.770_927_008_700_853,
            33_430.575_583_588_128_105, 2_509.080_928_730_122_672_7,
        ],
        below: [
            1.0, 42.313_330_701_600_911_252, 687.187_007_492_057_908_3,
            5_394.196_021_424_751_107_7, 21_213.794_301_586_595_867, 39_307.895_800_092_710_61,
            28_729.085_735_721_942_674, 5_226.495_278_852_854_561,
        ],
    };
    const TAIL: Rational = Rational {
        above: [
            1.423_437_110_749_683_577_34, 4.630_337_846_156_545_295_9, 5.769_497_221_460_691_405_5,
            3.647_848_324_763_204_605_04, 1.270_458_252_452_368_382_58,
            0.241_780_725_177_450_611_77, 0.022_723_844_989_269_184_583_3,
            7.745_450_142_783_414_076_4e-4,
        ],
        below: [
            1.0, 2.053_191_626_637_758_821_87, 1.676_384_830_183_803_849_4,
            0.689_767_334_985_100_004_55, 0.148_103_976_427_480_074_59,
            0.015_198_666_563_616_457_196_6, 5.475_938_084_995_344_946e-4,
            1.050_750_071_644_416_843_24e-9,
        ],
    };
    const FAR_TAIL: Rational = Rational {
        above: [
            6.657_904_643_501_103_777_2, 5.463_784_911_164_114_369_9, 1.784_826_539_917_291_335_8,
            0.296_560_571_828_504_891_23, 0.026_532_189_526_576_123_093,
            1.242_660_947_388_078_438_6e-3, 2.711_555_568_743_487_578_15e-5,
            2.010_334_399_292_288_132_65e-7,
        ],
        below: [
            1.0, 0.599_832_206_555_887_937_69, 0.136_929_880_922_735_805_31,
            0.014_875_361_290_850_614_852_5, 7.868_691_311_456_132_591e-4,
            1.846_318_317_510_054_681_8e-5, 1.421_511_758_316_445_888_7e-7,
            2.044_263_103_389_939_785_64e-15,
        ],
    };
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * CENTRE.at(0.180_625 - q * q);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let size = if r <= 5.0 {
        TAIL.at(r - 1.6)
    } else {
        FAR_TAIL.at(r - 5.0)
    };
    size.copysign(q)
}

/// A quotient of two polynomials of the seventh degree.
struct Rational {
    above: [f64; 8],
    below: [f64; 8],
}

impl Rational {
    fn at(&self, x: f64) -> f64 {
        let polynomial = |c: &[f64; 8]| {
            c.iter()
                .rev()
                .fold(0.0, |sum, coefficient| sum * x + coefficient)
        };
        polynomial(&self.above) / polynomial(&self.below)
    }
}

/// The probability that Student's t with so many degrees of freedom is at least as far from 0 as `t`.
pub fn student_two_sided(t: f64, degrees: f64) -> f64 {
    incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)
}

/// The quantile of Student's t distribution, for 0 < p < 1. It is bracketed and halved: monotone, and as exact as the
/// distribution itself.
pub fn student_quantile(p: f64, degrees: f64) -> f64 {
    let tail = 2.0 * p.min(1.0 - p);
    let is_below = |t: f64| student_two_sided(t, degrees) > tail;
    let mut high = 1.0;
    while is_below(high) {
        high *= 2.0;
    }
    last(0.0, high, is_below).copysign(p - 0.5)
}

/// Returns the last number on the way at which something holds, as it does at the beginning and not at the end.
pub(super) fn last(mut from: f64, mut to: f64, holds: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = f64::midpoint(from, to);
        // There is no number between the two.
        if middle == from || middle == to {
            return from;
        }
        if holds(middle) {
            from = middle;
        } else {
            to = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!(
            (found - expected).abs() <= tolerance * expected.abs().max(1.0),
            "{found} is not {expected}"
        );
    }

    #[test]
    fn gamma_is_the_factorial() {
        for (x, expected) in [
            (1.0, 1.0),
            (2.0, 1.0),
            (5.0, 24.0),
            (11.0, 3_628_800.0),
            (0.5, PI.sqrt()),
        ] {
            close(ln_gamma(x), f64::ln(expected), 1e-14);
        }
        close(ln_choose(52, 5).exp(), 2_598_960.0, 1e-12);
    }

    #[test]
    fn incomplete_beta_has_closed_forms() {
        for x in [0.001, 0.2, 0.5, 0.77, 0.999] {
            close(incomplete_beta(x, 1.0, 1.0), x, 1e-14);
            close(incomplete_beta(x, 3.0, 1.0), x * x * x, 1e-14);
            close(
                incomplete_beta(x, 0.5, 0.5),
                2.0 / PI * x.sqrt().asin(),
                1e-13,
            );
            close(
                incomplete_beta(x, 7.5, 2.5) + incomplete_beta(1.0 - x, 2.5, 7.5),
                1.0,
                1e-13,
            );
        }
    }

    #[test]
    fn normal_quantiles_of_the_tables() {
        for (p, expected) in [
            (0.5, 0.0),
            (0.8, 0.841_621_233_572_914),
            (0.975, 1.959_963_984_540_054),
            (0.025, -1.959_963_984_540_054),
            (1e-4, -3.719_016_485_455_68),
            (1e-20, -9.262_340_089_798_408),
        ] {
            close(normal_quantile(p), expected, 1e-13);
        }
    }

    #[test]
    fn student_quantiles_of_the_tables() {
        for (degrees, expected) in [
            (1.0, 12.706_204_74),
            (4.0, 2.776_445_105),
            (19.0, 2.093_024_054),
            (30.0, 2.042_272_456),
        ] {
            close(student_quantile(0.975, degrees), expected, 1e-9);
            close(student_quantile(0.025, degrees), -expected, 1e-9);
        }
    }
}
