//! Bars in SVG.
//!
//! Elements of SVG have end tags here: without one, the next element would be a child of the first.

use maud::{Markup, html};

/// Returns a coordinate with one decimal, or none if it is 0.
pub fn round(number: f64) -> String {
    let text = format!("{number:.1}");
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
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
