//! Time, tokens and cost of the trials: a dot for each, a line for the middle half, a mark for the median.

use maud::{Markup, html};
use terca_core::analysis::metrics::{METRICS, Metric};
use terca_core::analysis::results::Results;

use super::matrix::Matrix;
use super::pieces::or_dash;
use super::plot::{WIDE, axis, line, plot, round, table};

const TALL: f64 = 28.0;
/// More dots than this show no more, so that only every second, third … is drawn.
const MOST_DOTS: usize = 400;

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
    let largest = samples
        .iter()
        .filter_map(|(_, values)| values.last().copied())
        .fold(0.0, f64::max);
    let rows = html! {
        @for (variant, values) in &samples { (row(metric, variant, values, largest)) }
        (axis(&["0".to_owned(), (metric.show)(largest)]))
    };
    let card = html! {
        figure.card {
            figcaption { (metric.column) }
            (table(["variant", "median", "range", "plot"], &rows))
        }
    };
    (largest > 0.0).then_some(card)
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

fn row(metric: &Metric, variant: &str, values: &[f64], largest: f64) -> Markup {
    html! {
        tr {
            th scope="row" { (variant) }
            td.value { (or_dash(quantile(values, 0.5).map(metric.show))) }
            td.detail {
                @if let (Some(least), Some(most)) = (values.first(), values.last()) {
                    ((metric.show)(*least)) " … " ((metric.show)(*most))
                }
            }
            td.plot { (strip(values, largest)) }
        }
    }
}

fn strip(values: &[f64], largest: f64) -> Markup {
    let place = |value: f64| 4.0 + value / largest * (WIDE - 8.0);
    let half = quantile(values, 0.25).zip(quantile(values, 0.75));
    let marks = html! {
        @if let Some((low, high)) = half {
            (line("half", place(low), TALL / 2.0, place(high), TALL / 2.0))
        }
        path.dots d=(dots(values, place)) {}
        @if let Some(median) = quantile(values, 0.5) {
            (line("median", place(median), 3.0, place(median), TALL - 3.0))
        }
    };
    plot("strip", TALL, &marks)
}

/// Returns a path of dots in three rows, so that equal values are seen to be several.
fn dots(values: &[f64], place: impl Fn(f64) -> f64) -> String {
    let every = values.len().div_ceil(MOST_DOTS).max(1);
    values
        .iter()
        .enumerate()
        .step_by(every)
        .map(|(index, value)| format!("M{} {}h.01", round(place(*value)), 7 + index % 3 * 7))
        .collect()
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
