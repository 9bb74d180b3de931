//! Drawing: bars, lines and marks in SVG, and the tables that plots are in.
//!
//! Elements of SVG have end tags here: without one, the next element would be a child of the first.

use maud::{Markup, html};

use super::pieces::column_titles;

/// The width of a plot, in its own units.
pub const WIDE: f64 = 400.0;

/// Returns a drawing that is stretched to the width of its cell.
pub fn plot(class: &str, tall: f64, marks: &Markup) -> Markup {
    html! {
        svg class={ "line " (class) } viewBox={ "0 0 " (WIDE) " " (tall) }
            preserveAspectRatio="none" aria-hidden="true" { (marks) }
    }
}

/// Returns a line between two points.
pub fn line(class: &str, x1: f64, y1: f64, x2: f64, y2: f64) -> Markup {
    let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(round);
    // A stroke of no length has no round ends in some browsers; the least length has.
    html! { path class=(class) d=(format!("M{x1} {y1}L{x2} {y2}h.01")) {} }
}

/// Returns a coordinate with one decimal, or none if it is 0.
pub fn round(number: f64) -> String {
    let text = format!("{number:.1}");
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// Returns a table whose last column is a plot.
pub fn table(titles: [&str; 4], rows: &Markup) -> Markup {
    html! {
        table.effects {
            thead.unseen { (column_titles(&titles)) }
            tbody { (rows) }
        }
    }
}

/// Returns the row of such a table that labels the ends of the plots, and points between.
pub fn axis(labels: &[String]) -> Markup {
    html! {
        tr.axis-row aria-hidden="true" {
            td colspan="3" {}
            td.plot { div.axis { @for label in labels { span { (label) } } } }
        }
    }
}

/// Returns one bar with a segment for each size, given with its class.
pub fn stacked_bar(sizes: &[(String, f64)]) -> Markup {
    let total: f64 = sizes.iter().map(|(_, size)| size).sum();
    let mut end = 0.0;
    let mut segments = Vec::new();
    for (class, size) in sizes {
        let width = size / total * 1000.0;
        segments.push((class, round(end), round(width)));
        end += width;
    }
    html! {
        svg.bar viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" {
            @for (class, x, width) in segments {
                rect class=(class) x=(x) y="0" width=(width) height="10" {}
            }
        }
    }
}
