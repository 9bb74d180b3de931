//! The parts of a trial, one after another.

use terca_core::run::outcome::Phases;
use terca_core::text::prose;

use super::effects::round;
use super::markup::{Html, el};

pub fn timeline(phases: &Phases) -> Html {
    let parts: Vec<(&'static str, f64)> = [
        ("setup", phases.setup),
        ("agent", phases.agent),
        ("tests", phases.tests),
    ]
    .into_iter()
    .filter_map(|(name, seconds)| Some((name, seconds?)))
    .collect();
    let total: f64 = parts.iter().map(|(_, seconds)| seconds).sum();
    if total <= 0.0 {
        return Html::new();
    }
    let mut at = 0.0;
    let mut bars = Vec::new();
    for (name, seconds) in &parts {
        let width = seconds / total * 1000.0;
        bars.push(
            el("rect")
                .class(format!("phase-{name}"))
                .attr("x", round(at))
                .attr("y", 0)
                .attr("width", round(width))
                .attr("height", 10),
        );
        at += width;
    }
    let words = parts.iter().map(|(name, seconds)| {
        el("li")
            .child(el("span").class(format!("dot phase-{name}")))
            .text(format!("{name} {}", prose::duration(*seconds)))
    });
    el("div")
        .class("timeline")
        .child(
            el("svg")
                .class("bar")
                .attr("viewBox", "0 0 1000 10")
                .attr("preserveAspectRatio", "none")
                .attr("aria-hidden", "true")
                .children(bars),
        )
        .child(el("ol").class("legend").children(words))
        .into()
}
