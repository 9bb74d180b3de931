//! The figures that every view shows, each with its name, its title, how it is read and how it is written.
//!
//! Tables on the terminal, Markdown, JUnit and the pages go through these slices; in JSON a figure has its `name` as key.
//! So a figure is the same wherever it is read.

use crate::analysis::summary::wording::{ends, number_of, percent, probability, ratio, score};
use crate::analysis::summary::{Comparison, Effect, Figures, Measure};
use crate::stats::ALPHA;
use crate::text::prose;
use crate::transcript::Stats;

/// Stands for a figure that nobody reported, never 0.
pub const UNKNOWN: &str = "–";

/// A figure of a group of trials.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its key in JSON and its name in JUnit.
    pub name: &'static str,
    /// Its title over or beside figures of all evals.
    pub title: &'static str,
    /// Its title where each eval has a row.
    pub column: &'static str,
    /// It is a share from 0 to 1, of which more is better.
    pub is_share: bool,
    /// Reads it.
    pub read: fn(&Figures) -> Option<f64>,
    /// Reads it of one trial, where trials have it.
    pub of_trial: fn(&Stats) -> Option<f64>,
    /// Writes it.
    pub show: fn(f64) -> String,
}

/// The figures of an eval or a variant, in the order in which they are shown.
pub static METRICS: [Metric; 5] = [
    Metric {
        name: "passRate",
        title: "pass rate",
        column: "passed",
        is_share: true,
        read: |figures| figures.pass_rate,
        of_trial: |_| None,
        show: percent,
    },
    Metric {
        name: "meanScore",
        title: "mean score",
        column: "score",
        is_share: true,
        read: |figures| figures.mean_score,
        of_trial: |_| None,
        show: score,
    },
    Metric {
        name: "meanSeconds",
        title: "mean time",
        column: "time",
        is_share: false,
        read: |figures| figures.mean_seconds,
        of_trial: |stats| stats.duration_seconds,
        show: prose::duration,
    },
    Metric {
        name: "meanTokens",
        title: "mean tokens",
        column: "tokens",
        is_share: false,
        read: |figures| figures.mean_tokens,
        of_trial: |stats| stats.usage.tokens().map(|tokens| tokens as f64),
        show: |tokens| prose::compact(tokens.round() as u64),
    },
    Metric {
        name: "meanCostUsd",
        title: "mean cost",
        column: "cost",
        is_share: false,
        read: |figures| figures.mean_cost_usd,
        of_trial: |stats| stats.usage.cost_usd,
        show: prose::dollars,
    },
];

impl Metric {
    /// Returns the figure as text, [`UNKNOWN`] where there is none.
    pub fn text(&self, figures: &Figures) -> String {
        (self.read)(figures).map_or_else(|| UNKNOWN.to_owned(), self.show)
    }
}

/// A figure of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonMetric {
    /// Its title over a column.
    pub title: &'static str,
    /// Reads and writes it; `None` where there is none.
    pub text: fn(&Comparison) -> Option<String>,
}

/// The figures of a comparison, in the order in which they are shown.
pub static COMPARISON_METRICS: [ComparisonMetric; 7] = [
    ComparisonMetric {
        title: "pass rate",
        text: rates,
    },
    ComparisonMetric {
        title: "points",
        text: |comparison| {
            comparison
                .decisive()
                .value
                .map(number_of(comparison.measure))
        },
    },
    ComparisonMetric {
        title: "interval",
        text: |comparison| Some(ends(comparison.measure, comparison.decisive().interval?)),
    },
    ComparisonMetric {
        title: "p",
        text: |comparison| comparison.decisive().p_adjusted.map(probability),
    },
    ComparisonMetric {
        title: "tokens",
        text: |comparison| ratio_shown(&comparison.tokens),
    },
    ComparisonMetric {
        title: "cost",
        text: |comparison| ratio_shown(&comparison.cost_usd),
    },
    ComparisonMetric {
        title: "time",
        text: |comparison| ratio_shown(&comparison.seconds),
    },
];

/// `1.31×`, or `(1.05×)` where no difference was shown.
fn ratio_shown(effect: &Effect) -> Option<String> {
    let text = ratio(effect.value?);
    let is_open = match effect.interval {
        Some(interval) => interval.contains(1.0),
        // Trials that all have the same ratio give no interval. Then the p-value decides, unless there is no difference to see.
        None => effect.p.is_none_or(|p| p > ALPHA) || text == ratio(1.0),
    };
    Some(if is_open { format!("({text})") } else { text })
}

/// `60 → 83 %`, or `0.39 → 0.69` where the verdict is about the score.
fn rates(comparison: &Comparison) -> Option<String> {
    let figures = &comparison.figures;
    match comparison.measure {
        Measure::PassRate => {
            let baseline = percent(figures.baseline.pass_rate?);
            let arm = percent(figures.arm.pass_rate?);
            Some(format!("{} → {arm}", baseline.trim_end_matches(" %")))
        }
        Measure::Score => {
            let baseline = score(figures.baseline.mean_score?);
            let arm = score(figures.arm.mean_score?);
            Some(format!("{baseline} → {arm}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    #[test]
    fn a_ratio_that_is_the_same_in_every_trial_is_a_difference() {
        let effect = |value: f64, p: f64| Effect {
            value: Some(value),
            p: Some(p),
            ..Effect::default()
        };
        let shown = |effect: Effect| ratio_shown(&effect).unwrap();
        assert_eq!(shown(effect(1.14, 0.008)), "1.14×");
        assert_eq!(shown(effect(1.14, 0.25)), "(1.14×)");
        assert_eq!(shown(effect(1.0001, 0.008)), "(1.00×)");
        let wide = Interval {
            low: 0.9,
            high: 1.4,
        };
        let with_interval = Effect {
            interval: Some(wide),
            ..effect(1.14, 0.008)
        };
        assert_eq!(shown(with_interval), "(1.14×)");
    }

    #[test]
    fn a_name_is_a_key_of_the_figures() {
        let figures = Figures {
            pass_rate: Some(0.1),
            mean_score: Some(0.2),
            mean_seconds: Some(0.3),
            mean_tokens: Some(0.4),
            mean_cost_usd: Some(0.5),
            ..Figures::default()
        };
        let document = serde_json::to_value(&figures).unwrap();
        for metric in &METRICS {
            let read = (metric.read)(&figures);
            assert!(read.is_some(), "{}", metric.name);
            assert_eq!(document[metric.name].as_f64(), read, "{}", metric.name);
        }
    }

    #[test]
    fn what_is_not_known_is_not_nought() {
        for metric in &METRICS {
            assert_eq!(metric.text(&Figures::default()), UNKNOWN);
        }
    }
}
