//! Time, tokens and cost of the trials: a dot for each, a line for the middle half, a mark for the median.

use maud::{Markup, html};
use terca_core::analysis::metrics::{METRICS, Metric};
use terca_core::analysis::results::Results;

use super::matrix::Matrix;
use super::pieces::or_dash;
use super::scale::Scale;

/// More dots than this show no more, so that only every second, third … is drawn.
const MOST_DOTS: usize = 600;

/// Returns a card for each figure that judged trials have.
pub fn distributions(results: &Results, matrix: &Matrix<'_>) -> Markup {
    let cards: Vec<Markup> = METRICS
        .iter()
        .filter_map(|metric| card(metric, results, matrix))
        .collect();
    html! {
        @if !cards.is_empty() {
            section aria-labelledby="spent-title" {
                h2 #spent-title { "Time, tokens, cost" }
                p.quiet {
                    "Each dot is a judged trial. The line is the middle half, and the mark is the median."
                }
                div.cards { @for card in &cards { (card) } }
            }
        }
    }
}

fn card(metric: &Metric, results: &Results, matrix: &Matrix<'_>) -> Option<Markup> {
    let samples: Vec<(String, Vec<f64>)> = matrix
        .variants
        .iter()
        .map(|(environment, experiment)| {
            let values = sample(metric, results, environment, experiment);
            (matrix.variant_name(environment, experiment), values)
        })
        .collect();
    let values = || {
        samples
            .iter()
            .flat_map(|(_, values)| values.iter().copied())
    };
    let largest = values().fold(0.0, f64::max);
    let least = values()
        .filter(|value| *value > 0.0)
        .fold(largest, f64::min);
    let most_dots = (MOST_DOTS / samples.len().max(1)).max(10);
    let scale = Scale::of_sizes(least, largest, metric.show);
    let caption = html! {
        (metric.column)
        @if scale.is_logarithmic() { span.quiet { " (logarithmic scale)" } }
    };
    let rows = html! {
        @for (variant, values) in &samples { (row(metric, variant, values, &scale, most_dots)) }
    };
    (largest > 0.0).then(|| scale.card(&caption, ["variant", "median and range"], &rows))
}

/// Returns the values of a variant's judged trials, in order.
fn sample(metric: &Metric, results: &Results, environment: &str, experiment: &str) -> Vec<f64> {
    let mut values: Vec<f64> = results
        .trials
        .iter()
        .filter(|trial| {
            trial.head.environment == environment
                && trial.head.experiment == experiment
                && trial.report.status.is_judged()
        })
        .filter_map(|trial| (metric.of_trial)(&trial.report.stats))
        .collect();
    values.sort_by(f64::total_cmp);
    values
}

fn row(metric: &Metric, variant: &str, values: &[f64], scale: &Scale, most_dots: usize) -> Markup {
    html! {
        tr {
            th scope="row" { (variant) }
            td.value {
                (or_dash(quantile(values, 0.5).map(metric.show)))
                small {
                    @if let (Some(least), Some(most)) = (values.first(), values.last()) {
                        ((metric.show)(*least)) " … " ((metric.show)(*most))
                    }
                }
            }
            td.plot { (strip(values, scale, most_dots)) }
        }
    }
}

fn strip(values: &[f64], scale: &Scale, most_dots: usize) -> Markup {
    let half = quantile(values, 0.25).zip(quantile(values, 0.75));
    // Dots in three rows, so that equal values are seen to be several.
    let every = values.len().div_ceil(most_dots).max(1);
    let dots = values.iter().enumerate().step_by(every);
    let marks = html! {
        @if let Some((low, high)) = half { (scale.stretch("half", low, high)) }
        @for (index, value) in dots {
            (scale.dot("dot-of-many", *value, 25.0 + (index % 3 * 25) as f64))
        }
        @if let Some(median) = quantile(values, 0.5) { (scale.upright("median", median)) }
    };
    scale.plot("strip", &marks)
}

/// Returns the value below which a share of the sorted values is, interpolated between neighbours.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share * last as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    Some(below + (above - below) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[3.0], 0.25), Some(3.0));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), Some(2.5));
    }
}
