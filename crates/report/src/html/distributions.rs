//! What trials took: a dot for each, a line for the middle half, a mark for the median.

use terca_core::analysis::results::{Results, TrialResult};
use terca_core::text::prose;
use terca_core::transcript::Stats;

use super::effects::{line, round};
use super::markup::{Html, el};
use super::matrix::Matrix;

const WIDE: f64 = 400.0;
const TALL: f64 = 28.0;
/// More dots than this say no more, and every second, third … stands for its neighbours.
const MOST_DOTS: usize = 400;

struct Figure {
    title: &'static str,
    read: fn(&Stats) -> Option<f64>,
    words: fn(f64) -> String,
}

const FIGURES: [Figure; 3] = [
    Figure {
        title: "Time",
        read: |stats| stats.duration_seconds,
        words: prose::duration,
    },
    Figure {
        title: "Tokens",
        read: |stats| stats.usage.tokens().map(|tokens| tokens as f64),
        words: |tokens| prose::compact(tokens.round() as u64),
    },
    Figure {
        title: "Cost",
        read: |stats| stats.usage.cost_usd,
        words: prose::dollars,
    },
];

/// Of the trials that were judged.
pub fn distributions(results: &Results, matrix: &Matrix<'_>) -> Html {
    let figures: Vec<Html> = FIGURES
        .iter()
        .filter_map(|figure| plot(figure, results, matrix))
        .collect();
    if figures.is_empty() {
        return Html::new();
    }
    el("section")
        .attr("aria-labelledby", "spent-title")
        .child(
            el("h2")
                .attr("id", "spent-title")
                .text("Time, tokens, cost"),
        )
        .child(el("p").class("quiet").text(
            "One dot for each judged trial; the line is the middle half, the mark the median.",
        ))
        .child(el("div").class("cards").children(figures))
        .into()
}

fn plot(figure: &Figure, results: &Results, matrix: &Matrix<'_>) -> Option<Html> {
    let of = |(environment, experiment): (&str, &str)| {
        let is_of = |trial: &&TrialResult| {
            trial.head.environment == environment
                && trial.head.experiment == experiment
                && trial.report.status.is_judged()
        };
        let mut values: Vec<f64> = results
            .trials
            .iter()
            .filter(is_of)
            .filter_map(|trial| (figure.read)(&trial.report.stats))
            .collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let samples: Vec<Vec<f64>> = matrix.variants.iter().map(|names| of(*names)).collect();
    let most = samples
        .iter()
        .filter_map(|values| values.last())
        .fold(0.0, |most: f64, value| most.max(*value));
    if most <= 0.0 {
        return None;
    }
    let rows = matrix
        .variants
        .iter()
        .zip(&samples)
        .map(|((environment, experiment), values)| {
            let median = quantile(values, 0.5).map_or_else(|| "–".to_owned(), figure.words);
            let detail = match (values.first(), values.last()) {
                (Some(least), Some(most)) => {
                    format!("{} … {}", (figure.words)(*least), (figure.words)(*most))
                }
                _ => String::new(),
            };
            el("tr")
                .child(
                    el("th")
                        .attr("scope", "row")
                        .text(matrix.variant_name(environment, experiment)),
                )
                .child(el("td").class("value").text(median))
                .child(el("td").class("detail").text(detail))
                .child(el("td").class("plot").child(strip(values, most)))
        });
    let title = |text: &str| el("th").attr("scope", "col").text(text);
    let titles = el("tr")
        .child(title("variant"))
        .child(title("median"))
        .child(title("range"))
        .child(title("plot"));
    let ends = el("div")
        .class("axis")
        .child(el("span").text("0"))
        .child(el("span").text((figure.words)(most)));
    let axis = el("tr")
        .class("axis-row")
        .attr("aria-hidden", "true")
        .child(el("td").attr("colspan", 3))
        .child(el("td").class("plot").child(ends));
    let table = el("table")
        .class("effects")
        .child(el("thead").class("unseen").child(titles))
        .child(el("tbody").children(rows).child(axis));
    Some(
        el("figure")
            .class("card")
            .child(el("figcaption").text(figure.title))
            .child(table)
            .into(),
    )
}

fn strip(values: &[f64], most: f64) -> Html {
    let place = |value: f64| 4.0 + value / most * (WIDE - 8.0);
    let every = values.len().div_ceil(MOST_DOTS).max(1);
    let dots: String = values
        .iter()
        .enumerate()
        .step_by(every)
        // Side by side in three rows, so that equal ones are seen to be several.
        .map(|(index, value)| format!("M{} {}h.01", round(place(*value)), 7 + index % 3 * 7))
        .collect();
    let half = quantile(values, 0.25).zip(quantile(values, 0.75));
    let half =
        half.map(|(low, high)| line("half", place(low), TALL / 2.0, place(high), TALL / 2.0));
    let median = quantile(values, 0.5)
        .map(|value| line("median", place(value), 3.0, place(value), TALL - 3.0));
    el("svg")
        .class("line strip")
        .attr("viewBox", format!("0 0 {WIDE} {TALL}"))
        .attr("preserveAspectRatio", "none")
        .attr("aria-hidden", "true")
        .child(half)
        .child(el("path").class("dots").attr("d", dots))
        .child(median)
        .into()
}

/// Of sorted values, between neighbours where it falls between.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share * last as f64;
    let (below, above) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
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
