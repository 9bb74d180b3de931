//! Scales of plots. Places are in percent of the width, so that a plot is as wide as its cell and nothing is stretched.

use maud::{Markup, html};
use terca_core::analysis::summary::wording::signed;

/// The part of a plot that stays free at both ends, in percent.
const EDGE: f64 = 2.0;
/// So many ticks fit on either side of the middle.
const MOST_TICKS: f64 = 4.0;
/// The steps between the ticks of differences.
const STEPS: [f64; 4] = [0.05, 0.1, 0.25, 0.5];
/// From this ratio of the largest value to the smallest on, a scale of sizes is logarithmic.
const WIDE_RANGE: f64 = 8.0;

/// A line along which values have their places.
pub struct Scale {
    /// Turns a value into a position between the ends.
    along: fn(f64) -> f64,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

fn linear(value: f64) -> f64 {
    value
}

fn logarithm(value: f64) -> f64 {
    value.max(1e-9).ln()
}

impl Scale {
    /// Returns a scale of differences with 0 in the middle, for values up to this distance, in these words.
    pub fn of_differences(widest: f64, words: fn(f64) -> String) -> Self {
        let widest = widest.clamp(STEPS[0] * 2.0, 1.0);
        let fits = |step: &f64| widest / step <= MOST_TICKS + 1e-9;
        let step = STEPS.into_iter().find(fits).unwrap_or(0.5);
        let number = (widest / step - 1e-9).ceil() as i32;
        let ticks = (-number..=number).map(|tick| f64::from(tick) * step);
        Scale::of_ticks(linear, ticks.map(|value| (value, words(value))))
    }

    /// Returns a scale of all differences that there can be, with few ticks.
    pub fn of_all_differences() -> Self {
        let ticks = [-1.0, -0.5, 0.0, 0.5, 1.0];
        Scale::of_ticks(linear, ticks.map(|value| (value, signed(value))))
    }

    /// Returns a scale of ratios with 1 × in the middle, for logarithms up to this distance.
    pub fn of_ratios(widest: f64) -> Self {
        let ratios = match widest {
            ..0.7 => [0.5, 0.7, 1.0, 1.4, 2.0],
            ..1.4 => [0.25, 0.5, 1.0, 2.0, 4.0],
            _ => [1.0 / 16.0, 0.25, 1.0, 4.0, 16.0],
        };
        let label = |ratio: f64| match ratio {
            ..0.1 => format!("{ratio:.2} ×"),
            _ => format!("{ratio} ×"),
        };
        Scale::of_ticks(logarithm, ratios.map(|ratio| (ratio, label(ratio))))
    }

    /// Returns a scale of sizes: from 0, or logarithmic where a few values are far beyond the others.
    pub fn of_sizes(least: f64, most: f64, show: fn(f64) -> String) -> Self {
        let is_wide = least > 0.0 && most / least >= WIDE_RANGE;
        let (along, from): (fn(f64) -> f64, f64) = if is_wide {
            (logarithm, least)
        } else {
            (linear, 0.0)
        };
        let (low, high) = (along(from), along(most));
        let at = |share: f64| {
            let place = low + (high - low) * share;
            if is_wide { place.exp() } else { place }
        };
        let label = |share: f64| match share == 0.0 && !is_wide {
            true => "0".to_owned(),
            false => show(at(share)),
        };
        let shares = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];
        Scale::of_ticks(along, shares.map(|share| (at(share), label(share))))
    }

    /// Returns a scale from the first tick to the last.
    fn of_ticks(along: fn(f64) -> f64, ticks: impl IntoIterator<Item = (f64, String)>) -> Self {
        let ticks: Vec<(f64, String)> = ticks.into_iter().collect();
        let end = |tick: Option<&(f64, String)>| tick.map_or(0.0, |(value, _)| along(*value));
        Scale {
            along,
            low: end(ticks.first()),
            high: end(ticks.last()),
            ticks,
        }
    }

    /// Returns whether equal steps are equal factors.
    pub fn is_logarithmic(&self) -> bool {
        (self.along)(1.0) == 0.0
    }

    /// Returns the place of a value, in percent of the width.
    pub fn place(&self, value: f64) -> f64 {
        let range = (self.high - self.low).max(1e-12);
        let share = (((self.along)(value) - self.low) / range).clamp(0.0, 1.0);
        EDGE + share * (100.0 - 2.0 * EDGE)
    }

    /// Returns a table of figures with a plot on this scale beside each. The columns of names and figures have titles for
    /// readers that do not see them.
    pub fn card(&self, caption: &Markup, columns: [&str; 2], rows: &Markup) -> Markup {
        html! {
            figure.card {
                figcaption { (caption) }
                table.effects {
                    thead {
                        tr {
                            @for column in columns { th scope="col" { span.unseen { (column) } } }
                            th.plot scope="col" { span.unseen { "plot" } (self.axis()) }
                        }
                    }
                    tbody { (rows) }
                }
            }
        }
    }

    /// Returns the labels of the scale, each over its place.
    pub fn axis(&self) -> Markup {
        let last = self.ticks.len().saturating_sub(1);
        html! {
            svg.axis aria-hidden="true" {
                @for (number, (value, label)) in self.ticks.iter().enumerate() {
                    @let (anchor, at) = match number {
                        0 => ("start", 0.0),
                        number if number == last => ("end", 100.0),
                        _ => ("middle", self.place(*value)),
                    };
                    text x=(percent(at)) y="75%" text-anchor=(anchor) { (label) }
                }
            }
        }
    }

    /// Returns a plot of these marks, over the lines of the ticks.
    pub fn plot(&self, class: &str, marks: &Markup) -> Markup {
        html! {
            svg class={ "along " (class) } aria-hidden="true" {
                @for (value, _) in &self.ticks { (self.upright("tick", *value)) }
                (marks)
            }
        }
    }

    /// Returns a band between two values, as high as the plot.
    pub fn band(&self, low: f64, high: f64) -> Markup {
        let (from, to) = (self.place(low), self.place(high));
        html! {
            rect.band x=(percent(from)) y="0" width=(percent(to - from)) height="100%" {}
        }
    }

    /// Returns a line from one value to another, in the middle of the plot.
    pub fn stretch(&self, class: &str, low: f64, high: f64) -> Markup {
        line(class, (self.place(low), 50.0), (self.place(high), 50.0))
    }

    /// Returns an upright line at a value.
    pub fn upright(&self, class: &str, value: f64) -> Markup {
        let at = self.place(value);
        line(class, (at, 0.0), (at, 100.0))
    }

    /// Returns a dot at a value, this far down.
    pub fn dot(&self, class: &str, value: f64, down: f64) -> Markup {
        html! {
            circle class=(class) cx=(percent(self.place(value))) cy=(percent(down)) r="5" {}
        }
    }
}

/// Returns a line between two places in percent of the width and the height.
pub fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> Markup {
    html! {
        line class=(class) x1=(percent(from.0)) y1=(percent(from.1)) x2=(percent(to.0)) y2=(percent(to.1)) {}
    }
}

/// Returns a place as an attribute: `12.5%`.
pub fn percent(place: f64) -> String {
    round(place) + "%"
}

/// Returns a coordinate with one decimal, or none if it is 0.
pub fn round(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// Returns one bar with a segment for each size, given with its class.
pub fn stacked_bar(sizes: &[(String, f64)]) -> Markup {
    let total: f64 = sizes.iter().map(|(_, size)| size).sum();
    let mut end = 0.0;
    let segments = sizes.iter().map(|(class, size)| {
        let (start, width) = (end, size / total * 1000.0);
        end += width;
        (class, round(start), round(width))
    });
    html! {
        svg.bar viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" {
            @for (class, x, width) in segments {
                rect class=(class) x=(x) y="0" width=(width) height="10" {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_within_the_plot_and_in_order() {
        let scales = [
            Scale::of_differences(0.3, signed),
            Scale::of_differences(7.0, signed),
            Scale::of_all_differences(),
            Scale::of_ratios(0.1),
            Scale::of_ratios(9.0),
            Scale::of_sizes(2.0, 900.0, |value| value.to_string()),
            Scale::of_sizes(0.0, 3.0, |value| value.to_string()),
        ];
        for scale in &scales {
            let values = [-9.0, -0.2, 0.0, 0.3, 1.0, 2.5, 1e6];
            let places: Vec<f64> = values.iter().map(|value| scale.place(*value)).collect();
            assert!(places.is_sorted(), "{places:?}");
            assert!(
                places
                    .iter()
                    .all(|place| (EDGE..=100.0 - EDGE).contains(place))
            );
            assert!((3..=9).contains(&scale.ticks.len()), "{:?}", scale.ticks);
        }
    }

    #[test]
    fn no_effect_is_in_the_middle() {
        for widest in [0.01, 0.1, 0.3, 0.5, 0.62, 1.0] {
            assert_eq!(
                percent(Scale::of_differences(widest, signed).place(0.0)),
                "50%"
            );
            assert_eq!(percent(Scale::of_ratios(widest).place(1.0)), "50%");
        }
    }

    #[test]
    fn sizes_that_are_near_each_other_begin_at_nought() {
        let near = Scale::of_sizes(10.0, 20.0, |value| value.to_string());
        let far = Scale::of_sizes(10.0, 900.0, |value| value.to_string());
        assert!(!near.is_logarithmic() && far.is_logarithmic());
        assert_eq!(near.ticks[0].1, "0");
    }
}
